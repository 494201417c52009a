"""The balance sheets before: those of its filing and of the filing before with which each sheet is compared.

Belongs here: which sheets these are, and whether a balance followed a total since them. Does not: what follows for the
balance (contradictions), lines that are no longer stated (vanished).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize import arrays
from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, largest
from pipelines.normalize.balance.element_sets import are_equal
from pipelines.normalize.balance.judged import Comparison, Contradiction
from pipelines.normalize.balance.sheets import LINE, BalanceSheets

MOVED = 0.1
"""A change of debt or cash counts if it is at least a tenth of the larger balance; less is lost in other lines."""

OF_UNKNOWN = 0.15
"""A change counts if it is at least so much of what neither the balance nor the other known lines explain of the total;
a smaller one is lost in the changes of unknown lines."""

FOLLOWED = 0.25
"""The total must move by at least a quarter of the change, in its direction. Measured on 2,850 balance sheets with the
totals: four do not follow the sheets before."""

STOOD_STILL = 0.5
"""The total contradicts only if it moved by less than half of the change, in any direction; else other lines moved
too."""

QUARTERS = 5
"""The balance sheet before is at most five quarters older."""

FELL_WITH_IT = 0.5
"""A missing line is left out if the sum fell by at least half of it, and the total that includes it did not."""

Readings = tuple[tuple[str, ...], ...]
"""Other lines of a total, in several readings."""


@dataclass(frozen=True, slots=True)
class Before:
    """For each balance sheet the sheets that it is compared with, by their places; NOTHING if there is none.

    in_filing: the next older sheet of its filing.
    after_in_filing: the next newer sheet of its filing.
    in_filing_before: the newest sheet of the filing before, for the newest sheet of a filing.
    of_day: the sheet of the same day in the filing before that has one.
    """

    in_filing: Ints
    after_in_filing: Ints
    in_filing_before: Ints
    of_day: Ints


def sheets_before(sheets: BalanceSheets) -> Before:
    """The sheets with total assets that each sheet with total assets is compared with."""
    in_filing, after, in_filing_before, of_day = (np.full(len(sheets), NOTHING, dtype=np.int64) for _ in range(4))
    by_day = np.flatnonzero(sheets.has("assets"))
    again = ~arrays.starts(sheets.cik[by_day], sheets.q[by_day])[1:]
    of_day[by_day[1:][again]] = by_day[:-1][again]
    stated = np.flatnonzero(sheets.has("assets"))
    stated = stated[np.lexsort((sheets.q[stated], sheets.seq[stated], sheets.cik[stated]))]
    cik, q, seq = sheets.cik[stated], sheets.q[stated], sheets.seq[stated]
    is_next = (cik[1:] == cik[:-1]) & (seq[1:] == seq[:-1])
    in_filing[stated[1:][is_next]] = stated[:-1][is_next]
    after[stated[:-1][is_next]] = stated[1:][is_next]
    newest = np.flatnonzero(np.append(~is_next, len(stated) > 0)) if len(stated) else np.arange(0)
    older, newer = newest[:-1], newest[1:]
    follows = (cik[newer] == cik[older]) & (q[newer] > q[older]) & (q[newer] <= q[older] + QUARTERS)
    in_filing_before[stated[newer[follows]]] = stated[older[follows]]
    return Before(in_filing, after, in_filing_before, of_day)


def moved_alone(
    contradiction: Contradiction,
    sheets: BalanceSheets,
    before: Before,
    balance: Floats,
    total: Floats,
    readings: Readings,
) -> Comparison:
    """Whether a balance changed and the total that includes it, less other lines, did not follow.

    The sides are the changes of the balance and of the total less other lines, where they were last compared.

    Args:
        balance: debt or cash of each sheet.
        total: a total of each sheet that includes the balance.
        readings: other lines of the total, in several readings, all of which must contradict; a line counts if both
            sheets state it with the same elements.
    """
    asked, alone = [], []
    of_balance, of_total = (np.full(len(sheets), np.nan) for _ in range(2))
    for place in (before.in_filing, before.in_filing_before):
        is_asked = (place >= 0) & ~np.isnan(balance + total) & ~np.isnan(balance[place] + total[place])
        newer = np.flatnonzero(is_asked)
        older = place[newer]
        change = balance[newer] - balance[older]
        size = np.abs(change)
        counts = (size > 0) & (size >= MOVED * largest(np.abs(balance[newer]), np.abs(balance[older])))
        known = np.sum([np.abs(np.nan_to_num(sheets.value(line)[older])) for line in readings[-1]], axis=0)
        counts &= size >= OF_UNKNOWN * (total[older] - balance[older] - known)
        for others in readings:
            left = room(sheets, total, others, newer, older)
            counts &= (left * np.sign(change) < FOLLOWED * size) & (np.abs(left) < STOOD_STILL * size)
        found = np.zeros(len(sheets), dtype=np.bool_)
        found[newer] = counts
        of_balance[newer], of_total[newer] = change, left
        asked.append(is_asked)
        alone.append(found)
    rule, contradicts = contradiction.rule, all_of_those_asked(asked, alone)
    return Comparison(rule, np.logical_or(*asked), contradicts, of_balance, of_total)


def equal_before(equal: Flags, apart: Flags, before: Before) -> Flags:
    """Whether a total is the debt on every other sheet of its filing, of the filing before and of its day before."""
    places = (before.in_filing, before.after_in_filing, before.in_filing_before, before.of_day)
    asked = [(place >= 0) & (equal | apart)[place] for place in places]
    return all_of_those_asked(asked, [(place >= 0) & equal[place] for place in places])


def room(sheets: BalanceSheets, total: Floats, others: tuple[str, ...], newer: Ints, older: Ints) -> Floats:
    """The change of a total less those of other lines that both sheets state with the same elements."""
    left: Floats = total[newer] - total[older]
    for line in others:
        left = left - np.nan_to_num(_change(sheets, line, newer, older))
    return left


def _change(sheets: BalanceSheets, line: str, newer: Ints, older: Ints) -> Floats:
    """The change of a line that adds to the total; NaN if a sheet lacks it or states it with other elements."""
    rows, values = sheets.rows[LINE[line]], sheets.values[LINE[line]]
    elements = sheets.stated.elements
    are_same = are_equal(elements[:, rows[newer]], elements[:, rows[older]])
    change = values[newer] - values[older]
    # liabilities that are not borrowings are negative amounts
    return np.where(are_same, -change if line.startswith(("not_borrowed", "noncurrent")) else change, np.nan)


def all_of_those_asked(asked: list[Flags], found: list[Flags]) -> Flags:
    """Whether there is a comparison, and every one that is possible contradicts."""
    any_asked = np.logical_or.reduce(asked)
    contradict: Flags = any_asked & np.logical_and.reduce(
        [each | ~is_asked for is_asked, each in zip(asked, found, strict=True)]
    )
    return contradict
