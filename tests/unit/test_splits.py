"""Splits are inferred from restated share counts, confirmed by more than one figure."""

from dataclasses import dataclass
from math import prod

import polars as pl
import pytest

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
    of_companies,
    ordered_facts,
    raw,
    standardized,
    stated,
    value_of,
)
from tests.shapes.shares import with_options

BEFORE, AFTER = "2023-02-20", "2024-02-20"


def averages(ratio: float, *, years: int = 2, tags: tuple[str, ...] = (SHARES,), after: str = AFTER) -> list[dict]:
    """Annual averages of some years as filed before and as restated after, times the ratio."""
    rows = []
    for filed, factor in ((BEFORE, 1.0), (after, ratio)):
        for year in range(2022 - years + 1, 2023):
            rows += [
                fact(tag, (100 + year - 2000) * 1e6 * factor, f"{year}-01-01", f"{year}-12-31", filed=filed)
                for tag in tags
            ]
    return rows


def found_in(rows: list[dict]) -> pl.DataFrame:
    of_all = raw(rows, fact(REVENUE, 1e6, "2022-01-01", "2022-12-31", filed=BEFORE))
    vintages, _ = stated(of_all)
    return splits.infer_splits(vintages.with_columns(regime=0), ordered_facts(of_all))[0]


def inferred(rows: list[dict]) -> list[tuple]:
    return found_in(rows).select("ratio", "effective_after", "effective_by").rows()


@pytest.mark.parametrize(
    ("rows", "ratios"),
    [
        *((averages(ratio), [ratio]) for ratio in (2, 3, 1.5, 7, 10, 20, 50, 1 / 8, 1 / 25)),
        (averages(4.005), [4]),  # averages in millions, restated in thousands, differ a little from the ratio
        # errors of scale and stock dividends are none
        *((averages(ratio), []) for ratio in (1000, 1 / 1000, 1e6, 1.0, 1.05, 1.3, 2.2)),
        # an odd ratio needs three figures: basic counts of two quarters and of the half-year of Cullman 2021 were
        # exchanged for 2.84 shares each
        (averages(2.8409, years=3), [2.8409]),
        (averages(2.8409, years=2), []),
        # a single restated average may be an error; the diluted average is a second figure
        (averages(4, years=1), []),
        (averages(4, years=1, tags=(SHARES, DILUTED)), [4]),
    ],
)
def test_a_ratio_between_two_filings_is_a_split(rows, ratios):
    """A forward or reverse split, effective between the two filings."""
    assert inferred(rows) == [(pytest.approx(ratio), day(BEFORE), day(AFTER)) for ratio in ratios]


def test_options_prove_a_split_where_no_common_period_has_a_count():
    """Google in 2014: twice the options at half the price; the twelve months are on one basis."""
    found = standardized(raw(with_options()))

    of_split = found.found.splits.select("ratio", "effective_after", "effective_by", "rule").rows()
    assert of_split == [(2, day("2014-02-27"), day("2014-08-07"), "split.exact-ratio")]
    assert value_of(found, "eps_basic", "annual", "2013-12-31") == 19.41
    assert value_of(found, "eps_basic", "ttm", "2014-06-30") == 19.69


@pytest.mark.parametrize(
    "figures",
    [
        {"count": 10_065_728},
        {"price": 215.6},
        {"price": 431.0},
        {"count": 5_032_863 * 1.1, "price": 431 / 1.1},
        {"count": 5_032_863 * 1000, "price": 0.431},
        {"shares": 336_000_000},
    ],
    ids=["other count", "other price", "same price", "small ratio", "error of scale", "own count as before"],
)
def test_options_that_differ_otherwise_prove_no_split(figures):
    """To the last digit, by a usual ratio, and with as much of a change of the filing's own count."""
    assert inferred(with_options(**figures)) == []


def test_a_filing_without_counts_is_on_the_basis_of_its_earnings_per_share():
    """NorthEast Community 2021: the first report after the exchange states net income and earnings per share only."""
    own = ("2023-01-01", "2023-03-31")
    first = [
        fact(tag, value, *own, form="10-Q", filed="2023-05-10") for tag, value in ((NET_INCOME, 1e8), (EPS, 1 / 2.46))
    ]

    assert inferred([*averages(2, years=3), *first]) == [(2, day(BEFORE), day("2023-05-10"))]


