"""The checks before publishing: checks of the source hold a build back, checks of the values only warn.

Each check is tested with tables that pass and tables that fail; checks of the rows of a company are in test_row_gates.
"""

from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from pipelines.dagster_app import checks
from pipelines.quality import checks as quality
from pipelines.quality.evidence import FOUND
from pipelines.run import gates
from pipelines.run.plan import STEPS
from pipelines.run.synchronization import Synchronization
from pipelines.stages.batch.schemas import DOCUMENTS, LISTINGS, QUARANTINE
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import build_tables, stored
from warehouse.contract import schema

END = date(2024, 12, 31)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path))
    return Lake(tmp_path / "tables")


def frame(table: str, *rows: dict[str, Any]) -> pl.DataFrame:
    types = {column.name: build_tables.POLARS_TYPES[column.type] for column in schema.BY_NAME[table].columns}
    return pl.DataFrame([{name: row.get(name) for name in types} for row in rows], schema=types)


def run(gate: gates.Gate) -> gates.Finding:
    return gate(Synchronization(Home.from_environment()))


def test_checks_of_the_source_hold_back_publishing_and_those_of_the_values_do_not():
    for check in checks.blocking(STEPS):
        assert [spec.blocking for spec in check.check_specs] == [True]
    assert [spec.name for spec in checks.quality_of_values.check_specs] == [check.name for check in quality.CHECKS]
    assert not any(spec.blocking for spec in checks.quality_of_values.check_specs)


def test_a_check_of_the_values_warns_and_shows_the_failures(lake, monkeypatch):
    check = max(quality.CHECKS, key=lambda check: -check.threshold)
    row = {"check": check.name, "cik": "1", "period_end": END, "subject": "revenue", "ours": 5.0, "other": 6.0}
    rows = [row | {"flags": "", "outcome": outcome} for outcome in ("fails", "flagged", "holds")]
    found = pl.DataFrame(rows, schema={"check": pl.String, **FOUND})
    monkeypatch.setattr(quality, "measured", lambda lake, workers: found)

    context = dg.build_asset_check_context()
    told = checks.quality_of_values(context, Synchronization(Home.from_environment()))
    results = {result.check_name: result for result in told}

    told = results.pop(check.name)
    assert (told.passed, told.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert told.description == "1 of 3 fail, of 1 companies"
    assert told.metadata["flagged"].value == 1
    assert [record.data["ours"] for record in told.metadata["sample"].records] == ["5"]
    assert all(result.passed for result in results.values())


def covered(lake: Lake, before: list[str] | None, now: list[str], listed: list[str]) -> gates.Finding:
    if before is not None:
        lake.write("covered", pl.DataFrame({"cik": before}, schema={"cik": pl.String}))
    lake.write(stored.assembled("companies"), frame("companies", *({"symbol": cik, "cik": cik} for cik in now)))
    rows = [dict.fromkeys(LISTINGS.names()) | {"cik": cik, "symbol": cik} for cik in listed]
    lake.write("listings", pl.DataFrame(rows, schema=LISTINGS))
    return run(gates.no_company_is_lost)


def test_no_company_is_lost(lake):
    assert covered(lake, None, ["A"], ["A"]).holds
    assert covered(lake, ["A"], ["A", "B"], ["A", "B"]).holds

    lost = covered(lake, ["A", "B"], ["A"], ["A", "B"])
    assert not lost.holds
    assert lost.description == "1 companies that the build before covered have no value any more: B"


def test_a_few_companies_with_only_withdrawn_values_may_disappear(lake):
    """The log proves that they had values; without it, or for many companies, the check fails.

    Unless their filings are not read any more.
    """
    gone = ["B", "C", "D"]
    log = pl.DataFrame({"cik": [*gone, "E", "G"], "cause": [*["method"] * 4, "source"], "is_current": [True] * 5})
    lake.write("versions", log)

    assert covered(lake, ["A", *gone], ["A"], ["A", *gone]).holds
    assert not covered(lake, ["A", *gone, "E"], ["A"], ["A", *gone, "E"]).holds
    assert not covered(lake, ["A", "F"], ["A"], ["A", "F"]).holds
    assert covered(lake, ["A", *gone, "G"], ["A"], ["A", *gone, "G"]).holds


def test_a_company_whose_symbol_passed_to_another_may_disappear(lake):
    assert covered(lake, ["A", "B"], ["A"], ["A"]).holds


@pytest.mark.parametrize(
    ("broken", "held", "passed"),
    [
        (0, 0, True),
        (0, 10, True),
        (1, 1, False),  # all documents
        (3, 4, True),  # few documents
        (4, 5, False),
        (4, 40, True),  # a tenth
        (5, 49, False),
        (5, 50, True),
    ],
)
def test_many_quarantined_companies_stop_the_publishing(lake, broken, held, passed):
    documents = [dict.fromkeys(DOCUMENTS.names()) | {"cik": str(n), "facts_digest": "d"} for n in range(held)]
    absent = dict.fromkeys(DOCUMENTS.names()) | {"cik": "absent", "status": "no_facts"}
    lake.write("documents", pl.DataFrame([*documents, absent], schema=DOCUMENTS))
    # a company with two broken documents counts once
    rows = [(str(n), "reason", "place", kind) for n in range(broken) for kind in ("facts", "submissions")]
    lake.write("quarantine", pl.DataFrame(rows, schema=QUARANTINE, orient="row"))

    result = run(gates.few_are_quarantined)

    assert result.holds is passed
    if not passed:
        assert result.description == f"{broken} of {held} companies with documents are quarantined"
