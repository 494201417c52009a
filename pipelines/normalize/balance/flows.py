"""What the income and the cash flow statement of a filing say about its debt.

Belongs here: interest, and flows of borrowings, for the day on which their period ends. Does not: what follows for the
debt of the day (debt).
"""

from dataclasses import dataclass

import polars as pl

from pipelines.normalize.elements.cash_flow_lines import FINANCING, SECTIONS
from pipelines.normalize.elements.cash_flow_lines import LINES as FLOWS
from pipelines.normalize.elements.lines import (
    INTEREST,
    INTEREST_BY_DEPOSIT,
    INTEREST_OF_CLASS,
    INTEREST_ON_DEBT,
    INTEREST_ON_DEPOSITS,
)
from pipelines.normalize.elements.sources import US_GAAP

_TOTAL = SECTIONS[FINANCING]
_EXACT = 0.5
"""Amounts are whole units of the currency; sums of floats are not quite."""


@dataclass(frozen=True, slots=True)
class WithoutBorrowing:
    """A period without flows of debt.

    begins: the day of the balance sheet before it. pays_interest: whether interest on debt is stated for a period that
    ends on the same day. facts: the rows of financing activities and their lines.
    """

    begins: int
    pays_interest: bool
    facts: tuple[int, ...]


def interest_on_deposits_only(facts: pl.DataFrame) -> dict[tuple[int, int], dict[int, bool]]:
    """Whether interest on deposits is all interest expense: for each filing with it, the last day of each period."""
    names = (INTEREST_ON_DEPOSITS, *INTEREST_BY_DEPOSIT, *dict.fromkeys(name for names in INTEREST for name in names))
    stated = facts.filter(pl.col("start").is_not_null() & pl.col("tag").is_in(names) & (pl.col("taxonomy") == US_GAAP))
    amounts = stated.pivot("tag", index=["cik", "seq", "start", "end"], values="value", aggregate_function="last")
    missing = [name for name in names if name not in amounts.columns]
    amounts = amounts.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)
    has_lines = pl.any_horizontal(pl.col(*INTEREST_BY_DEPOSIT).is_not_null())
    by_deposit = pl.when(has_lines).then(pl.sum_horizontal(INTEREST_BY_DEPOSIT))
    amounts = amounts.with_columns(pl.coalesce(INTEREST_ON_DEPOSITS, by_deposit).alias(INTEREST_ON_DEPOSITS))
    on_deposits = pl.col(INTEREST_ON_DEPOSITS)
    found: dict[tuple[int, int], dict[int, bool]] = {}
    is_all = pl.any_horizontal(
        pl.sum_horizontal(first, *(-pl.col(name) for name in others), ignore_nulls=False) == on_deposits
        for first, *others in INTEREST
    )
    rows = amounts.drop_nulls(INTEREST_ON_DEPOSITS).select("cik", "seq", pl.col("end").to_physical(), is_all)
    for cik, seq, day, holds in rows.iter_rows():
        of_filing = found.setdefault((cik, seq), {})
        of_filing[day] = bool(holds) and of_filing.get(day, True)
    return found


def interest_by_class(facts: pl.DataFrame) -> dict[tuple[int, int], dict[int, frozenset[str]]]:
    """The elements of INTEREST_OF_CLASS that are stated for the shortest period that ends on a day, by filing and day.

    Without those that are zero: the debt was repaid before.
    """
    day = ["cik", "seq", "end"]
    stated = facts.filter(pl.col("start").is_not_null() & pl.col("tag").is_in([*INTEREST_OF_CLASS]))
    newest = stated.filter(pl.col("start") == pl.col("start").max().over(*day, "tag"), pl.col("value") != 0)
    found: dict[tuple[int, int], dict[int, frozenset[str]]] = {}
    of_day = newest.group_by(day, maintain_order=True).agg("tag").with_columns(pl.col("end").to_physical())
    for cik, seq, end, tags in of_day.iter_rows():
        found.setdefault((cik, seq), {})[end] = frozenset(tags)
    return found


def without_borrowing(facts: pl.DataFrame) -> dict[tuple[int, int], dict[int, WithoutBorrowing]]:
    """The periods of each filing whose financing activities are exactly the stated lines, none of them a borrowing.

    Returns:
        for each filing with such a period, by `cik` and `seq`, the longest one that ends on a day.
    """
    lines = FLOWS.filter(pl.col("section") == FINANCING).select("tag", "sign", "is_borrowing")
    stated = (
        facts.select("cik", "seq", "taxonomy", "tag", "start", "measure", "value", "end")
        .with_row_index("fact")
        .filter(
            pl.col("start").is_not_null(),
            pl.col("tag").is_in([_TOTAL, *lines["tag"], *INTEREST_ON_DEBT]),
            (pl.col("taxonomy") == US_GAAP) & (pl.col("measure") == "money"),
        )
        .with_columns(pl.col("start", "end").to_physical())
        .join(lines, on="tag", how="left", maintain_order="left")
    )
    is_line, is_total = pl.col("sign").is_not_null(), pl.col("tag") == _TOTAL
    of_period = stated.group_by("cik", "seq", "start", "end", maintain_order=True).agg(
        left=(pl.when(is_total).then("value").otherwise(-pl.col("sign") * pl.col("value"))).sum(),
        totals=is_total.sum(),
        borrows=(pl.col("is_borrowing").fill_null(value=False) & (pl.col("value") != 0)).any(),
        pays_interest=(~is_line & ~is_total & (pl.col("value") != 0)).any(),
        fact=pl.col("fact").filter(is_line | is_total),
    )
    day = ["cik", "seq", "end"]
    of_day = of_period.with_columns(pl.col("borrows", "pays_interest").any().over(day)).filter(
        (pl.col("totals") == 1) & (pl.col("left").abs() < _EXACT) & ~pl.col("borrows")
    )
    longest = of_day.sort(*day, "start").unique(day, keep="first", maintain_order=True)
    found: dict[tuple[int, int], dict[int, WithoutBorrowing]] = {}
    for cik, seq, end, start, pays, rows in longest.select(*day, "start", "pays_interest", "fact").iter_rows():
        found.setdefault((cik, seq), {})[end] = WithoutBorrowing(start - 1, pays, tuple(rows))
    return found
