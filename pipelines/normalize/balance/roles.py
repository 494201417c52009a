"""Reclassifies balance sheet lines whose element is used with another meaning.

Belongs here: which line replaces which, and which instrument is an additional line next to long-term debt, not a part
of it. Does not: which elements belong to a line (elements), how lines add up (debt, cash).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance import instruments, securities
from pipelines.normalize.balance.element_sets import set_of
from pipelines.normalize.balance.footing import (
    NEVER,
    fewest_noncurrent_lines,
    within_noncurrent_liabilities,
)
from pipelines.normalize.balance.securities import Reclassification
from pipelines.normalize.balance.sheets import CONTRADICTS, LINE, SAME_MONEY, BalanceSheets, same
from pipelines.normalize.elements.containment import all_parts
from pipelines.normalize.elements.debt import CURRENT_INSTRUMENTS
from pipelines.normalize.elements.liabilities import (
    MORE_CURRENT_LIABILITIES,
    MORE_NONCURRENT_LIABILITIES,
    NOT_LENT,
    OTHER_CURRENT_LIABILITIES,
    OTHER_NONCURRENT_LIABILITIES,
)
from pipelines.normalize.facts.precision import grains
from pipelines.normalize.rule import Rule

OF_NOTES_PAYABLE = set_of(["NotesPayableCurrent", "ConvertibleNotesPayableCurrent"])
"""Elements of current maturities that are notes payable themselves."""

OF_ALL_LONG_TERM_DEBT = set_of(
    [
        "LongTermDebt",
        "LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities",
        "LongTermDebtNoncurrent",
        "LongTermDebtAndCapitalLeaseObligations",
        "UnsecuredLongTermDebt",
        "SecuredLongTermDebt",
        "SubordinatedLongTermDebt",
        "OtherLongTermDebtNoncurrent",
    ]
)
"""Elements of non-current debt whose definition covers instruments that filers also tag one by one."""

OF_ALL_MATURITIES = set_of(
    ["LongTermDebtCurrent", "LongTermDebtAndCapitalLeaseObligationsCurrent", "OtherLongTermDebtCurrent"]
)
"""Elements of current maturities whose definition covers instruments that filers also tag one by one."""


OF_NOTES_AND_LOANS = set_of(["NotesAndLoansPayableCurrent"])
OF_CURRENT_NOTES = set_of(sorted(all_parts("NotesAndLoansPayableCurrent") & set(CURRENT_INSTRUMENTS)))
"""The element of all current notes and loans, and its parts among the current maturities."""

OF_MATURITIES_WITH_LEASES = set_of(["LongTermDebtAndCapitalLeaseObligationsCurrent"])
"""The element of current maturities that includes finance leases."""

OF_SHORT_TERM_BORROWINGS = set_of(["ShortTermBorrowings"])
"""The element of all short-term borrowings."""


OF_CURRENT_LOANS = set_of(["LoansPayableCurrent"])
"""The element of current loans, which are one instrument of several."""


LARGE, WITHOUT_LINE = 0.2, 0.5
"""Maturities of a fifth of long-term debt, half of which no other line of the non-current liabilities can replace."""

_OTHER_NONCURRENT = [LINE[concept.name] for concept in (*OTHER_NONCURRENT_LIABILITIES, *MORE_NONCURRENT_LIABILITIES)]
"""Lines of the non-current liabilities other than debt."""

_OTHER_CURRENT = [LINE[concept.name] for concept in (*OTHER_CURRENT_LIABILITIES, *MORE_CURRENT_LIABILITIES, NOT_LENT)]
"""Lines of the current liabilities other than debt."""

ROUNDED_TEXT = 0.02
"""An amount in the text of a note is rounded by at most two per cent."""


OF_ANY_TERM = [LINE[line] for line in ("debt_notes", *instruments.TOTALS["debt_notes"][:3])]
"""Instruments of any term; credit lines may be undrawn."""

EXACT = 1e-6
"""Amounts of several digits that differ by less are the same to the digit."""


@dataclass(frozen=True, slots=True)
class LineBeside:
    """A rule that adds `line` to a sum with the line `beside` on the sheets for which `holds` is true."""

    rule: Rule
    line: str
    beside: str
    holds: Callable[[BalanceSheets], Flags]


def due(sheets: BalanceSheets) -> Floats:
    """Debt that is due within a year: current maturities of long-term debt, or all current debt; NaN if neither."""
    maturities = sheets.value("debt_current_maturities")
    return np.where(np.isnan(maturities), sheets.value("debt_current"), maturities)


def of_any_term(sheets: BalanceSheets) -> Floats:
    """The largest of notes, secured and unsecured debt, and loans from banks; NaN if none is stated."""
    found: Floats = np.fmax.reduce(sheets.values[OF_ANY_TERM])
    return found


def other_borrowings_complete_notes(sheets: BalanceSheets) -> Flags:
    """Whether the largest debt of any term is exactly what is due within a year and other borrowings."""
    return same(of_any_term(sheets), due(sheets) + sheets.value("debt_other"), EXACT)


def reclassify(sheets: BalanceSheets) -> list[tuple[Rule, Ints]]:
    """Reclassify the lines of these sheets that are used with another meaning; the sheets are changed.

    Returns:
        each rule with the CIK of the sheets that it changed.
    """
    decided = []
    for number, each in enumerate(RECLASSIFICATIONS):
        # conditions hold only on sheets that state the line
        holds = each.holds(sheets) if sheets.has(each.line).any() else np.zeros(len(sheets), dtype=np.bool_)
        sheets.put(each.line, each.place, holds, number)
        decided.append((each.rule, sheets.cik[holds]))
    return decided


def _short_term_has_maturities(sheets: BalanceSheets) -> Flags:
    """Whether short-term borrowings are the sum of current maturities and short-term instruments in the notes."""
    maturities = sheets.value("debt_current_maturities")
    all_of_it = maturities + sheets.value("debt_short_term_by_instrument")
    return (maturities > 0) & same(sheets.value("debt_short_term"), all_of_it)


def _notes_are_short_term(sheets: BalanceSheets) -> Flags:
    """Whether current notes payable are separate from the maturities and exceed other short-term borrowings.

    A line of short-term borrowings that repeats the maturities is not another borrowing.
    """
    notes, maturities = sheets.value("debt_notes_current"), sheets.value("debt_current_maturities")
    others = np.where(same(sheets.value("debt_short_term"), maturities), 0.0, sheets.or_zero("debt_short_term"))
    are_other_money = ~sheets.is_stated_by("debt_current_maturities", OF_NOTES_PAYABLE) & ~same(
        notes, maturities, CONTRADICTS
    )
    return sheets.has("debt_current_maturities") & are_other_money & (notes > others)


def _current_debt_is_rounded(sheets: BalanceSheets) -> Flags:
    """Whether current debt is short-term borrowings, rounded to coarser units, and includes the maturities."""
    current, short = sheets.value("debt_current"), sheets.value("debt_short_term")
    found = np.zeros(len(sheets), dtype=np.bool_)
    asked = np.flatnonzero((current != short) & same(short, current, ROUNDED_TEXT))
    unit = grains(current[asked], fewest_digits=1)
    is_rounded = (unit > grains(short[asked])) & (np.abs(current - short)[asked] <= unit / 2)
    found[asked] = is_rounded & (short >= sheets.or_zero("debt_current_maturities"))[asked]
    return found


def _notes_are_part(sheets: BalanceSheets) -> Flags:
    """Whether the current maturities are notes, and short-term borrowings all notes and loans, which include them."""
    notes = sheets.is_stated_by("debt_current_maturities", OF_CURRENT_NOTES)
    includes = sheets.value("debt_short_term") >= sheets.value("debt_current_maturities")
    found: Flags = sheets.is_stated_by("debt_short_term", OF_NOTES_AND_LOANS) & notes & includes
    return found


def _notes_are_net(sheets: BalanceSheets) -> Flags:
    """Whether all notes and loans exceed the notes that they include by the costs of issue: these are net."""
    difference = sheets.value("debt_short_term") - sheets.value("debt_notes_current")
    return _notes_are_part(sheets) & same(sheets.value("debt_issue_costs_current"), difference)


def _notes_are_noncurrent(sheets: BalanceSheets) -> Flags:
    notes, owed = sheets.value("debt_notes"), due(sheets)
    where = ~sheets.has("debt_noncurrent") & ~sheets.has("debt_long_term") & (owed > 0)
    return within_noncurrent_liabilities(sheets, notes, where) & ~within_noncurrent_liabilities(
        sheets, notes - owed, where
    )


def _notes_are_long_term_debt(sheets: BalanceSheets) -> Flags:
    notes, owed = sheets.value("debt_notes"), due(sheets)
    where = ~sheets.has("debt_noncurrent") & ~sheets.has("debt_long_term") & (owed > 0)
    return within_noncurrent_liabilities(sheets, notes - owed, where) & ~within_noncurrent_liabilities(
        sheets, notes, where
    )


def _long_term_debt_is_noncurrent(sheets: BalanceSheets) -> Flags:
    """Whether the element of all long-term debt is used without current maturities, which are a separate line.

    Either the non-current liabilities add up with it, or it is less than the maturities, or less than its principal by
    these (discounts and costs of issue are less), or it and the other lines can be all non-current liabilities, and
    without large maturities cannot. In addition, the non-current liabilities must not add up with the amount less the
    maturities, or only with more lines.
    """
    whole, owed = sheets.value("debt_long_term"), due(sheets)
    where = ~sheets.has("debt_noncurrent") & (owed > 0)
    short_of_principal = sheets.value("debt_principal") - whole
    lacks_maturities = (whole < owed) | ((short_of_principal >= owed) & (short_of_principal < 2 * owed))
    lines_less_maturities = fewest_noncurrent_lines(sheets, whole - owed, where)
    lines = fewest_noncurrent_lines(sheets, whole, where)
    has_maturities = lines_less_maturities < NEVER
    others = np.abs(np.nan_to_num(sheets.values[_OTHER_NONCURRENT])).sum(axis=0)
    left = sheets.value("liabilities") - sheets.value("liabilities_current") - whole
    is_filled = (left >= 0) & (left <= others) & (left + owed - others >= WITHOUT_LINE * owed)
    lacks_maturities |= (owed >= LARGE * whole) & is_filled
    return where & ((lines < lines_less_maturities) | (~has_maturities & lacks_maturities))


def _is_beside_noncurrent(sheets: BalanceSheets) -> Flags:
    """Whether an instrument is an additional line next to long-term debt, not a part of it.

    It is larger, or the filer's total is the sum of both, or the non-current liabilities add up with both only.
    """
    debt, beside, whole = (
        sheets.value(line) for line in ("debt_noncurrent", "debt_noncurrent_instrument", "debt_long_term")
    )
    maturities = np.nan_to_num(due(sheets))
    is_all = same(whole, debt + maturities, CONTRADICTS) | same(whole, debt, CONTRADICTS)
    where = sheets.is_stated_by("debt_noncurrent", OF_ALL_LONG_TERM_DEBT) & (beside > 0) & ~is_all
    is_sum = same(whole, debt + beside + maturities) | same(whole, debt + beside)
    adds_up = within_noncurrent_liabilities(sheets, debt + beside, where) & ~within_noncurrent_liabilities(
        sheets, debt, where
    )
    return where & ((beside > debt * (1 + CONTRADICTS)) | is_sum | adds_up)


def _long_term_debt_is_beside(sheets: BalanceSheets) -> Flags:
    """Whether the element of all long-term debt is a line next to a larger one, because only both add up."""
    debt, whole = sheets.value("debt_noncurrent"), sheets.value("debt_long_term")
    where = (whole > 0) & (whole < debt * (1 - CONTRADICTS)) & ~same(whole, due(sheets), CONTRADICTS)
    return within_noncurrent_liabilities(sheets, debt + whole, where) & ~within_noncurrent_liabilities(
        sheets, debt, where
    )


def _is_beside_maturities(sheets: BalanceSheets) -> Flags:
    """Whether a current instrument is an additional line next to the maturities: it is larger, and not another line.

    It is also additional if another instrument alone is all of the maturities: then no part of them is left for it. It
    is not if the filer's total is long-term debt plus the maturities.
    """
    beside, maturities = sheets.value("debt_current_instrument"), sheets.value("debt_current_maturities")
    is_total = sheets.is_stated_by("debt_current_maturities", OF_ALL_MATURITIES)
    is_short_term = same(beside, sheets.value("debt_short_term"), CONTRADICTS)
    is_all = same(sheets.value("debt_long_term"), sheets.value("debt_noncurrent") + maturities, CONTRADICTS)
    is_larger = beside > maturities * (1 + CONTRADICTS)
    is_apart = (beside > 0) & ~same(beside, maturities, CONTRADICTS) & _loans_are_all_maturities(sheets)
    known = np.abs(np.nan_to_num(sheets.values[_OTHER_CURRENT])).sum(axis=0)
    room = sheets.value("liabilities_current") - known - maturities - sheets.or_zero("debt_short_term")
    # the total of long-term debt may lack a line that is larger than all maturities
    is_part = is_all & ~(is_larger & (sheets.value("debt_long_term") < beside) & (beside <= room))
    found: Flags = is_total & (is_larger | is_apart) & ~is_short_term & ~is_part
    return found


def _loans_are_beside(sheets: BalanceSheets) -> Flags:
    """Whether current loans are an additional line next to short-term borrowings: they are larger, and there is room.

    They are no part of the current maturities either: these are less, or are other instruments.
    """
    loans, short = sheets.value("debt_short_term_loans"), sheets.value("debt_short_term")
    maturities = sheets.or_zero("debt_current_maturities")
    is_line = sheets.is_stated_by("debt_short_term", OF_SHORT_TERM_BORROWINGS) & ~sheets.has("debt_current")
    fits = loans + short + maturities <= sheets.value("liabilities_current")
    found: Flags = is_line & (loans > short * (1 + CONTRADICTS)) & (loans > maturities * (1 + CONTRADICTS)) & fits
    return found


def _loans_are_all_maturities(sheets: BalanceSheets) -> Flags:
    """Whether the current loans alone are the current maturities, so that no other instrument is a part of these."""
    is_loans = sheets.is_stated_by("debt_short_term", OF_CURRENT_LOANS)
    return is_loans & same(sheets.value("debt_short_term"), sheets.value("debt_current_maturities"))


def _are_other_loans(sheets: BalanceSheets) -> Flags:
    """Whether loans of any term are less than the current loans, so that they are another line, not the total.

    The liabilities must have room for them beside the lines that are not borrowings and the other debt.
    """
    loans, maturities = sheets.value("debt_bank_loans"), sheets.value("debt_current_maturities")
    room = sheets.value("liabilities") + sheets.or_zero("not_borrowed") - maturities
    room = room - sheets.or_zero("debt_noncurrent") - sheets.or_zero("debt_current_instrument")
    is_less = (loans > 0) & (loans < sheets.value("debt_short_term") * (1 - CONTRADICTS))
    is_part = same(loans, sheets.value("debt_current_instrument"), CONTRADICTS)
    return _loans_are_all_maturities(sheets) & is_less & ~is_part & (loans <= room)


def _noncurrent_debt_has_leases(sheets: BalanceSheets) -> Flags:
    """Whether the current maturities include finance leases, and the non-current debt lacks exactly these.

    The line of both then is that of the balance sheet; a filer that states both parts without leases keeps them so.
    """
    with_leases = sheets.is_stated_by("debt_current_maturities", OF_MATURITIES_WITH_LEASES)
    lacks_leases = same(sheets.value("debt_noncurrent_less_leases"), sheets.value("debt_noncurrent"), EXACT)
    return with_leases & lacks_leases


def _related_parties_are_in_long_term_debt(sheets: BalanceSheets) -> Flags:
    """Whether debt with notes to related parties exceeds the filer's own total, and without them does not."""
    current = np.nan_to_num(due(sheets)) + sheets.or_zero("debt_short_term")
    whole, alone = sheets.value("debt_all"), sheets.value("debt_noncurrent_alone")
    adds_notes = sheets.value("debt_noncurrent") > alone * (1 + SAME_MONEY)
    exceeds = sheets.value("debt_noncurrent") + current > whole * (1 + CONTRADICTS)
    return adds_notes & exceeds & (alone + current <= whole * (1 + CONTRADICTS))


