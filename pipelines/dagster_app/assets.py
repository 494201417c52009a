"""The Dagster assets: the steps of a synchronization, and each published table.

Belongs here: showing and retrying the steps in Dagster. Does not: the work of the steps (steps, publication), their
order (plan).
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from pipelines.dagster_app import asset_specs
from pipelines.dagster_app.retention import refuse
from pipelines.edgar.errors import EdgarError, UnopenedError
from pipelines.run.plan import Step
from pipelines.run.result import Link, Markdown, Shown, StepResult
from pipelines.run.synchronization import Synchronization
from pipelines.stages.documents import UnknownSymbolError
from pipelines.storage.home import PROJECT
from pipelines.tables import stored
from warehouse.contract import schema, views

DIGITS = 12
"""The number of digits of a digest that Dagster shows as a version of code or data."""
FRESH = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=36), warn_window=timedelta(hours=26))
"""A synchronization runs each morning: after 26 hours it is late, after 36 hours it was missed."""
MISTYPED = (UnopenedError, UnknownSymbolError)
"""Errors of the person who started a run: the source, its settings or a symbol is wrong. The run has done nothing."""
RETRIES = 3
FIRST_WAIT = 60
"""Seconds before the first retry after a source timed out or was overloaded, in a run that Dagster launched; doubled
for each further retry. An error that cannot pass by itself, such as a source that does not exist, ends the run at
once."""


def metadata_of(shown: Mapping[str, Shown]) -> dict[str, Any]:
    """The shown entries of a step as metadata of the UI. Each whole number is its own entry, so that the UI plots it
    over the runs."""
    return {NAMES.get(name, name): _metadata(value) for name, value in shown.items()}


NAMES = {"row_count": "dagster/row_count"}
"""Dagster's own names for entries that it knows."""


def _metadata(value: Shown) -> Any:
    for kind, of_kind in KINDS.items():
        if isinstance(value, kind):
            return of_kind(value)
    return value


def _table(rows: pl.DataFrame) -> dg.TableMetadataValue:
    records = [
        dg.TableRecord({name: _cell(value) for name, value in row.items()}) for row in rows.iter_rows(named=True)
    ]
    columns = [dg.TableColumn(name, str(dtype)) for name, dtype in rows.schema.items()]
    return dg.MetadataValue.table(records, schema=dg.TableSchema(columns))


def _cell(value: object) -> str:
    """A cell as text."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:,.6g}"
    return "" if value is None else str(value)


KINDS: dict[type, Callable[[Any], object]] = {
    Markdown: dg.MetadataValue.md,
    Link: dg.MetadataValue.url,
    Path: dg.MetadataValue.path,
    pl.DataFrame: _table,
}
"""The Dagster types for entries that are neither numbers nor plain texts."""


def _print(shown: Mapping[str, Shown]) -> None:
    """Print numbers and short texts, which the UI shows as the output of the step."""
    for name, value in shown.items():
        if not isinstance(value, pl.DataFrame | Markdown):
            print(f"{name.replace('_', ' ')}: {f'{value:,}' if isinstance(value, int | float) else value}")


def results_of(step: Step, result: StepResult) -> Iterator[dg.MaterializeResult[None]]:
    """The results for the assets of a step, with their metadata: the step itself, and for a new build each table and
    view."""
    version = dg.DataVersion(result.version[:DIGITS]) if result.version else None
    yield dg.MaterializeResult(
        asset_key=dg.AssetKey(step.name), metadata=metadata_of(result.shown), data_version=version
    )
    build = {"build": result.shown["build"]} if result.tables else {}
    for name, (rows, of_rows) in result.tables.items():
        yield dg.MaterializeResult(
            asset_key=asset_specs.key_of(schema.BY_NAME[name]),
            metadata=metadata_of({"row_count": rows, **build}),
            data_version=dg.DataVersion(of_rows),
        )
    for view in views.VIEWS if result.tables else ():
        yield dg.MaterializeResult(
            asset_key=asset_specs.key_of(view), metadata=metadata_of(build), data_version=version
        )


def _code_of(step: Step) -> dict[str, dg.PathMetadataValue]:
    """The file and the line of the code of a step, as metadata."""
    code = inspect.unwrap(step.work).__code__
    file = Path(code.co_filename).relative_to(PROJECT)
    return {"code": dg.MetadataValue.path(f"{file}:{code.co_firstlineno}")}


def _asset(step: Step, before: list[dg.AssetKey]) -> dg.AssetsDefinition:
    """The asset of a step."""

    @dg.asset(
        name=step.name,
        description=step.meaning,
        group_name=step.group,
        deps=before,
        kinds=set(step.kinds),
        owners=asset_specs.OWNERS[step.group],
        code_version=step.code()[:DIGITS] if step.code else None,
        metadata=_code_of(step),
    )
    def run(
        context: dg.AssetExecutionContext, synchronization: dg.ResourceParam[Synchronization]
    ) -> dg.MaterializeResult[None]:
        with _retrying(context):
            result = step.run(synchronization, context.log)
            _print(result.shown)
            [made] = results_of(step, result)
            return made

    return run


def _publishing(step: Step, before: list[dg.AssetKey], names: Collection[str]) -> dg.AssetsDefinition:
    """The assets of the step that publishes: the build, and its tables, which a run without a new build skips."""
    code = stored.code_digest()[:DIGITS]

    @dg.multi_asset(
        name="publish",
        specs=[
            dg.AssetSpec(
                asset_specs.BUILD,
                deps=before,
                description=step.meaning,
                group_name=step.group,
                kinds=set(step.kinds),
                owners=asset_specs.OWNERS[step.group],
                freshness_policy=FRESH,
                metadata=_code_of(step),
            ),
            *(asset_specs.table(each, code, names) for each in views.PUBLISHED),
        ],
    )
    def run(
        context: dg.AssetExecutionContext, synchronization: dg.ResourceParam[Synchronization]
    ) -> Iterator[dg.MaterializeResult[None]]:
        result = step.run(synchronization, context.log)
        _print(result.shown)
        yield from results_of(step, result)

    return run


@contextmanager
def _retrying(context: dg.AssetExecutionContext) -> Iterator[None]:
    """Request a retry after errors that may pass by themselves; refuse a run with a wrong source, setting or symbol."""
    try:
        yield
    except MISTYPED as error:
        refuse(context.instance, context.run, error)
        raise
    except EdgarError as error:
        seconds = FIRST_WAIT * 2**context.retry_number
        # no retry if the server asks to wait longer: the queue waits for this run
        if error.passes_in is None or error.passes_in > seconds:
            raise
        context.log.warning(f"{error}; asked again {RETRIES} times at most, the next time in {seconds} seconds")
        raise dg.RetryRequested(RETRIES, seconds) from error


@cache
def assets(steps: tuple[Step, ...]) -> tuple[dg.AssetsDefinition, ...]:
    """The assets of all steps; each depends on the step before it, and on the SEC's documents that it reads."""
    read = {"documents": asset_specs.UPSTREAM, "filings": asset_specs.OF_FILINGS}
    before = [
        [*former, *(spec.key for spec in asset_specs.upstream(read.get(step.name, ())))]
        for step, former in zip(steps, [[], *([dg.AssetKey(step.name)] for step in steps)], strict=False)
    ]
    names = {step.name for step in steps}
    return tuple(
        _publishing(step, keys, names) if step.name == "warehouse" else _asset(step, keys)
        for step, keys in zip(steps, before, strict=False)
    )
