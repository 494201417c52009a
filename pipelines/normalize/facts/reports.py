"""Reports: the facts of periodic and current reports, with dates and measures, in one currency, in the order of filing.

Belongs here: the columns of filed facts, which forms, units and currencies count, the order of filings. Does not:
conversion (no amount is converted), which concept a fact states (stated), the share basis of a filing (shares.splits).
"""

import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.elements.sources import COVER
from pipelines.normalize.facts.precision import grains
from pipelines.normalize.forms import AMENDMENT, CURRENT_FORMS, PERIODIC_FORMS
from pipelines.normalize.frames import DECISIONS, counted
from pipelines.normalize.rule import Rule

MEASURE = pl.Enum(["money", "per_share", "shares"])
"""The type of column `measure`: money, money per share, or shares."""


FORMS = Rule(
    "report.forms",
    "Only annual and quarterly reports (10-K, 10-Q, 20-F, 40-F and transition reports) and current reports (8-K, 6-K) "
    "count, because proxies and prospectuses round and restate freely.",
    "Exchange Act Rules 13a-1, 13a-11, 13a-13 and 13a-16: annual, current and quarterly reports",
    "select",
)
UNITS = Rule(
    "report.units",
    "Only amounts in a currency, in a currency per share, or in shares count, because no line item has another unit.",
    "EDGAR Filer Manual: units of iso4217 currencies and shares",
    "select",
)
AFTER_FILING = Rule(
    "report.period-ends-after-filing",
    "A fact whose period ends after its filing is left out, because it is from a cover page or a subsequent event.",
    "ASC 855-10-50: events after the balance sheet date are disclosed, not recognized in it",
    "withhold",
)
LONG_BEFORE_FILING = Rule(
    "report.period-ends-long-before-filing",
    "A fact whose period ended more than 15 calendar years before its filing is left out, because no statement "
    "reaches back so far: its date is mistyped, or it is history in a note.",
    "Regulation S-X Rules 3-01 and 3-02, former Regulation S-K Item 301: statements cover three years, selected data "
    "five",
    "withhold",
)
FILED_TWICE = Rule(
    "report.filed-twice",
    "If a filing states an amount twice, one counts: under one element the largest, or the most precise if it rounds "
    "to the largest; in a sum the first of two equal amounts, if the second is optional.",
    "taxonomy definitions of the elements: an amount filed under a broad and a narrow element is one amount",
    "select",
)

_IDENTITY = ["cik", "taxonomy", "tag", "unit", "end", "start", "accession"]
_ORDER = ["cik", "taxonomy", "tag", "unit", "end", "start", "filed", "accession", "form", "value", "fy"]
"""All columns of a fact as filed, in the order in which companyfacts documents have them: by element and period."""
REPORTING = Rule(
    "currency.reporting",
    "Amounts count only in the reporting currency, the currency of most amounts of money that the company filed in the "
    "800 days up to its newest filing; a convenience translation is left out.",
    "Regulation S-X Rule 3-20: statements in one currency; a convenience translation covers the newest year only",
    "withhold",
)

CURRENCY_DAYS = 800
"""Filings of so many days decide the reporting currency. They cover two annual reports, so that a new currency
prevails."""
SAME_DAY = Rule(
    "filing.order.same-day",
    "Filings of one company and day are ordered with amendments last, then by time of acceptance, then by accession "
    "number.",
    "EDGAR submissions: acceptanceDateTime; Exchange Act Rule 12b-15: an amendment follows the report it amends",
    "select",
)

YEARS_BEFORE_FILING = 15
"""Of 447,000 facts of the elements that the rules read, in the mirrors of tests, two ended more than 11 years before
their filing: 12 and 21 years, both in notes."""

ACCEPTED = pl.Schema({"cik": pl.String(), "accession": pl.String(), "accepted_at": pl.Datetime("us", "UTC")})


