"""Lines of debt by footing: the totals of a classified balance sheet prove which borrowings are lines of it.

Belongs here: the other readings of current and of non-current debt, and which of them the totals prove. Does not: which
lines are taken without such a proof (debt), whether amounts add up (footing).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance.footing import of_all_current_liabilities, of_all_noncurrent_liabilities
from pipelines.normalize.balance.sheets import LINE, SAME_MONEY, BalanceSheets, same
from pipelines.normalize.rule import Rule

MATERIAL = 0.05
"""A line of at least a twentieth of the current liabilities is not hidden in another one."""

CURRENT = Rule(
    "debt.classified.current-by-footing",
    "If the current liabilities do not add up with the lines of current debt, and with one other reading of them do, "
    "this is taken: a line is part of another one of debt, and not small; or a larger or a further line is stated.",
    "ASC 210-10-45-5 (total of current liabilities); Regulation S-X Rule 5-02.20 (items above five per cent of the "
    "current liabilities are stated separately)",
    "compose",
    "classified balance sheets",
)
NONCURRENT = Rule(
    "debt.classified.noncurrent-by-footing",
    "If the non-current liabilities do not add up with the lines of non-current debt, and with one other reading of "
    "them do, this is taken: the sum of all instruments, in place of long-term debt or beside it, or a further line.",
    "ASC 210-10-45-5 (total of current liabilities); us-gaap:Liabilities: the total of all liabilities",
    "compose",
    "classified balance sheets",
)
RULES: tuple[Rule, ...] = (CURRENT, NONCURRENT)

_CURRENT = ("debt_current_maturities", "debt_current_instrument", "debt_short_term", "debt_short_term_loans")
_NONCURRENT = ("debt_noncurrent", "debt_noncurrent_instrument")
"""The lines that each part of debt is added up from."""
_OTHER_CURRENT = (
    "debt_current_instrument",
    "debt_current_by_instrument",
    "debt_short_term_loans",
    "debt_short_term_by_instrument",
    "debt_notes_current",
    "debt_notes",
    "debt_credit_line",
)
_OTHER_NONCURRENT = ("debt_notes", "debt_bank_loans", "debt_long_term")
"""Lines that may stand in their place, or beside them."""


@dataclass(frozen=True, slots=True)
class _Move:
    """Another reading: the lines that it leaves out and puts in, the change of the sum, and where it is possible."""

    out: tuple[str, ...]
    into: tuple[str, ...]
    change: Floats
    valid: Flags


_Foots = Callable[..., list[Flags]]


def by_footing(sheets: BalanceSheets, chosen: Flags, where: Flags) -> tuple[Flags, Flags]:
    """Choose the lines of debt that the totals prove, in place.

    Args:
        chosen: for each of sheets.DEBT_LINES (first axis) and sheet whether it is part of debt.
        where: the sheets whose debt is added up from current and non-current lines.

    Returns:
        the sheets whose current, and whose non-current lines were changed.
    """
    current, noncurrent = (np.zeros(len(sheets), dtype=np.bool_) for _ in range(2))
    asked = np.flatnonzero(where & sheets.has("liabilities_current"))
    if len(asked):
        some = sheets.only(asked)
        current[asked] = _choose(some, chosen, asked, _CURRENT, _current_moves, of_all_current_liabilities)
        due = [np.where(chosen[LINE[line], asked], some.or_zero(line), 0.0) for line in _CURRENT]

        def moves(sheets: BalanceSheets, parts: dict[str, Floats]) -> list[_Move]:
            return [_without_repeated(move, due) for move in _noncurrent_moves(sheets, parts)]

        noncurrent[asked] = _choose(some, chosen, asked, _NONCURRENT, moves, of_all_noncurrent_liabilities)
    return current, noncurrent


def _choose(
    sheets: BalanceSheets,
    chosen: Flags,
    asked: Ints,
    lines: tuple[str, ...],
    moves_of: Callable[[BalanceSheets, dict[str, Floats]], list[_Move]],
    foot: _Foots,
) -> Flags:
    """Make the one move that foots, in place, where the lines as they are do not; returns where."""
    parts = {line: np.where(chosen[LINE[line], asked], sheets.or_zero(line), 0.0) for line in lines}
    served = np.sum(list(parts.values()), axis=0)
    moves = moves_of(sheets, parts)
    tries: Floats = np.ones(len(sheets))
    for move in moves:
        tries += move.valid
    readings = [served, *(served + move.change for move in moves)]
    stands, *found = foot(sheets, readings, np.greater(tries, 1), tries)
    best = np.full(len(sheets), -1)
    change = np.full(len(sheets), np.nan)
    is_one = ~stands
    for number, (foots, move) in enumerate(zip(found, moves, strict=True)):
        holds = foots & move.valid & ~stands
        is_one &= ~(holds & (best >= 0) & ~same(move.change, change))
        is_first = holds & (best < 0)
        best[is_first], change[is_first] = number, move.change[is_first]
    is_one &= best >= 0
    for number, move in enumerate(moves):
        places = asked[is_one & (best == number)]
        for line in move.out:
            chosen[LINE[line], places] = False
        for line in move.into:
            chosen[LINE[line], places] = True
    return is_one


def _current_moves(sheets: BalanceSheets, parts: dict[str, Floats]) -> list[_Move]:
    """The other readings: less a line that another one includes, with a larger one in its place, or with one more."""
    total = sheets.value("liabilities_current")
    moves: list[_Move] = []
    for line, part in parts.items():
        largest = np.max([parts[other] for other in parts if other != line], axis=0)
        is_part = (part > 0) & (largest >= part * (1 - SAME_MONEY))
        moves.append(_Move((line,), (), -part, is_part & (part >= MATERIAL * total)))
    for other in _OTHER_CURRENT:
        amount, is_new = _new(sheets, other, parts)
        moves.append(_Move((), (other,), amount, is_new))
        for line in ("debt_current_maturities", "debt_current_instrument", "debt_short_term"):
            is_larger = is_new & (parts[line] > 0) & (amount > parts[line])
            moves.append(_Move((line,), (other,), amount - parts[line], is_larger))
    return moves


def _noncurrent_moves(sheets: BalanceSheets, parts: dict[str, Floats]) -> list[_Move]:
    """The other readings: all instruments, in place of long-term debt or beside it, or one line more."""
    debt, instrument = parts["debt_noncurrent"], parts["debt_noncurrent_instrument"]
    every = "debt_noncurrent_by_instrument"
    amount = sheets.or_zero(every)
    is_other = (amount > 0) & ~same(amount, debt + instrument)
    moves = [
        _Move(_NONCURRENT, (every,), amount - debt - instrument, is_other),
        _Move(("debt_noncurrent_instrument",), (every,), amount - instrument, is_other & (debt > 0)),
    ]
    for other in _OTHER_NONCURRENT:
        amount, is_new = _new(sheets, other, parts)
        moves.append(_Move((), (other,), amount, is_new))
    return moves


def _without_repeated(move: _Move, due: list[Floats]) -> _Move:
    """A reading where it adds no amount that is current debt already: that is one borrowing under two elements."""
    repeats = np.logical_or.reduce([(part > 0) & same(part, move.change) for part in due])
    return replace(move, valid=move.valid & ~repeats)


def _new(sheets: BalanceSheets, line: str, parts: dict[str, Floats]) -> tuple[Floats, Flags]:
    """A line's amount, and where it is none of the parts already."""
    amount = sheets.or_zero(line)
    is_new = amount > 0
    for name, part in parts.items():
        is_new = is_new & ~((part > 0) & ((name == line) | same(part, amount)))
    return amount, is_new
