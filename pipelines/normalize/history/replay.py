"""Replay: the successive versions of each value to which the filings led.

Belongs here: which values at the points are new versions and which repeat the one before. Does not: what a
synchronization appends to the log (versions), why a value changed (causes).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, before, ints, numbers, starts
from pipelines.normalize.decisions import WITHHELD, counted
from pipelines.normalize.industry.classification import WITHOUT_MEANING
from pipelines.normalize.items.flags import FLAGS
from pipelines.normalize.items.item import Item
from pipelines.normalize.items.line_items import CALCULATED, SHARES, roundings
from pipelines.normalize.items.points import ONE_COMPANY, Points, newest_of_windows
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import NOISE_OF_SUMS

SAME_RATIO, SAME_COUNT = 1e-5, 1e-7
"""Ratios and share counts that differ by less are the same served value (six significant digits, whole shares)."""

SAME_WITHIN_ROUNDING = Rule(
    "version.same-within-rounding",
    f"A value that differs from the one before by at most {SAME_RATIO:.5f} of it (amounts per share and ratios), "
    f"{SAME_COUNT:.7f} (shares) or {NOISE_OF_SUMS:.9f} (money) is the same version.",
    "Such differences come from rounding and from the order in which figures are added, not from a filing",
    "select",
)
WITHOUT_INPUT = Rule(
    "version.withdrawn.input",
    "A value is withdrawn if a later filing leaves no value for an amount that it is computed from, or no meaning for "
    "the item.",
    "A ratio or a difference of amounts is only as good as each amount",
    "withhold",
)
RULES = (SAME_WITHIN_ROUNDING, WITHOUT_INPUT)


def same_within(item: str) -> float:
    """The largest relative difference between two values of an item that count as the same."""
    return SAME_RATIO if item in CALCULATED else SAME_COUNT if item in SHARES else NOISE_OF_SUMS


def item_versions(
    points: Points, items: Iterable[Item], of_industry: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The versions among the items at all points: the first value, and each that differs from the one before.

    A value that is served no more after a later filing is followed by a version without value.

    Args:
        points: the amounts known at each quarter end after each filing.
        items: of items.line_items.
        of_industry: `cik`, `seq`, `industry`: items without meaning in the industry of a filing have no version.

    Returns:
        versions: `version` (row number), `cik`, `q`, `seq`, `item`, `value` (null: withdrawn), `rule`, `method`,
            and a boolean column for each of items.flags.FLAGS.
        legs: `version`, `place` (order of the leg), `role`, `times`, and `flow` or `balance`: its row number.
        withheld: `cik`, `q`, `item`, `reason`, `rule`: the items that a rule withholds after the newest filing.
        decisions: `cik`, `rule`, `figures`.
    """
    meaningless = _without_meaning(points, of_industry)
    found = [_Kept.of(points, item, meaningless.get(item.name)) for item in items]
    point = np.concatenate([each.points for each in found])
    versions = points.frame[point].with_columns(
        pl.Series("item", _repeated([each.item.name for each in found], found)),
        numbers(np.concatenate([each.values for each in found])).alias("value"),
        pl.concat([each.rules(points) for each in found]).alias("rule"),
        _named("method", [(each.item.methods, each.item.method) for each in found], found),
        *(pl.Series(name, np.concatenate([each.flag(name) for each in found]), dtype=pl.Boolean) for name in FLAGS),
    )
    decided = [(rule, each.ciks(points, rule, holds)) for each in found for rule, holds in each.item.decided]
    decided += [(SAME_WITHIN_ROUNDING, points.cik[each.repetitions]) for each in found]
    decided += roundings(versions)
    decided += [(ONE_COMPANY, points.cik[holds]) for holds in points.of_another.values()]
    withheld = _withheld(points, [each.item for each in found], meaningless)
    is_withdrawn = pl.col("value").is_null()
    versions = versions.with_columns(method=pl.when(~is_withdrawn).then("method"))
    decided.append((WITHOUT_INPUT, ints(versions.filter(pl.col("rule") == WITHOUT_INPUT.id), "cik")))
    return versions.with_row_index("version"), _legs(found), withheld, counted(decided)


