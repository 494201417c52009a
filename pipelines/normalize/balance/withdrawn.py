"""Withdraws debt and cash that a later filing proves wrong without stating them again.

Belongs here: which earlier value a later filing disproves. Does not: contradictions that were known at the time of
filing (contradictions, vanished), later filings that state the balance again (restated).
"""

from dataclasses import dataclass

import numpy as np

from pipelines.normalize import arrays
from pipelines.normalize.arrays import NOTHING, Flags, Ints, first_row, smallest, starts
from pipelines.normalize.balance.before import Before
from pipelines.normalize.balance.element_sets import are_equal, contain
from pipelines.normalize.balance.footing import is_one_digit
from pipelines.normalize.balance.maturities import (
    LONG_TERM_LINES,
    before_installments,
    falls_equally,
    fell_due,
    is_alone,
)
from pipelines.normalize.balance.sheets import LINE, BalanceSheets, same
from pipelines.normalize.balance.sums import Sums
from pipelines.normalize.balance.unexplained import is_below_part
from pipelines.normalize.balance.units import are_other_units
from pipelines.normalize.balance.vanished import LEAST_SHARE, WATCHED, Watched, share_of_rest, states_rest
from pipelines.normalize.rule import Rule

OTHER_UNITS = Rule(
    "balance.withdrawn.filing-in-other-units",
    "Debt and cash of a filing are withdrawn if a later filing states total assets of one of its days as a thousand or "
    "a million times as much, because the earlier filing is in thousands or millions.",
    "Measured: 2 of 6,400 filings",
    "withhold",
)
SHOWN_AROUND = {
    watched.rule: Rule(id, statement, watched.rule.source, "withhold")
    for watched, id, statement in zip(
        WATCHED,
        (
            "cash.withdrawn.securities-shown-around",
            "debt.withdrawn.current-debt-shown-around",
            "debt.withdrawn.short-term-debt-shown-around",
            "debt.withdrawn.noncurrent-debt-shown-around",
        ),
        (
            "Cash without short-term investments is withdrawn if a later filing shows them at the year ends before "
            "and after, on average at least 2 % of it, and no balance sheet of its own filing states them.",
            "Total debt without current debt is withdrawn if a later filing shows it at the year ends before and "
            "after, on average at least 2 % of the debt, and no balance sheet of its own filing states it.",
            "Total debt without short-term borrowings is withdrawn if a later filing shows them at the year ends "
            "before and after, on average at least 2 % of it, and no balance sheet of its own filing states them.",
            "Current debt alone is withdrawn if a later filing shows non-current debt at the year ends before and "
            "after, on average at least 2 % of both, and no balance sheet of its own filing states it.",
        ),
        strict=True,
    )
}
"""For each watched line the rule that withdraws a sum without it."""

OTHER_DIGIT = Rule(
    "cash.withdrawn.other-digit-in-next-filing",
    "Cash is withdrawn if the next filing that states the line for the day does so in its cash flow statement, without "
    "a balance sheet of the day, and one of its digits differs: one of the two figures is mistyped.",
    "ASC 230-10-45-4: cash at the end of the cash flow statement is that of the balance sheet; measured: 2 of 3,900 "
    "such lines, both PayPal's of 2024, which were restated",
    "withhold",
)


SHOWN_AFTER = Rule(
    "debt.withdrawn.line-shown-after",
    "Total debt is withdrawn if a later filing states that of a day up to five quarters later as more by a tenth or "
    "more, with other elements than the first filing of that day, and no line of the value is stated there in addition "
    "to those of that first filing, unless the current liabilities rose until that day by half of what was missing.",
    "Regulation S-X Rule 5-02.19 (borrowings among current liabilities); measured: 7 of 3,400 values, whose filers hid "
    "commercial paper and maturities in an element of their own",
    "withhold",
)

ABOUT, REPORTS_OF_A_YEAR = 0.02, 3
"""Non-current debt in other currencies moves by some hundredths; a year has three reports before that of its end."""

FELL_DUE_BEFORE = Rule(
    "debt.withdrawn.maturities-left-long-term-debt",
    f"Long-term debt, or non-current debt, alone is withdrawn if that of one of the next {REPORTS_OF_A_YEAR} reports "
    f"is about the same (within {ABOUT:.0%}), as in each report between, and the balance sheets of that report show "
    "that maturities left it.",
    "Regulation S-X Rule 5-02.19 (current maturities are current liabilities); measured: 5 of 2,200 balance sheets "
    "with such debt alone",
    "withhold",
)

INSTALLMENTS_BEFORE = Rule(
    "debt.withdrawn.installments-without-line",
    "Non-current debt alone is withdrawn if the next two reports show that it is paid in equal installments, and that "
    "of the reports before as far back as it fell in each quarter and did not fall due.",
    "Regulation S-X Rule 5-02.19 (current maturities are current liabilities); measured: 10 of 534 quarter ends with "
    "such debt alone, of two filers",
    "withhold",
)

