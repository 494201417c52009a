"""Notes: what annual reports tell beside their statements, under the elements of the statements.

Belongs here: how a line of a statement is told from a note. Does not: which elements state a line, and in which order
(concepts), what a filing states of a line (facts).

A line of the statements is in every report; what is in annual ones alone is of a note and may be another amount:
capital expenditure with what is not paid yet, income before taxes by country.
"""

import polars as pl

from pipelines.normalize.elements import CONCEPTS

IN_NOTES = [concept.name for concept in CONCEPTS if concept.in_notes]
INTERIM_DAYS = 300
"""Nine months, and what is shorter; what is longer is a year."""
LOOKS_BACK_DAYS = 400
"""An annual report and what lies between it and the next."""
MOST = 0.5


def without_notes(candidates: pl.DataFrame, slot: list[str]) -> pl.DataFrame:
    """Leave out what annual reports alone state of a year, beside a line of the statements that is most of it.

    Args:
        candidates: what filings state: `cik`, `concept`, `rank` of the source, `seq`, `filed`, `start`, `end`, `value`.
        slot: the columns that name an amount of a filing.

    Returns:
        the candidates that are left, with `corrects`: that there was such a note, so that the line restates what was
        taken from it before.
    """
    told = _shown_lately(candidates)
    line = pl.when("told").then(pl.col("value").abs()).max().over(slot)
    of_year = pl.col("concept").is_in(IN_NOTES) & (_days() >= INTERIM_DAYS)
    is_note = (of_year & ~pl.col("told") & (line > MOST * pl.col("value").abs())).fill_null(value=False)
    return told.with_columns(corrects=is_note.any().over(slot)).filter(~is_note).drop("told")


def _shown_lately(candidates: pl.DataFrame) -> pl.DataFrame:
    """Add `told`: whether a source is a line of the statements, as reports of less than a year have shown it lately."""
    source = ["cik", "concept", "rank"]
    interim = candidates.filter(_days() < INTERIM_DAYS).select(*source, "seq", seen="filed")
    shown = interim.unique([*source, "seq"], keep="last", maintain_order=True).sort("seq")
    lately = pl.col("filed") - pl.col("seen") <= pl.duration(days=LOOKS_BACK_DAYS)
    return (
        candidates.sort("seq")
        .join_asof(shown, on="seq", by=source, check_sortedness=False)
        .with_columns(told=lately.fill_null(value=False))
        .drop("seen")
    )


def _days() -> pl.Expr:
    return (pl.col("end") - pl.col("start")).dt.total_days()
