"""Splits are what filings prove: restated share counts, more than one of them."""

import polars as pl
import pytest

from pipelines.normalize.shares import basis as share_basis
from pipelines.normalize.shares import splits
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
        "2 restated figures, among them shares_basic 2022-01-01..2022-12-31"
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
            "cik": [1] * 4 + [2],
            "seq": pl.Series([0, 1, 2, 3, 0], dtype=pl.Int32),
            "value": [1.0] * 5,
            "grain": [0.1] * 5,
            "measure_sign": [1] * 5,
        }
    )
    found = pl.DataFrame({"cik": [1, 1], "effective_seq": pl.Series([1, 3], dtype=pl.Int32), "ratio": [7.0, 4.0]})

    shares = share_basis.on_newest_basis(vintages, found).sort("cik", "seq")
    per_share = share_basis.on_newest_basis(vintages.with_columns(measure_sign=pl.lit(-1)), found).sort("cik", "seq")
    money = share_basis.on_newest_basis(vintages.with_columns(measure_sign=pl.lit(0)), found)

    assert shares["value"].to_list() == [28.0, 4.0, 4.0, 1.0, 1.0]
    assert per_share["value"].to_list() == pytest.approx([1 / 28, 0.25, 0.25, 1.0, 1.0])
    assert per_share["grain"].to_list() == pytest.approx([0.1 / 28, 0.025, 0.025, 0.1, 0.1])
    assert money["value"].to_list() == [1.0] * 5


# --- Many splits, and few witnesses


def restating(quarters: int = 24, tags: tuple[str, ...] = (SHARES, DILUTED)) -> Filer:
    """Six years from 2015 on of a count that hardly changes, each report on the basis of its day."""
    return Filer(
        month_ends(2015, quarters),
        {REVENUE: [1e9] * quarters, NET_INCOME: [1e8] * quarters},
        {tag: [400e6 * 1.002**n for n in range(quarters)] for tag in tags},
    )


def on_basis_of_their_day(company: Filer, splits_at: dict[str, float]) -> list[dict]:
    """The rows of the company, whose counts are of 2015: each report after the splits until its day."""
    rows = []
    for row in company.rows():
        factor = 1.0
        for effective, ratio in splits_at.items():
            factor *= ratio if row["filed"] >= effective else 1.0
        by = {"shares": factor, "USD/shares": 1 / factor}.get(row["unit"], 1.0)
        rows.append({**row, "value": round(row["value"] * by, 6)})
    return rows


@pytest.mark.parametrize(
    "splits_at",
    [
        {"2018-05-01": 2.0, "2018-08-01": 3.0},
        {"2018-05-20": 2.0, "2018-11-20": 2.0},
        {f"{year}-05-30": 1.5 for year in range(2016, 2021)},
        {f"{year}-04-07": 1.03 for year in range(2016, 2021)},
        {f"{year}-08-02": 1 / 5 for year in range(2016, 2019)},
    ],
    ids=["in two quarters", "half a year apart", "3:2 each year", "three per cent each year", "reverse each year"],
)
def test_splits_whose_comparatives_overlap_are_told_apart(splits_at):
    """A period is shown again after a year, with all splits since: what they multiply to is taken apart."""
    found = standardized(raw(on_basis_of_their_day(restating(), splits_at)))

    rows = found.found.splits.select("ratio", "effective_after", "effective_by").rows()
    assert [ratio for ratio, _, _ in rows] == pytest.approx(list(splits_at.values()))
    assert all(after < day(effective) <= by for (_, after, by), effective in zip(rows, splits_at, strict=True))
    counts = found.values.filter(item="shares_basic").sort("period_end")["value"].to_list()
    assert max(counts) / min(counts) < 1.1


@pytest.mark.parametrize("ratio", [7 / 5, 5 / 2, 1 / 65, 2.0473])
def test_unusual_ratios_are_splits_where_all_periods_agree(ratio):
    """An exchange of shares when a holding company takes the place of a bank has any ratio."""
    company, splits_at = restating(), {"2018-05-01": ratio}

    found = standardized(raw(on_basis_of_their_day(company, splits_at))).found.splits

    assert found.select("ratio", "effective_by").rows() == [(pytest.approx(ratio, rel=1e-6), day("2018-05-10"))]


def test_a_correction_of_counts_is_no_split():
    """40,000 shares more in every period are no ratio."""
    company = restating()
    rows = [
        {**row, "value": row["value"] + 10e6} if row["unit"] == "shares" and row["filed"] > "2018-05-01" else row
        for row in company.rows()
    ]

    assert standardized(raw(rows)).found.splits.is_empty()


@pytest.mark.parametrize("tags", [(SHARES, DILUTED), (DILUTED,)])
def test_potential_shares_counted_anew_are_no_split(tags):
    """Convertible debt counts as if converted since 2022: diluted counts alone are restated, by four per cent."""
    rows = [
        {**row, "value": row["value"] * 1.04} if row["tag"] == DILUTED and row["filed"] > "2018-05-01" else row
        for row in restating(tags=tags).rows()
    ]

    assert standardized(raw(rows)).found.splits.is_empty()


def test_earnings_per_share_tell_of_a_split_where_no_count_is_stated():
    """Companies with classes of shares state counts for each class alone, which are not among the facts."""
    company = Filer(
        month_ends(2018, 16),
        {REVENUE: [1e9] * 16, NET_INCOME: [1e8] * 16, EPS: [11.24, 12.36, 13.48, 14.52] * 4},
    )

    found = standardized(raw(on_basis_of_their_day(company, {"2020-08-01": 4.0})))

    assert found.found.splits.select("ratio", "effective_by").rows() == [(4.0, day("2020-08-09"))]
    years = found.values.filter(item="eps_basic", period_kind="annual")["value"].to_list()
    assert years == pytest.approx([51.6 / 4] * 4)


@pytest.mark.parametrize("quarters", [13, 24], ids=["filed last", "among others"])
def test_an_amendment_is_on_the_basis_of_the_report_that_it_repeats(quarters):
    """A report amended after a split may repeat the counts of before: it proves nothing, and is as old as they are."""
    company, splits_at = restating(quarters), {"2018-05-01": 2.0}
    rows = on_basis_of_their_day(company, splits_at)
    amended = [
        {**row, "form": "10-K/A", "filed": "2018-06-01", "accession": "amended"}
        for row in rows
        if row["filed"] == "2018-03-01"
    ]

    found = standardized(raw(rows, amended))

    assert found.found.splits.select("ratio", "effective_by").rows() == [(2.0, day("2018-05-10"))]
    counts = found.values.filter(item="shares_basic")["value"].to_list()
    assert max(counts) / min(counts) < 1.1
    assert set(found.found.versions["basis"]) <= {row["accession"] for row in rows}
