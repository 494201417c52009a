"""Debt that is not all of the borrowings: what the liabilities leave of it, and maturities that no line states.

Belongs here: debt that is too little for the rest of its balance sheet. Does not: debt that is too much, or that moved
alone (contradictions); lines that are no longer stated (vanished).
"""

import numpy as np

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, first_row, starts
from pipelines.normalize.balance.before import Before
from pipelines.normalize.balance.element_sets import have_any, set_of
from pipelines.normalize.balance.instruments import NOT_BORROWED
from pipelines.normalize.balance.judged import contradiction
from pipelines.normalize.balance.maturities import LONG_TERM_LINES, OF_DEPOSITS, is_alone, spread
from pipelines.normalize.balance.sheets import LINE, OF_INCOME, BalanceSheets, same
from pipelines.normalize.balance.sums import Sums
from pipelines.normalize.elements.liabilities import DEBT_CONTROLS, OTHER_NONCURRENT_LIABILITIES
from pipelines.normalize.rule import Rule

UNNAMED_OF_CURRENT, UNNAMED_OF_DEBT = 0.4, 0.25
"""Maturities of two fifths of the current liabilities and a quarter of the debt would be a line of its own."""

OF_LIABILITIES = 0.01
"""Less than a hundredth of the liabilities may be lines that no element states."""

OF_ONE_LINE, OF_LIABILITIES_BESIDE_ONE_LINE = 0.1, 0.03
"""A tenth of a debt of one line is a line that lacks an element, unless it is little of the liabilities."""

TIMES, OF_ALL_LIABILITIES = 3, 0.2
"""Three times the debt and a fifth of the liabilities cannot be lines that are no debt and have no known element."""
A_PART = 0.1
"""Non-current debt may exceed the total by less: some totals are principal amounts without premiums."""

MANY_TIMES = 20
"""Twenty times the debt cannot, even where a line that belongs to two amounts counts once."""

LEFT_FOR_INTEREST = 0.005
"""Debt that bears interest and has no line matters if it is more than half a per cent of the debt that has lines."""

UNNAMED_MATURITIES = contradiction(
    "debt_not_footing",
    "debt.withheld.large-maturities-without-line",
    "Total debt is withheld if it is the filer's total of long-term debt, no line states its current maturities, and "
    f"these would be more than {UNNAMED_OF_CURRENT:.0%} of the current liabilities (but not more than all of them) and "
    f"{UNNAMED_OF_DEBT:.0%} of the debt: some filers tag payments with interest as long-term debt.",
    "Regulation S-X Rule 5-02.19, 5-02.22 (current maturities are a line); measured: 20 such balance sheets "
    "among 101 companies, 15 of them of one filer whose amounts look like payments with interest",
)
UNEXPLAINED = contradiction(
    "debt_not_footing",
    "debt.withheld.unexplained-liabilities",
    "Debt by instrument of a filer with deposits is withheld if the liabilities do not prove it, and they exceed the "
    f"debt and the other known lines by more than the debt and {OF_LIABILITIES:.0%} of the liabilities (debt of one "
    f"line: {OF_ONE_LINE:.0%} of it and {OF_LIABILITIES_BESIDE_ONE_LINE:.0%} of the liabilities).",
    "us-gaap:Liabilities: the total of all liabilities; measured: 23 of 230 such sums, of which those read lack lines "
    "such as other borrowed funds",
)
MOSTLY_UNEXPLAINED = contradiction(
    "debt_not_footing",
    "debt.withheld.small-beside-unexplained-liabilities",
    "Total debt of a filer that states current liabilities is withheld, also a total and zero, if the liabilities do "
    f"not prove it, and exceed it and all other known lines together by more than {TIMES} times the debt "
    f"({MANY_TIMES} if a line that belongs to two amounts counts once) and {OF_ALL_LIABILITIES:.0%} of the "
    "liabilities.",
    "us-gaap:Liabilities, ifrs-full:Liabilities: the total of all liabilities; measured: 12 of 2,300 balance sheets, "
    "of which each lacks a line of borrowings",
)
NO_TOTAL = contradiction(
    "debt_not_footing",
    "debt.withheld.long-term-debt-is-a-part",
    "Long-term debt alone, or non-current debt alone, is withheld if long-term debt was less than non-current debt, by "
    f"more than {A_PART:.0%} of it, on the newest balance sheet that states both: one of them is something else, such "
    "as a part or a principal amount.",
    "us-gaap:LongTermDebt: the total of current and non-current long-term debt; measured: 28 of 2,050 balance sheets "
    "with one of both alone, of Chevron and Lam Research",
)
WITHOUT_ITS_INTEREST = contradiction(
    "debt_not_footing",
    "debt.withheld.interest-without-its-debt",
    "Debt by instrument that the liabilities do not prove is withheld if its filing states interest on subordinated "
    "debt for a period that ends on the day, all lines of debt are of other kinds (advances, secured, bank loans, "
    f"short-term), and the liabilities leave more than {LEFT_FOR_INTEREST:.1%} of the debt for another line.",
    "Regulation S-X Rule 9-04.8 (interest on long-term debt), 9-03.16 (long-term debt is a line of the balance sheet); "
    "measured: 4 of 121 sums with such interest, of one filer, which lack 1 to 12 %",
)
WITHOUT_ITS_PROCEEDS = contradiction(
    "debt_not_footing",
    "debt.withheld.proceeds-without-their-debt",
    "Total debt above zero that the liabilities do not prove is withheld if its filing states that more was borrowed "
    "from related parties, in a period that ends on the day, than was paid back to them, no line of the balance sheet "
    "is owed to related parties, and the known lines leave more of the liabilities than these proceeds.",
    "ASC 230-10-45-14, 850-10-50-1 (amounts due to related parties are disclosed); measured: 2 of 17 balance "
    "sheets with such proceeds, of one filer; the one that was read lacks two notes",
)
OF_THE_REST = (
    UNNAMED_MATURITIES,
    UNEXPLAINED,
    WITHOUT_ITS_INTEREST,
    WITHOUT_ITS_PROCEEDS,
    MOSTLY_UNEXPLAINED,
    NO_TOTAL,
)
RULES: tuple[Rule, ...] = tuple(each.rule for each in OF_THE_REST)

