"""Evidence that a part of debt or cash is unknown, or that an amount is wrong: a table of what is looked at.

Belongs here: what withholds a value that the totals do not prove. Does not: how lines add up (debt, cash), lines that
added up before and do not any more (rests).

A value is withheld only where an unknown part of it can be material. What a filing states is compared with its other
column and with the filings before, so a later filing changes what is known from then on.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pipelines.normalize.balance import bounds, unknown
from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.balance.sheets import GROUPS, QUARTERS, Case, History, Sheet, part_of
from pipelines.normalize.balance.values import CASH_ITEM, DEBT, Value
from pipelines.normalize.rule import Rule

Predicate = Callable[[Case], bool]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What withholds a value: a rule, the reason for the gap, and when it holds.

    also_proved: whether it outranks a proof by totals, which proves neither scale nor currency.
    """

    rule: Rule
    reason: str
    holds: Predicate
    item: str
    also_proved: bool = False


_FOOTS = "ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet); IAS 1.69"
_CURRENT = "Regulation S-X Rule 5-02.19, 5-02.20 (current debt is a line of the balance sheet); IAS 1.69"


def _evidence(
    reason: str, item: str, id: str, statement: str, source: str, holds: Predicate, *, also_proved: bool = False
) -> Evidence:
    return Evidence(Rule(id, statement, source, "withhold"), reason, holds, item, also_proved)


def _of_both(
    reason: str, id: str, statement: str, source: str, holds: Predicate, *, also_proved: bool = False
) -> list[Evidence]:
    rule = Rule(id, statement, source, "withhold")
    return [Evidence(rule, reason, holds, item, also_proved) for item in (DEBT, CASH_ITEM)]


def _of_each(ids: tuple[str, str], statement: str, source: str, holds: Predicate) -> list[Evidence]:
    """One rule for debt and one for cash; `statement` with the places {item} and {total}."""
    rows = (
        (DEBT, "debt_not_footing", "Total debt", "liabilities"),
        (CASH_ITEM, "cash_not_footing", "Cash", "current assets"),
    )
    return [
        _evidence(reason, item, id, statement.format(item=name, total=total), source, holds)
        for id, (item, reason, name, total) in zip(ids, rows, strict=True)
    ]


