"""Table `valuations`, from the filings of fictional companies through all steps."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from pipelines.normalize.history.versions import numbered, recorded
from pipelines.normalize.items.line_items import served
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.valuation.model import fade, project
from pipelines.valuation.table import NUMBERS, VALUATIONS, projections, valuations
from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    CIK,
    DILUTED,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    fact,
    month_ends,
    raw,
    with_total_assets,
)
from tests.together import in_one_call

NOW = datetime(2026, 3, 2, tzinfo=UTC)
QUARTERS = 26  # six and a half fiscal years
ENDS = month_ends(2020, QUARTERS)
DEBT = "LongTermDebtNoncurrent"
STEADY = Filer(
    ENDS,
    sums={
        REVENUE: [1000e6] * QUARTERS,
        NET_INCOME: [90e6] * QUARTERS,
        CASH_FLOW: [150e6] * QUARTERS,
        CAPITAL_SPENDING: [50e6] * QUARTERS,
    },
    means={SHARES: [98e6] * 25 + [96e6], DILUTED: [100e6] * 25 + [97e6]},
    balances={CASH: [300e6] * QUARTERS, DEBT: [800e6] * QUARTERS},
)
"""Constant free cash flow of 400 million per year on sales of four billion; shares were bought back recently."""


def with_sums(filer: Filer = STEADY, **changed: list[float] | None) -> Filer:
    names = {"revenue": REVENUE, "income": NET_INCOME, "flow": CASH_FLOW, "spending": CAPITAL_SPENDING}
    sums = {**filer.sums, **{names[name]: amounts for name, amounts in changed.items()}}
    return replace(filer, sums={tag: amounts for tag, amounts in sums.items() if amounts is not None})


def valued(found: Standardized) -> dict[str, dict[str, Any]]:
    """The row of each company, with its JSON decoded."""
    log = numbered(recorded(found.versions, NOW, "rules")).with_columns(value=served("value"))
    tag = pl.col("legs").list.first().struct.field("tag")
    label = pl.concat_str(pl.col("fiscal_year").cast(pl.String), pl.lit("Q"), pl.col("fiscal_quarter").cast(pl.String))
    ttm = log.with_columns(period_kind=pl.lit("ttm"), period=label)
    annual = log.filter("is_year_end").with_columns(period_kind=pl.lit("annual"), period=pl.lit("FY"))
    versions = pl.concat([ttm, annual]).drop_nulls("value").with_columns(tag=tag)
    parts = (versions.filter("is_current"), versions.filter(pl.col("item") == "revenue"))
    newest_filing = max(found.filings["filed"], default=NOW.date())
    profiles, shares = found.profiles.with_columns(class_member=pl.lit("")), found.latest_shares.drop("class_member")
    made = valuations(*parts, profiles, found.evidence, shares, found.filings, newest_filing)
    assert made.schema == VALUATIONS
    columns = ("reasons", "assumptions", "projection")
    return {
        row["cik"]: {**row, **{name: row[name] and json.loads(row[name]) for name in columns}}
        for row in made.iter_rows(named=True)
    }


@in_one_call
def test_a_steady_company_is_valued_by_the_model():
    """400 million, no growth: the model's value divided by the newest quarter's shares, with all assumptions."""
    found = yield STEADY.facts()
    row = valued(found.found)[CIK]

    told, equity = row["assumptions"], project(400e6, fade(0.0), decimals=0).equity_value
    assert (row["meaningful"], row["reasons"]) == (True, [])
    assert told["equity_value"] == equity
    assert row["fair_value_per_share"] == pytest.approx(equity / 97e6, rel=1e-5)
    assert (told["period"], told["period_end"], told["net_debt"]) == ("2026Q2", "2026-06-30", 500e6)
    assert told["assumptions"] == {
        "required_return": 0.085,
        "perpetual_growth": 0.025,
        "projection_years": 10,
        "base_free_cash_flow": 400e6,
        "base_is_normalized": False,
        "base_method": "Trailing twelve months, as reported.",
        "reported_free_cash_flow": 400e6,
        "initial_growth": 0.0,
        "growth_method": "Lower median of 0.00% (trend of free cash flow over 6 fiscal years), 0.00% (revenue over 5.5 "
        "years), kept within -5% and 15%; fades in equal steps to the perpetual growth.",
        "shares": 97e6,
        "shares_method": "Weighted average diluted shares of the quarter that ends on 2026-06-30.",
    }


@in_one_call
def test_the_projection_is_ten_years_that_add_up():
    found = yield STEADY.facts()
    row = valued(found.found)[CIK]

    told, years = row["assumptions"], row["projection"]
    assert [year["year"] for year in years] == list(range(1, 11))
    assert sum(year["present_value"] for year in years) == told["present_value_of_projection"]
    assert told["present_value_of_projection"] + told["present_value_of_terminal_value"] == told["equity_value"]
    assert told["terminal_share"] == pytest.approx(told["present_value_of_terminal_value"] / told["equity_value"], 1e-5)


@in_one_call
def test_the_columns_are_what_the_json_says():
    """For a company with a value and a normalized base, and for one without a value."""
    outlier = with_sums(flow=[150e6] * 25 + [1050e6])
    found = yield outlier.facts(), with_sums(flow=[-150e6] * QUARTERS).facts()
    valued_one, without = (valued(each.found)[CIK] for each in found)

    for row in (valued_one, without):
        told = {**row["assumptions"].get("assumptions", {}), **row["assumptions"]}
        assert row["reason_codes"] == row["reasons"]
        assert (row["period"], str(row["period_end"])) == (told["period"], told["period_end"])
        assert {name: row[name] for name in told if name in (*NUMBERS, "base_is_normalized")} == {
            name: told[name] for name in (*NUMBERS, "base_is_normalized") if name in told
        }
    assert valued_one["base_is_normalized"]
    assert [name for name in NUMBERS if valued_one[name] is None] == []
    grid = [cell["fair_value_per_share"] for cell in valued_one["assumptions"]["sensitivity"]]
    assert (valued_one["lowest_fair_value_per_share"], valued_one["highest_fair_value_per_share"]) == (
        min(grid),
        max(grid),
    )
    assert [name for name in (*NUMBERS, "years") if without[name] is not None] == []
    both = pl.DataFrame(
        [{"cik": cik, "class_member": "", "years": row["years"]} for cik, row in (("1", valued_one), ("2", without))],
        schema={"cik": pl.String, "class_member": pl.String, "years": VALUATIONS["years"]},
    )
    company = {"cik": "1", "class_member": ""}
    assert projections(both).to_dicts() == [{**company, **year} for year in valued_one["projection"]]


@in_one_call
def test_the_grid_has_the_value_in_its_middle():
    found = yield STEADY.facts()
    row = valued(found.found)[CIK]

    grid = {
        (point["required_return"], point["perpetual_growth"]): point["fair_value_per_share"]
        for point in row["assumptions"]["sensitivity"]
    }
    assert list(grid) == [(r, g) for r in (0.075, 0.085, 0.095) for g in (0.015, 0.025, 0.035)]
    assert (grid[0.085, 0.025], grid[0.075, 0.035]) == (row["fair_value_per_share"], max(grid.values()))
    assert grid[0.095, 0.015] == min(grid.values())


@in_one_call
def test_an_outlier_is_normalized_and_marked():
    """A customer paid in advance: 1,000 million in the last quarter instead of 100."""
    found = yield with_sums(flow=[150e6] * 25 + [1050e6]).facts()

    told = valued(found.found)[CIK]["assumptions"]["assumptions"]
    assert (
        told.items()
        >= {
            "base_is_normalized": True,
            "base_free_cash_flow": 400e6,
            "reported_free_cash_flow": 1300e6,
        }.items()
    )
    assert told["base_method"].startswith("Normalized to 10.0% of revenue")


@in_one_call
def test_a_loss_is_divided_by_basic_shares():
    """So is income if diluted shares are never stated."""
    loss, undiluted = yield (
        with_sums(income=[90e6] * 25 + [-5e6]).facts(),
        replace(STEADY, means={SHARES: STEADY.means[SHARES]}).facts(),
    )

    told = valued(loss.found)[CIK]["assumptions"]["assumptions"]
    assert (told["shares"], told["shares_method"]) == (
        96e6,
        "Weighted average basic shares of the quarter that ends on 2026-06-30, for it made a loss.",
    )
    assert valued(undiluted.found)[CIK]["assumptions"]["assumptions"]["shares"] == 96e6


@pytest.mark.parametrize(
    ("filer", "codes"),
    [
        (with_sums(flow=[40e6] * QUARTERS), ["negative_free_cash_flow", "too_volatile"]),
        (with_sums(spending=None), ["missing_capital_expenditure", "too_little_history"]),
        (with_sums(flow=None, spending=None), ["no_free_cash_flow", "too_little_history"]),
        (replace(STEADY, means={}), ["missing_shares"]),
        (replace(STEADY, annual_form="20-F"), ["depositary_receipt"]),
    ],
)
@in_one_call
def test_a_company_without_a_value_has_reasons_and_a_base_period(filer: Filer, codes: list[str]):
    found = yield filer.facts()

    row = valued(found.found)[CIK]
    assert (
        row.items()
        >= {
            "meaningful": False,
            "fair_value_per_share": None,
            "projection": None,
            "reasons": codes,
            "assumptions": {"period": "2026Q2", "period_end": "2026-06-30"},
        }.items()
    )


ROWS = STEADY.rows()


NEWEST_ANNUAL = max(row["filed"] for row in ROWS if row["form"] == "10-K")


PAYABLES = fact("IncreaseDecreaseInPayablesToCustomers", 3e6, "2026-01-01", "2026-06-30", form="10-Q")


def in_euros(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"unit": row["unit"].replace("USD", "EUR")}


def on_forms(annual: str, interim: str) -> list[dict[str, Any]]:
    """The filings of the steady company on other forms."""
    return [row | {"form": annual if row["form"] == "10-K" else interim} for row in ROWS]


FILED = {
    # filings of a company that differ from those of the steady one, and a reason that it has, or has not
    "capital expenditure is no longer stated: it moved to an element that is not read": (
        [row for row in ROWS if row["tag"] != CAPITAL_SPENDING or row["filed"] < "2024-01-01"],
        ["missing_capital_expenditure", "too_little_history"],
    ),
    "a young company has too little history": (
        Filer(
            ENDS[:10],
            {tag: amounts[:10] for tag, amounts in STEADY.sums.items()},
            {tag: amounts[:10] for tag, amounts in STEADY.means.items()},
        ).rows(),
        ["too_little_history"],
    ),
    "customers' money is in the operating cash flow": (
        [*ROWS, {**PAYABLES, "filed": "2026-08-09"}],
        ["customer_funds"],
    ),
    "a spin-off: the newest annual report reduces revenue of its three years by two fifths": (
        [
            row | {"value": row["value"] * (0.6 if row["tag"] == REVENUE and row["filed"] >= NEWEST_ANNUAL else 1)}
            for row in ROWS
        ],
        ["basis_break"],
    ),
}


@pytest.mark.parametrize(("rows", "codes"), FILED.values(), ids=FILED)
@in_one_call
def test_what_is_filed_gives_a_reason(rows: list[dict[str, Any]], codes: list[str]):
    found = yield raw(rows)

    assert valued(found.found)[CIK]["reasons"] == codes


@pytest.mark.parametrize(
    ("rows", "code", "is_one"),
    [
        (on_forms("6-K/A", "6-K"), "depositary_receipt", True),  # there is no annual report
        (on_forms("40-F", "6-K"), "depositary_receipt", False),  # an annual report takes precedence
        # the newest annual report is in euros, most of the history in dollars
        (
            [in_euros(row) if row["form"] == "10-K" and row["filed"] == NEWEST_ANNUAL else row for row in ROWS],
            "mixed_currency",
            True,
        ),
    ],
    ids=["interim reports alone", "annual reports", "euros"],
)
@in_one_call
def test_forms_and_currencies_give_a_reason_among_others(rows: list[dict[str, Any]], code: str, is_one: bool):
    found = yield raw(rows)

    assert (code in valued(found.found)[CIK]["reasons"]) is is_one


def test_stale_data_is_relative_to_the_newest_filing_of_all_companies():
    """The same company is current alone, and stale if another one filed two years later."""
    later = replace(STEADY, cik="9990000902", ends=month_ends(2022, QUARTERS))

    facts = [STEADY.facts(), STEADY.facts().vstack(later.facts())]
    alone, both = (valued(standardize(with_total_assets(rows))) for rows in facts)

    assert [row["meaningful"] for row in (alone[CIK], both["9990000902"])] == [True, True]
    assert both[CIK]["reasons"] == ["stale_data"]


def test_without_companies_there_are_no_rows():
    """A first synchronization in which all documents are broken."""
    assert valued(standardize(raw([]))) == {}
