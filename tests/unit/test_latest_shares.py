"""The average shares of the newest quarter, which a value per share of today is divided by."""

from datetime import date
from typing import Any

import polars as pl
import pytest

from pipelines.normalize.pipeline import standardize
from pipelines.normalize.shares.latest import LATEST_SHARES
from tests.factories import DILUTED, NET_INCOME, REVENUE, SHARES, Filer, month_ends, raw

ENDS = month_ends(2023, 12)


def newest(quarters: int, means: dict[str, list[float]] | None = None, **more: Any) -> dict[str, Any]:
    """The row of a company that has reported so many quarters; counts fall by a million each."""
    falling = [(120 - number) * 1e6 for number in range(12)]
    counts = means if means is not None else {SHARES: falling, DILUTED: [count + 5e6 for count in falling]}
    filer = Filer(
        ENDS[:quarters],
        {REVENUE: [1e8] * quarters, NET_INCOME: more.pop("income", [1e7] * 12)[:quarters]},
        {tag: amounts[:quarters] for tag, amounts in counts.items()},
        **more,
    )
    found = standardize(filer.facts()).latest_shares
    assert found.schema == {**LATEST_SHARES, "cik": pl.String}
    return found.row(0, named=True) if found.height else {}


@pytest.mark.parametrize("quarters", [9, 10, 11])
def test_an_interim_quarter_as_filed(quarters):
    row = newest(quarters)

    assert (row["period_end"], row["method"]) == (ENDS[quarters - 1], "quarter")
    assert row["shares_basic"] == (121 - quarters) * 1e6
    assert row["shares_diluted"] == (126 - quarters) * 1e6
    assert row["net_income"] == 1e7


def test_a_fourth_quarter_is_the_year_less_nine_months():
    """An annual report tells the year; weighted by days the fourth quarter comes out, and its income too."""
    row = newest(12, income=[1e7] * 11 + [-2e7])

    assert (row["period_end"], row["method"]) == (date(2025, 12, 31), "difference")
    assert row["shares_basic"] == pytest.approx(109e6)
    assert row["shares_diluted"] == pytest.approx(114e6)
    assert row["net_income"] == pytest.approx(-2e7)


def test_a_fourth_quarter_far_from_its_year_is_not_taken():
    """Potential shares that a loss left out of earlier quarters: the year's average stands."""
    counts = [100e6] * 11 + [200e6]
    row = newest(12, {SHARES: counts, DILUTED: counts})

    assert row["method"] == "year_to_date"
    assert 120e6 < row["shares_diluted"] < 130e6


def test_annual_reports_alone_tell_the_year():
    row = newest(12, annual_only=True, annual_form="20-F")

    assert row["method"] == "year_to_date"
    assert row["shares_basic"] == pytest.approx(110.5e6, rel=1e-3)


def test_whether_a_company_has_diluted_shares():
    assert newest(10)["has_diluted"]
    row = newest(10, {SHARES: [1e6] * 12})
    assert (row["has_diluted"], row["shares_diluted"], row["shares_basic"]) == (False, None, 1e6)


@pytest.mark.parametrize(("last", "has_diluted"), [(5, False), (8, True)])
def test_a_year_without_diluted_shares_says_that_there_are_none(last, has_diluted):
    """Stated up to some quarter, and then the basic count alone: a quarter without tells nothing, a year does."""
    filer = Filer(ENDS[:10], {REVENUE: [1e8] * 10}, {SHARES: [1e6] * 10, DILUTED: [1e6] * 10})
    rows = [row for row in filer.rows() if row["tag"] != DILUTED or row["filed"] < str(ENDS[last])]

    assert standardize(raw(rows)).latest_shares["has_diluted"].to_list() == [has_diluted]


def test_no_counts_no_row():
    assert newest(10, {}) == {}


def test_counts_are_on_the_newest_share_basis():
    """A split of four in the ninth quarter: its report restates the comparatives, and later counts are on its basis."""
    filer = Filer(ENDS[:9], {REVENUE: [1e8] * 9, NET_INCOME: [1e7] * 9}, {SHARES: [1e8] * 9, DILUTED: [1e8] * 9})
    last = max(row["filed"] for row in filer.rows())
    is_new = (pl.col("filed") == last) & (pl.col("unit") == "shares")
    facts = filer.facts().with_columns(value=pl.when(is_new).then(pl.col("value") * 4).otherwise("value"))

    assert standardize(facts).latest_shares["shares_diluted"].to_list() == [4e8]