EVIDENCE: tuple[Evidence, ...] = (
    *_of_both(
        "sheet_in_other_units",
        "balance.withheld.sheet-in-other-units",
        "Debt and cash are withheld if total assets and liabilities are about a thousandth or a millionth of those of "
        "the day in an earlier filing, or else of the balance sheet before: the balance sheet is in other units.",
        "Regulation S-X Rule 4-01(b); measured: two balance sheets of 8,300, both filed in other units",
        bounds.is_in_other_units,
        also_proved=True,
    ),
    *_of_both(
        "line_in_other_units",
        "balance.withheld.line-a-thousandth",
        "Debt and cash are withheld if one of their lines is about a thousandth of what the balance sheets before "
        "state for it, and total assets are of the same size.",
        "Regulation S-X Rule 4-01(b)",
        bounds.has_line_in_other_units,
    ),
    *_of_both(
        "line_in_other_units",
        "balance.withheld.line-finer-than-filing",
        "Debt and cash are withheld if one of their lines is stated a thousand times more finely than all other "
        "amounts of the balance sheets of the filing, at least five: it is in other units.",
        "Regulation S-X Rule 4-01(b)",
        bounds.is_finer,
    ),
    *_of_both(
        "negative_line",
        "balance.withheld.negative-line",
        "Debt and cash are withheld if one of their lines is negative.",
        "ASC 210-20-45-1 (assets and liabilities are not set off)",
        bounds.is_negative,
    ),
    _evidence(
        "debt_not_footing",
        DEBT,
        "debt.withheld.exceeds-liabilities",
        "Total debt is withheld if it exceeds the liabilities, or a part of it the current or non-current ones.",
        _FOOTS,
        bounds.exceeds_liabilities,
    ),
    _evidence(
        "cash_not_footing",
        CASH_ITEM,
        "cash.withheld.exceeds-current-assets",
        "Cash is withheld if it exceeds the current assets, or without them the total assets.",
        _FOOTS,
        bounds.exceeds_assets,
    ),
    *_of_each(
        ("debt.withheld.total-agreed-before", "cash.withheld.total-agreed-before"),
        "{item} is withheld if a stated total was the sum of two or three of its parts in the other column or on the "
        "balance sheet before, and is no sum of its parts any more: one of them is wrong.",
        "definitions of the taxonomies: a total is the sum of its parts",
        bounds.total_agreed_before,
    ),
    _evidence(
        "cash_not_footing",
        CASH_ITEM,
        "cash.withheld.exceeds-cash-of-flows",
        "Cash is withheld if the line of cash exceeds the cash at the end of the cash flow statement, which includes "
        "it, unless bank overdrafts explain it.",
        "ASC 230-10-45-4, 230-10-50-8",
        bounds.exceeds_cash_of_flows,
    ),
    _evidence(
        "line_left_out",
        CASH_ITEM,
        "cash.withheld.part-of-earlier-cash",
        "Cash of a filing is withheld if the filing states less than half of what an earlier one states for one of its "
        "days, with the same total assets: its element is then only a part of cash.",
        "ASC 210-10-45-1: a line cannot change alone",
        bounds.is_part_of_earlier,
    ),
    *_of_each(
        ("debt.withheld.liabilities-did-not-move", "cash.withheld.current-assets-did-not-move"),
        "{item} is withheld if it changed by a tenth or more since the balance sheets before and the {total}, less "
        "other lines, did not follow.",
        _FOOTS,
        bounds.moved_alone,
    ),
    _evidence(
        "cash_not_footing",
        CASH_ITEM,
        "cash.withheld.cash-of-flows-did-not-move",
        "Cash is withheld if the line of cash changed by a tenth or more since the balance sheets before and the cash "
        "at the end of the cash flow statement did not follow, or if only the latter changed.",
        "ASC 230-10-45-4 (the cash flow statement explains the change in cash)",
        bounds.moved_apart_from_flows,
    ),
    *_of_both(
        "line_left_out",
        "balance.withheld.line-left-out",
        "Debt and cash are withheld if a line of the balance sheet before, at least 2 % of them, is not stated any "
        "more, and what the other lines leave of the total has grown by about as much.",
        "Regulation S-X Rule 5-02.2, 5-02.19, 5-02.22 (lines of the balance sheet)",
        unknown.lost_line,
    ),
    *_of_both(
        "line_left_out",
        "balance.withheld.other-extent",
        "Debt and cash are withheld if their elements are parts of a total, or include a line, that only the other "
        "column states, and were another amount there.",
        "definitions of the taxonomies: a part is not its total",
        unknown.is_of_other_extent,
    ),
    _evidence(
        "securities_not_shown",
        CASH_ITEM,
        "cash.withheld.securities-not-shown",
        "Cash is withheld if a report of the last year, or an older one if most current assets are unknown, stated "
        "short-term investments (2 % or more), no day of this filing does, and nothing shows that they are gone.",
        "Regulation S-X Rule 5-02.2 (marketable securities are a line of the balance sheet)",
        unknown.vanished("securities"),
    ),
    _evidence(
        "current_debt_not_shown",
        DEBT,
        "debt.withheld.current-debt-not-shown",
        "Total debt is withheld if a report of the last year, or an older one if most current liabilities are unknown, "
        "stated current debt (2 % or more), no day of this filing does, and nothing shows that it is gone.",
        _CURRENT,
        unknown.vanished("current"),
    ),
    _evidence(
        "short_term_debt_not_shown",
        DEBT,
        "debt.withheld.short-term-debt-not-shown",
        "Total debt is withheld if a report of the last year, or an older one if most current liabilities are unknown, "
        "stated short-term borrowings (2 % or more), no day of this filing does, and nothing shows that they are gone.",
        _CURRENT,
        unknown.vanished("short-term"),
    ),
    _evidence(
        "noncurrent_debt_not_shown",
        DEBT,
        "debt.withheld.noncurrent-debt-not-shown",
        "Total debt is withheld if a report of the last year, or an older one if most non-current liabilities are "
        "unknown, stated non-current debt (2 % or more), no day of this filing does, and nothing shows that it is "
        "gone.",
        "Regulation S-X Rule 5-02.22 (long-term debt is a line of the balance sheet); IAS 1.69",
        unknown.vanished("noncurrent"),
    ),
    _evidence(
        "current_debt_not_shown",
        DEBT,
        "debt.withheld.maturities-left-long-term-debt",
        "Long-term debt alone is withheld for a year after it fell by 3 % or more (a total: 10 %) while the current "
        "liabilities rose by half of it or more, or by equal installments; always after it did so twice, and if the "
        "company owns the lender to its buyers.",
        f"{_CURRENT}; a lender owes commercial paper and maturities within a year",
        unknown.maturities_left,
    ),
    _evidence(
        "debt_not_footing",
        DEBT,
        "debt.withheld.long-term-debt-is-a-part",
        "One line of long-term debt is withheld if long-term debt was less than its non-current part, by more than a "
        "tenth, on the newest balance sheet that states both: one of them is something else.",
        "us-gaap:LongTermDebt: the total of current and non-current long-term debt",
        unknown.is_no_total,
    ),
    _evidence(
        "debt_not_footing",
        DEBT,
        "debt.withheld.large-maturities-without-line",
        "Total debt is withheld if maturities that no line states would be more than 40 % of the current liabilities "
        "and 25 % of the debt: some filers tag payments with interest as long-term debt.",
        "Regulation S-X Rule 5-02.19, 5-02.22 (current maturities are a line)",
        unknown.has_large_maturities,
    ),
    _evidence(
        "notes_exceed_current_debt",
        DEBT,
        "debt.withheld.current-maturities-with-larger-notes",
        "Current debt alone is withheld if the filing states notes or loans of any term that are more.",
        "Regulation S-X Rule 5-02.22 (long-term debt is a line of the balance sheet); IAS 1.69",
        unknown.notes_exceed,
    ),
    _evidence(
        "debt_not_footing",
        DEBT,
        "debt.withheld.unexplained-liabilities",
        "Total debt is withheld if all lines leave so much that a line of debt may be missing: of a bank's liabilities "
        "3 % and more than the debt (a tenth of a single line), of classified ones a fifth and ten times the debt.",
        "us-gaap:Liabilities, ifrs-full:Liabilities: the total of all liabilities",
        unknown.leaves_much,
    ),
    _evidence(
        "debt_not_footing",
        DEBT,
        "debt.withheld.interest-without-its-debt",
        "A bank's debt is withheld if it pays interest on subordinated debt and all lines are advances of Federal Home "
        "Loan Banks, or the reverse, and all lines leave half a per cent of the debt of the liabilities.",
        "Regulation S-X Rule 9-04.7 to 9-04.9 (interest by class of debt), 9-03.13, 9-03.16",
        unknown.lacks_debt_of_interest,
    ),
    _evidence(
        "short_term_debt_not_shown",
        DEBT,
        "debt.withheld.financial-company-without-short-term-debt",
        "Long-term debt alone of a bank, broker or other financial company is withheld if its filing states neither "
        "liabilities nor deposits, so that nothing shows whether it has short-term borrowings.",
        "Regulation S-X Rule 9-03.13, 9-03.16 (short-term borrowings and long-term debt are lines of their own)",
        unknown.has_no_liabilities,
    ),
)
"""What withholds a value, in the order in which it is looked at."""

