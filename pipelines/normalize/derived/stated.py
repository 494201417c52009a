"""Stated facts by element and period, and the differences of facts that the rules of this folder compare.

Belongs here: reading facts by element, totals less their lines, periods less their beginning. Does not: any rule.
"""

from collections.abc import Iterable

import polars as pl

from pipelines.normalize.elements import proving
from pipelines.normalize.elements.lines import IFRS_PREFIX
from pipelines.normalize.elements.sources import IFRS, US_GAAP

FILING = ["cik", "seq"]
SPAN = ["cik", "start", "end"]
PERIOD = [*FILING, "start", "end"]

SAME_DAYS = "8d"
"""Two periods begin or end together if the days are within a week of each other."""

length = (pl.col("end") - pl.col("start")).dt.total_days()
is_inside = (pl.col("first") >= pl.col("start")) & (pl.col("last") <= pl.col("end"))
QUARTER, YEAR = (60, 120), (340, 380)
"""Days of a quarter (some have 16 or 17 weeks) and of a year."""

_NAMES = sorted({element.removeprefix(IFRS_PREFIX) for element in proving.ELEMENTS})
THOUSAND = 1e3
EXACT = 0.5
"""Sums of amounts in whole units are equal if they differ by less."""


def is_zero_within_rounding(amount: pl.Expr, *others: str) -> pl.Expr:
    """Whether an amount is zero; for a year with `others` in whole thousands, a thousand (rounding) counts as zero."""
    is_rounded = pl.all_horizontal(pl.col(name) % THOUSAND == 0 for name in others) & (length >= YEAR[0])
    return amount.abs() < pl.when(is_rounded).then(THOUSAND).otherwise(0.0) + EXACT


def stated(facts: pl.DataFrame) -> pl.DataFrame:
    """Select the facts of elements that prove amounts, one for each filing, period and element.

    Args:
        facts: typed facts in filing order.

    Returns:
        PERIOD, `tag` (with `ifrs-full:` under IFRS), `value`, `fact` (row of the facts).
    """
    return (
        facts.lazy()
        .with_row_index("fact")
        .filter(pl.col("tag").is_in(_NAMES) & pl.col("taxonomy").is_in([US_GAAP, IFRS]))
        .with_columns(tag=pl.when(pl.col("taxonomy") == IFRS).then(IFRS_PREFIX + pl.col("tag")).otherwise("tag"))
        .filter(pl.col("tag").is_in(sorted(proving.ELEMENTS)))
        .unique([*PERIOD, "tag"], keep="last", maintain_order=True)
        .select(*PERIOD, "tag", "value", "fact")
        .collect()
    )


def durations(facts: pl.DataFrame, elements: Iterable[str]) -> pl.DataFrame:
    """The facts of the given elements over durations."""
    return facts.filter(pl.col("start").is_not_null(), pl.col("tag").is_in(sorted(elements)))


def instants(facts: pl.DataFrame, elements: Iterable[str]) -> pl.DataFrame:
    """The facts of the given elements at instants, without `start`."""
    return facts.filter(pl.col("start").is_null(), pl.col("tag").is_in(sorted(elements))).drop("start")


def as_filed(sound: pl.DataFrame, concept: str, name: str) -> pl.DataFrame:
    """The amounts of a concept that filings state and that were not corrected: PERIOD and the amount."""
    found = sound.filter((pl.col("concept") == concept) & (pl.col("repair") == 1))
    return found.select(*PERIOD, pl.col("value").alias(name))


def largest(facts: pl.DataFrame, **elements: Iterable[str]) -> pl.DataFrame:
    """The largest amount of each group of elements by filing and period: PERIOD and one column for each group."""
    amounts = {name: pl.col("value").filter(pl.col("tag").is_in(sorted(of))).max() for name, of in elements.items()}
    return durations(facts, set().union(*elements.values())).group_by(PERIOD).agg(**amounts)


def footings(facts: pl.DataFrame, total: str, lines: pl.DataFrame) -> pl.DataFrame:
    """Subtract the stated lines of a statement from their total.

    Args:
        facts: of `stated`.
        total: the element of the total.
        lines: `tag` and `sign` of the elements that can be lines of it.

    Returns:
        PERIOD, `tags` (of the lines), `total`, `rest` (the total less the lines), and the facts that add up to the
        rest: `fact` and `coefficient` (lists).
    """
    added = (
        durations(facts, lines["tag"])
        .filter(pl.col("value") != 0)
        .join(lines, on="tag", maintain_order="left")
        .group_by(PERIOD, maintain_order=True)
        .agg(sum=(pl.col("sign") * pl.col("value")).sum(), tags="tag", legs="fact", signs=-pl.col("sign"))
    )
    return (
        durations(facts, (total,))
        .filter(pl.col("value") != 0)
        .join(added, on=PERIOD, maintain_order="left")
        .select(
            *PERIOD,
            "tags",
            total="value",
            rest=pl.col("value") - pl.col("sum"),
            fact=pl.concat_list("fact", "legs"),
            coefficient=pl.concat_list(pl.lit([1.0]), "signs"),
        )
    )


def pairs_of_periods(periods: pl.DataFrame, same: list[str], *names: str) -> pl.DataFrame:
    """Pair each period with every period that has the same values in `same`, such as its start or end.

    The columns of the second period have the suffix `_less`; `days` is the length of each period, and `rest` the
    difference of the lengths.
    """
    each = periods.select(*PERIOD, *names, days=length + 1)
    others = each.select(*same, pl.exclude(same).name.suffix("_less"))
    return each.join(others, on=same).with_columns(rest=pl.col("days") - pl.col("days_less"))


def less_beginning(periods: pl.DataFrame, same: list[str], *names: str) -> pl.DataFrame:
    """Pair each period with its beginnings as last stated so far; the period becomes the rest after the beginning.

    `start` is the first day of the rest, `since` the start of the whole period; otherwise as pairs_of_periods.
    """
    return (
        pairs_of_periods(periods, ["cik", "start", *same], *names)
        .filter((pl.col("seq_less") <= pl.col("seq")) & (pl.col("rest") >= QUARTER[0]))
        .sort(*PERIOD, "seq_less", "end_less")
        .unique([*PERIOD, *same, "end_less"], keep="last", maintain_order=True)
        .with_columns(start=pl.col("end_less").dt.offset_by("1d"), since="start")
    )


def not_yet_stated(rows: pl.DataFrame, stated: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    """The rows whose key (the given columns) neither their own filing nor an earlier one states."""
    first = rows.select(key).join(stated.select(*key, "seq"), on=key).group_by(key).agg(first=pl.col("seq").min())
    is_new = (pl.col("first") > pl.col("seq")).fill_null(value=True)
    return rows.join(first, on=key, how="left", maintain_order="left").filter(is_new).drop("first")
