"""Reports: facts as filed, and facts of periodic and current reports with dates and measures.

Belongs here: the columns of filed facts, which forms and units count. Does not: the reporting currency (currency), the
order of filings (order), which concept a fact states (stated).
"""

import polars as pl

PERIODIC_FORMS = ("10-K", "10-Q", "10-KT", "10-QT", "20-F", "40-F")
CURRENT_FORMS = ("8-K", "6-K")
"""Current reports: recasts after a change of segments or a disposal, and interim reports of foreign issuers."""
ANNUAL_FORMS = ("10-K", "10-KT", "20-F", "40-F")
AMENDMENT = "/A"

MEASURES = ("money", "per_share", "shares")
MEASURE = pl.Enum(MEASURES)
"""The type of column `measure`: what an amount is counted in."""

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
            .then(pl.lit("shares", MEASURE))
            .when(currency.is_null())
            .then(None)
            .when(pl.col("unit").str.ends_with("/shares"))
            .then(pl.lit("per_share", MEASURE))
            .otherwise(pl.lit("money", MEASURE)),
        )
        .filter(
            pl.col("form_family").is_in([*PERIODIC_FORMS, *CURRENT_FORMS]),
            pl.col("measure").is_not_null(),
            pl.col("end") <= pl.col("filed"),
        )
        .unique(["cik", "taxonomy", "tag", "unit", "start", "end", "accession"], keep="last", maintain_order=True)
    )
