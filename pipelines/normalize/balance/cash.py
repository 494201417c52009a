"""Cash, cash equivalents and short-term investments of each balance sheet.

Belongs here: choosing the filer's total, cash, or cash and securities. Does not: elements (elements.cash), securities
whose element does not name a term (roles), securities that are no longer reported (vanished).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance.element_sets import set_of
from pipelines.normalize.balance.footing import EXACT, of_all_current_assets, within_current_assets
from pipelines.normalize.balance.judged import Comparison
from pipelines.normalize.balance.sheets import CONTRADICTS, LINES, SAME_MONEY, BalanceSheets, same
from pipelines.normalize.balance.sums import UNDECIDED, Composition, Sums, added_up, first_that_holds, is_apart
from pipelines.normalize.elements.cash import RESTRICTED
from pipelines.normalize.rule import Rule

OF_RESTRICTED = set_of(RESTRICTED)
"""Elements of restricted cash, which only sources of cash subtract."""


def _total_is_of_flows(sheets: BalanceSheets) -> Flags:
    """Whether the filer's own total is that of the cash flow statement, of which restricted cash is subtracted."""
    is_less = sheets.is_stated_by("cash", OF_RESTRICTED) & (sheets.value("cash") < sheets.value("cash_total"))
    return is_less & same(sheets.value("cash_of_flows"), sheets.value("cash_total"), EXACT)


def _total_covers_cash(sheets: BalanceSheets) -> Flags:
    """Whether the filer's own total is at least its cash."""
    covers: Flags = sheets.value("cash_total") >= sheets.or_zero("cash") * (1 - SAME_MONEY)
    return covers


def _securities_are_part_of_cash(sheets: BalanceSheets) -> Flags:
    """Whether the current assets add up with cash alone, and not with cash and securities."""
    cash, securities = sheets.value("cash"), sheets.value("short_term_investments")
    where = ~np.isnan(cash + securities)
    return within_current_assets(sheets, cash, where) & ~within_current_assets(sheets, cash + securities, where)


def _parts_foot(sheets: BalanceSheets) -> Flags:
    """Whether the current assets certainly add up with cash and securities, and not with the filer's own total."""
    total, parts = sheets.value("cash_total"), sheets.value("cash") + sheets.or_zero("short_term_investments")
    of_parts, of_total = of_all_current_assets(sheets, (parts, total), ~np.isnan(parts + total) & (parts != total))
    return of_parts & ~of_total


def _cash_and_securities(sheets: BalanceSheets) -> Flags:
    return sheets.has("cash") & sheets.has("short_term_investments")


def _cash(sheets: BalanceSheets) -> Flags:
    return sheets.has("cash")


_ELEMENTS = "us-gaap:CashAndCashEquivalentsAtCarryingValue, us-gaap:ShortTermInvestments; Regulation S-X Rule 5-02.1-2"

COMPOSITIONS: tuple[Composition, ...] = (
    Composition(
        Rule(
            "cash.parts-by-footing",
            "Cash is cash and cash equivalents plus short-term investments if the current assets add up with these and "
            "not with the filer's own total, which then includes cash that is restricted or not current.",
            "ASC 210-10-45-1 (current assets)",
            "compose",
        ),
        ("cash", "short_term_investments"),
        _parts_foot,
    ),
    Composition(
        Rule(
            "cash.total-of-flows-less-restricted",
            "Cash is the total of the cash flow statement less restricted cash, plus short-term investments, if the "
            "filer's own total of cash is that total to the digit, so that it includes restricted cash.",
            "ASC 230-10-45-4 and 230-10-50-8: the total of the cash flow statement includes restricted cash",
            "compose",
        ),
        ("cash", "short_term_investments"),
        _total_is_of_flows,
    ),
    Composition(
        Rule(
            "cash.filer-total",
            "Cash is the filer's own total of cash and short-term investments, unless it is less than its cash.",
            "us-gaap:CashCashEquivalentsAndShortTermInvestments",
            "compose",
        ),
        ("cash_total",),
        _total_covers_cash,
    ),
    Composition(
        Rule(
            "cash.without-securities-by-footing",
            "Cash is cash and cash equivalents without the stated short-term investments if the current assets add up "
            "with cash alone and not with both.",
            "ASC 210-10-45-1 (current assets); measured: such securities are a part of cash or of another line",
            "compose",
        ),
        ("cash",),
        _securities_are_part_of_cash,
    ),
    Composition(
        Rule(
            "cash.cash-and-securities",
            "Cash is cash and cash equivalents plus short-term investments.",
            _ELEMENTS,
            "compose",
        ),
        ("cash", "short_term_investments"),
        _cash_and_securities,
    ),
    Composition(
        Rule(
            "cash.cash-alone",
            "Cash is cash and cash equivalents alone if no short-term investments are stated.",
            _ELEMENTS,
            "compose",
        ),
        ("cash",),
        _cash,
    ),
)
"""The compositions of cash; the first one whose condition holds decides."""

_FILER_TOTAL = 2
"""The place of the filer's own total among the compositions."""

CASH_AND_SECURITIES: Rule = COMPOSITIONS[4].rule
"""The rule by which cash is cash and short-term investments."""

TOTAL_CONTRADICTS_PARTS = Rule(
    "cash.total-contradicts-parts",
    "The filer's own total matches neither cash nor cash plus short-term investments.",
    "us-gaap:CashCashEquivalentsAndShortTermInvestments: the total of both by definition",
    "flag",
)

COMPOSING: tuple[Rule, ...] = tuple(each.rule for each in COMPOSITIONS)
"""The rules that choose the lines; Sums.rule is a place in this list."""

RULES: tuple[Rule, ...] = (*COMPOSING, TOTAL_CONTRADICTS_PARTS)


def cash_and_equivalents(sheets: BalanceSheets, is_served: Flags) -> tuple[Sums, list[tuple[Rule, Ints]]]:
    """Cash, cash equivalents and short-term investments of each balance sheet that states any.

    The filer's own total if it is at least its cash; otherwise cash plus current securities. If the current assets add
    up without the securities and not with them, the securities are a part of the cash or of another line.

    Args:
        sheets: of sheets.as_filed, reclassified (roles).
        is_served: false for sheets without a value (vanished).

    Returns:
        the sums, and the rule that flags them, with the CIK of each flagged sheet.
    """
    rule, chosen = first_that_holds(COMPOSITIONS, sheets, len(LINES))
    rule[~is_served] = UNDECIDED
    sums = added_up(sheets, rule, chosen, _is_contradicted, rule == _FILER_TOTAL, frozenset())
    return sums, [(TOTAL_CONTRADICTS_PARTS, sheets.cik[sums.sheet[sums.contradicted]])]


def total_agrees(sheets: BalanceSheets, sums: Sums) -> Comparison:
    """Cash and short-term investments compared with the filer's own total."""
    total, both = sheets.value("cash_total"), sheets.value("cash") + sheets.or_zero("short_term_investments")
    is_served = np.zeros(len(sheets), dtype=np.bool_)
    is_served[sums.sheet] = True
    found = np.abs(both - total) > CONTRADICTS * np.abs(total)
    return Comparison(TOTAL_CONTRADICTS_PARTS, is_served & ~np.isnan(total + both), found, both, total)


def _is_contradicted(sheets: BalanceSheets, _: Floats) -> Flags:
    cash, securities = sheets.value("cash"), sheets.value("short_term_investments")
    total = is_apart(sheets.value("cash_total"), cash, cash + securities, within=CONTRADICTS)
    return total & _cash_and_securities(sheets)
