"""Proofs of debt and cash: which identities of the balance sheet each value was compared with, and the result.

Belongs here: the rows of frames.PROOFS. Does not: the identities (contradictions, instruments, debt, cash).
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipelines.normalize import arrays
from pipelines.normalize.arrays import Floats, Ints
from pipelines.normalize.balance import contradictions, debt
from pipelines.normalize.balance.judged import Comparison, Judged
from pipelines.normalize.balance.sheets import BalanceSheets
from pipelines.normalize.balance.sums import Sums
from pipelines.normalize.frames import CHOSE, HOLDS, PROOFS, WITHHELD_OUTCOME
from pipelines.normalize.rule import Rule

_OUTCOMES = (HOLDS, CHOSE, WITHHELD_OUTCOME, None)

_Rows = tuple[Rule, str | None, Ints, Floats, Floats]
"""Judgements by one rule with one outcome: their sheets, and both sides for all sheets."""


def judgements(
    sheets: BalanceSheets,
    item: str,
    judged: Judged,
    sums: Sums,
    kept: Sums,
    counts: Ints,
    rules: Sequence[Rule],
    agrees: Comparison,
) -> pl.DataFrame:
    """The judgements of the sums that count, and of those that are withheld: columns of frames.PROOFS.

    Args:
        judged: of contradictions, for `sums`.
        sums: all sums.
        kept: those of balance sheets.
        counts: the places of `kept` that count.
        rules: the list in which Sums.rule is a place.
        agrees: the comparison with the filer's own total.
    """
    sheet = kept.sheet[counts]
    is_first = arrays.starts(sheets.cik[sheet], sheets.q[sheet])
    missing = np.full(len(sheets), np.nan)
    rows: list[_Rows] = []
    for each in (*judged.comparisons, agrees):
        asked = each.asked[sheet] & ~each.found[sheet]
        rows.append((each.rule, HOLDS, sheet[asked], each.left, each.right))
        rows.append((each.rule, None, sheet[~asked & ~is_first], missing, missing))
    values = missing.copy()
    values[sums.sheet] = sums.value
    for rule in debt.PROVEN:
        if rule in rules:
            chosen = sheet[kept.rule[counts] == rules.index(rule)]
            rows.append((rule, CHOSE, chosen, values, values))
    rows += _of_withheld(sheets, judged, sums, sheet[is_first], values)
    return _frame(sheets, item, rows)


def _of_withheld(sheets: BalanceSheets, judged: Judged, sums: Sums, first: Ints, values: Floats) -> list[_Rows]:
    """The sums that are withheld with no earlier value of the day; the judgement ends with the first value.

    Args:
        first: the sheets with the first value of each day.
        values: the sum of each sheet.
    """
    missing = np.full(len(sheets), np.nan)
    sides = {each.rule: each for each in judged.comparisons}
    day = np.cumsum(arrays.starts(sheets.cik, sheets.q))
    since = np.full(int(day.max(initial=0)) + 1, len(sheets))
    since[day[first]] = first
    rows: list[_Rows] = []
    for number, each in enumerate(judged.table):
        if each is contradictions.NO_ASSETS:
            continue
        withheld = sums.sheet[judged.contradiction == number]
        withheld = withheld[since[day[withheld]] > withheld]
        if len(withheld):
            side = sides.get(each.rule)
            left, right = (side.left, side.right) if side else (values, missing)
            rows.append((each.rule, WITHHELD_OUTCOME, withheld, left, right))
            ends = since[day[withheld]]
            rows.append((each.rule, None, np.unique(ends[ends < len(sheets)]), missing, missing))
    return rows


def _frame(sheets: BalanceSheets, item: str, rows: list[_Rows]) -> pl.DataFrame:
    """The rows as one frame; of two judgements of one rule for a filing the first is kept."""
    rules = list(dict.fromkeys(rule for rule, *_ in rows))
    number = np.concatenate([np.full(len(sheet), rules.index(rule)) for rule, _, sheet, *_ in rows])
    outcome = np.concatenate([np.full(len(sheet), _OUTCOMES.index(text)) for _, text, sheet, *_ in rows])
    places = np.concatenate([sheet for _, _, sheet, _, _ in rows])
    left = np.concatenate([side[sheet] for _, _, sheet, side, _ in rows])
    right = np.concatenate([side[sheet] for _, _, sheet, _, side in rows])
    _, kept = np.unique(places * len(rules) + number, return_index=True)
    return pl.DataFrame(
        {
            "cik": sheets.cik[places],
            "q": sheets.q[places],
            "item": pl.Series([item]).new_from_index(0, len(places)),
            "seq": sheets.seq[places],
            "rule": pl.Series([rule.id for rule in rules])[number],
            "outcome": pl.Series(_OUTCOMES, dtype=pl.String)[outcome],
            "left_side": arrays.numbers(left).fill_nan(None),
            "right_side": arrays.numbers(right).fill_nan(None),
        },
        schema=PROOFS,
    )[kept]
