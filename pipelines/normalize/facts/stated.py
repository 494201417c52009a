"""Stated concepts: what each filing states for each concept and period.

Belongs here: which source of a concept a filing's value comes from. Does not: which elements are the sources of a
concept (elements), which facts count (reports), arithmetic on values (ttm, balance).
"""

import polars as pl

from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.facts import notes
from pipelines.normalize.facts.precision import granularity, scale_of_filing
from pipelines.normalize.facts.reports import PERIODIC_FORMS

SLOT_OF_FILING = ["cik", "seq", "start", "end", "concept"]

SAME_AMOUNT = 0.005
MOSTLY = 0.5


def stated_concepts(facts: pl.DataFrame, of_industry: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What each filing states for each concept and period: its best source.

    Args:
        facts: typed facts in filing order, one currency a company.
        of_industry: `cik`, `seq`, `industry` (industries.industries).

    Returns:
        vintages: one row a filing, concept and period: `vintage` (id), `cik`, `seq`, `concept`, `start`, `end`,
            `value` (units), `grain` (the power of ten it is stated to), `rank` of the source, `filed`,
            `periodic` (in a periodic report), `amended`, `other_source` (the source is, for this company, another
            amount than the best one that it has stated so far).
        legs: the facts behind each: `vintage`, `tag` (with its taxonomy), `unit`, `start`, `end`, `value`,
            `coefficient`, `accession`, `form`, `filed`.
    """
    matched = facts.join(of_industry, on=["cik", "seq"]).join(
        _ELEMENTS, on=["taxonomy", "tag", "measure", "industry"], how="inner"
    )
    # zero is no average number of shares: it stands where the figure was left out
    is_count = (pl.col("measure") != "shares") | (pl.col("value") > 0)
    matched = _without_repetitions(matched.filter(pl.col("start").is_null() == pl.col("instant"), is_count))
    candidates = (
        matched.with_columns(grain=pl.max_horizontal(granularity(pl.col("value")), scale_of_filing()))
        .group_by(*SLOT_OF_FILING, "rank")
        .agg(
            value=(pl.col("value") * pl.col("coefficient")).sum(),
            floor=pl.col("value").filter(pl.col("coefficient") == 0, pl.col("needed") == 0).max(),
            grain=pl.col("grain").filter(pl.col("coefficient") != 0).max(),
            present=pl.col("needed").sum(),
            wanted=pl.col("wanted").first(),
            filed=pl.col("filed").first(),
            periodic=pl.col("form_family").first().is_in(PERIODIC_FORMS),
            amended=pl.col("amended").first(),
            signature=pl.col("tag").filter(pl.col("coefficient") != 0).sort().str.join("+"),
        )
        .filter(
            pl.col("present") == pl.col("wanted"),
            pl.col("floor").is_null() | (pl.col("value") >= pl.col("floor") * (1 - SAME_AMOUNT)),
        )
    )
    candidates = notes.without_notes(candidates, SLOT_OF_FILING)
    best = (
        candidates.sort(*SLOT_OF_FILING, "rank")
        .unique(SLOT_OF_FILING, keep="first", maintain_order=True)
        .drop("present", "wanted", "floor")
    )
    vintages = _without_lesser_repetitions(best, candidates).with_row_index("vintage")
    legs = (
        matched.filter(pl.col("coefficient") != 0)
        .join(vintages.select("vintage", *SLOT_OF_FILING, "rank"), on=[*SLOT_OF_FILING, "rank"], nulls_equal=True)
        .select(
            "vintage",
            pl.concat_str("taxonomy", "tag", separator=":").alias("tag"),
            "unit",
            "start",
            "end",
            "value",
            "coefficient",
            "accession",
            "form",
            "filed",
        )
    )
    return vintages, legs.sort("vintage", "tag")


def _without_repetitions(matched: pl.DataFrame) -> pl.DataFrame:
    """Leave out what is added where present and repeats another amount of its source: one amount under two elements."""
    adds, is_optional = pl.col("coefficient") > 0, pl.col("needed") == 0
    same_amount = [*SLOT_OF_FILING, "rank", "value", "coefficient"]
    ordered = matched.sort(is_optional, "tag", maintain_order=True)
    return ordered.filter(
        ~adds | ~is_optional | (pl.col("value") == 0) | (pl.int_range(pl.len()).over(same_amount) == 0)
    )


def _without_lesser_repetitions(best: pl.DataFrame, candidates: pl.DataFrame) -> pl.DataFrame:
    """Leave out what a later filing states from a lesser source that, for this company, is another amount.

    Where its filings so far showed both sources side by side and they mostly differed (net income with and without
    minorities, sales with and without membership fees), the lesser one alone restates nothing.
    """
    pair, period = ["cik", "concept", "rank", "better"], ["cik", "concept", "start", "end"]
    beside = candidates.sort(*SLOT_OF_FILING, "rank").with_columns(
        better=pl.col("rank").first().over(SLOT_OF_FILING), better_value=pl.col("value").first().over(SLOT_OF_FILING)
    )
    differs = (pl.col("value") - pl.col("better_value")).abs() > SAME_AMOUNT * pl.col("better_value").abs()
    share = pl.col("differs").cast(pl.Float64).cum_sum() / pl.int_range(1, pl.len() + 1)
    told = (
        beside.filter(pl.col("rank") != pl.col("better"))
        .with_columns(differs=differs)
        .sort("seq")
        .select(*pair, "seq", mostly_differs=share.over(pair) > MOSTLY)
        .unique([*pair, "seq"], keep="last", maintain_order=True)
        .sort("seq")
    )
    return (
        best.sort(*period, "seq")
        .with_columns(better=pl.col("rank").cum_min().shift().over(period))
        .sort("seq")
        .join_asof(told, on="seq", by=pair, check_sortedness=False)
        .filter(~pl.col("mostly_differs").fill_null(value=False) | pl.col("corrects"))
        .drop("mostly_differs", "corrects")
        .with_columns(better=pl.col("rank").cum_min().over("cik", "concept"))
        .join_asof(told, on="seq", by=pair, check_sortedness=False)
        .with_columns(other_source=pl.col("mostly_differs").fill_null(value=False))
        .drop("better", "mostly_differs")
        .sort(SLOT_OF_FILING)
    )


def _element_table() -> pl.DataFrame:
    """CONCEPTS as rows: one an element of a source and industry."""
    rows = [
        {
            "taxonomy": source.taxonomy,
            "tag": element,
            "measure": concept.measure,
            "industry": industry,
            "concept": concept.name,
            "instant": concept.instant,
            "rank": rank,
            "coefficient": coefficient,
            "needed": needed,
            "wanted": len(source.elements) + len(source.minus) + len(source.where),
        }
        for concept in CONCEPTS
        for rank, source in enumerate(concept.sources)
        for industry in source.industries
        for elements, coefficient, needed in (
            (source.elements, 1.0, 1),
            (source.plus, 1.0, 0),
            (source.minus, -1.0, 1),
            (source.less, -1.0, 0),
            (source.at_least, 0.0, 0),
            (source.where, 0.0, 1),
        )
        for element in elements
    ]
    return pl.DataFrame(
        rows, schema_overrides={"concept": AMOUNT, "rank": pl.Int16, "needed": pl.Int16, "wanted": pl.Int16}
    )


_ELEMENTS = _element_table()