@dataclass(frozen=True)
class _Kept:
    """The points at which an item has a version, and those whose value differs by rounding only.

    `is_withdrawn`: the points of versions without value. `meaningless`: for each point the rule by which the item has
    no meaning in the filer's industry (null if it has one); None if it has a meaning in all industries.
    """

    item: Item
    points: Ints
    is_withdrawn: Flags
    repetitions: Ints
    meaningless: pl.Series | None

    @classmethod
    def of(cls, points: Points, item: Item, without_meaning: pl.DataFrame | None) -> "_Kept":
        """The points whose value differs from that of the point before of the same quarter end."""
        value = np.where(np.isfinite(item.value), item.value, np.nan)
        meaningless = None if without_meaning is None else without_meaning["rule"]
        if meaningless is not None:
            value = np.where(meaningless.is_null().to_numpy(), value, np.nan)
        earlier = before(value, starts(points.window))
        off = np.abs(value - earlier)
        is_same = (off <= same_within(item.name) * np.abs(earlier)) | (np.isnan(value) & np.isnan(earlier))
        changes = np.flatnonzero(~is_same)
        return cls(item, changes, np.isnan(value[changes]), np.flatnonzero(is_same & (off > 0)), meaningless)

    @property
    def values(self) -> Floats:
        """The value of each version; NaN if the version withdraws it."""
        return np.where(self.is_withdrawn, np.nan, self.item.value[self.points])

    def rules(self, points: Points) -> pl.Series:
        """The id of the rule that composed or withdrew the value of each version."""
        composed = pl.Series(self.item.rules, dtype=pl.String)[self.item.rule[self.points].clip(0)]
        if not self.is_withdrawn.any():
            return composed
        by = [] if self.meaningless is None else [self.meaningless[self.points]]
        by += [
            pl.select(pl.when(pl.Series(holds[self.points])).then(pl.lit(rule.id))).to_series()
            for _, rule, holds in self.item.withheld
        ]
        concepts = dict.fromkeys(leg.concept for leg in self.item.legs)
        by += [points.withheld_by(concept)[self.points] for concept in concepts]
        withdrawn = pl.coalesce(*by, pl.lit(WITHOUT_INPUT.id))
        return pl.select(pl.when(pl.Series(self.is_withdrawn)).then(withdrawn).otherwise(composed)).to_series()

    def flag(self, name: str) -> Flags:
        """Whether each version has a flag."""
        holds = self.item.flags.get(name)
        if holds is None:
            return np.zeros(len(self.points), dtype=np.bool_)
        return holds[self.points] & ~self.is_withdrawn

    def ciks(self, points: Points, rule: Rule, holds: Flags) -> Ints:
        """The company of each version that a rule affected, or of each quarter end whose value it withheld."""
        if rule.action == "withhold":
            at = np.flatnonzero(holds)
            return points.cik[at[np.unique(points.window[at], return_index=True)[1]]]
        return points.cik[self.points[holds[self.points]]]


def _repeated(names: Sequence[str], found: Sequence[_Kept]) -> pl.Series:
    """The name of each version's item, from one name for each item."""
    numbers = np.repeat(np.arange(len(found)), [len(each.points) for each in found])
    return pl.Series(names, dtype=pl.String)[numbers]


def _named(name: str, coded: Sequence[tuple[tuple[str, ...], Ints]], found: Sequence[_Kept]) -> pl.Series:
    """The name of each version, from the names of its item and the number among them."""
    names: list[str] = []
    numbers: list[Ints] = []
    for (of_item, number), each in zip(coded, found, strict=True):
        numbers.append(number[each.points] + len(names))
        names += of_item
    return pl.Series(name, names, dtype=pl.String)[np.concatenate(numbers)]


def _legs(found: Sequence[_Kept]) -> pl.DataFrame:
    """The legs of the versions: one row a leg, in the order of items and legs."""
    version, place, role, times, row, is_flow = [], [], [], [], [], []
    first = 0
    for each in found:
        for number, leg in enumerate(each.item.legs):
            rows = leg.rows[each.points]
            there = np.flatnonzero((rows >= 0) & ~each.is_withdrawn)
            version.append(there + first)
            row.append(rows[there])
            place.append(np.full(len(there), number, dtype=np.int16))
            role += [leg.role] * len(there)
            times.append(np.full(len(there), leg.times))
            is_flow.append(np.full(len(there), leg.is_flow))
        first += len(each.points)
    rows, flows = np.concatenate(row), np.concatenate(is_flow)
    return pl.DataFrame(
        {
            "version": np.concatenate(version).astype(np.uint32),
            "place": np.concatenate(place),
            "role": pl.Series(role, dtype=pl.String),
            "times": np.concatenate(times),
            "row": rows.astype(np.uint32),
            "is_flow": flows,
        }
    ).select(
        "version",
        "place",
        "role",
        "times",
        flow=pl.when("is_flow").then("row"),
        balance=pl.when(~pl.col("is_flow")).then("row"),
    )


def _withheld(points: Points, items: Sequence[Item], meaningless: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The items that a rule withholds after the newest filing: `cik`, `q`, `item`, `reason`, `rule`."""
    newest = newest_of_windows(points)
    found = [pl.DataFrame(schema=WITHHELD)]
    for name, of_point in meaningless.items():
        rows = np.flatnonzero(newest & of_point["rule"].is_not_null().to_numpy())
        if len(rows):
            reasons = of_point[rows].select(pl.lit(name, pl.String).alias("item"), "reason", "rule")
            found.append(pl.concat([points.frame[rows].select("cik", "q"), reasons], how="horizontal"))
    for item in items:
        concepts = {leg.concept for leg in item.legs} & set(points.of_another)
        others = [("basis_break", ONE_COMPANY, points.of_another[concept]) for concept in sorted(concepts)]
        for reason, rule, holds in (*item.withheld, *others):
            rows = np.flatnonzero(newest & holds & ~np.isfinite(item.value))
            texts = {"item": item.name, "reason": reason, "rule": rule.id}
            found.append(
                points.frame[rows].select(
                    "cik", "q", *(pl.lit(text, pl.String).alias(name) for name, text in texts.items())
                )
            )
    return pl.concat(found)


def _without_meaning(points: Points, of_industry: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """For each item that has no meaning in some industry: `reason` and `rule` at each point, null where it has one.

    The first filing after a reverse split says nothing of the industry in earlier periods: the point before it counts.
    """
    industry = points.frame.join(
        of_industry.select("cik", "seq", "industry"), on=["cik", "seq"], how="left", maintain_order="left"
    ).select(pl.when(pl.Series(~points.is_of_split)).then("industry").forward_fill().alias("industry"))
    return {
        str(item): industry.join(rows, on="industry", how="left", maintain_order="left").select("reason", "rule")
        for (item,), rows in WITHOUT_MEANING.partition_by("item", as_dict=True).items()
    }