def test_one_figure_is_enough_if_it_differs_to_the_last_digit_and_the_next_count_by_the_ratio_too():
    """Diluted shares of 2021, 127,364,735, and 1,273,647,350 in the next report, whose own count is 1,266,268,155."""
    year, own = ("2021-01-01", "2021-12-31"), ("2022-01-01", "2022-12-31")
    before = fact(DILUTED, 127_364_735, *year, filed="2022-02-16")
    after = fact(DILUTED, 1_273_647_350, *year, filed="2023-02-16")
    new, old = (fact(DILUTED, count, *own, filed="2023-02-16") for count in (1_266_268_155, 126_626_815))

    assert found_in([before, after, new])["ratio"].to_list() == [10.0]
    assert found_in([before, after, old]).is_empty()


def test_the_evidence_names_its_figures():
    assert found_in(averages(4))["evidence"].to_list() == [
        "2 restated figures, among them shares_basic 2022-01-01..2022-12-31"
    ]


@pytest.mark.parametrize(
    ("ratio", "rule"),
    [(4, "split.usual-ratio"), (1.1, "split.small-ratio"), (1.03, "split.small-ratio"), (2.0473, "split.odd-ratio")],
)
def test_the_rule_is_that_of_the_ratio(ratio, rule):
    """The smaller or less common the ratio, the more figures must prove it."""
    assert found_in(averages(ratio, years=4))["rule"].to_list() == [rule]


def test_two_splits_of_one_ratio_are_two_events():
    """Two 2:1 splits years apart, each between two filings."""
    second = [
        fact(SHARES, value * factor, start, end, filed=filed, form=form)
        for filed, factor in (("2024-08-20", 1), ("2025-02-20", 2))
        for form, start, end, value in (
            ("10-K", "2023-01-01", "2023-12-31", 300e6),
            ("10-K", "2024-01-01", "2024-12-31", 310e6),
            ("10-Q", "2023-10-01", "2023-12-31", 300e6),
        )
        if end < filed
    ]

    assert inferred([*averages(2), *second]) == [
        (2.0, day(BEFORE), day(AFTER)),
        (2.0, day("2024-08-20"), day("2025-02-20")),
    ]


# --- One basis


def as_filed(company: Filer, ratio: float, effective: str) -> pl.DataFrame:
    """The quarters as filed: before the split on the old basis."""
    by = {"shares": 1 / ratio, "USD/shares": ratio}
    scale = pl.col("unit").replace_strict(by, default=1.0, return_dtype=pl.Float64)
    old = pl.col("filed") < effective
    return company.facts().with_columns(value=pl.when(old).then(pl.col("value") * scale).otherwise("value"))


# --- Many splits and few figures


def restating(quarters: int = 24, tags: tuple[str, ...] = (SHARES, DILUTED)) -> Filer:
    """Six years from 2015 on with a nearly constant count, each report on the basis of its date."""
    return Filer(
        month_ends(2015, quarters),
        {REVENUE: [1e9] * quarters, NET_INCOME: [1e8] * quarters},
        {tag: [400e6 * 1.002**n for n in range(quarters)] for tag in tags},
    )


def on_basis_of_their_day(company: Filer, splits_at: dict[str, float]) -> list[dict]:
    """The rows of the company, whose counts are on the basis of 2015: each report after the splits until its date."""

    def by(row: dict) -> float:
        factor = prod(ratio for effective, ratio in splits_at.items() if row["filed"] >= effective)
        return {"shares": factor, "USD/shares": 1 / factor}.get(row["unit"], 1.0)

    return [{**row, "value": round(row["value"] * by(row), 6)} for row in company.rows()]


def changed_counts(company: Filer, tags: tuple[str, ...], more: float = 0.0, times: float = 1.0) -> list[dict]:
    """The rows of the company; reports since May 2018 state other counts under some elements."""
    return [
        {**row, "value": row["value"] * times + more} if row["tag"] in tags and row["filed"] > "2018-05-01" else row
        for row in company.rows()
    ]


