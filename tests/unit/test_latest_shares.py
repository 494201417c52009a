"""The average shares of the newest quarter, which the fair value per share is divided by."""

from datetime import date
from typing import Any

import polars as pl
import pytest

from pipelines.normalize.frames import FRAMES
from pipelines.normalize.pipeline import standardize
from tests.factories import DILUTED, NET_INCOME, REVENUE, SHARES, Filer, month_ends, of_companies, raw

ENDS = month_ends(2023, 12)
FALLING = [(120 - number) * 1e6 for number in range(12)]
FAR = [100e6] * 11 + [200e6]


def filer(quarters: int, means: dict[str, list[float]] | None = None, **more: Any) -> Filer:
    """A company that has reported this many quarters; counts fall by a million each."""
    counts = means if means is not None else {SHARES: FALLING, DILUTED: [count + 5e6 for count in FALLING]}
    return Filer(
        ENDS[:quarters],
        {REVENUE: [1e8] * quarters, NET_INCOME: more.pop("income", [1e7] * 12)[:quarters]},
        {tag: amounts[:quarters] for tag, amounts in counts.items()},
        **more,
    )


def without_diluted_since(last: int) -> pl.DataFrame:
    """Diluted shares are stated up to some quarter, then only the basic count."""
    company = Filer(ENDS[:10], {REVENUE: [1e8] * 10}, {SHARES: [1e6] * 10, DILUTED: [1e6] * 10})
    return raw([row for row in company.rows() if row["tag"] != DILUTED or row["filed"] < str(ENDS[last])])


def split_in_the_ninth_quarter() -> pl.DataFrame:
    """A four-for-one split: the report restates the comparatives, and later counts are on its basis."""
    company = Filer(ENDS[:9], {REVENUE: [1e8] * 9, NET_INCOME: [1e7] * 9}, {SHARES: [1e8] * 9, DILUTED: [1e8] * 9})
    last = max(row["filed"] for row in company.rows())
    is_new = (pl.col("filed") == last) & (pl.col("unit") == "shares")
    return company.facts().with_columns(value=pl.when(is_new).then(pl.col("value") * 4).otherwise("value"))


CASES = {
    **{f"{quarters} quarters": filer(quarters).facts() for quarters in (9, 10, 11)},
    "a year with a loss at its end": filer(12, income=[1e7] * 11 + [-2e7]).facts(),
    "a fourth quarter far from its year": filer(12, {SHARES: FAR, DILUTED: FAR}).facts(),
    "annual reports alone": filer(12, annual_only=True, annual_form="20-F").facts(),
    "basic counts alone": filer(10, {SHARES: [1e6] * 12}).facts(),
    "no counts": filer(10, {}).facts(),
    "no diluted counts for a year": without_diluted_since(5),
    "no diluted counts for a quarter": without_diluted_since(8),
    "a split": split_in_the_ninth_quarter(),
}


@pytest.fixture(scope="module")
def latest() -> dict[str, dict[str, Any]]:
    """The row of each case; empty if there is no row."""
    facts, ciks = of_companies(CASES)
    found = standardize(facts).latest_shares
    assert found.schema == {**FRAMES["latest_shares"].types, "cik": pl.String, "class_member": pl.String}
    rows = {row["cik"]: row for row in found.rows(named=True)}
    return {name: rows.get(cik, {}) for name, cik in ciks.items()}


EXPECTED = {
    **{
        f"{quarters} quarters": {
            "period_end": ENDS[quarters - 1],
            "method": "quarter",
            "shares_basic": (121 - quarters) * 1e6,
            "shares_diluted": (126 - quarters) * 1e6,
            "net_income": 1e7,
            "has_diluted": True,
        }
        for quarters in (9, 10, 11)
    },
    # an annual report states the year; the fourth quarter is derived by days, and its income, too
    "a year with a loss at its end": {
        "period_end": date(2025, 12, 31),
        "method": "difference",
        "shares_basic": pytest.approx(109e6),
        "shares_diluted": pytest.approx(114e6),
        "net_income": pytest.approx(-2e7),
    },
    # potential shares that a loss left out of earlier quarters: the year's average is used
    "a fourth quarter far from its year": {
        "method": "year_to_date",
        "shares_diluted": pytest.approx(125e6, abs=5e6),
    },
    "annual reports alone": {"method": "year_to_date", "shares_basic": pytest.approx(110.5e6, rel=1e-3)},
    "basic counts alone": {"has_diluted": False, "shares_diluted": None, "shares_basic": 1e6},
    # a quarter without diluted shares, after quarters with them, proves nothing; a year without them does
    "no diluted counts for a year": {"has_diluted": False},
    "no diluted counts for a quarter": {"has_diluted": True},
    "a split": {"shares_diluted": 4e8},
}


@pytest.mark.parametrize(("name", "expected"), EXPECTED.items(), ids=EXPECTED)
def test_the_shares_of_the_newest_quarter(latest, name, expected):
    assert {column: latest[name][column] for column in expected} == expected


def test_without_counts_there_is_no_row(latest):
    assert latest["no counts"] == {}