def _related_parties_are_beside_long_term_debt(sheets: BalanceSheets) -> Flags:
    """Whether the liabilities, less their other lines, have room for long-term debt and notes to related parties."""
    both = sheets.value("debt_long_term_with_related_parties")
    others = sum((sheets.or_zero(concept.name) for concept in OTHER_NONCURRENT_LIABILITIES), np.zeros(len(sheets)))
    room = sheets.value("liabilities") + others
    exceeds = both + sheets.or_zero("debt_short_term") > sheets.value("debt_all") * (1 + CONTRADICTS)
    found: Flags = ~sheets.has("debt_noncurrent") & (both <= room) & ~exceeds
    return found


_NONCURRENT_LIABILITIES = (
    "ASC 210-10-45-5 (total of current liabilities); measured: the non-current liabilities add up one way only"
)

RECLASSIFICATIONS: tuple[Reclassification, ...] = (
    *securities.RECLASSIFICATIONS,
    Reclassification(
        Rule(
            "debt.short-term.without-maturities",
            "If short-term borrowings are the sum of the current maturities and of the short-term instruments in the "
            "notes, only these instruments count as short-term borrowings.",
            "us-gaap:LongTermDebtCurrent and us-gaap:ShortTermBorrowings: by their definitions, no debt is in both",
            "select",
        ),
        "debt_short_term_by_instrument",
        "debt_short_term",
        _short_term_has_maturities,
    ),
    Reclassification(
        Rule(
            "debt.short-term.notes-payable",
            "Current notes payable are short-term borrowings if they differ from the current maturities and exceed "
            "the other short-term borrowings (a line that repeats the maturities is none).",
            "us-gaap:NotesPayableCurrent; Regulation S-X Rule 5-02.19; measured: some filers use this element for "
            "commercial paper and bank loans, others for current maturities",
            "select",
        ),
        "debt_notes_current",
        "debt_short_term",
        _notes_are_short_term,
    ),
    Reclassification(
        Rule(
            "debt.current.exact-amount",
            "If current debt is the amount of short-term borrowings, rounded to coarser units, the exact amount is the "
            "current debt.",
            "us-gaap:DebtCurrent and us-gaap:ShortTermBorrowings; measured: one amount under two elements, of which "
            "one is stated in the text of the notes",
            "select",
        ),
        "debt_short_term",
        "debt_current",
        _current_debt_is_rounded,
    ),
    Reclassification(
        Rule(
            "debt.short-term.net-of-issue-costs",
            "If current notes and loans exceed the current notes that they include by the costs of issue, the notes "
            "are the carrying amount of both.",
            "ASC 835-30-45-1A (costs of issue are deducted from the carrying amount)",
            "select",
        ),
        "debt_current_maturities",
        "debt_short_term",
        _notes_are_net,
    ),
    Reclassification(
        Rule(
            "debt.current-maturities.part-of-notes-and-loans",
            "Current notes are not added to current notes and loans, which include them.",
            "US GAAP taxonomies of 2008 to 2025: NotesPayableCurrent is part of NotesAndLoansPayableCurrent",
            "select",
        ),
        "debt_short_term",
        "debt_current_maturities",
        _notes_are_part,
    ),
    Reclassification(
        Rule(
            "debt.notes.noncurrent-by-footing",
            "Notes are the non-current debt if the non-current liabilities add up with them, and not with them less "
            "the current maturities.",
            _NONCURRENT_LIABILITIES,
            "select",
        ),
        "debt_notes",
        "debt_noncurrent",
        _notes_are_noncurrent,
    ),
    Reclassification(
        Rule(
            "debt.notes.long-term-debt-by-footing",
            "Notes are all long-term debt, current maturities included, if the non-current liabilities add up with "
            "the notes less these maturities, and not with all notes.",
            _NONCURRENT_LIABILITIES,
            "select",
        ),
        "debt_notes",
        "debt_long_term",
        _notes_are_long_term_debt,
    ),
    Reclassification(
        Rule(
            "debt.long-term-debt.with-related-parties",
            "Without a line of non-current debt, non-current notes to related parties are added to long-term debt if "
            "the liabilities, less their other non-current lines, have room for both and the filer's own total does "
            "not contradict it.",
            "Regulation S-X Rule 5-02.22 and 4-08(k): bonds and notes, and amounts due to related parties, are stated "
            "on the face of the balance sheet",
            "select",
        ),
        "debt_long_term_with_related_parties",
        "debt_long_term",
        _related_parties_are_beside_long_term_debt,
    ),
    Reclassification(
        Rule(
            "debt.long-term-debt.noncurrent",
            "The element of long-term debt is only the non-current part if the non-current liabilities add up with it "
            "(with fewer other lines than with the amount less the current maturities), if it is less than these, if "
            "its principal exceeds it by them, or if it and the other lines can be all non-current liabilities and, "
            "less large maturities, cannot.",
            _NONCURRENT_LIABILITIES,
            "select",
        ),
        "debt_long_term",
        "debt_noncurrent",
        _long_term_debt_is_noncurrent,
    ),
    Reclassification(
        Rule(
            "debt.noncurrent.line-with-finance-leases",
            "If the current maturities include finance leases, and the line of long-term debt and finance leases less "
            "the noncurrent leases is exactly the stated long-term debt, that line is the noncurrent debt: both parts "
            "include leases.",
            "Regulation S-X Rule 5-02.22 (the line of the balance sheet); measured: non-current liabilities add up "
            "with it",
            "select",
        ),
        "debt_noncurrent_with_leases",
        "debt_noncurrent",
        _noncurrent_debt_has_leases,
    ),
    Reclassification(
        Rule(
            "debt.noncurrent.without-related-parties",
            "Notes to related parties are a part of long-term debt if total debt with them exceeds the filer's own "
            "total, and total debt without them does not.",
            "us-gaap:DebtLongtermAndShorttermCombinedAmount: no debt exceeds the total of all debt",
            "select",
        ),
        "debt_noncurrent_alone",
        "debt_noncurrent",
        _related_parties_are_in_long_term_debt,
    ),
)

