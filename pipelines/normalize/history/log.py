"""The columns of the version log, and the keys of a version.

Belongs here: the types that readers and writers of the log need. Does not: any rule (versions, late, causes), the files
of the log (storage.version_log).
"""

import polars as pl

SERIES_KEY = ["cik", "class_member"]
"""The key of a series of values: the company and a class of stock. The class is empty for the company as a whole."""
VERSION_OF = [*SERIES_KEY, "period_end", "n", "item"]
TWELVE_MONTHS, ONE_QUARTER = 4, 1
"""Column `n`: how many quarters a value covers. A balance has the number of the twelve months that end on its day."""
SOURCE = "source"
"""The cause of a version that results from data read later from filings that were already known."""
CORRECTION = "correction"
"""The cause of a version that follows a value which the filings no longer support."""
FACT = pl.Struct(
    {
        "role": pl.String,
        "weight": pl.Float64,
        "split_factor": pl.Float64,
        "tag": pl.String,
        "unit": pl.String,
        "start": pl.Date,
        "end": pl.Date,
        "value": pl.Float64,
        "accession": pl.String,
        "form": pl.String,
        "filed": pl.Date,
        "concept": pl.String,
        "rule": pl.String,
        "source": pl.String,
        "member": pl.String,
        "label": pl.String,
    }
)
"""A leg of a version: the filed fact, its role, and its factors."""

REPLAYED = pl.Schema(
    {
        "cik": pl.String(),
        "class_member": pl.String(),
        "period_end": pl.Date(),
        "n": pl.Int32(),
        "item": pl.String(),
        "value": pl.Float64(),
        "accession": pl.String(),
        "form": pl.String(),
        "filed": pl.Date(),
        "cause": pl.String(),
        "method": pl.String(),
        "rule": pl.String(),
        "flags": pl.String(),
        "fiscal_year": pl.Int32(),
        "fiscal_quarter": pl.Int32(),
        "is_year_end": pl.Boolean(),
        "basis": pl.String(),
        "legs": pl.List(FACT),
    }
)
LOG = pl.Schema(
    {**REPLAYED, "recorded_at": pl.Datetime("us", "UTC"), "rules": pl.String(), "starts_anew": pl.Boolean()}
)
"""One row for each version, in order of recording. `basis` is the newest filing at that time: the value and legs are
on its share basis. `rules` is the digest of the rules that made the version. `starts_anew` is true for the first row of
a period and item whose versions are recorded a second time (late): the rows before it no longer count."""


def with_later_columns(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `class_member` and `n` to rows of earlier releases, which had only companies as a whole and twelve months."""
    earlier = {"class_member": pl.lit(""), "n": pl.lit(TWELVE_MONTHS, pl.Int32)}
    return rows.with_columns(
        pl.col(name).fill_null(value) if name in rows.columns else value.alias(name) for name, value in earlier.items()
    )
