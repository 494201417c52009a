"""Adds up the lines that were chosen for debt or for cash on each balance sheet.

Belongs here: the sum, its rounding, and its lines. Does not: which lines are chosen (debt, cash), which later filing
restates it (restated).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance.element_sets import Sets, united
from pipelines.normalize.balance.sheets import LINE, BalanceSheets
from pipelines.normalize.rule import Rule

UNDECIDED = -1


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of the balance sheets that have one, in the order of the sheets.

    sheet: the balance sheet.
    rule: the rule that chose the lines: its place in the list of rules of the module.
    value, grain: the sum, and the sum of the grains of its lines.
    nonzero_lines: number of lines that are not zero.
    elements: the elements of all its lines.
    contradicted: whether the filer's own total contradicts it.
    is_short_term: whether all lines are due within a year.
    is_filer_total: whether it is only the filer's own total, without finance leases.
    part_sum, part_line, part_row: the lines of all sums, one after another: the place of the sum, the place of the line
        in sheets.LINES, and its row among the stated amounts.
    """

    sheet: Ints
    rule: Ints
    value: Floats
    grain: Floats
    nonzero_lines: Ints
    elements: Sets
    contradicted: Flags
    is_short_term: Flags
    is_filer_total: Flags
    part_sum: Ints
    part_line: Ints
    part_row: Ints


@dataclass(frozen=True, slots=True)
class Composition:
    """A rule that adds up those of `lines` that are stated, on the sheets for which `holds` is true."""

    rule: Rule
    lines: tuple[str, ...]
    holds: Callable[[BalanceSheets], Flags]


def first_that_holds(table: Sequence[Composition], sheets: BalanceSheets, lines: int) -> tuple[Ints, Flags]:
    """Choose the lines of each sheet by the first row of a decision table whose condition holds.

    Args:
        table: the most special case first.
        lines: the number of sheets.LINES, from the first, that can be chosen.

    Returns:
        for each sheet the place of its row in the table (UNDECIDED if no condition holds), and for each line (first
        axis) whether it is chosen.
    """
    decided = np.select([each.holds(sheets) for each in table], range(len(table)), UNDECIDED)
    of_table = np.zeros((lines, len(table) + 1), dtype=np.bool_)
    for number, each in enumerate(table):
        of_table[[LINE[line] for line in each.lines], number] = True
    return decided, of_table[:, decided]


def added_up(
    sheets: BalanceSheets,
    rule: Ints,
    chosen: Flags,
    contradicted: Callable[[BalanceSheets, Floats], Flags],
    is_filer_total: Flags,
    short_term: frozenset[str],
) -> Sums:
    """Add up the lines that are chosen and stated.

    Args:
        rule: for each sheet the place of its rule; UNDECIDED if there is no sum.
        chosen: for each of sheets.LINES (first axis, from the first; possibly not all) and sheet whether it counts.
        contradicted: whether a total of the filer contradicts the sum of each sheet.
        is_filer_total: for each sheet, as in Sums.
        short_term: the lines that are due within a year.
    """
    chosen = chosen & (sheets.rows[: len(chosen)] >= 0) & (rule != UNDECIDED)
    sheet = np.flatnonzero(rule != UNDECIDED)
    part_sheet, part_line = np.nonzero(chosen.T)
    part_row = sheets.rows[part_line, part_sheet]
    value = sheets.stated.value[part_row]
    size = len(sheets)
    total: Floats = np.bincount(part_sheet, value, size).astype(np.float64)
    grain: Floats = np.bincount(part_sheet, sheets.stated.grain[part_row], size).astype(np.float64)
    of_long_term = np.ones(len(chosen), dtype=np.bool_)
    of_long_term[[LINE[line] for line in short_term]] = False
    has_long_term: Flags = np.logical_or.reduce(chosen[of_long_term], axis=0)
    begins = np.searchsorted(part_sheet, sheet)
    return Sums(
        sheet=sheet,
        rule=rule[sheet],
        value=total[sheet],
        grain=grain[sheet],
        nonzero_lines=np.bincount(part_sheet[value != 0], minlength=size)[sheet],
        elements=united(sheets.stated.elements[:, part_row], begins),
        contradicted=contradicted(sheets, total)[sheet],
        is_short_term=~has_long_term[sheet],
        is_filer_total=is_filer_total[sheet],
        part_sum=np.searchsorted(sheet, part_sheet),
        part_line=part_line,
        part_row=part_row,
    )


def only(sums: Sums, kept: Flags) -> Sums:
    """Some of the sums, with their lines."""
    place = np.cumsum(kept) - 1
    of_part = kept[sums.part_sum]
    return Sums(
        sheet=sums.sheet[kept],
        rule=sums.rule[kept],
        value=sums.value[kept],
        grain=sums.grain[kept],
        nonzero_lines=sums.nonzero_lines[kept],
        elements=sums.elements[:, kept],
        contradicted=sums.contradicted[kept],
        is_short_term=sums.is_short_term[kept],
        is_filer_total=sums.is_filer_total[kept],
        part_sum=place[sums.part_sum[of_part]],
        part_line=sums.part_line[of_part],
        part_row=sums.part_row[of_part],
    )


def is_apart(total: Floats, *sums: Floats, within: float) -> Flags:
    """Whether a total is stated and differs from all of some sums."""
    apart = ~np.isnan(total)
    for each in sums:
        apart &= ~(np.abs(total - each) <= within * np.abs(each))
    return apart