LINES_BESIDE: tuple[LineBeside, ...] = (
    LineBeside(
        Rule(
            "debt.beside.noncurrent-instrument",
            "An instrument is added to non-current debt if it is larger, if the filer's total is the sum of both, or "
            "if the non-current liabilities add up only with both.",
            "us-gaap:LongTermDebtNoncurrent; measured: a part of long-term debt is never larger than the whole",
            "compose",
            "classified balance sheets",
        ),
        "debt_noncurrent_instrument",
        "debt_noncurrent",
        _is_beside_noncurrent,
    ),
    LineBeside(
        Rule(
            "debt.beside.long-term-debt-by-footing",
            "A line of long-term debt that is less than the non-current debt is added to it if the non-current "
            "liabilities add up with both, and not without it.",
            _NONCURRENT_LIABILITIES,
            "compose",
            "classified balance sheets",
        ),
        "debt_long_term",
        "debt_noncurrent",
        _long_term_debt_is_beside,
    ),
    LineBeside(
        Rule(
            "debt.beside.current-instrument",
            "An instrument that is due within a year is added to the current maturities if no other line repeats or "
            "includes it and it is larger (a total of long-term debt without it only if the current liabilities have "
            "room for it), or if the current loans alone are all of the maturities.",
            "us-gaap:LongTermDebtCurrent; measured: a part of the maturities is never larger than the whole",
            "compose",
            "classified balance sheets",
        ),
        "debt_current_instrument",
        "debt_current_maturities",
        _is_beside_maturities,
    ),
    LineBeside(
        Rule(
            "debt.beside.other-borrowings",
            "Other borrowings are added to current debt if notes, secured or unsecured debt, or loans from banks are "
            "exactly both together, so that these are all of them.",
            "us-gaap:SecuredDebt, us-gaap:NotesPayable: of any term; measured: 1 balance sheet of 1,900",
            "compose",
            "classified balance sheets",
        ),
        "debt_other",
        "debt_current",
        other_borrowings_complete_notes,
    ),
    LineBeside(
        Rule(
            "debt.beside.short-term-loans",
            "Current loans and credit lines are added to short-term borrowings if they are larger than these and than "
            "the current maturities, and the current liabilities have room for all.",
            "US GAAP taxonomies of 2008 to 2025: LoansPayableCurrent and LinesOfCreditCurrent are no parts of "
            "ShortTermBorrowings; a part larger than its total is a separate line",
            "compose",
            "classified balance sheets",
        ),
        "debt_short_term_loans",
        "debt_short_term",
        _loans_are_beside,
    ),
    LineBeside(
        Rule(
            "debt.beside.loans-of-any-term",
            "Loans of any term are added to the current maturities if they are less than the current loans, so that "
            "these are another line, and the liabilities have room for both.",
            "US GAAP taxonomy of 2018: LoansPayableCurrent is part of LoansPayable; a part larger than its total is a "
            "separate line",
            "compose",
            "classified balance sheets",
        ),
        "debt_bank_loans",
        "debt_current_maturities",
        _are_other_loans,
    ),
)

RULES: tuple[Rule, ...] = (
    *(each.rule for each in RECLASSIFICATIONS),
    *(each.rule for each in LINES_BESIDE),
)