_NO_LIABILITIES = ("liabilities", "liabilities_current", "debt_principal", "debt_issue_costs_current", *OF_INCOME)
_OTHER_LINES = [LINE[concept.name] for concept in DEBT_CONTROLS if concept.name not in _NO_LIABILITIES]
"""The lines of liabilities that are no debt."""

_NOT_SUBORDINATED = [
    LINE[line]
    for line in (
        "debt_advances",
        "debt_secured",
        "debt_bank_loans",
        "debt_revolver",
        "debt_short_term",
        "debt_short_term_loans",
    )
]
"""The lines of debt that hold no subordinated debt."""

_OF_RELATED_PARTIES = set_of(
    [
        "NotesPayableRelatedPartiesClassifiedCurrent",
        "NotesPayableRelatedPartiesNoncurrent",
        "DueToRelatedPartiesCurrent",
    ]
)
"""Elements of lines that are owed to related parties."""

_NOT_BORROWED_LINES = [LINE[line] for line in NOT_BORROWED]
_NONCURRENT_LINES = [LINE[concept.name] for concept in OTHER_NONCURRENT_LIABILITIES]


def has_large_maturities_without_line(sheets: BalanceSheets) -> Flags:
    """Whether long-term debt exceeds its non-current part by much, and no line states current debt."""
    whole, current = sheets.value("debt_long_term"), sheets.value("liabilities_current")
    maturities = whole - sheets.value("debt_noncurrent")
    stated = (sheets.has(line) for line in ("debt_current_maturities", "debt_current", "debt_short_term"))
    no_line = ~np.logical_or.reduce(list(stated))
    is_large = (maturities > UNNAMED_OF_CURRENT * current) & (maturities > UNNAMED_OF_DEBT * whole)
    found: Flags = no_line & is_large & (maturities <= current)
    return found


def leaves_more(sheets: BalanceSheets, sums: Sums, debt: Floats, liabilities: Floats) -> Flags:
    """Whether deposits are stated, and the lines that are known and the debt leave more of the liabilities than it.

    Of debt of one line a tenth and three hundredths of the liabilities are enough; a line that repeats it, or alone
    exceeds what is left, is no line beside it.
    """
    rest = liabilities + sheets.value("not_borrowed") - debt
    others = np.nan_to_num(sheets.values[_NOT_BORROWED_LINES])
    left, beside = (
        rest + others.sum(axis=0),
        rest + np.where(same(-others, debt) | (-others > rest), 0, others).sum(axis=0),
    )
    is_one_line = np.zeros(len(sheets), dtype=np.bool_)
    is_one_line[sums.sheet] = np.bincount(sums.part_sum, minlength=len(sums.sheet)) == 1
    found: Flags = (left > debt) & (left > OF_LIABILITIES * liabilities)
    found |= is_one_line & (beside > OF_ONE_LINE * debt) & (beside > OF_LIABILITIES_BESIDE_ONE_LINE * liabilities)
    return found & sheets.is_stated_by("not_borrowed", OF_DEPOSITS)


