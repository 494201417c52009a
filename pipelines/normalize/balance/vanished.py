"""Lines of a balance sheet that a filer showed and shows no more.

Belongs here: when what is left of a balance is not all of it. Does not: how its lines add up (balances).

A filer that gives a line another element, one that no rule knows, must not lose the money silently. Where it still
states the line for another day, as a balance sheet does for the year before, there is nothing of it on this one.
"""

from dataclasses import dataclass

import polars as pl

MATTERS = 0.1
"""A line of at least this share of the whole is missed."""
REPORTS = 4
"""So many reports without it, all of a year, and it is held to be gone."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A balance: its lines that are still there, and those that tell of the rest, alone or as a whole.

    may_be_nothing: a report without the lines that stay has nothing of them, so that all it tells is the rest.
    """

    item: str
    reason: str
    stays: tuple[str, ...]
    rest: tuple[str, ...]
    wholes: tuple[str, ...]
    may_be_nothing: bool = False


WATCHED: tuple[Watched, ...] = (
    Watched(
        "cash_and_equivalents",
        "securities_not_shown",
        stays=("cash",),
        rest=("short_term_investments",),
        wholes=("cash_total",),
    ),
    Watched(
        "total_debt",
        "current_debt_not_shown",
        stays=("debt_noncurrent",),
        rest=("debt_current_maturities", "debt_short_term", "debt_current"),
        wholes=("debt_long_term",),
    ),
    Watched(
        "total_debt",
        "noncurrent_debt_not_shown",
        stays=("debt_current_maturities", "debt_current"),
        rest=("debt_noncurrent",),
        wholes=("debt_long_term", "debt_all"),
        may_be_nothing=True,
    ),
)


def missed(sheets: pl.DataFrame) -> pl.DataFrame:
    """The balances that are not all there: `cik`, `q`, `item`, `reason`.

    In a filer's own newest balance sheet, where none of its filing's balance sheets states the rest, and the last
    report that told, no more than a year of reports ago, had a rest that matters.

    Args:
        sheets: of balances.balance_sheets.
    """
    return pl.concat([_missed(sheets, watched) for watched in WATCHED])


def without(sheets: pl.DataFrame, missing: pl.DataFrame, item: str) -> pl.DataFrame:
    """The sheets that can tell an item: but those of a day on which a part of it is missed, and is there no more."""
    for watched in WATCHED:
        if watched.item == item:
            days = missing.filter(pl.col("reason") == watched.reason).select("cik", "q", is_missed=True)
            marked = sheets.join(days, on=["cik", "q"], how="left", maintain_order="left")
            sheets = marked.filter(pl.col("is_missed").is_null() | _tells(watched)).drop("is_missed")
    return sheets


def _tells(watched: Watched) -> pl.Expr:
    return pl.any_horizontal(pl.col(f"value_{line}").is_not_null() for line in (*watched.rest, *watched.wholes))


def _missed(sheets: pl.DataFrame, watched: Watched) -> pl.DataFrame:
    filing = ["cik", "seq"]
    stays = pl.max_horizontal(f"value_{line}" for line in watched.stays)
    told = _tells(watched)
    if watched.may_be_nothing:
        stays = pl.when(told).then(stays.fill_null(0.0)).otherwise(stays)
    rest = pl.max_horizontal(
        *(pl.col(f"value_{line}") for line in watched.rest),
        *(pl.col(f"value_{line}") - stays for line in watched.wholes),
    ).fill_null(0.0)
    share = rest / (rest + stays)
    own = (
        sheets.with_columns(told_somewhere=told.any().over(filing))
        .filter(pl.col("q") == pl.col("q").max().over(filing), stays.is_not_null())
        .sort(*filing)
        .with_columns(share=pl.when("told_somewhere").then(pl.when(told & (rest > 0)).then(share).otherwise(0.0)))
    )
    known = pl.col("share").is_not_null()
    silent_for = pl.int_range(pl.len()) - pl.when(known).then(pl.int_range(pl.len())).forward_fill()
    lately = own.with_columns(
        last_share=pl.col("share").forward_fill().over("cik"), silent_for=silent_for.over("cik")
    ).filter(~known, pl.col("last_share") >= MATTERS, pl.col("silent_for") <= REPORTS)
    return lately.select("cik", "q", item=pl.lit(watched.item), reason=pl.lit(watched.reason)).unique(
        maintain_order=True
    )