def amended(company: Filer) -> list[dict]:
    """A 2:1 split in May 2018, and a report of March that is filed again in June on its old basis."""
    rows = on_basis_of_their_day(company, TWO_FOR_ONE)
    again = [
        {**row, "form": "10-K/A", "filed": "2018-06-01", "accession": "amended"}
        for row in rows
        if row["filed"] == "2018-03-01"
    ]
    return [*rows, *again]


TWO_FOR_ONE = {"2018-05-01": 2.0}
OVERLAPPING = {
    "in two quarters": {"2018-05-01": 2.0, "2018-08-01": 3.0},
    "half a year apart": {"2018-05-20": 2.0, "2018-11-20": 2.0},
    "3:2 each year": {f"{year}-05-30": 1.5 for year in range(2016, 2021)},
    "three per cent each year": {f"{year}-04-07": 1.03 for year in range(2016, 2021)},
    "reverse each year": {f"{year}-08-02": 1 / 5 for year in range(2016, 2019)},
}
UNUSUAL = (7 / 5, 5 / 2, 1 / 65, 2.0473)


SPLIT = Filer(
    month_ends(2021, 10),
    {REVENUE: [1e9] * 10, NET_INCOME: [1e8] * 10, EPS: [0.25] * 10, DIVIDENDS: [0.05] * 10},
    {SHARES: [400e6] * 10, DILUTED: [400e6] * 10},
)


"""Ten quarters, all on the newest basis."""

WITHOUT_COUNTS = Filer(
    month_ends(2018, 16),
    {REVENUE: [1e9] * 16, NET_INCOME: [1e8] * 16, EPS: [11.24, 12.36, 13.48, 14.52] * 4},
)

CASES: dict[str, pl.DataFrame | list[dict]] = {
    "never split": SPLIT.facts(),
    "split 4": as_filed(SPLIT, 4, "2023-05-01"),
    "split 0.125": as_filed(SPLIT, 0.125, "2023-05-01"),
    **{name: on_basis_of_their_day(restating(), splits_at) for name, splits_at in OVERLAPPING.items()},
    **{f"split {ratio:.4f}": on_basis_of_their_day(restating(), {"2018-05-01": ratio}) for ratio in UNUSUAL},
    "more shares": changed_counts(restating(), (SHARES, DILUTED), more=10e6),
    "more potential shares": changed_counts(restating(), (DILUTED,), times=1.04),
    "more potential shares alone": changed_counts(restating(tags=(DILUTED,)), (DILUTED,), times=1.04),
    "no counts": on_basis_of_their_day(WITHOUT_COUNTS, {"2020-08-01": 4.0}),
    "amended last": amended(restating(13)),
    "amended among others": amended(restating(24)),
}


@dataclass(frozen=True)
class Found:
    """The result of one case."""

    splits: pl.DataFrame
    values: pl.DataFrame
    lineage: pl.DataFrame
    versions: pl.DataFrame

    def counts(self) -> list[float]:
        """The average shares of each period, in order."""
        return self.values.filter(item="shares_basic").sort("period_end")["value"].to_list()


@pytest.fixture(scope="module")
def cases() -> dict[str, Found]:
    """All cases, computed in one call."""
    facts, ciks = of_companies(CASES)
    today = standardized(facts)
    tables = (today.found.splits.sort("effective_by"), today.values, today.lineage, today.found.versions)
    return {name: Found(*(table.filter(cik=cik) for table in tables)) for name, cik in ciks.items()}


@pytest.mark.parametrize("ratio", [4, 0.125])
def test_the_whole_series_is_on_the_newest_basis(cases, ratio):
    """Amounts per share and share counts have no jump, also in years that were never restated; money is unchanged."""
    found, as_if_always = cases[f"split {ratio}"], cases["never split"]

    assert found.splits["ratio"].to_list() == [ratio]
    columns = ["period_kind", "period_end", "item", "value"]
    assert found.values.select(columns).sort(columns).rows() == as_if_always.values.select(columns).sort(columns).rows()


