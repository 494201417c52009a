"""Current debt by footing: the current liabilities prove which lines of borrowings are on the balance sheet.

Belongs here: the other readings of current debt, and which of them the current liabilities prove. Does not: which lines
are taken without such a proof (debt), whether amounts add up (footing).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance.footing import of_all_current_liabilities
from pipelines.normalize.balance.sheets import LINE, SAME_MONEY, BalanceSheets, same
from pipelines.normalize.rule import Rule

MATERIAL = 0.05
"""A line of at least a twentieth of the current liabilities is not hidden in another one."""

BY_FOOTING = Rule(
    "debt.classified.current-by-footing",
    "If the current liabilities do not add up with the lines of current debt, and with one other reading of them do, "
    "this is taken: a line is part of another one of debt, and not small; or a larger or a further line is stated.",
    "ASC 210-10-45-5 (total of current liabilities); Regulation S-X Rule 5-02.20 (items above five per cent of the "
    "current liabilities are stated separately)",
    "compose",
    "classified balance sheets",
)

_CHOSEN = ("debt_current_maturities", "debt_current_instrument", "debt_short_term", "debt_short_term_loans")
"""Lines that current debt is added up from."""
_OTHERS = (
    "debt_current_instrument",
    "debt_short_term_loans",
    "debt_notes_current",
    "debt_notes",
    "debt_credit_line",
)
"""Lines that may stand in their place, or beside them."""


def by_footing(sheets: BalanceSheets, chosen: Flags, where: Flags) -> Flags:
    """Choose the lines of current debt that the current liabilities prove, in place.

    Args:
        chosen: for each of sheets.DEBT_LINES (first axis) and sheet whether it is part of debt.
        where: the sheets whose debt is added up from current and non-current lines.

    Returns:
        the sheets that were changed.
    """
    changed = np.zeros(len(sheets), dtype=np.bool_)
    asked = np.flatnonzero(where & sheets.has("liabilities_current"))
    if not len(asked):
        return changed
    some = sheets.only(asked)
    taken = chosen[:, asked]
    served = np.zeros(len(asked))
    for line in _CHOSEN:
        served += np.where(taken[LINE[line]], some.or_zero(line), 0.0)
    moves = _moves(some, taken)
    tries: Floats = np.ones(len(asked))
    for *_, valid in moves:
        tries += valid
    readings = [served, *(served + more for *_, more, _ in moves)]
    stands, *found = of_all_current_liabilities(some, readings, np.greater(tries, 1), tries)
    best = np.full(len(asked), -1)
    unit = some.grain("liabilities_current")
    is_one = ~stands
    for number, (foots, (_, _, more, valid)) in enumerate(zip(found, moves, strict=True)):
        holds = foots & valid & ~stands
        is_one &= ~holds | (best < 0) | (np.abs(more - _picked(moves, best)) <= unit)
        best = np.where(holds & (best < 0), number, best)
    for number, (out, into, *_) in enumerate(moves):
        places = asked[is_one & (best == number)]
        if out:
            chosen[LINE[out], places] = False
        if into:
            chosen[LINE[into], places] = True
        changed[places] = True
    return changed


_Move = tuple[str, str, Floats, Flags]
"""The line that is left out, the one that is put in, the change of current debt, and where it is possible."""


def _moves(sheets: BalanceSheets, taken: Flags) -> list[_Move]:
    """The other readings: less a line that another one includes, with a larger one in its place, or with one more."""
    total = sheets.value("liabilities_current")
    amounts = {line: sheets.or_zero(line) for line in {*_CHOSEN, *_OTHERS}}
    parts = {line: np.where(taken[LINE[line]], amounts[line], 0.0) for line in _CHOSEN}
    moves: list[_Move] = []
    for line in _CHOSEN:
        largest = np.max([parts[other] for other in _CHOSEN if other != line], axis=0)
        is_part = (parts[line] > 0) & (largest >= parts[line] * (1 - SAME_MONEY))
        moves.append((line, "", -parts[line], is_part & (parts[line] >= MATERIAL * total)))
    for other in _OTHERS:
        is_new = (amounts[other] > 0) & ~taken[LINE[other]]
        for line in _CHOSEN:
            is_new &= ~((parts[line] > 0) & same(parts[line], amounts[other]))
        moves.append(("", other, amounts[other], is_new))
        for line in ("debt_current_maturities", "debt_short_term"):
            is_larger = is_new & (parts[line] > 0) & (amounts[other] > parts[line])
            moves.append((line, other, amounts[other] - parts[line], is_larger))
    return moves


def _picked(moves: list[_Move], best: Ints) -> Floats:
    """The change of current debt by the best reading of each sheet."""
    changes: Floats = np.choose(np.maximum(best, 0), [more for *_, more, _ in moves])
    return changes


RULES: tuple[Rule, ...] = (BY_FOOTING,)
