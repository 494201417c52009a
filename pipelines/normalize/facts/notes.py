"""Notes: amounts from notes of annual reports that use an element of the statements.

Belongs here: distinguishing the amount of a note from the line of a statement. Does not: which elements are the sources
of a line, and in which order (elements).

A line of the statements is in every report. An amount that only annual reports have is from a note and may be a
different amount: capital expenditure including unpaid invoices, income before taxes by country.
"""

import polars as pl

from pipelines.normalize.industry.classification import LOOKS_BACK_DAYS
from pipelines.normalize.periods.fiscal_years import INTERIM_DAYS
from pipelines.normalize.rule import Rule

ANNUAL_NOTE = Rule(
    "fact.annual-note",
    "An annual amount under an element that no interim report of the last 400 days uses is from a note; it is replaced "
    "by the line of the statements if that is more than half of it.",
    "Regulation S-X Rule 10-01(a): interim statements may be condensed and omit notes",
    "withhold",
    "income before tax and capital expenditure of all filers",
)

LARGE_PART = 0.5
"""A line of at most half of the other amount is a part of it, and does not replace it."""

SOURCE = ["cik", "concept", "rank"]


def of_notes(candidates: pl.DataFrame) -> pl.DataFrame:
    """The candidates that are annual amounts from a note where a line of the statements has more than half of it.

    A source is a line of the statements if an interim report of the last 400 days shows it.

    Args:
        candidates: in the order of filing.
    """
    is_annual = (pl.col("end") - pl.col("start")).dt.total_days() >= INTERIM_DAYS[1]
    shown = pl.when((~is_annual).any().over(*SOURCE, "seq")).then("filed").forward_fill().over(SOURCE)
    is_line = (pl.col("filed") - shown).dt.total_days() <= LOOKS_BACK_DAYS
    size = pl.col("value").abs()
    lines = candidates.filter("in_notes").with_columns(is_line=is_line.fill_null(value=False))
    line = size.filter(pl.col("is_line")).max().over("amount")
    return lines.filter(ANNUAL_NOTE.where(is_annual), ~pl.col("is_line"), line > LARGE_PART * size).drop("is_line")
