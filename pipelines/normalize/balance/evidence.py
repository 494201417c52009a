"""The checks that withhold debt and cash, as a table: a part is unknown, or an amount is wrong.

Belongs here: the rules and the order of the checks. Does not: how lines add up (debt, cash), what shows that an amount
is wrong (bounds) or a part unknown (unknown).

A value is withheld only where an unknown part of it can be material. A filing is compared with its other column and
with earlier filings, so a later filing changes only values from its own date on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

from msgspec.structs import replace

from pipelines.normalize.balance import bounds, unknown
from pipelines.normalize.balance.debt.borrowings import rolled_forward
from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.balance.sheets import GROUPS, QUARTERS, Case, History, Sheet
from pipelines.normalize.balance.values import CASH_ITEM, DEBT, Value, amount
from pipelines.normalize.elements.lines import ALL_DEBT, LONG_TERM_DEBT
from pipelines.normalize.rule import Rule
from warehouse.contract.sections import SECTIONS

Predicate = Callable[[Case], bool | tuple[float, float] | None]
"""A check of a value: returns whether the evidence holds, or both sides of the identity that fails."""


_FOOTS = "ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet); IAS 1.69"

IN_OTHER_UNITS = Rule(
    "balance.withheld.in-other-units",
    "Debt and cash are withheld if the assets or one of their lines are a thousandth or a millionth of those of "
    "another filing or balance sheet, or a line is a thousand times finer than all other amounts.",
    "Regulation S-X Rule 4-01(b); measured: two balance sheets of 8,300, both filed in other units",
    "withhold",
)
_NEGATIVE = Rule(
    "balance.withheld.negative-line",
    "Debt and cash are withheld if one of their lines is negative.",
    "ASC 210-20-45-1 (assets and liabilities are not set off)",
    "withhold",
)
_EXCEEDS = Rule(
    "balance.withheld.exceeds-total",
    "Debt is withheld if it exceeds the liabilities less deposits, or a part of it the current or non-current ones; "
    "cash if it exceeds the current assets or, without bank overdrafts, the cash of the cash flow statement.",
    f"{_FOOTS}; ASC 230-10-45-4, 230-10-50-8",
    "withhold",
)
_APART = Rule(
    "cash.withheld.cash-of-flows-did-not-move",
    "Cash is withheld if the line of cash changed by a tenth or more since the balance sheets before and the cash at "
    "the end of the cash flow statement did not follow, or if only the latter changed.",
    "ASC 230-10-45-4 (the cash flow statement explains the change in cash)",
    "withhold",
)
_OTHER_EXTENT = Rule(
    "balance.withheld.element-of-other-extent",
    "Debt and cash are withheld if their elements are another part of a total than in the other column, or less than "
    "half of what an earlier filing states for a day with the same assets.",
    "definitions of the taxonomies: a part is not its total; ASC 210-10-45-1: a line cannot change alone",
    "withhold",
)
NOT_SHOWN = Rule(
    "balance.withheld.line-not-shown",
    "Debt and cash are withheld if they lack securities, current, short-term or non-current debt that a report of the "
    "last year stated or a later filing shows, and nothing shows that they are gone.",
    "Regulation S-X Rule 5-02.2, 5-02.19, 5-02.20, 5-02.22, 3-01, 10-01(c) (lines, and comparatives); IAS 1.69",
    "withhold",
)
_FELL_DUE = Rule(
    "debt.withheld.maturities-left-long-term-debt",
    "Long-term debt without current debt is withheld for a year after 3 % of it (of a total 10 %) became current or "
    "equal installments were paid; always after it happened twice, and if the company owns a lender.",
    "Regulation S-X Rule 5-02.19, 5-02.20 (current debt is a line of the balance sheet); IAS 1.69; a lender owes "
    "commercial paper and maturities within a year",
    "withhold",
)
_PART = Rule(
    "debt.withheld.may-be-a-part",
    "Debt is withheld if long-term debt was less than its non-current part, maturities without a line would be 40 % of "
    "the current liabilities and 25 % of the debt, or notes exceed current debt alone.",
    "us-gaap:LongTermDebt (current and non-current debt); Regulation S-X Rule 5-02.19, 5-02.22 (each is a line)",
    "withhold",
)
_ROOM = Rule(
    "debt.withheld.room-for-other-debt",
    "Debt is withheld if the lines leave room for more: of a bank's liabilities 3 % and the debt, or a round amount; "
    "of classified liabilities a fifth and ten times the debt; any, with interest on other debt.",
    "us-gaap:Liabilities, ifrs-full:Liabilities; Regulation S-X Rule 9-04.7 to 9-04.9 (interest by class of debt)",
    "withhold",
)
_WITHOUT_LIABILITIES = Rule(
    "debt.withheld.financial-company-without-short-term-debt",
    "Long-term debt alone of a bank, broker or other financial company is withheld if its filing states neither "
    "liabilities nor deposits, so that nothing shows whether it has short-term borrowings.",
    "Regulation S-X Rule 9-03.13, 9-03.16 (short-term borrowings and long-term debt are lines of their own)",
    "withhold",
)
_NOT_CLASSIFIED = Rule(
    "debt.withheld.own-line-not-classified",
    "Debt is withheld if its balance sheet has a material line under an own element whose words do not say whether it "
    "is a borrowing.",
    "Regulation S-X Rule 5-02.19, 5-02.22 (borrowings may stand on lines of any name)",
    "withhold",
)
_NO_LONGER_ADDS_UP = Rule(
    "balance.withheld.no-longer-adds-up",
    "Debt or cash is withheld if lines that added up in the other column or the filing before now leave a material "
    "rest, which a missing, wrong or repeated line, or an unknown liability, explains.",
    "ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet); one wrong figure as the likeliest error: Fellegi and "
    "Holt, A Systematic Approach to Automatic Edit and Imputation (1976)",
    "withhold",
)


WHOLE_OF = {DEBT: (*ALL_DEBT, *LONG_TERM_DEBT), CASH_ITEM: ("CashCashEquivalentsAndShortTermInvestments",)}
"""For each item, the elements that by definition are its total, or the total of long-term debt."""
REFUTED_BY_ANY_TOTAL = frozenset((IN_OTHER_UNITS, _OTHER_EXTENT, _FELL_DUE, _PART))
"""The rules that any total equal to the value refutes."""
REFUTED_BY_WHOLE_TOTAL = frozenset((NOT_SHOWN, _ROOM))
"""The rules that only a total of the whole item, or the flows of borrowings, refute."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A check that withholds a value of an item: its rule, the reason for the gap, and the predicate.

    also_proved: whether it withholds even a value that totals prove; totals prove neither scale nor currency.
    of_absence: whether it finds that a line is missing; not applied if the face of the balance sheet shows all lines.
    """

    item: str
    rule: Rule
    reason: str
    holds: Predicate
    also_proved: bool = False
    of_absence: bool = False


EVIDENCE: tuple[Evidence, ...] = (
    *(
        Evidence(item, IN_OTHER_UNITS, "sheet_in_other_units", bounds.is_in_other_units, also_proved=True)
        for item in (DEBT, CASH_ITEM)
    ),
    Evidence(DEBT, IN_OTHER_UNITS, "line_in_other_units", bounds.has_line_in_other_units),
    Evidence(CASH_ITEM, IN_OTHER_UNITS, "line_in_other_units", bounds.has_line_in_other_units),
    Evidence(DEBT, _NEGATIVE, "negative_line", bounds.is_negative),
    Evidence(CASH_ITEM, _NEGATIVE, "negative_line", bounds.is_negative),
    Evidence(DEBT, _EXCEEDS, "debt_not_footing", bounds.exceeds_liabilities),
    Evidence(CASH_ITEM, _EXCEEDS, "cash_not_footing", bounds.exceeds_assets_or_cash_of_flows),
    Evidence(CASH_ITEM, _APART, "cash_not_footing", bounds.moved_apart_from_flows),
    Evidence(CASH_ITEM, _OTHER_EXTENT, "line_left_out", bounds.is_part_of_earlier),
    Evidence(DEBT, NOT_SHOWN, "line_left_out", unknown.lost_line, of_absence=True),
    Evidence(CASH_ITEM, NOT_SHOWN, "line_left_out", unknown.lost_line, of_absence=True),
    Evidence(DEBT, _OTHER_EXTENT, "line_left_out", unknown.covers_less_than_comparative, of_absence=True),
    Evidence(CASH_ITEM, _OTHER_EXTENT, "line_left_out", unknown.covers_less_than_comparative, of_absence=True),
    *(
        Evidence(group.item, NOT_SHOWN, f"{name}_not_shown", partial(unknown.vanished, name), of_absence=True)
        for name, group in GROUPS.items()
    ),
    Evidence(DEBT, _FELL_DUE, "current_debt_not_shown", unknown.maturities_left, of_absence=True),
    Evidence(DEBT, _PART, "debt_not_footing", unknown.is_no_total, of_absence=True),
    Evidence(DEBT, _PART, "debt_not_footing", unknown.has_large_maturities, of_absence=True),
    Evidence(DEBT, _PART, "notes_exceed_current_debt", unknown.notes_exceed, of_absence=True),
    Evidence(DEBT, _ROOM, "debt_not_footing", unknown.leaves_much, of_absence=True),
    Evidence(DEBT, _ROOM, "debt_not_footing", unknown.leaves_round_amount, of_absence=True),
    Evidence(DEBT, _ROOM, "debt_not_footing", unknown.lacks_debt_of_interest, of_absence=True),
    Evidence(DEBT, _WITHOUT_LIABILITIES, "short_term_debt_not_shown", unknown.has_no_liabilities, of_absence=True),
    Evidence(DEBT, _NOT_CLASSIFIED, "own_element_not_classified", bounds.has_unknown_line, also_proved=True),
    Evidence(DEBT, _NO_LONGER_ADDS_UP, "debt_not_footing", bounds.no_longer_adds_up),
    Evidence(CASH_ITEM, _NO_LONGER_ADDS_UP, "cash_not_footing", bounds.no_longer_adds_up),
)
"""All checks, in the order in which they are made."""

_OF_VALUES = {
    (item, is_proved): [each for each in EVIDENCE if each.item == item and (each.also_proved or not is_proved)]
    for item, is_proved in product((DEBT, CASH_ITEM), (False, True))
}
"""The checks by item, and by whether the totals prove the value."""


def supported(values: list[Value], filing: Filing, history: History) -> list[Value]:
    """Check the values of a filing, withhold where a check holds, and add the filing to the history.

    Args:
        values: the values of all days of the filing.

    Returns:
        these values, withheld or not, and withdrawals of earlier filings' values that this filing contradicts.
    """
    sheets = {day: Sheet.of(filing, day) for day in filing.days}
    own = sheets[max(filing.days)]
    earlier = (*sheets.values(), *list(history.sheets)[-1:])
    history.filings += 1
    unknown.follow_maturities(history, own, [sheet for sheet in sheets.values() if sheet is not own])
    for value in values:
        history.values.setdefault((value.item, value.day), value)
    compared = {day: tuple(other for other in earlier if 0 < day - other.day <= QUARTERS) for day in sheets}
    withdrawn = [
        *((value, NOT_SHOWN, reason) for value, reason in unknown.shown_later(history, sheets)),
        *(
            (value, IN_OTHER_UNITS, "sheet_in_other_units")
            for value, sheet, of_own in history.served
            if sheet is of_own and bounds.are_in_other_units(sheet, own)
        ),
    ]
    found = [
        *(_supported(Case(value, sheets[value.day], filing, history, compared[value.day])) for value in values),
        *(
            replace(value.withheld(rule, reason), seq=filing.seq, withdraws=value.seq)
            for value, rule, reason in withdrawn
            if rule.where(True)
        ),
    ]
    history.served += [(value, sheets[value.day], own) for value in found if value.value]
    history.sheets.append(own)
    unknown.follow_groups(history, filing, own)
    return found


def _shows_all(case: Case) -> bool:
    """Whether the face of the balance sheet shows all lines of the item: they add up in each section with a total."""
    if not case.value.of_face:
        return False
    sections = [section for section in SECTIONS[case.value.item] if section in case.sheet.totals]
    reads = (case.filing.sections.get(section) for section in sections)
    return all(read is not None and case.sheet.day in read.days for read in reads)


def _confirmed(case: Case) -> frozenset[Rule]:
    """The rules that do not apply, because another total or the flows of borrowings confirm the value."""
    value, stated = case.value, case.sheet.stated
    # flows cannot show a line that the earlier value lacks, too
    is_debt = value.item == DEBT and DEBT not in case.history.lost
    if is_debt and rolled_forward(case.filing, value.day, value.amount, case.history.values):
        return REFUTED_BY_ANY_TOTAL | REFUTED_BY_WHOLE_TOTAL
    totals = {name for name in WHOLE_OF[value.item] if name not in value.elements and amount(stated, name)}
    is_total = {name for name in totals if amount(stated, name) == value.amount and len(value.elements) > 1}
    if not is_total:
        return frozenset()
    return REFUTED_BY_ANY_TOTAL | REFUTED_BY_WHOLE_TOTAL if is_total - {*LONG_TERM_DEBT} else REFUTED_BY_ANY_TOTAL


def _supported(case: Case) -> Value:
    """The value, or the withheld value of the first check that holds."""
    shows_all = _shows_all(case)
    for each in _OF_VALUES[case.value.item, case.value.is_proved]:
        holds = not (each.of_absence and shows_all) and each.holds(case)
        if holds and each.rule.where(True) and (each.also_proved or each.rule not in _confirmed(case)):
            return case.value.withheld(each.rule, each.reason, None if isinstance(holds, bool) else holds)
    return case.value
