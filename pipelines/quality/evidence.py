"""The data that the checks use: the assembled tables of a batch of companies, and their filed facts.

Belongs here: the types, and functions that comparisons share. Does not: reading the data (reading), any comparison
(identities, windows).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

HOLDS, FLAGGED, FAILS = "holds", "flagged", "fails"
OUTCOMES = (HOLDS, FLAGGED, FAILS)

FOUND = pl.Schema(
    {
        "cik": pl.String(),
        "period_end": pl.Date(),
        "subject": pl.String(),
        "ours": pl.Float64(),
        "other": pl.Float64(),
        "flags": pl.String(),
        "outcome": pl.String(),
    }
)
"""One row a comparison: the item or element, our value, the other value, the flags of our value, and the outcome:
holds, fails, or flagged (the values differ, and a flag explains why)."""

OWN_DEBT = ("DebtLongtermAndShorttermCombinedAmount", "Borrowings")
"""The filer's own total of all borrowings, us-gaap and ifrs-full."""

EQUITY = ("StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest", "StockholdersEquity", "Equity")
BALANCES = ("Assets", "Liabilities", *EQUITY, *OWN_DEBT)
"""The elements of balance sheets with which values are compared."""


VALUE = ["cik", "period_kind", "period_end", "item"]
SAME_DATE = "8d"
"""Dates within a week of each other count as the same: a 52/53-week year ends on a weekday."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tables of a batch of companies.

    periods: the TTM rows of table `financials`, one a company and period end: `cik`, `period_end`, items as columns;
        annual rows equal the TTM rows that end on the same day.
    year_ends: `cik`, `period_end` of fiscal years.
    values: the current versions with a value, TTM: `cik`, `period_end`, `item`, `version`, `value`, `method`,
        `flags`.
    legs: table `lineage`, TTM, of all versions, with `version_filed` (filing date of the version).
    gaps: `cik`, `period_end`, `item`, `reason`, TTM.
    profiles: `cik`, `currency`, `industry`.
    facts: amounts in the company's currency, from normalize.facts.reports.typed: of periods, and of the totals of
        balance sheets (BALANCES), without figures that belong to another period.
    kept: intermediate results that several checks use, by name, so that they are computed once.
    """

    periods: pl.DataFrame
    year_ends: pl.DataFrame
    values: pl.DataFrame
    legs: pl.DataFrame
    gaps: pl.DataFrame
    profiles: pl.DataFrame
    facts: pl.DataFrame
    kept: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)


def found(rows: pl.DataFrame, *, holds: pl.Expr, subject: pl.Expr, excused_by: Iterable[str] = ()) -> pl.DataFrame:
    """Comparisons as FOUND: if a comparison does not hold, it is flagged if the value has a flag of `excused_by`,
    otherwise it fails.

    Args:
        rows: `cik`, `period_end`, `ours`, `other`, `flags`.
        holds, subject: expressions over these columns.
        excused_by: names of flags.
    """
    excused = pl.col("flags").fill_null("").str.split(",").list.set_intersection(list(excused_by)).list.len() > 0
    outcome = pl.when(holds).then(pl.lit(HOLDS)).when(excused).then(pl.lit(FLAGGED)).otherwise(pl.lit(FAILS))
    return rows.with_columns(subject=subject, outcome=outcome).select(
        pl.col(name).cast(dtype) for name, dtype in FOUND.items()
    )


def nearest(rows: pl.DataFrame, others: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Join each row with the row of `others` whose `end` is nearest to its `period_end`; rows without a match within a
    week are left out.

    Args:
        rows: `period_end` and `by`.
        others: `end` and `by`, one row an end.
    """
    return (
        rows.sort("period_end")
        .join_asof(
            others.sort("end"),
            left_on="period_end",
            right_on="end",
            by=by,
            strategy="nearest",
            tolerance=SAME_DATE,
            check_sortedness=False,
        )
        .drop_nulls("end")
    )


def newest(filed: pl.DataFrame, of: list[str]) -> pl.DataFrame:
    """The facts as filed last: one row for each combination of the columns `of`."""
    return filed.sort("filed", "accession").unique(of, keep="last", maintain_order=True)


def oldest(filed: pl.DataFrame, of: list[str]) -> pl.DataFrame:
    """The facts as filed first: one row for each combination of the columns `of`."""
    return filed.sort("filed", "accession").unique(of, keep="first", maintain_order=True)