_SHOWN_AROUND = Rule(
    "balance.withdrawn.line-shown-around",
    "Debt and cash without proof are withdrawn if they lack short-term investments or debt, half a per cent or more, "
    "which a later filing shows before and after the day, or for the newest balance sheet of their own filing.",
    "comparative balance sheets (Regulation S-X Rule 3-01, 10-01(c)); Regulation S-X Rule 5-02.2, 5-02.19, 5-02.22",
    "withhold",
)
_IN_OTHER_UNITS = Rule(
    "balance.withdrawn.filing-in-other-units",
    "Debt and cash are withdrawn if total assets and liabilities are about a thousandth or a millionth of those of a "
    "later filing's balance sheet: the first one is in other units.",
    "Regulation S-X Rule 4-01(b)",
    "withhold",
)
_NOT_SHOWN = {
    "securities": "securities_not_shown",
    "current": "current_debt_not_shown",
    "short-term": "short_term_debt_not_shown",
    "noncurrent": "noncurrent_debt_not_shown",
}
"""The reason of the gap if a group of lines is not shown."""

_LOOKED_AT = {
    (item, is_proved): [each for each in EVIDENCE if each.item == item and (each.also_proved or not is_proved)]
    for item in (DEBT, CASH_ITEM)
    for is_proved in (False, True)
}
"""The evidence for each item, with and without proof."""

RULES: tuple[Rule, ...] = (*dict.fromkeys(each.rule for each in EVIDENCE), _SHOWN_AROUND, _IN_OTHER_UNITS)
REASONS: tuple[str, ...] = tuple(dict.fromkeys(each.reason for each in EVIDENCE))


def judged(values: Iterable[Value], filing: Filing, history: History) -> list[Value]:
    """The values of a filing, without those that evidence withholds; the history goes on with the filing.

    Args:
        values: the values of all days of the filing.
    """
    own = max(filing.days)
    sheets = {day: Sheet.of(filing, day) for day in filing.days}
    history.filings += 1
    before = list(history.sheets)[-1:]
    others = [sheet for day, sheet in sheets.items() if day != own]
    unknown.follow_maturities(history, sheets[own], others)
    found = []
    values = list(values)
    for value in values:
        if value.value is not None:
            history.values.setdefault((value.item, value.day), value)
    for value in values:
        earlier = (*sheets.values(), *before)
        compared = tuple(other for other in earlier if 0 < value.day - other.day <= QUARTERS)
        case = Case(value, sheets[value.day], filing, history, compared)
        held = next((each for each in _LOOKED_AT[value.item, value.is_proved] if each.holds(case)), None)
        found.append(value.withheld(held.rule, held.reason) if held else value)
    withdrawn = [
        value.withheld(_SHOWN_AROUND, _NOT_SHOWN[group])
        for value, group in unknown.shown_later(history, sheets.values())
    ]
    withdrawn += [
        value.withheld(_IN_OTHER_UNITS, "sheet_in_other_units")
        for value, sheet, of_own in history.served
        if sheet is of_own and bounds.are_in_other_units(sheet, sheets[own])
    ]
    found += [replace(each, seq=filing.seq, withdraws=each.seq) for each in withdrawn]
    history.served += [(value, sheets[value.day], sheets[own]) for value in found if value.value]
    history.sheets.append(sheets[own])
    for group in GROUPS:
        if unknown.shown(sheets[own], group) >= unknown.LEAST_PART * part_of(
            sheets[own], "noncurrent"
        ) and unknown.shown(sheets[own], group):
            history.last_with[group] = sheets[own], history.filings
        elif unknown.states(filing, group):
            history.last_with.pop(group, None)
    return found