ONE_LINE_IS_A_PART = Rule(
    "debt.withdrawn.one-line-is-a-part",
    "Long-term debt alone, or non-current debt alone, is withdrawn if the first filing that states both for a day "
    "states long-term debt that is less than the non-current debt, by more than a tenth of it.",
    "us-gaap:LongTermDebt: the total of current and non-current long-term debt; measured: 7 of 1,106 quarter ends with "
    "one of both alone, of one filer",
    "withhold",
)

RULES: tuple[Rule, ...] = (
    OTHER_UNITS,
    *SHOWN_AROUND.values(),
    OTHER_DIGIT,
    SHOWN_AFTER,
    FELL_DUE_BEFORE,
    INSTALLMENTS_BEFORE,
    ONE_LINE_IS_A_PART,
)

HIDDEN = 0.1
"""A hidden line was at least a tenth of the debt without it."""
ROSE_WITH_IT = 0.5
"""The line is new if the current liabilities rose by at least half of it."""


LINES_OF_CASH = ("cash", "cash_total", "short_term_investments")

SMALL = 0.005
"""A difference of less than half a per cent is a small restatement."""

LONGEST = 5
"""Two year ends are at most five quarters apart; between others a line may have been zero."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Values that a rule withdraws: the sheet of each, and the sheet of the later filing that disproves it."""

    rule: Rule
    reason: str
    value: Ints
    by: Ints


def withdrawals(
    sheets: BalanceSheets, before: Before, sums: Sums, counts: Ints, is_proven: Flags, item: str
) -> list[Withdrawal]:
    """The values that a later filing proves wrong.

    Args:
        counts: the places of the sums that count.
        is_proven: for each sum whether the liabilities prove it.
    """
    values = sums.sheet[counts]
    found = [_in_other_units(sheets, before, values)]
    if item == "total_debt":
        found.append(_shown_after(sheets, sums, counts))
        found.append(_fell_due_before(sheets, before, sums, values))
        found.append(_before_installments(sheets, before, sums, values))
        found.append(_one_line_is_a_part(sheets, sums, values))
    for watched in WATCHED:
        if watched.item == item:
            found.append(_shown_around(sheets, before, values, watched))
    if item == "cash_and_equivalents":
        found += [_other_digit(sheets, values, LINE[line]) for line in LINES_OF_CASH]
    return [each for each in found if len(each.value)]


def _in_other_units(sheets: BalanceSheets, before: Before, values: Ints) -> Withdrawal:
    """The values of filings in which a day's assets are a thousandth of those of a later filing."""
    assets = sheets.value("assets")
    later = np.flatnonzero(before.of_day >= 0)
    earlier = before.of_day[later]
    is_wrong = are_other_units(assets[earlier], assets[later])
    filing = (sheets.cik << 32) | sheets.seq
    wrong, first = np.unique(filing[earlier[is_wrong]], return_index=True)
    place = np.minimum(np.searchsorted(wrong, filing[values]), max(len(wrong) - 1, 0))
    is_of_filing = np.zeros(len(values), dtype=np.bool_)
    if len(wrong):
        is_of_filing = wrong[place] == filing[values]
    by = later[is_wrong][first[place[is_of_filing]]] if len(wrong) else later[:0]
    return Withdrawal(OTHER_UNITS, "sheet_in_other_units", values[is_of_filing], by)


def _shown_after(sheets: BalanceSheets, sums: Sums, counts: Ints) -> Withdrawal:
    """The values with no more lines than the first statement of a later day, to which a later filing adds a line."""
    sheet, elements, value = sums.sheet[counts], sums.elements[:, counts], sums.value[counts]
    cik, q, seq = sheets.cik[sheet], sheets.q[sheet], sheets.seq[sheet]
    first = first_row(starts(cik, q))
    shows = np.flatnonzero((value >= (1 + HIDDEN) * value[first]) & (value[first] > 0) & (seq > seq[first]))
    shows = shows[~are_equal(elements[:, shows], elements[:, first[shows]])]
    begin = np.searchsorted(cik, cik[shows])
    count = first[shows] - begin
    pair = np.repeat(np.arange(len(shows)), count)
    earlier = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(begin, count)
    later = shows[pair]
    of_day = first[later]
    current = sheets.value("liabilities_current")[sheet]
    rose = current[of_day] - current[earlier]
    is_hidden = (q[of_day] - q[earlier] <= LONGEST) & (seq[earlier] < seq[later])
    is_hidden &= contain(elements[:, of_day], elements[:, earlier])
    is_hidden &= rose < ROSE_WITH_IT * (value[later] - value[of_day])
    return Withdrawal(SHOWN_AFTER, "line_left_out", sheet[earlier[is_hidden]], sheet[later[is_hidden]])


