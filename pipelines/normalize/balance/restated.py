"""Decides which later filings restate an amount of a balance sheet, and which repeat only a part of it.

Belongs here: which statements of a quarter end count. Does not: how lines add up (debt, cash), rounding of repetitions
(ttm.known).

A later filing repeats an old balance sheet with fewer lines than its own filing had. The missing lines are not a
restatement.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance.classified import DISCOUNT
from pipelines.normalize.balance.element_sets import Sets, are_equal, contain
from pipelines.normalize.balance.sheets import CONTRADICTS, same
from pipelines.normalize.rule import Rule

_COMPARATIVES = "comparative balance sheets (Regulation S-X Rule 3-01, 10-01(c); IAS 1.38)"
_MEASURED = "measured: later filings repeat fewer lines of an old balance sheet than its own filing has"

AMENDMENT = Rule(
    "balance.restated.by-amendment",
    "An amendment restates the balance sheet, whichever lines it has, unless it lacks lines or the filer's own total "
    "that the first filing has and so states less.",
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
    "A later filing restates an amount if it states all elements of the first filing and further lines, or if it shows "
    "short-term investments beside cash that is within one per cent of the first amount.",
    "measured: an element of the filer's own hides a line until the filer gives it one of the taxonomy",
    "select",
    _COMPARATIVES,
)
FILER_TOTAL = Rule(
    "balance.restated.filer-total",
    "The filer's own total in a later filing restates debt or cash if it exceeds the first amount by more than "
    "discounts explain.",
    "us-gaap:DebtLongtermAndShorttermCombinedAmount; ASC 835-30-45-1A (discounts and costs of issue)",
    "select",
    _COMPARATIVES,
)
BELOW_TOTAL = Rule(
    "balance.left-out.below-filer-total",
    "A later filing that states about the first amount again, with the same elements, does not restate the filer's own "
    "total of a filing between, which exceeded it by more than discounts explain.",
    "us-gaap:LongTermDebt: a total by definition; measured: 2 balance sheets of 8,300, of one filer whose annual "
    "reports give both elements the non-current amount",
    "select",
    _COMPARATIVES,
)
FEWER_LINES = Rule(
    "balance.left-out.other-lines",
    "A later filing that states an amount with fewer or other lines does not restate it.",
    _MEASURED,
    "select",
    _COMPARATIVES,
)

RULES: tuple[Rule, ...] = (AMENDMENT, BELOW_TOTAL, SAME_ELEMENTS, MORE_LINES, FILER_TOTAL, FEWER_LINES)
LEFT_OUT = (BELOW_TOTAL, FEWER_LINES)


def restatements(
    begins: Flags,
    seq: Ints,
    amended: Flags,
    value: Floats,
    elements: Sets,
    nonzero_lines: Ints,
    is_short_term: Flags,
    is_filer_total: Flags,
    cash_beside_securities: Floats | None = None,
) -> tuple[Flags, dict[Rule, Flags]]:
    """Which statements of an amount at a quarter end count: the first, amendments, and those with at least its lines.

    If the first statement has only debt that is due within a year, later ones are compared with the first that has
    long-term debt. The filer's own total counts if it exceeds the first amount by more than discounts
    explain; the first amount again does not replace it. An amendment that lacks this total, or some of the lines,
    restates nothing by stating less.

    Args:
        begins: the rows at which another quarter end (or company, or amount) begins; rows are in the order of filing.
        seq: place of the filing.
        amended: whether the filing is an amendment.
        value: the amounts.
        elements: the elements of the amounts.
        nonzero_lines: number of their lines that are not zero.
        is_short_term: whether all their lines are due within a year.
        is_filer_total: whether they are the filer's own total of cash, of debt or of long-term debt.
        cash_beside_securities: of each sum of cash and short-term investments the cash; NaN for other sums.

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
    shows = np.zeros(len(rows), dtype=np.bool_)
    if cash_beside_securities is not None:
        shows = np.isnan(cash_beside_securities[first]) & same(cash_beside_securities, value[first], CONTRADICTS)
    lacks_lines = contain(elements[:, first], elements) & ~are_equal(elements, elements[:, first])
    lacks = ((is_filer_total[first] & ~is_filer_total) | lacks_lines) & (value < value[first])
    follows_total = _largest_so_far((later & exceeds).astype(np.int64), group) > 0
    conditions = [
        later & amended & ~lacks,
        follows_total & ~is_filer_total & repeats & same(value, value[first], DISCOUNT),
        later & is_no_less & repeats,
        later & (is_no_less | shows),
        later & exceeds,
        later,
    ]
    decided = np.select(conditions, range(len(RULES)), -1)
    counts = ~np.isin(decided, [RULES.index(rule) for rule in LEFT_OUT])
    return counts, {rule: decided == number for number, rule in enumerate(RULES)}


def _largest_so_far(numbers: Ints, group: Ints) -> Ints:
    """The largest number of each group up to each row."""
    step = int(numbers.max(initial=0)) + 1
    largest: Ints = np.maximum.accumulate(numbers + group * step) - group * step
    return largest
