"""Share counts and earnings per share that are a thousand or a million times off, and what proves it."""

import polars as pl
import pytest

from pipelines.normalize.scale import repaired
from tests.factories import DILUTED, EPS, NET_INCOME, SHARES, fact, raw, stated

YEARS = [("2021-01-01", "2021-12-31", "2022-02-20"), ("2022-01-01", "2022-12-31", "2023-02-20")]
COUNT, INCOME, EARNINGS = 40_000_000.0, 90_000_000.0, 2.25


def annual_report(year, count=COUNT, earnings=EARNINGS, income=INCOME, diluted=None):
    start, end, filed = YEARS[year]
    figures = {SHARES: count, EPS: earnings, NET_INCOME: income, DILUTED: diluted}
    return [fact(tag, value, start, end, filed=filed) for tag, value in figures.items() if value is not None]


def in_units(*reports):
    vintages, _ = stated(raw(*reports))
    found = repaired(vintages)
    return {
        (concept, f"{end:%Y}"): (value, repair)
        for concept, end, value, repair in found.select("concept", "end", "value", "repair").iter_rows()
    }


@pytest.mark.parametrize("power", [3, 6, -3])
def test_income_over_earnings_is_the_share_count(power):
    """A count that is 10^3 or 10^6 away from net income over earnings per share of its own filing is repaired."""
    found = in_units(annual_report(0, count=COUNT / 10**power))

    assert found["shares_basic", "2021"] == pytest.approx((COUNT, 10.0**power))
    assert found["eps_basic", "2021"] == (EARNINGS, 1.0)


def test_earnings_are_repaired_where_the_count_fits_those_before():
    """The count agrees with the year before; then 2,250 a share is the error."""
    found = in_units(annual_report(0), annual_report(1, earnings=EARNINGS * 1000))

    assert found["eps_basic", "2022"] == pytest.approx((EARNINGS, 0.001))
    assert found["shares_basic", "2022"] == (COUNT, 1.0)


def test_a_count_without_earnings_is_held_against_the_one_before():
    found = in_units(annual_report(0), annual_report(1, count=COUNT / 1000, earnings=None))

    assert found["shares_basic", "2022"] == pytest.approx((COUNT, 1000.0))


def test_later_filings_repair_nothing_before_them():
    """What was known on a day does not depend on what was filed after it."""
    found = in_units(annual_report(0, count=COUNT / 1000, earnings=None), annual_report(1))

    assert found["shares_basic", "2021"] == (COUNT / 1000, 1.0)


@pytest.mark.parametrize(
    "report",
    [
        annual_report(0, count=COUNT * 4, earnings=EARNINGS / 4),  # a split
        annual_report(0, count=COUNT * 50),  # no power of a thousand: another error, not ours to guess
        annual_report(0, count=COUNT / 1000, earnings=0.01),  # a cent a share may be half of one
        annual_report(0, count=COUNT / 1000, income=-INCOME),  # a profit a share beside a loss proves nothing
    ],
)
def test_what_proves_nothing_repairs_nothing(report):
    assert {repair for _, repair in in_units(report).values()} == {1.0}


def test_diluted_counts_are_repaired_by_basic_earnings():
    """Dilution moves a count by far less than a power of a thousand."""
    found = in_units(annual_report(0, diluted=COUNT * 1.1 / 1000))

    assert found["shares_diluted", "2021"] == pytest.approx((COUNT * 1.1, 1000.0))


def test_money_is_never_touched():
    vintages, _ = stated(raw(annual_report(0, count=COUNT / 1000)))

    money = repaired(vintages).filter(pl.col("concept") == "net_income_parent")

    assert money.select("value", "repair").rows() == [(INCOME, 1.0)]
