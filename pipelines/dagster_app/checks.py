"""Asset checks: the gates that hold back publishing, and the checks of published values, which only warn.

Belongs here: showing them in Dagster. Does not: the conditions (run.gates), any comparison of values (quality).
"""

from collections.abc import Iterator
from functools import cache

import dagster as dg
import polars as pl

from pipelines.dagster_app.asset_specs import key_of
from pipelines.dagster_app.assets import metadata_of
from pipelines.quality import checks as quality
from pipelines.quality.evidence import FAILS, FLAGGED
from pipelines.run.first_build import GATES
from pipelines.run.gates import Finding, Gate, checked
from pipelines.run.plan import Done, Step
from pipelines.run.result import shown_rows
from pipelines.run.synchronization import Synchronization
from warehouse.contract import schema


def _result(gate: Gate, step: str, found: Finding) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=gate.__name__,
        asset_key=dg.AssetKey(step),
        passed=found.holds,
        description=found.description or None,
        metadata={} if found.holds else metadata_of(shown_rows(found.rows)),
    )


def _blocking(gate: Gate, step: str) -> dg.AssetChecksDefinition:
    """A blocking check for a gate, at the step before the gate."""

    @dg.asset_check(asset=dg.AssetKey(step), name=gate.__name__, description=gate.__doc__, blocking=True)
    def check(synchronization: dg.ResourceParam[Synchronization]) -> dg.AssetCheckResult:
        return _result(gate, step, checked(gate, synchronization))

    return check


def _asset_of(check: quality.Check) -> dg.AssetKey:
    """The asset of the table whose values a check compares."""
    return key_of(schema.BY_NAME[check.table])


@dg.multi_asset_check(
    specs=[
        dg.AssetCheckSpec(check.name, asset=_asset_of(check), description=f"{check.meaning} Source: {check.source}.")
        for check in quality.CHECKS
    ],
    can_subset=True,
)
def quality_of_values(
    context: dg.AssetCheckExecutionContext, synchronization: dg.ResourceParam[Synchronization]
) -> Iterator[dg.AssetCheckResult]:
    """Compares published values with each other and with filed facts; a check with too many failures warns, but does
    not hold back publishing.

    The UI can execute each check alone.
    """
    selected = {key.name for key in context.selected_asset_check_keys}
    for result in _of_values(synchronization):
        if result.check_name in selected:
            yield result


def _of_values(synchronization: Synchronization) -> Iterator[dg.AssetCheckResult]:
    rows = quality.measured(synchronization.lake, synchronization.workers)
    failing_rows = quality.in_check_order(rows.filter(pl.col("outcome") == FAILS))
    for tally in quality.tallied(rows).iter_rows(named=True):
        fails = failing_rows.filter(pl.col("check") == tally["check"])
        counts = {column: tally[column] for column in ("compared", FLAGGED, "companies", "failing", "threshold")}
        yield dg.AssetCheckResult(
            check_name=tally["check"],
            asset_key=_asset_of(quality.BY_NAME[tally["check"]]),
            passed=tally["passed"],
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{tally[FAILS]} of {tally['compared']} fail, of {tally['companies']} companies",
            metadata={**counts, **metadata_of(shown_rows(fails.drop("check", "outcome")))},
        )


def results_of(done: Done, synchronization: Synchronization) -> Iterator[dg.AssetCheckResult]:
    """The check results of a step that has run: its gates, and for a new build the checks of its values.

    Args:
        done: the step with the results of its gates.
        synchronization: the synchronization, with the tables of the build.
    """
    yield from (_result(gate, done.step.name, found) for gate, found in done.findings.items())
    if done.result.tables:
        yield from _of_values(synchronization)


@cache
def blocking(steps: tuple[Step, ...]) -> tuple[dg.AssetChecksDefinition, ...]:
    """The blocking checks of the given steps."""
    return tuple(_blocking(gate, step.name) for step in steps for gate in GATES.get(step.name, ()))
