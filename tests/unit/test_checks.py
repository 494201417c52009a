"""The checks before publishing: those of the tables hold a build back, those of the values only warn.

Each check is tested with tables that pass and tables that fail.
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
from pipelines.run.synchronization import Synchronization
from pipelines.stages.schemas import DOCUMENTS, LISTINGS, QUARANTINE
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import build_tables
from warehouse import schema

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


def period(kind: str = "ttm", symbol: str = "ALFA", end: date = END, **items: float | None) -> dict[str, Any]:
    return {"symbol": symbol, "cik": symbol, "period_kind": kind, "period_end": end, **items}


def test_checks_of_the_tables_hold_back_publishing_and_those_of_the_values_do_not():
    for check in checks.BLOCKING:
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


def test_keys_name_one_row(lake):
    rows = [period(), period("annual"), period(symbol="BRVO")]
    lake.write(build_tables.assembled("financials"), frame("financials", *rows))
    assert run(gates.keys_are_unique).holds

    lake.write(build_tables.assembled("financials"), frame("financials", *rows, period()))
    result = run(gates.keys_are_unique)
    assert not result.holds
    assert "a key names more than one row" in str(result.description)
    assert result.rows.height == 1


def test_rules_that_tables_name_are_listed(lake):
    value = {"cik": "1", "period_kind": "ttm", "period_end": END, "item": "roic", "version": 1}
    rule = {"rule": "ttm.year-to-date", "statement": "s", "source": "s", "action": "compose", "applies": "all filers"}
    lake.write(build_tables.assembled("rules"), frame("rules", rule))
    lake.write(build_tables.assembled("versions"), frame("versions", value | {"rule": rule["rule"]}, value))
    lake.write(build_tables.assembled("gaps"), frame("gaps", value | {"rule": rule["rule"]}))
    assert run(gates.rules_are_listed).holds

    lake.write(build_tables.assembled("gaps"), frame("gaps", value | {"rule": "made.up"}, value | {"rule": "made.up"}))
    result = run(gates.rules_are_listed)
    assert not result.holds
    assert result.description == "tables name rules that are not in the registry: made.up"
    assert result.rows.rows(named=True) == [{"table": "gaps", "rule": "made.up", "rows": 2}]


def test_rules_that_decisions_name_are_listed(lake):
    lake.write(build_tables.assembled("rules"), frame("rules"))
    lake.write(build_tables.assembled("decisions"), frame("decisions", {"cik": "1", "rule": "made.up", "figures": 3}))
    assert not run(gates.rules_are_listed).holds


@pytest.mark.parametrize(
    ("ttm", "annual", "passed"),
    [
        ({"revenue": 5.0}, {"revenue": 5.0}, True),
        ({"revenue": None}, {"revenue": None}, True),
        ({"revenue": 5.0}, {"revenue": 6.0}, False),
        ({"revenue": 5.0}, {"revenue": None}, False),
        ({"revenue": None}, {"revenue": 5.0}, False),
        ({"revenue": 5.0, "roic": 0.1}, {"revenue": 5.0, "roic": 0.2}, False),
    ],
)
def test_annual_equals_ttm_at_the_year_end(lake, ttm, annual, passed):
    other = period(end=date(2024, 9, 30), revenue=99.0)  # not a year end
    lake.write(
        build_tables.assembled("financials"), frame("financials", period(**ttm), period("annual", **annual), other)
    )
    assert run(gates.annual_equals_ttm_at_year_end).holds is passed


def test_an_annual_row_without_its_ttm_fails(lake):
    lake.write(build_tables.assembled("financials"), frame("financials", period("annual", revenue=5.0)))
    assert not run(gates.annual_equals_ttm_at_year_end).holds


def ratios(lake: Lake, row: dict[str, float | None], *legs: dict[str, Any]) -> bool:
    """Whether the ratios of one row pass, with the legs of its return on capital."""
    key = {"cik": "ALFA", "period_kind": "ttm", "period_end": END, "item": "roic", "version": 1}
    lake.write(build_tables.assembled("financials"), frame("financials", period(is_primary=True, **row)))
    lake.write(build_tables.assembled("versions"), frame("versions", key | {"is_current": True}))
    facts = [key | {"leg": number, "split_factor": 1.0, "weight": 1.0} | leg for number, leg in enumerate(legs)]
    lake.write(build_tables.assembled("lineage"), frame("lineage", *facts))
    return bool(run(gates.ratios_follow_their_inputs).holds)


@pytest.mark.parametrize(
    ("row", "passed"),
    [
        ({"total_debt": 50.0, "free_cash_flow": 30.0, "debt_to_fcf": 1.66667}, True),
        ({"total_debt": 50.0, "free_cash_flow": 30.0, "debt_to_fcf": None}, True),
        ({"total_debt": 50.0, "free_cash_flow": 31.0, "debt_to_fcf": 1.66667}, False),
        ({"total_debt": 50.0, "free_cash_flow": -30.0, "debt_to_fcf": 1.66667}, False),
        ({"total_debt": None, "free_cash_flow": 30.0, "debt_to_fcf": 1.66667}, False),
    ],
    ids=["six digits", "no ratio", "another free cash flow", "a negative one", "no debt"],
)
def test_debt_to_free_cash_flow_follows_its_inputs(lake, row, passed):
    assert ratios(lake, row) is passed


@pytest.mark.parametrize(
    ("row", "passed"),
    [
        ({"roic": 0.158, "total_debt": 300.0, "cash_and_equivalents": 100.0}, True),
        ({"roic": 0.2, "total_debt": 300.0, "cash_and_equivalents": 100.0}, False),
        ({"roic": 0.158, "total_debt": None, "cash_and_equivalents": 100.0}, False),
    ],
    ids=["of its legs", "another number", "no debt"],
)
def test_return_on_capital_follows_its_inputs(lake, row, passed):
    amounts = {"operating_income": 100.0, "pretax_income": 100.0, "income_tax": 21.0, "capital": 500.0}
    legs = [{"operation": role, "value": value} for role, value in {**amounts, "capital_before": 500.0}.items()]

    assert ratios(lake, row, *legs) is passed


def covered(lake: Lake, before: list[str] | None, now: list[str], listed: list[str]) -> gates.Finding:
    if before is not None:
        lake.write("covered", pl.DataFrame({"cik": before}, schema={"cik": pl.String}))
    lake.write(build_tables.assembled("companies"), frame("companies", *({"symbol": cik, "cik": cik} for cik in now)))
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
    """The log proves that they had values; without it, or for many companies, the check fails."""
    gone = ["B", "C", "D"]
    lake.write("versions", pl.DataFrame({"cik": [*gone, "E"], "value": [None] * 4}))

    assert covered(lake, ["A", *gone], ["A"], ["A", *gone]).holds
    assert not covered(lake, ["A", *gone, "E"], ["A"], ["A", *gone, "E"]).holds
    assert not covered(lake, ["A", "F"], ["A"], ["A", "F"]).holds


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