def usable(raw: pl.DataFrame) -> pl.DataFrame:
    """The facts as filed that count by FORMS, UNITS, AFTER_FILING and LONG_BEFORE_FILING: columns of RAW_SCHEMA."""
    family = pl.col("form").str.strip_suffix(AMENDMENT)
    years = pl.col("filed").str.slice(0, 4).cast(pl.Int32) - pl.col("end").str.slice(0, 4).cast(pl.Int32)
    is_covered = (pl.col("end") <= pl.col("filed")) & (years <= YEARS_BEFORE_FILING)
    counts = family.is_in([*PERIODIC_FORMS, *CURRENT_FORMS]) & is_covered
    return raw.join(_measures(raw["unit"]).drop_nulls("measure"), on="unit", how="semi").filter(counts)


def typed(raw: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Facts of periodic and current reports, with dates and the measure of their unit.

    Args:
        raw: facts as filed, columns of RAW_SCHEMA.

    Returns:
        facts: the same with `cik` as a number, `start` (null for an instant), `end`, `filed` as dates, `form_family`
            (the form without its amendment mark), `amended`, `measure` (MEASURE), `currency` (null for shares). They
            are sorted by all columns as filed, so that the row number of a fact among its company's facts depends
            neither on the order in which facts arrive nor on other companies: the rules may decide ties by it.
        decisions: frames.DECISIONS.
    """
    is_other_form = ~pl.col("form_family").is_in([*PERIODIC_FORMS, *CURRENT_FORMS])
    dated = (
        raw.join(_measures(raw["unit"]), on="unit", how="left", maintain_order="left")
        .with_columns(
            pl.col("cik").cast(pl.Int64),
            pl.col("start", "end", "filed").str.to_date("%Y-%m-%d"),
            amended=pl.col("form").str.ends_with(AMENDMENT),
            form_family=pl.col("form").str.strip_suffix(AMENDMENT),
        )
        .with_columns(
            left_out_by=pl.when(FORMS.where(is_other_form))
            .then(pl.lit(FORMS.id))
            .when(UNITS.where(pl.col("measure").is_null()))
            .then(pl.lit(UNITS.id))
            .when(AFTER_FILING.where(pl.col("end") > pl.col("filed")))
            .then(pl.lit(AFTER_FILING.id))
            .when(LONG_BEFORE_FILING.where(pl.col("filed").dt.year() - pl.col("end").dt.year() > YEARS_BEFORE_FILING))
            .then(pl.lit(LONG_BEFORE_FILING.id))
        )
    )
    counting = dated.filter(pl.col("left_out_by").is_null())
    is_cover = pl.col("taxonomy") == COVER
    with_others = counting.select("cik", "accession", "taxonomy").filter(~is_cover)
    alone = counting.filter(is_cover).join(with_others, on=["cik", "accession"], how="anti")
    facts = (
        counting.join(alone, on=["cik", "accession"], how="anti").sort(_ORDER)
        if alone.height
        else counting.sort(_ORDER)
    )
    repeated = facts.clear()
    # if all rows have different hashes, no fact is stated twice
    if FILED_TWICE.where(facts.select(_IDENTITY).hash_rows().n_unique() < facts.height):
        counts = _one_of_repeated(facts)
        facts, repeated = facts.filter(counts), facts.filter(~counts)
    left_out = pl.concat([dated.drop_nulls("left_out_by"), repeated.with_columns(left_out_by=pl.lit(FILED_TWICE.id))])
    decisions = left_out.group_by("cik", rule="left_out_by").agg(figures=pl.len())
    return facts.drop("left_out_by"), decisions.cast(DECISIONS)


def _one_of_repeated(facts: pl.DataFrame) -> pl.Series:
    """Whether each fact counts: of several amounts of one element and period in a filing, only one does.

    It is the largest amount or, if this is a rounding of finer amounts, the finest of them.

    Args:
        facts: sorted by _ORDER, so that the largest amount is the last one of its element and period.
    """
    several = facts.with_row_index("row").filter(pl.struct(_IDENTITY).is_duplicated())
    grain = pl.Series(grains(several["value"].to_numpy()))
    is_of_largest = (pl.col("value").last() - pl.col("value")).abs() <= pl.col("grain").last() / 2
    finest = pl.when(is_of_largest).then(-pl.col("grain")).arg_max()
    counting = several.with_columns(grain=grain).group_by(_IDENTITY).agg(pl.col("row").get(finest))["row"]
    repeated = several.filter(~pl.col("row").is_in(counting.implode()))["row"]
    return ~pl.int_range(facts.height, eager=True).is_in(repeated.implode())


def _measures(units: pl.Series) -> pl.DataFrame:
    """The measure of each unit, null if it does not count, and its currency, null for shares."""
    unit = pl.col("unit")
    currency = unit.str.extract(r"^([A-Z]{3})(?:/shares)?$")
    measure = (
        pl.when(unit == "shares")
        .then(pl.lit("shares"))
        .when(currency.is_not_null())
        .then(pl.when(unit.str.ends_with("/shares")).then(pl.lit("per_share")).otherwise(pl.lit("money")))
    )
    return units.unique().to_frame().with_columns(currency=currency, measure=measure.cast(MEASURE))


def reporting_currency(facts: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `currency`: the currency of most monetary facts in the filings of the newest years.

    A convenience translation covers the newest year only and has no comparatives, so most facts are in the currency of
    the books. The values of a company that changed its currency are in the new one.
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


def in_currency(facts: pl.DataFrame, currencies: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The facts in their company's reporting currency or in shares, without facts in other currencies.

    Args:
        facts: typed facts.
        currencies: of reporting_currency; a company that is missing has no facts that count.

    Returns:
        the facts; and the decisions (frames.DECISIONS).
    """
    marked = facts.join(currencies.rename({"currency": "reporting"}), on="cik", maintain_order="left")
    is_other = REPORTING.where((marked["currency"] != marked["reporting"]).fill_null(value=False))
    return marked.filter(~is_other).drop("reporting"), counted([(REPORTING, ints(marked.filter(is_other), "cik"))])


def in_filing_order(
    facts: pl.DataFrame, accepted: pl.DataFrame | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Add `seq`: the number of the filing in the order of its company's filings, by date, then by SAME_DAY.

    The year in an accession number is not a filing date, so accession numbers are used only last.

    Args:
        facts: typed facts.
        accepted: `cik`, `accession`, `accepted_at`, as far as the submissions of the company have it.

    Returns:
        the facts; the filings: `cik`, `accession`, `form`, `filed`, `seq`, `accepted_at` (UTC, null if unknown); and
        the decisions (frames.DECISIONS): filings that share their day with another.
    """
    # submissions of two companies may state other times of one filing: each company's own count
    times = (
        (ACCEPTED.to_frame() if accepted is None else accepted)
        .group_by(pl.col("cik").cast(pl.Int64), "accession")
        .agg(pl.col("accepted_at").min())
    )
    of_day = pl.when(SAME_DAY.where(pl.lit(value=True))).then(pl.col("amended", "accepted_at", "accession"))
    filings = (
        facts.select("cik", "accession", "form", "filed", "amended")
        .unique(["cik", "accession"], keep="first", maintain_order=True)
        .with_row_index()
        .join(times, on=["cik", "accession"], how="left")
        .sort("cik", "filed", of_day, nulls_last=True, maintain_order=True)
        .with_columns(seq=pl.int_range(pl.len(), dtype=pl.Int32).over("cik"))
        .sort("index")
    )
    ordered = facts.join(filings.select("cik", "accession", "seq"), on=["cik", "accession"], maintain_order="left")
    shares_day = filings.filter(pl.struct("cik", "filed").is_duplicated())
    return ordered, filings.drop("amended", "index"), counted([(SAME_DAY, ints(shares_day, "cik"))])
