"""Debt of zero: shown by flows, or by borrowings that are stated as zero.

Belongs here: the rules for it, and the facts that show a zero. Does not: a zero that follows from lines that add up
(proved).
"""

from collections.abc import Iterable

from pipelines.normalize.balance.debt.borrowings import ALL_BORROWINGS, rolled_forward, states_borrowing
from pipelines.normalize.balance.reading import Filing
from pipelines.normalize.balance.totals import Day
from pipelines.normalize.balance.values import DEBT, OF_ZERO, Known, Value
from pipelines.normalize.elements.lines import BORROWINGS, CURRENT_LIABILITIES, LONG_TERM_DEBT, NONCURRENT_LIABILITIES
from pipelines.normalize.rule import Rule, decided

NO_INTEREST_BUT_ON_DEPOSITS = Rule(
    "debt.zero.all-interest-on-deposits",
    "A bank's debt is zero if its interest expense of the period that ends on the day is the interest on deposits, and "
    "the filing states no borrowings for the day.",
    "Regulation S-X Rule 9-04.6 to 9-04.9 (interest on deposits, on short-term borrowings and on long-term debt)",
    "compose",
    "banks",
)
NO_FLOWS = Rule(
    "debt.zero.no-flows",
    "Debt is zero if the filing states no borrowings for any day, the financing activities of the period that ends on "
    "the day are exactly lines that are no borrowings, and no interest is stated or debt was zero before.",
    "ASC 230-10-45-14, 230-10-45-15 (proceeds and repayments of debt are financing activities); ASC 835-20-50-1 "
    "(interest cost is disclosed)",
    "compose",
)
REPAID = Rule(
    "debt.zero.repaid",
    "Debt is zero if the filing states no borrowings for the day, and the debt before a period that ends on the day "
    "equals what was repaid in it less what was borrowed.",
    "ASC 230-10-45-14, 230-10-45-15 (proceeds and repayments of debt are financing activities)",
    "compose",
)
FILED_AS_ZERO = Rule(
    "debt.filed-as-zero",
    "Debt is zero if all borrowings that are stated are stated as zero.",
    "definitions of the taxonomies, for which zero is a statement",
    "compose",
)
_USUAL_OF_BOTH_PARTS = [
    frozenset(name for name, line in BORROWINGS[section].items() if line.usual)
    for section in (CURRENT_LIABILITIES, NONCURRENT_LIABILITIES)
]
Facts = tuple[tuple[int, float], ...]
"""The rows of the facts that debt consists of, or that show a zero, each with its coefficient."""


def zero_debt(filing: Filing, day: int, known: Known) -> Value | None:
    """Debt of zero, if flows show it or a borrowing is stated as zero, and no borrowing is above zero; else None."""
    stated, flows = filing.days[day], filing.flows[day]
    if states_borrowing(stated):
        return None
    repaid = rolled_forward(filing, day, 0.0, known)
    zeros = sorted(ALL_BORROWINGS.keys() & stated.keys(), key=ALL_BORROWINGS.__getitem__)
    found = decided(
        (
            (flows.is_all_on_deposits, NO_INTEREST_BUT_ON_DEPOSITS, as_zero(stated, OF_ZERO)),
            (bool(repaid), REPAID, _not_counted(repaid)),
            (_has_no_flows(filing, day, known), NO_FLOWS, _not_counted(flows.without_borrowing)),
            (bool(zeros), FILED_AS_ZERO, as_zero(stated, zeros[:1])),
        )
    )
    if found is None:
        return None
    rule, facts = found
    return Value(
        filing.cik,
        filing.seq,
        day,
        DEBT,
        rule,
        0.0,
        is_proved=rule is NO_INTEREST_BUT_ON_DEPOSITS,
        facts=facts,
        is_stated_zero=rule is REPAID or (rule is FILED_AS_ZERO and _states_both_parts(stated)),
    )


def _states_both_parts(stated: Day) -> bool:
    """Whether long-term debt, or a usual line of current and one of non-current borrowings, is stated."""
    is_whole = not stated.keys().isdisjoint(LONG_TERM_DEBT)
    return is_whole or not any(map(stated.keys().isdisjoint, _USUAL_OF_BOTH_PARTS))


def _has_no_flows(filing: Filing, day: int, known: Known) -> bool:
    """Whether all financing activities are stated, none is a borrowing, and nothing else shows debt."""
    flows = filing.flows[day]
    if not flows.without_borrowing or any(map(states_borrowing, filing.days.values())):
        return False
    before = [value.value for (item, _), value in known.items() if item == DEBT]
    return not flows.pays_interest or (bool(before) and not any(before))


def as_zero(stated: Day, elements: Iterable[str]) -> Facts:
    """The facts of the stated elements, each with the coefficient zero."""
    return _not_counted(stated[name][1] for name in elements if name in stated)


def _not_counted(rows: Iterable[int]) -> Facts:
    """Facts that show a zero, each with the coefficient zero."""
    return tuple((row, 0.0) for row in rows)
