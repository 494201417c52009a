"""Which later filings restate an amount of a balance sheet, and which only repeat a part of it.

Belongs here: what counts as a statement of a quarter end. Does not: how lines add up (debt, cash), rounding of
repetitions (ttm.known).

A later filing repeats fewer lines of an old balance sheet than the filing that it belongs to; what it lacks is no
restatement.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance.debt import DISCOUNT
from pipelines.normalize.balance.element_sets import Sets, are_equal, contain
from pipelines.normalize.rule import Rule

_COMPARATIVES = "comparative balance sheets (Regulation S-X Rule 3-01, 10-01(c); IAS 1.38)"
_MEASURED = "measured: later filings repeat fewer lines of an old balance sheet than its own filing has"

AMENDMENT = Rule(
    "balance.restated.by-amendment",
    "An amendment restates the balance sheet, whatever lines it has.",
    "Form 10-K/A and 10-Q/A, Exchange Act Rule 12b-15",
    "select",
)
SAME_ELEMENTS = Rule(
    "balance.restated.same-elements",
    "A later filing restates an amount if it states it with the same elements as the first filing.",
    _MEASURED,
    "select",
    _COMPARATIVES,
)
MORE_LINES = Rule(
    "balance.restated.more-lines",
    "A later filing restates an amount if it states all elements of the first filing and further lines.",
    "measured: an element of the filer's own hides a line until the filer gives it one of the taxonomy",
    "select",
    _COMPARATIVES,
)
FILER_TOTAL = Rule(
    "balance.restated.filer-total",
    "The filer's own total of a later filing restates debt if it exceeds the first by more than discounts explain.",
    "us-gaap:DebtLongtermAndShorttermCombinedAmount; ASC 835-30-45-1A (discounts and costs of issue)",
    "select",
    _COMPARATIVES,
)
FEWER_LINES = Rule(
    "balance.left-out.other-lines",
    "A later filing that states an amount with fewer or other lines restates nothing.",
    _MEASURED,
    "select",
    _COMPARATIVES,
)

RULES: tuple[Rule, ...] = (AMENDMENT, SAME_ELEMENTS, MORE_LINES, FILER_TOTAL, FEWER_LINES)


def restatements(
    begins: Flags,
    seq: Ints,
    amended: Flags,
    value: Floats,
    elements: Sets,
    nonzero_lines: Ints,
    is_short_term: Flags,
    is_filer_total: Flags,
) -> tuple[Flags, dict[Rule, Flags]]:
    """Which statements of an amount at a quarter end count: the first, amendments, and those that say no less.

    Where the first shows only debt that is due within a year, the first with long-term debt is compared with; so is
    one with the filer's own total, where it is more than discounts explain.

    Args:
        begins: where the statements of another quarter end (or company, or amount) begin; by filing within one.
        seq: place of the filing that states it.
        amended: whether an amendment states it.
        value: the amounts.
        elements: the elements that state them.
        nonzero_lines: of how many lines that are not zero they are made.
        is_short_term: whether they have only lines that are due within a year.
        is_filer_total: whether they are the filer's own total, with nothing else.

    Returns:
        whether each counts, and for each rule the statements after the first that it decided.
    """
    rows = np.arange(len(begins))
    first_rows = np.flatnonzero(begins)
    group = np.cumsum(begins) - 1
    first = first_rows[group] if len(rows) else rows
    of_long_term = np.where(is_short_term, len(rows), rows)
    first_of_long_term = np.minimum.reduceat(of_long_term, first_rows)[group] if len(rows) else rows
    compared = np.where(first_of_long_term < len(rows), first_of_long_term, first)
    repeats = are_equal(elements, elements[:, compared])
    adds = contain(elements, elements[:, compared]) & (nonzero_lines > nonzero_lines[compared])
    most = _largest_so_far(np.where(adds, nonzero_lines, 0), group)
    is_no_less = (repeats | adds) & (nonzero_lines >= most)
    exceeds = is_filer_total & (value > value[first] * (1 + DISCOUNT))
    later = seq != seq[first]
    conditions = [later & amended, later & is_no_less & repeats, later & is_no_less, later & exceeds, later]
    decided = np.select(conditions, range(len(RULES)), -1)
    counts = decided != RULES.index(FEWER_LINES)
    return counts, {rule: decided == number for number, rule in enumerate(RULES)}


def _largest_so_far(numbers: Ints, group: Ints) -> Ints:
    """The largest number of each group up to each row."""
    step = int(numbers.max(initial=0)) + 1
    largest: Ints = np.maximum.accumulate(numbers + group * step) - group * step
    return largest