def lacks_debt_of_interest(
    sheets: BalanceSheets, before: Before, sums: Sums, debt: Floats, liabilities: Floats
) -> Flags:
    """Whether interest on subordinated debt is stated, and no line that can hold that debt, for which there is room.

    Later filings that repeat the balance sheet do not repeat the interest of the period to its day.
    """
    owes = spread(sheets.value("interest_on_subordinated_debt") > 0, before.of_day, before.of_day >= 0)
    others = np.bincount(sums.part_sum, ~np.isin(sums.part_line, _NOT_SUBORDINATED), len(sums.sheet)) == 0
    known = np.nan_to_num(sheets.values[_NOT_BORROWED_LINES]).sum(axis=0)
    left = liabilities + sheets.or_zero("not_borrowed") + known - debt
    found: Flags = (owes & ~(left <= LEFT_FOR_INTEREST * debt))[sums.sheet] & others
    return found


def lacks_debt_of_proceeds(sheets: BalanceSheets, debt: Floats, liabilities: Floats) -> Flags:
    """Whether more was borrowed from related parties than paid back, and no line states it, for which there is room."""
    proceeds = sheets.value("proceeds_of_related_party_debt")
    found = (proceeds > sheets.or_zero("repayments_of_related_party_debt")) & (debt > 0)
    asked = np.flatnonzero(found)
    if len(asked):
        rows = sheets.rows[:, asked]
        is_owed = have_any(sheets.stated.elements[:, rows.ravel()], _OF_RELATED_PARTIES).reshape(rows.shape)
        left = (liabilities - debt)[asked] - _counted_once(sheets, asked)
        found[asked] = ~(is_owed & (rows >= 0)).any(axis=0) & (left > proceeds[asked])
    return found


def leaves_most(sheets: BalanceSheets, debt: Floats, liabilities: Floats) -> Flags:
    """Whether current liabilities are stated, and all known lines and the debt leave several times the debt.

    A line may count twice, so that less is left. Where many times the debt are left, it counts once.
    """
    known = np.abs(np.nan_to_num(sheets.values[_OTHER_LINES])).sum(axis=0)
    left, has_current = liabilities - debt - known, sheets.has("liabilities_current")
    found: Flags = has_current & (left > TIMES * debt) & (left > OF_ALL_LIABILITIES * liabilities)
    asked = np.flatnonzero(has_current & ~found & (debt > 0) & (liabilities - debt > MANY_TIMES * debt))
    if len(asked):
        left = (liabilities - debt)[asked] - _counted_once(sheets, asked)
        found[asked] = (left > MANY_TIMES * debt[asked]) & (left > OF_ALL_LIABILITIES * liabilities[asked])
    return found


def _counted_once(sheets: BalanceSheets, asked: Ints) -> Floats:
    """The other lines of some sheets, without those that are part of the sum of several lines."""
    rows, of_several = sheets.rows[_OTHER_LINES][:, asked], sheets.rows[LINE["not_borrowed"], asked]
    elements = sheets.stated.elements
    is_part = (elements[:, rows] & np.where(of_several >= 0, elements[:, of_several], 0)[:, None]).any(axis=0)
    is_part &= np.array(_OTHER_LINES)[:, None] != LINE["not_borrowed"]
    lines = np.abs(np.nan_to_num(sheets.values[_OTHER_LINES][:, asked]))
    total: Floats = np.where(is_part, 0.0, lines).sum(axis=0)
    return total


def is_below_part(sheets: BalanceSheets) -> Flags:
    """Whether the total of long-term debt is less than the non-current debt, by more than premiums explain."""
    is_less: Flags = sheets.value("debt_noncurrent") > sheets.value("debt_long_term") * (1 + A_PART)
    return is_less


def is_a_part(sheets: BalanceSheets, sums: Sums) -> Flags:
    """Whether one line of long-term debt is all, and the total was less than its non-current part where last stated."""
    is_less = is_below_part(sheets)
    found = np.zeros(len(sheets), dtype=np.bool_)
    if is_less.any():
        by_filing = np.lexsort((sheets.q, sheets.seq, sheets.cik))
        states_both = (sheets.has("debt_long_term") & sheets.has("debt_noncurrent"))[by_filing]
        last = np.maximum.accumulate(np.where(states_both, np.arange(len(sheets)), NOTHING))
        is_of_company = last >= first_row(starts(sheets.cik[by_filing]))
        found[by_filing] = is_of_company & is_less[by_filing[last]]
        found &= np.logical_or.reduce([is_alone(sheets, sums, line) for line, *_ in LONG_TERM_LINES])
    return found
