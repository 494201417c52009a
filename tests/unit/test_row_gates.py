"""The row gates: rows of a company that pass, and rows that fail and name the company."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import polars as pl
import pytest

from pipelines.tables import build_tables, row_gates, stored
from warehouse.contract import schema

END = date(2024, 12, 31)
VALUE = {"cik": "1", "period_kind": "ttm", "period_end": END, "item": "roic", "version": 1}


def failing(**rows: list[dict[str, Any]]) -> dict[str, str]:
    """The gates that fail, by name, with the reasons; tables that are not given are empty."""
    names = (*stored.OF_COMPANIES, "companies")
    found = row_gates.failing({name: table(name, rows.get(name, [])) for name in names})
    assert {fault.cik for fault in found} <= {"1"}
    return {fault.place.removeprefix("gate "): fault.reason for fault in found}


def table(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    types = {column.name: build_tables.POLARS_TYPES[column.type] for column in schema.BY_NAME[name].columns}
    frame = pl.DataFrame([{column: row.get(column) for column in types} for row in rows], schema=types)
    return build_tables.conformed(name, frame)


def period(kind: str = "ttm", cik: str = "1", end: date = END, **items: float | None) -> dict[str, Any]:
    return {"symbol": cik, "cik": cik, "period_kind": kind, "period_end": end, **items}


def test_a_key_names_one_row():
    rows = [period(), period("annual"), period(cik="2")]
    assert failing(financials=rows) == {}

    reason = failing(financials=[*rows, period()])["keys_are_unique"]
    assert "1 rows contradict “The key of each table names one row”" in reason
    assert "table financials, key 1 ttm 2024-12-31" in reason


def test_rules_that_rows_name_are_listed():
    known = {"rule": "ttm.year-to-date"}
    assert failing(versions=[VALUE | known, VALUE | {"version": 2}], gaps=[VALUE | known]) == {}

    assert "rule made.up" in failing(gaps=[VALUE | {"rule": "made.up"}])["rules_are_listed"]
    assert "rules_are_listed" in failing(decisions=[{"cik": "1", "rule": "made.up", "figures": 3}])


@pytest.mark.parametrize(
    ("ttm", "annual", "passed"),
    [
        ({"revenue": 5.0}, {"revenue": 5.0}, True),
        ({"revenue": None}, {"revenue": None}, True),
        ({"revenue": 5.0}, {"revenue": 6.0}, False),
        ({"revenue": 5.0}, {"revenue": None}, False),
        ({"revenue": None}, {"revenue": 5.0}, False),
        ({"revenue": 5.0, "net_income": 1.0}, {"revenue": 5.0, "net_income": 2.0}, False),
        (None, {"revenue": 5.0}, False),
    ],
)
def test_annual_equals_ttm_at_the_year_end(ttm, annual, passed):
    other = period(end=date(2024, 9, 30), revenue=99.0)  # not a year end
    of_year = [] if ttm is None else [period(**ttm)]
    found = failing(financials=[*of_year, period("annual", **annual), other])
    assert ("annual_equals_ttm_at_year_end" not in found) is passed


def ratios_pass(row: Mapping[str, float | None], *legs: dict[str, Any]) -> bool:
    """Whether the ratios of one row pass, with the legs of its return on capital."""
    facts = [VALUE | {"leg": number, "split_factor": 1.0, "weight": 1.0} | leg for number, leg in enumerate(legs)]
    found = failing(financials=[period(is_primary=True, **row)], versions=[VALUE | {"is_current": True}], lineage=facts)
    return "ratios_follow_their_inputs" not in found


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
def test_debt_to_free_cash_flow_follows_its_inputs(row, passed):
    assert ratios_pass(row) is passed


@pytest.mark.parametrize(
    ("row", "passed"),
    [
        ({"roic": 0.158, "total_debt": 300.0, "cash_and_equivalents": 100.0}, True),
        ({"roic": 0.2, "total_debt": 300.0, "cash_and_equivalents": 100.0}, False),
        ({"roic": 0.158, "total_debt": None, "cash_and_equivalents": 100.0}, False),
    ],
    ids=["of its legs", "another number", "no debt"],
)
def test_return_on_capital_follows_its_inputs(row, passed):
    amounts = {"operating_income": 100.0, "pretax_income": 100.0, "income_tax": 21.0, "capital": 500.0}
    legs = [{"operation": role, "value": value} for role, value in {**amounts, "capital_before": 500.0}.items()]

    assert ratios_pass(row, *legs) is passed