def test_a_split_between_the_legs_of_twelve_months(cases):
    """The year on the old basis, the current quarters on the new one: four quarters of 0.25 are 1.00, not 3.25."""
    twelve_months = cases["split 4"].values.filter(item="eps_basic", period_kind="ttm", period_end=day("2023-03-31"))

    assert twelve_months["value"].to_list() == [1.0]


def test_the_lineage_keeps_the_values_as_filed(cases):
    found = cases["split 4"].lineage.filter(item="eps_basic", period_kind="annual", period_end=day("2021-12-31"))

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
    ).with_columns(concept=pl.lit("shares_basic"), amended=False, start=day("2021-01-01"), end=day("2021-12-31"))
    found = pl.DataFrame({"cik": [1, 1], "effective_seq": pl.Series([1, 3], dtype=pl.Int32), "ratio": [7.0, 4.0]})
    filings, _ = splits.share_factors(vintages.select("cik", "seq"), vintages, found)

    shares, per_share, money = (
        splits.on_newest_basis(vintages.with_columns(measure_sign=pl.lit(sign)), filings) for sign in (1, -1, 0)
    )

    assert shares["value"].to_list() == [28.0, 4.0, 4.0, 1.0, 1.0]
    assert per_share["value"].to_list() == pytest.approx([1 / 28, 0.25, 0.25, 1.0, 1.0])
    assert per_share["grain"].to_list() == pytest.approx([0.1 / 28, 0.025, 0.025, 0.1, 0.1])
    assert money["value"].to_list() == [1.0] * 5


@pytest.mark.parametrize("name", OVERLAPPING)
def test_splits_whose_comparatives_overlap_are_separated(cases, name):
    """A period is restated after a year for all splits since: their combined ratio is split into its factors."""
    splits_at, found = OVERLAPPING[name], cases[name]

    rows = found.splits.select("ratio", "effective_after", "effective_by").rows()
    assert [ratio for ratio, _, _ in rows] == pytest.approx(list(splits_at.values()))
    assert all(after < day(effective) <= by for (_, after, by), effective in zip(rows, splits_at, strict=True))
    assert max(found.counts()) / min(found.counts()) < 1.1


@pytest.mark.parametrize("ratio", UNUSUAL)
def test_unusual_ratios_are_splits_where_all_periods_agree(cases, ratio):
    """An exchange of shares may have any ratio, as when a holding company takes over the shares of a bank."""
    found = cases[f"split {ratio:.4f}"].splits

    assert found.select("ratio", "effective_by").rows() == [(pytest.approx(ratio, rel=1e-6), day("2018-05-10"))]


@pytest.mark.parametrize("name", ["more shares", "more potential shares", "more potential shares alone"])
def test_a_correction_or_a_recount_of_counts_is_no_split(cases, name):
    """40,000 shares more in every period have no common ratio. Since 2022 convertible debt counts as if converted: only
    diluted counts are restated, by four per cent."""
    assert cases[name].splits.is_empty()


def test_earnings_per_share_prove_a_split_where_no_count_is_stated(cases):
    """Companies with several share classes state counts per class only, which are not among the facts."""
    found = cases["no counts"]

    of_split = found.splits.select("ratio", "effective_by", "rule").rows()
    assert of_split == [(4.0, day("2020-08-09"), "split.usual-ratio")]
    years = found.values.filter(item="eps_basic", period_kind="annual")["value"].to_list()
    assert years == pytest.approx([51.6 / 4] * 4)


@pytest.mark.parametrize("name", ["amended last", "amended among others"])
def test_an_amendment_is_on_the_basis_of_the_report_that_it_repeats(cases, name):
    """An amended report filed after a split may repeat the old counts: it proves no split, and is on the old basis."""
    found = cases[name]

    assert found.splits.select("ratio", "effective_by").rows() == [(2.0, day("2018-05-10"))]
    assert max(found.counts()) / min(found.counts()) < 1.1
    assert not [accession for accession in found.versions["basis"].unique() if accession.endswith("amended")]
