"""Puts the values that totals prove in the place of values without proof, filing by filing.

Belongs here: which of several values of one day counts after each filing. Does not: the values (proved, composition).

After the first proof of a day, a value without proof counts only as a restatement: if the same way of adding up gave
the proved amount before. Doubts about the scale of a balance sheet outrank its proof.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Ints
from pipelines.normalize.balance.proved import ADDS_UP, OF_LINES, OUTRANKED_BY, Proved
from pipelines.normalize.balance.rests import NO_LONGER_ADDS_UP, Doubt
from pipelines.normalize.balance.sheets import SAME_MONEY
from pipelines.normalize.frames import CHOSE, HOLDS, PROOFS, WITHHELD_OUTCOME, counted
from pipelines.normalize.rule import Rule

Key = tuple[int, int, str]
"""Company, quarter end and item."""

_Unproved = tuple[int, int, float | None, str]
"""Filing, row, value and rule of a value without proof."""

_Place = tuple[int, date, bool, int]
"""The quarter end of a day of a filing, and `filed`, `amended` and `regime` of the filing."""

AGREES = 0.005
"""A value without proof agrees with the proved one within half a per cent: totals of the notes are rounded."""

LEGS = pl.Schema(
    {
        "sum": pl.UInt32(),
        "fact": pl.UInt32(),
        "coefficient": pl.Float64(),
        "rule": pl.String(),
        "reservation": pl.String(),
    }
)
"""The facts of each proved value: `sum` of composition.COMPOSED, `fact` a row of the facts."""


@dataclass(frozen=True, slots=True)
class Authority:
    """The values that count, with and without proof.

    composed: columns of composition.COMPOSED. lines: columns of LEGS, of the proved ones.
    missed, proofs: those of the values without proof, without those of days that a proof decides, and the new proofs.
    decisions: columns of frames.DECISIONS.
    """

    composed: pl.DataFrame
    lines: pl.DataFrame
    missed: pl.DataFrame
    proofs: pl.DataFrame
    decisions: pl.DataFrame


def authority(
    found: Iterable[Proved],
    doubts: Iterable[Doubt],
    placed: pl.DataFrame,
    composed: pl.DataFrame,
    missed: pl.DataFrame,
    proofs: pl.DataFrame,
) -> Authority:
    """The values of debt and cash that count after each filing.

    Args:
        found: the proved values, in the order of filing.
        doubts: the balance sheets of which a line is wrong; what is added up from them without proof does not count.
        placed: vintages on the grid: `cik`, `seq`, `end`, `n`, `q`, `filed`, `amended`, `regime`.
        composed: the values without proof (composition.COMPOSED); row and `sum` are the same number.
        missed, proofs: why other days have none, and the judgements of both (composition.Balances).
    """
    of_day = _quarters(placed)
    new: dict[Key, dict[int, Proved]] = {}
    for one in found:
        place = of_day.get((one.cik, one.seq, one.day))
        if place is not None:
            new.setdefault((one.cik, place[0], one.item), {}).setdefault(one.seq, one)
    wrong: dict[tuple[int, int, str, int], Doubt] = {}
    for doubt in doubts:
        place = of_day.get((doubt.cik, doubt.seq, doubt.day))
        if place is not None:
            wrong[doubt.cik, place[0], doubt.item, doubt.seq] = doubt
    doubted = _doubted(proofs)
    old: dict[Key, list[_Unproved]] = {}
    flags: dict[tuple[Key, int], tuple[float | None, str | None]] = {}
    columns = (composed[name].to_list() for name in ("cik", "q", "concept", "seq", "value", "rule", "flag"))
    kept, taken, decided = set(range(len(composed))), [], set()
    for row, (cik, q, item, seq, value, rule, flag) in enumerate(zip(*columns, strict=True)):
        if (cik, q, item, seq) in wrong:
            kept.discard(row)
        elif (cik, q, item) in new:
            old.setdefault((cik, q, item), []).append((seq, row, value, rule))
            flags[(cik, q, item), seq] = value, flag
    for key, by_filing in new.items():
        without = sorted(old.get(key, []))
        certain = {seq: one for seq, one in by_filing.items() if (*key, seq) not in doubted}
        events = _events(without, certain)
        kept -= {row for _, row, *_ in without} - {row for row in events if isinstance(row, int)}
        of_key = [row for row in events if isinstance(row, Proved)]
        taken += [(key, one) for one in of_key]
        if certain and (not events or isinstance(events[-1], Proved) or composed["value"][events[-1]] is not None):
            decided.add(key)
    sums = pl.int_range(len(composed), len(composed) + len(taken), dtype=pl.UInt32, eager=True)
    of_taken = [
        flag if value is not None and _same(value, one.value, SAME_MONEY) else None
        for key, one in taken
        for value, flag in [flags.get((key, one.seq), (None, None))]
    ]
    known = composed[sorted(kept)]
    have = {*known.drop_nulls("value").select("cik", "q", "concept").iter_rows(), *(key for key, _ in taken)}
    without_value = {key: one for key, one in wrong.items() if key[:3] not in have}
    return _frames(taken, of_taken, sums, decided, of_day, known, *_withheld(without_value, missed, proofs))


def _withheld(
    doubts: Mapping[tuple[int, int, str, int], Doubt], missed: pl.DataFrame, proofs: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[Rule, Ints]]:
    """The reasons and judgements with those of doubts that leave a day without a value, and the rule with each CIK."""
    gaps = [(*key[:3], one.reason, NO_LONGER_ADDS_UP.id) for key, one in doubts.items()]
    judged = [(*key, NO_LONGER_ADDS_UP.id, WITHHELD_OUTCOME, *one.sides) for key, one in doubts.items()]
    return (
        pl.concat([pl.DataFrame(gaps, schema=missed.schema, orient="row"), missed]),
        pl.concat([proofs, pl.DataFrame(judged, schema=PROOFS, orient="row")]),
        (NO_LONGER_ADDS_UP, np.array([cik for cik, *_ in doubts], dtype=np.int64)),
    )


def _quarters(placed: pl.DataFrame) -> dict[tuple[int, int, int], _Place]:
    """The quarter end of each day of each filing, with `filed`, `amended` and `regime` of the filing."""
    days = placed.filter(pl.col("n") == 0).select(
        "cik", "seq", pl.col("end").to_physical(), "q", "filed", "amended", "regime"
    )
    once = days.unique(["cik", "seq", "end"], maintain_order=True)
    return {(cik, seq, day): (q, *of_filing) for cik, seq, day, q, *of_filing in once.iter_rows()}


def _doubted(proofs: pl.DataFrame) -> set[tuple[int, int, str, int]]:
    """The values of filings whose scale is in doubt: company, quarter end, item, filing."""
    rows = proofs.filter(pl.col("rule").is_in(OUTRANKED_BY) & (pl.col("outcome") == WITHHELD_OUTCOME))
    return set(rows.select("cik", "q", "item", "seq").iter_rows())


def _events(without: list[_Unproved], certain: Mapping[int, Proved]) -> list[int | Proved]:
    """The values of one day that count, in the order of filing: rows without proof, and proved values.

    Args:
        without: `seq`, row, value and rule of the values without proof.
        certain: the proved value of each filing.
    """
    if not certain:
        return [row for _, row, *_ in without]
    first = min(certain)
    agreed = any(
        seq <= first and value is not None and _same(value, certain[first].value, AGREES)
        for seq, _, value, _ in without
    )
    events: list[int | Proved] = []
    current: float | None = None
    before: float | None = None
    proof: Proved | None = None
    of_row = {seq: (row, value, rule) for seq, row, value, rule in without}
    for seq in sorted({*certain, *of_row}):
        row, value, rule = of_row.get(seq, (-1, None, ""))
        is_restated = agreed and value is not None and value != before
        before = before if value is None else value
        if seq in certain:
            one = certain[seq]
            changes = _restates(one, proof) if proof else current is None or not _same(current, one.value, SAME_MONEY)
            if changes:
                events.append(one)
                current = one.value
            if changes or not proof:
                proof = one
        elif not proof or is_restated or rule in OUTRANKED_BY:
            events.append(row)
            current = value
    return events


def _restates(later: Proved, earlier: Proved) -> bool:
    """Whether a later proof restates an earlier one: it states more, or other amounts of all of its lines.

    A line that a later filing combines with another one is still what its own filing stated.
    """
    return later.value > earlier.value or (later.lines != earlier.lines and later.elements >= earlier.elements)


def _same(one: float, other: float, within: float) -> bool:
    return abs(one - other) <= within * abs(other)


def _frames(
    taken: list[tuple[Key, Proved]],
    flags: list[str | None],
    sums: pl.Series,
    decided: set[Key],
    of_day: Mapping[tuple[int, int, int], _Place],
    composed: pl.DataFrame,
    missed: pl.DataFrame,
    proofs: pl.DataFrame,
    withheld: tuple[Rule, Ints],
) -> Authority:
    """The rows of the proved values, after those without proof that count.

    Args:
        flags: the flag of each proved value: a total in the notes contradicts it.
        withheld: the rule of the doubts with the CIK of each value that it withholds.
        sums: the number of each proved value, after those of all values without proof.
    """
    rows, lines, judged = [], [], []
    for number, (key, one), flag in zip(sums, taken, flags, strict=True):
        _, filed, amended, regime = of_day[one.cik, one.seq, one.day]
        of_filing = (one.seq, filed, amended, regime)
        rows.append((number, key[0], key[2], key[1], *of_filing, one.value, one.grain, one.rule.id, flag))
        lines += [(number, fact, coefficient, OF_LINES.id, one.flag) for fact, coefficient in one.facts]
        value_of = (key[0], key[1], key[2], one.seq)
        judged.append((*value_of, one.rule.id, CHOSE, one.value, one.value))
        judged += [(*value_of, ADDS_UP[name].id, HOLDS, lines_of, total) for name, lines_of, total in one.sections]
    keys = pl.DataFrame(sorted(decided), schema={"cik": pl.Int64, "q": pl.Int32, "item": pl.String}, orient="row")
    outdone = pl.col("outcome") == WITHHELD_OUTCOME
    standing = pl.concat(
        [
            proofs.filter(~outdone | pl.col("outcome").is_null()),
            proofs.filter(outdone).join(keys, on=["cik", "q", "item"], how="anti"),
        ]
    )
    return Authority(
        pl.concat([composed, pl.DataFrame(rows, schema=composed.schema, orient="row")]),
        pl.DataFrame(lines, schema=LEGS, orient="row"),
        missed.join(keys, on=["cik", "q", "item"], how="anti", maintain_order="left"),
        pl.concat([standing, pl.DataFrame(judged, schema=PROOFS, orient="row")]),
        counted(
            [
                withheld,
                *((one.rule, np.array([one.cik])) for _, one in taken),
                (OF_LINES, np.array([one.cik for _, one in taken for _ in one.facts], dtype=np.int64)),
            ]
        ),
    )
