"""Filed facts, made comparable: typed, in the reporting currency, in the order of filing, as concepts.

Belongs here: which forms and units count, in which order filings follow each other, and which source of a
concept a filing states.
Does not: which fiscal period a fact belongs to (calendar), share basis (share_basis), arithmetic (flows, balances).
"""

import polars as pl

from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.facts import notes

PERIODIC_FORMS = ("10-K", "10-Q", "10-KT", "10-QT", "20-F", "40-F")
CURRENT_FORMS = ("8-K", "6-K")
"""Current reports: recasts after a change of segments or a disposal, and interim reports of foreign issuers."""
ANNUAL_FORMS = ("10-K", "10-KT", "20-F", "40-F")
AMENDMENT = "/A"

RAW_SCHEMA = pl.Schema(
    {
        "cik": pl.String,
        "taxonomy": pl.String,
        "tag": pl.String,
        "unit": pl.String,
        "start": pl.String,
        "end": pl.String,
        "value": pl.Float64,
        "accession": pl.String,
        "fy": pl.Int32,
        "form": pl.String,
        "filed": pl.String,
    }
)
"""One row a fact as filed: the columns that the decoder of companyfacts gives."""

SLOT_OF_FILING = ["cik", "seq", "start", "end", "concept"]
LARGEST_POWER, SMALLEST_POWER = 9, -4
SIGNIFICANT_DIGITS = 3
SCALES = (1e3, 1e4, 1e5, 1e6)
AMOUNTS_THAT_TELL = 10

CURRENCY_DAYS = 800
"""Two annual reports and what lies between: so long a company has kept its books in the currency it is served in."""

SAME_AMOUNT = 0.005
MOSTLY = 0.5


def typed(raw: pl.DataFrame) -> pl.DataFrame:
    """Facts of periodic and current reports with dates, and the measure that their unit makes them.

    Args:
        raw: facts as filed, columns of RAW_SCHEMA.

    Returns:
        the same with `start` (null for an instant), `end`, `filed` as dates, `form` without its amendment mark,
        `amended`, `measure` (money, per_share, shares), `currency` (null for shares). Left out: other forms,
        for proxies and prospectuses round and restate freely; units that are no measure; and facts whose period
        ends after their filing, which belong to cover pages and subsequent events.
    """
    currency = pl.col("unit").str.extract(r"^([A-Z]{3})(?:/shares)?$")
    return (
        raw.with_columns(
            pl.col("cik").cast(pl.Int64),
            pl.col("start", "end", "filed").str.to_date("%Y-%m-%d"),
            amended=pl.col("form").str.ends_with(AMENDMENT),
            form_family=pl.col("form").str.strip_suffix(AMENDMENT),
            currency=currency,
            measure=pl.when(pl.col("unit") == "shares")
            .then(pl.lit("shares"))
            .when(currency.is_null())
            .then(None)
            .when(pl.col("unit").str.ends_with("/shares"))
            .then(pl.lit("per_share"))
            .otherwise(pl.lit("money")),
        )
        .filter(
            pl.col("form_family").is_in([*PERIODIC_FORMS, *CURRENT_FORMS]),
            pl.col("measure").is_not_null(),
            pl.col("end") <= pl.col("filed"),
        )
        .unique(["cik", "taxonomy", "tag", "unit", "start", "end", "accession"], keep="last", maintain_order=True)
    )


def reporting_currency(facts: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `currency`: the one of most monetary facts in the filings of the newest years.

    A convenience translation covers the newest year only, and comparatives do not have it, so the majority is the
    currency of the books. A company that changed it has left the former one behind.
    """
    newest = pl.col("filed").max().over("cik")
    return (
        facts.filter(pl.col("measure") == "money", newest - pl.col("filed") <= pl.duration(days=CURRENCY_DAYS))
        .group_by("cik", "currency")
        .len()
        .sort("cik", "len", "currency", descending=[False, True, False])
        .group_by("cik", maintain_order=True)
        .agg(pl.col("currency").first())
    )


def in_currency(facts: pl.DataFrame, currencies: pl.DataFrame) -> pl.DataFrame:
    """The facts in their company's reporting currency, and those in shares; others are never mixed in."""
    return (
        facts.join(currencies.rename({"currency": "reporting"}), on="cik")
        .filter(pl.col("currency").is_null() | (pl.col("currency") == pl.col("reporting")))
        .drop("reporting")
    )


def in_filing_order(facts: pl.DataFrame, accepted: pl.DataFrame | None = None) -> pl.DataFrame:
    """Add `seq`: the filing's place among the company's filings, by date, acceptance, amendments last.

    The year inside an accession number is no date, so accession numbers only break ties.

    Args:
        facts: typed facts.
        accepted: `accession`, `accepted_at` where the submissions tell.
    """
    filings = facts.select("cik", "accession", "filed", "amended").unique(["cik", "accession"], maintain_order=True)
    if accepted is not None:
        filings = filings.join(accepted.unique("accession"), on="accession", how="left", maintain_order="left")
    else:
        filings = filings.with_columns(accepted_at=pl.lit(None, pl.Datetime("us", "UTC")))
    numbered = filings.sort("cik", "filed", "amended", "accepted_at", "accession", nulls_last=True).select(
        "cik", "accession", seq=pl.int_range(pl.len(), dtype=pl.Int32).over("cik")
    )
    return facts.join(numbered, on=["cik", "accession"])


def granularity(value: pl.Expr) -> pl.Expr:
    """The power of ten that a figure is stated to: 96,700,000,000 to 100,000,000; 1.5 to 0.1.

    A power that leaves fewer than three digits is not taken for rounding: 20,000,000 may be exact.
    """
    powers = [10.0**k for k in range(LARGEST_POWER, SMALLEST_POWER - 1, -1)]
    largest_fitting = pl.lit(powers[-1])
    for power in reversed(powers):
        enough_digits = (value.abs() >= power * 10 ** (SIGNIFICANT_DIGITS - 1)) | pl.lit(power <= 0.01)
        scaled = value / power
        whole = (scaled - scaled.round()).abs() < 1e-6
        largest_fitting = pl.when(enough_digits & whole).then(power).otherwise(largest_fitting)
    return largest_fitting


def _scale_of_filing() -> pl.Expr:
    """The power of ten that all amounts of money of a filing are multiples of, where there are enough to tell.

    Statements are shown in thousands or millions throughout: a small amount is rounded as much as a large one.
    """
    is_money = (pl.col("measure") == "money") & (pl.col("value") != 0)
    amount = pl.when(is_money).then(pl.col("value").abs())
    filing = ["cik", "seq"]
    scale = pl.lit(1.0)
    for power in SCALES:
        scale = pl.when((amount % power == 0).all().over(filing)).then(power).otherwise(scale)
    return pl.when(is_money & (is_money.sum().over(filing) >= AMOUNTS_THAT_TELL)).then(scale)


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
        matched.with_columns(grain=pl.max_horizontal(granularity(pl.col("value")), _scale_of_filing()))
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
