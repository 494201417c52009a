"""Reports: the facts of periodic and current reports, with dates and measures.

Belongs here: the columns of filed facts, and which forms and units count. Does not: the reporting currency (currency),
the order of filings (order), which concept a fact states (stated).
"""

import polars as pl

from pipelines.normalize.decisions import DECISIONS
from pipelines.normalize.rule import Rule

PERIODIC_FORMS = ("10-K", "10-Q", "10-KT", "10-QT", "20-F", "40-F")
CURRENT_FORMS = ("8-K", "6-K")
"""Current reports: recasts after a change of segments or a disposal, and interim reports of foreign issuers."""
ANNUAL_FORMS = ("10-K", "10-KT", "20-F", "40-F")
AMENDMENT = "/A"

MEASURES = ("money", "per_share", "shares")
MEASURE = pl.Enum(MEASURES)
"""The type of column `measure`: money, money per share, or shares."""

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
"""One row a fact as filed: the columns of the decoder of companyfacts."""


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
FILED_TWICE = Rule(
    "report.filed-twice",
    "An amount that a filing states twice counts once: the last of one element; the first of equal ones in a sum, if "
    "the other is an optional part of it.",
    "taxonomy definitions of the elements: an amount filed under a broad and a narrow element is one amount",
    "select",
)

_IDENTITY = ["cik", "taxonomy", "tag", "unit", "start", "end", "accession"]


def typed(raw: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Facts of periodic and current reports, with dates and the measure of their unit.

    Args:
        raw: facts as filed, columns of RAW_SCHEMA.

    Returns:
        facts: the same with `cik` as a number, `start` (null for an instant), `end`, `filed` as dates, `form_family`
            (the form without its amendment mark), `amended`, `measure` (MEASURE), `currency` (null for shares).
        decisions: decisions.DECISIONS.
    """
    family = pl.col("form").str.strip_suffix(AMENDMENT)
    dated = (
        raw.join(_measures(raw["unit"]), on="unit", how="left", maintain_order="left")
        .with_columns(
            pl.col("cik").cast(pl.Int64),
            pl.col("start", "end", "filed").str.to_date("%Y-%m-%d"),
            amended=pl.col("form").str.ends_with(AMENDMENT),
            form_family=family,
        )
        .with_columns(
            left_out_by=pl.when(FORMS.where(~family.is_in([*PERIODIC_FORMS, *CURRENT_FORMS])))
            .then(pl.lit(FORMS.id))
            .when(UNITS.where(pl.col("measure").is_null()))
            .then(pl.lit(UNITS.id))
            .when(AFTER_FILING.where(pl.col("end") > pl.col("filed")))
            .then(pl.lit(AFTER_FILING.id))
        )
    )
    facts = dated.filter(pl.col("left_out_by").is_null())
    repeated = facts.clear()
    # if all rows have different hashes, no fact is stated twice
    if FILED_TWICE.where(facts.select(_IDENTITY).hash_rows().n_unique() < facts.height):
        is_last = pl.struct(_IDENTITY).is_last_distinct()
        facts, repeated = facts.filter(is_last), facts.filter(~is_last)
    left_out = pl.concat([dated.drop_nulls("left_out_by"), repeated.with_columns(left_out_by=pl.lit(FILED_TWICE.id))])
    decisions = left_out.group_by("cik", rule="left_out_by").agg(figures=pl.len())
    return facts.drop("left_out_by"), decisions.cast(DECISIONS)


def _measures(units: pl.Series) -> pl.DataFrame:
    """The measure of each unit, null if it does not count, and its currency, null for shares."""
    is_share = pl.col("unit") == "shares"
    is_per_share = pl.col("unit").str.ends_with("/shares")
    currency = pl.col("unit").str.extract(r"^([A-Z]{3})(?:/shares)?$")
    of_currency = pl.when(is_per_share).then(pl.lit("per_share")).otherwise(pl.lit("money"))
    measure = pl.when(is_share).then(pl.lit("shares")).when(currency.is_not_null()).then(of_currency)
    return units.unique().to_frame().with_columns(currency=currency, measure=measure.cast(MEASURE))
