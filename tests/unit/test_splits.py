"""Splits are what filings prove: restated share counts, more than one of them."""

import polars as pl
import pytest

from pipelines.normalize import splits
from tests.factories import (
    DILUTED,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    day,
    fact,
    month_ends,
    raw,
    standardized,
    stated,
    value_of,
)

BEFORE, AFTER = "2023-02-20", "2024-02-20"


def averages(ratio: float, *, years: int = 2, tags: tuple[str, ...] = (SHARES,), after: str = AFTER) -> list[dict]:
    """Annual averages of some years as filed before, and again after, times the ratio."""
    rows = []
    for filed, factor in ((BEFORE, 1.0), (after, ratio)):
        for year in range(2022 - years + 1, 2023):
            rows += [
                fact(tag, (100 + year - 2000) * 1e6 * factor, f"{year}-01-01", f"{year}-12-31", filed=filed)
                for tag in tags
            ]
    return rows


def inferred(rows: list[dict]) -> list[tuple]:
    vintages, _ = stated(raw(rows, fact(REVENUE, 1e6, "2022-01-01", "2022-12-31", filed=BEFORE)))
    return (
        splits.infer_splits(vintages.with_columns(regime=0)).select("ratio", "effective_after", "effective_by").rows()
    )


@pytest.mark.parametrize("ratio", [2, 3, 1.5, 7, 10, 20, 50, 1 / 8, 1 / 25])
def test_a_ratio_between_two_filings_is_a_split(ratio):
    """Forward or reverse; it took effect between the filings."""
    assert inferred(averages(ratio)) == [(pytest.approx(ratio), day(BEFORE), day(AFTER))]


def test_rounding_does_not_hide_a_split():
    """Averages in millions, restated in thousands, are a little off the ratio."""
    assert inferred(averages(4.005))[0][0] == 4


@pytest.mark.parametrize("ratio", [1000, 1 / 1000, 1e6, 1.0, 1.05, 1.3, 2.2])
def test_errors_of_scale_and_stock_dividends_are_no_splits(ratio):
    assert inferred(averages(ratio)) == []


def test_one_witness_is_not_enough():
    """A single restated average may be an error; the diluted one beside it is a second witness."""
    assert inferred(averages(4, years=1)) == []
    assert len(inferred(averages(4, years=1, tags=(SHARES, DILUTED)))) == 1


def test_the_evidence_names_its_witnesses():
    vintages, _ = stated(raw(averages(4), fact(REVENUE, 1e6, "2022-01-01", "2022-12-31", filed=BEFORE)))

    assert splits.infer_splits(vintages.with_columns(regime=0))["evidence"].to_list() == [
        "2 restated averages, among them shares_basic 2022-01-01..2022-12-31"
    ]


def test_two_splits_of_one_ratio_are_two_events():
    """2:1 and years later 2:1 again: each between filings of its own."""
    first = averages(2)
    second = [
        fact(SHARES, value, f"{year}-01-01", f"{year}-12-31", filed=filed)
        for filed, factor in (("2024-08-20", 1), ("2025-02-20", 2))
        for year, value in ((2023, 300e6 * factor), (2024, 310e6 * factor))
        if f"{year}-12-31" < filed
    ]
    more = [
        fact(SHARES, 300e6 * factor, "2023-10-01", "2023-12-31", filed=filed, form="10-Q")
        for filed, factor in (("2024-08-20", 1), ("2025-02-20", 2))
    ]

    assert inferred([*first, *second, *more]) == [
        (2.0, day(BEFORE), day(AFTER)),
        (2.0, day("2024-08-20"), day("2025-02-20")),
    ]


# --- One basis


def split_company() -> Filer:
    """Ten quarters, all on the newest basis."""
    return Filer(
        month_ends(2021, 10),
        {REVENUE: [1e9] * 10, NET_INCOME: [1e8] * 10, EPS: [0.25] * 10, DIVIDENDS: [0.05] * 10},
        {SHARES: [400e6] * 10, DILUTED: [400e6] * 10},
    )


def as_filed(company: Filer, ratio: float, effective: str) -> pl.DataFrame:
    """What it filed before the split was on the old basis."""
    old = pl.col("filed") < effective
    scale = (
        pl.when(pl.col("unit") == "shares")
        .then(1 / ratio)
        .when(pl.col("unit") == "USD/shares")
        .then(ratio)
        .otherwise(1.0)
    )
    return company.facts().with_columns(value=pl.when(old).then(pl.col("value") * scale).otherwise("value"))


@pytest.mark.parametrize("ratio", [4, 0.125])
def test_the_whole_series_is_on_the_newest_basis(ratio):
    """Per-share amounts and share counts have no cliff, years that were never restated included; money is untouched."""
    company = split_company()
    rows = as_filed(company, ratio, effective="2023-05-01")

    found, as_if_always = standardized(rows), standardized(company.facts())

    assert found.found.splits["ratio"].to_list() == [ratio]
    columns = ["period_kind", "period_end", "item", "value"]
    assert found.values.select(columns).sort(columns).rows() == as_if_always.values.select(columns).sort(columns).rows()


def test_a_split_between_the_legs_of_twelve_months():
    """The year on the old basis, the running quarters on the new one: four quarters of 0.25 are 1.00, not 3.25."""
    rows = as_filed(split_company(), 4, effective="2023-05-01")

    assert value_of(standardized(rows), "eps_basic", "ttm", "2023-03-31") == 1.0


def test_the_lineage_keeps_what_the_filing_said():
    rows = as_filed(split_company(), 4, effective="2023-05-01")

    found = standardized(rows).lineage.filter(item="eps_basic", period_kind="annual", period_end=day("2021-12-31"))

    assert found["value"].to_list() == [4.0]


def test_successive_splits_multiply():
    vintages = pl.DataFrame(
        {
            "cik": ["1"] * 4 + ["2"],
            "seq": [0, 1, 2, 3, 0],
            "value": [1.0] * 5,
            "grain": [0.1] * 5,
            "measure_sign": [1] * 5,
        }
    )
    found = pl.DataFrame({"cik": ["1", "1"], "effective_seq": [1, 3], "ratio": [7.0, 4.0]})

    shares = splits.on_newest_basis(vintages, found).sort("cik", "seq")
    per_share = splits.on_newest_basis(vintages.with_columns(measure_sign=pl.lit(-1)), found).sort("cik", "seq")
    money = splits.on_newest_basis(vintages.with_columns(measure_sign=pl.lit(0)), found)

    assert shares["value"].to_list() == [28.0, 4.0, 4.0, 1.0, 1.0]
    assert per_share["value"].to_list() == pytest.approx([1 / 28, 0.25, 0.25, 1.0, 1.0])
    assert per_share["grain"].to_list() == pytest.approx([0.1 / 28, 0.025, 0.025, 0.1, 0.1])
    assert money["value"].to_list() == [1.0] * 5