def _fell_due_before(sheets: BalanceSheets, before: Before, sums: Sums, values: Ints) -> Withdrawal:
    """The values of long-term debt alone from which maturities had left, as one of the next reports shows."""
    place = np.full(len(sheets), NOTHING)
    place[sums.sheet] = np.arange(len(sums.sheet))
    by = np.flatnonzero(fell_due(sheets, before, sums)[0])
    value, found = by, []
    for _ in range(REPORTS_OF_A_YEAR):
        is_known = before.in_filing_before[value] >= 0
        by, value = by[is_known], before.in_filing_before[value[is_known]]
        newer, older = place[by], place[value]
        is_left = same(sums.value[newer], sums.value[older], ABOUT) & (older >= 0)
        is_left &= are_equal(sums.elements[:, newer], sums.elements[:, older])
        by, value = by[is_left], value[is_left]
        found.append((value, by))
    value, by = (np.concatenate(each) for each in zip(*found, strict=True))
    counts = np.isin(value, values)
    return Withdrawal(FELL_DUE_BEFORE, "current_debt_not_shown", value[counts], by[counts])


def _before_installments(sheets: BalanceSheets, before: Before, sums: Sums, values: Ints) -> Withdrawal:
    """The values from which two equal installments were then paid."""
    fell = fell_due(sheets, before, sums)[0]
    found = falls_equally(sheets, before, sums, fell)
    value, by = before_installments(sheets, before, sums, found, fell)
    is_alone = np.isin(value, sums.sheet[np.bincount(sums.part_sum, minlength=len(sums.sheet)) == 1])
    is_alone &= np.isin(value, values)
    return Withdrawal(INSTALLMENTS_BEFORE, "current_debt_not_shown", value[is_alone], by[is_alone])


def _one_line_is_a_part(sheets: BalanceSheets, sums: Sums, values: Ints) -> Withdrawal:
    """The values of one line before the first filing that states both, and shows that one is not the other's total."""
    by_filing = np.lexsort((sheets.q, sheets.seq, sheets.cik))
    states_both = by_filing[(sheets.has("debt_long_term") & sheets.has("debt_noncurrent"))[by_filing]]
    first = states_both[starts(sheets.cik[states_both])]
    first = first[is_below_part(sheets)[first]]
    alone = values[np.logical_or.reduce([is_alone(sheets, sums, line) for line, *_ in LONG_TERM_LINES])[values]]
    by = np.append(first, NOTHING)[np.searchsorted(sheets.cik[first], sheets.cik[alone])]
    is_before = (by >= 0) & (sheets.cik[by] == sheets.cik[alone]) & (sheets.seq[alone] < sheets.seq[by])
    return Withdrawal(ONE_LINE_IS_A_PART, "debt_not_footing", alone[is_before], by[is_before])


def _shown_around(sheets: BalanceSheets, before: Before, values: Ints, watched: Watched) -> Withdrawal:
    """The values without a line that one later filing shows at the year ends around.

    The line between them is estimated by the average. Measured: this adds Oracle's securities, 1.9 % and 3.7 % at the
    year ends and by a vendor 2 to 3 % between them, and Intel's current debt, 1.1 % and 4.6 %.
    """
    states = states_rest(sheets, watched)
    _, share = share_of_rest(sheets, watched, states)
    newer = np.flatnonzero((before.in_filing >= 0) & (share > 0))
    newer = newer[share[before.in_filing[newer]] > 0]
    newer = newer[share[newer] + share[before.in_filing[newer]] >= 2 * LEAST_SHARE]
    newer = newer[sheets.q[newer] - sheets.q[before.in_filing[newer]] <= LONGEST]
    older = before.in_filing[newer]
    filing = (sheets.cik << 32) | sheets.seq
    has_others = np.logical_or.reduce([sheets.has(line) for line in watched.stays])
    lacks = values[has_others[values] & ~np.isin(filing[values], filing[states])]
    day = (sheets.cik << 32) | sheets.q
    order = np.argsort(day[lacks], kind="stable")
    lacks = lacks[order]
    begin = np.searchsorted(day[lacks], day[older], side="right")
    end = np.searchsorted(day[lacks], day[newer], side="left")
    count = np.maximum(end - begin, 0)
    of_pair = np.repeat(np.arange(len(newer)), count)
    place = np.arange(len(of_pair)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(begin, count)
    value, by = lacks[place], newer[of_pair]
    is_later: Flags = sheets.seq[by] > sheets.seq[value]
    return Withdrawal(SHOWN_AROUND[watched.rule], watched.reason, value[is_later], by[is_later])


def _other_digit(sheets: BalanceSheets, values: Ints, line: int) -> Withdrawal:
    """The values of which the next filing states the line with another digit, without total assets of the day."""
    stated = np.flatnonzero(sheets.rows[line] >= 0)
    begins = arrays.starts(sheets.cik[stated], sheets.q[stated])
    second = np.flatnonzero(begins[:-1] & ~begins[1:]) + 1
    value, by = stated[second - 1], stated[second]
    rows = sheets.rows[line]
    unit = smallest(sheets.stated.grain[rows[value]], sheets.stated.grain[rows[by]])
    first = sheets.values[line, value]
    off = sheets.values[line, by] - first
    is_other = is_one_digit(off, unit, exactly=True) & (np.abs(off) > SMALL * np.abs(first))
    is_other &= ~sheets.has("assets")[by]
    is_other &= are_equal(sheets.stated.elements[:, rows[value]], sheets.stated.elements[:, rows[by]])
    is_other &= np.isin(value, values)
    return Withdrawal(OTHER_DIGIT, "cash_not_footing", value[is_other], by[is_other])
