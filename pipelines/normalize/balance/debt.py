"""Total debt of each balance sheet: interest-bearing borrowings, without counting an amount twice.

Belongs here: the debt of each balance sheet from the tables of lines (classified), and when the filer's own total is
used instead. Does not: lines whose element is used with another meaning (roles), balance sheets without current and
non-current parts (instruments), lines that are no longer reported (vanished).
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.balance import instruments, no_debt, proved_lines, roles
from pipelines.normalize.balance.classified import (
    CLASSIFIED,
    CLASSIFIED_SHEETS,
    DISCOUNT,
    OF_UNNAMED_MATURITIES,
    PARTS_OF_CLASSIFIED,
)
from pipelines.normalize.balance.contradictions import Totals
from pipelines.normalize.balance.element_sets import set_of
from pipelines.normalize.balance.judged import Comparison
from pipelines.normalize.balance.roles import LINES_BESIDE, due
from pipelines.normalize.balance.sheets import CONTRADICTS, DEBT_LINES, LINE, BalanceSheets, same
from pipelines.normalize.balance.sums import UNDECIDED, Sums, added_up, first_that_holds, is_apart
from pipelines.normalize.elements.debt import DEBT_ALL, INCLUDES_FINANCE_LEASES
from pipelines.normalize.facts.precision import grains
from pipelines.normalize.rule import Rule

SHORT_TERM_LINES = frozenset(
    (
        "debt_short_term",
        "debt_short_term_loans",
        "debt_current",
        "debt_current_maturities",
        "debt_current_instrument",
    )
)
"""Debt that is due within a year."""

OF_DEBT_WITH_LEASES = set_of(
    element
    for source in DEBT_ALL.sources
    if source.reservation == INCLUDES_FINANCE_LEASES
    for element in source.counted
)
"""Elements of the filer's own total that include finance leases."""
OF_LONG_TERM_DEBT_WITH_LEASES = set_of(["LongTermDebtAndCapitalLeaseObligations"])
"""The element of non-current debt that includes finance leases."""


FILER_TOTAL = Rule(
    "debt.filer-total",
    "Total debt is the filer's own total if no other line can be added up.",
    "us-gaap:DebtLongtermAndShorttermCombinedAmount; IFRS 7.8(g)",
    "compose",
)
FILER_TOTAL_ABOVE_NOTES = Rule(
    "debt.filer-total-above-notes",
    "On a balance sheet without total current liabilities the filer's own total replaces the lines added up, if it "
    f"exceeds them by more than {DISCOUNT:.0%}, the most that discounts explain ({CONTRADICTS:.0%} where both include "
    "finance leases), and is no more than the liabilities less those that are not borrowings.",
    "us-gaap:DebtLongtermAndShorttermCombinedAmount; ASC 835-30-45-1A (discounts and costs of issue)",
    "compose",
    "balance sheets without total current liabilities",
)
FILER_TOTAL_ABOVE_LINES = Rule(
    "debt.filer-total-above-lines",
    "On a classified balance sheet the filer's own total replaces the lines added up, if it exceeds them by more than "
    f"discounts explain ({DISCOUNT:.0%}; nothing where the principal is the carrying amount), and is no more than the "
    "liabilities less those that are not borrowings.",
    "us-gaap:DebtLongtermAndShorttermCombinedAmount; ASC 835-30-45-1A (discounts and costs of issue); measured: on 395 "
    "balance sheets with such a total it exceeds the lines by more than two per cent once, by a line of the filer's "
    "own",
    "compose",
    CLASSIFIED_SHEETS,
)
FILER_TOTAL_BELOW_LINES = Rule(
    "debt.filer-total-below-lines",
    "The filer's own total of all debt replaces the lines added up if they exceed it by more than discounts explain "
    f"({DISCOUNT:.0%}) and the non-current line alone does not.",
    "us-gaap:DebtLongtermAndShorttermCombinedAmount, ifrs-full:Borrowings: no debt exceeds the total of all debt",
    "compose",
    CLASSIFIED_SHEETS,
)
TOTAL_CONTRADICTS_PARTS = Rule(
    "debt.total-contradicts-parts",
    "A total that the filer states matches neither total debt nor a part of it.",
    "us-gaap:LongTermDebt, us-gaap:DebtCurrent, us-gaap:DebtLongtermAndShorttermCombinedAmount: totals by definition",
    "flag",
)
CURRENT_BESIDE_LARGER_NOTES = Rule(
    "debt.withheld.current-maturities-with-larger-notes",
    "Total debt is withheld if only current debt is stated and the notes, secured or unsecured debt, or loans from "
    "banks are larger, because some of them may be due later.",
    "us-gaap:NotesPayable, us-gaap:SecuredDebt: of any term; Regulation S-X Rule 5-02.22",
    "withhold",
    CLASSIFIED_SHEETS,
)

COMPOSING: tuple[Rule, ...] = (
    *(each.rule for each in CLASSIFIED),
    *instruments.RULES,
    FILER_TOTAL,
    FILER_TOTAL_ABOVE_NOTES,
    FILER_TOTAL_ABOVE_LINES,
    FILER_TOTAL_BELOW_LINES,
    *proved_lines.RULES,
    *no_debt.RULES,
)
"""The rules that choose the lines, in the order that Sums.rule counts."""

PROVEN: tuple[Rule, ...] = (*instruments.PROVEN, *no_debt.RULES)
"""The rules by which total liabilities prove the debt."""

RULES: tuple[Rule, ...] = (
    *(each.rule for each in CLASSIFIED),
    FILER_TOTAL,
    FILER_TOTAL_ABOVE_NOTES,
    FILER_TOTAL_ABOVE_LINES,
    FILER_TOTAL_BELOW_LINES,
    TOTAL_CONTRADICTS_PARTS,
    CURRENT_BESIDE_LARGER_NOTES,
)


def total_debt(sheets: BalanceSheets, is_served: Flags) -> tuple[Sums, list[tuple[Rule, Ints]]]:
    """Interest-bearing borrowings of each balance sheet that states any.

    Debt is non-current debt, current maturities and short-term borrowings; a line that repeats another amount is left
    out. Totals that include current maturities replace parts that are not stated. If only current debt is stated and
    larger notes may be due later, there is no value. Without current and non-current parts, debt is the instruments
    that add up to the liabilities, or the filer's own total if it is larger. Operating leases, deposits, repurchase
    agreements and trade payables are never included.

    Args:
        sheets: of sheets.as_filed, reclassified (roles).
        is_served: false for sheets without a value (vanished).

    Returns:
        the sums, and each rule that adds a line, flags or withholds, with the CIK of each sheet that it decided.
    """
    is_classified = np.logical_or.reduce([sheets.has(line) for line in PARTS_OF_CLASSIFIED])
    has_larger_notes = _notes_exceed_current_debt(sheets) & is_classified & is_served
    rule, chosen = first_that_holds(CLASSIFIED, sheets, len(DEBT_LINES))
    rule[~is_classified | ~is_served | has_larger_notes] = UNDECIDED
    decided = [(CURRENT_BESIDE_LARGER_NOTES, sheets.cik[has_larger_notes])]
    decided += _add_lines_beside(sheets, chosen, rule != UNDECIDED)
    is_of_parts = ~(chosen[LINE["debt_long_term"]] | chosen[LINE["debt_all"]] | chosen[LINE["debt_current"]])
    for proved, changed in zip(
        proved_lines.RULES,
        proved_lines.by_footing(sheets, chosen, (rule != UNDECIDED) & is_of_parts),
        strict=True,
    ):
        rule[changed] = COMPOSING.index(proved)
    others = np.flatnonzero(~is_classified & is_served & instruments.may_be_known(sheets))
    chosen[:, ~is_classified] = False
    of_instruments, chosen[:, others] = instruments.instruments(sheets.only(others))
    rule[others] = np.where(of_instruments == instruments.UNKNOWN, UNDECIDED, len(CLASSIFIED) + of_instruments)
    of_totals, lines = no_debt.of_both_terms(sheets, (rule == UNDECIDED) & is_served)
    is_proved = of_totals >= 0
    rule[is_proved] = COMPOSING.index(no_debt.RULES[0]) + of_totals[is_proved]
    chosen[:, is_proved] = lines[:, is_proved]
    is_total = (rule == UNDECIDED) & ~is_classified & is_served & sheets.has("debt_all")
    is_above = (rule != UNDECIDED) & _filer_total_is_larger(sheets, chosen)
    is_above_lines = (rule != UNDECIDED) & _filer_total_exceeds_lines(sheets, chosen)
    is_below_lines = (rule != UNDECIDED) & is_classified & _lines_exceed_filer_total(sheets, chosen)
    replaced = chosen & (is_above | is_above_lines | is_below_lines)
    for holds, stands in (
        (is_total, FILER_TOTAL),
        (is_above, FILER_TOTAL_ABOVE_NOTES),
        (is_above_lines, FILER_TOTAL_ABOVE_LINES),
        (is_below_lines, FILER_TOTAL_BELOW_LINES),
    ):
        rule[holds] = COMPOSING.index(stands)
        chosen[:, holds] = False
        chosen[LINE["debt_all"], holds] = True
    only_total = chosen[LINE["debt_all"]] & (chosen.sum(axis=0) == 1)
    sums = added_up(
        sheets,
        rule,
        chosen,
        lambda sheets, debt: _is_contradicted(sheets, debt, chosen),
        (only_total & ~sheets.is_stated_by("debt_all", OF_DEBT_WITH_LEASES)) | _is_total_of_long_term_debt(rule),
        SHORT_TERM_LINES,
    )
    _count_replaced(sheets, sums, replaced)
    decided.append((TOTAL_CONTRADICTS_PARTS, sheets.cik[sums.sheet[sums.contradicted]]))
    return sums, decided


def _count_replaced(sheets: BalanceSheets, sums: Sums, replaced: Flags) -> None:
    """Count the lines that a total stands for among its lines, in place: it restates an older sum of these lines."""
    line, sheet = np.nonzero(replaced & (sheets.rows[: len(replaced)] >= 0))
    row, place = sheets.rows[line, sheet], np.searchsorted(sums.sheet, sheet)
    for of_sums, of_lines in zip(sums.elements, sheets.stated.elements, strict=True):
        np.bitwise_or.at(of_sums, place, of_lines[row])
    np.add.at(sums.nonzero_lines, place, sheets.stated.value[row] != 0)


def _is_total_of_long_term_debt(rule: Ints) -> Flags:
    """Whether debt is the filer's total of long-term debt, which exceeds the non-current part on the same sheet."""
    found: Flags = np.isin(rule, [COMPOSING.index(each) for each in OF_UNNAMED_MATURITIES])
    return found


def total_agrees(sheets: BalanceSheets, sums: Sums) -> Comparison:
    """Total debt, less short-term borrowings or not, compared with the filer's own total, of all debt or long-term."""
    debt = np.full(len(sheets), np.nan)
    debt[sums.sheet] = sums.value
    contradicted = np.zeros(len(sheets), dtype=np.bool_)
    contradicted[sums.sheet] = sums.contradicted
    everything = sheets.value("debt_all")
    total = np.where(np.isnan(everything), sheets.value("debt_long_term"), everything)
    less_short = debt - sheets.or_zero("debt_short_term")
    left = np.where(np.abs(less_short - total) < np.abs(debt - total), less_short, debt)
    found = contradicted | (np.abs(left - total) > CONTRADICTS * np.abs(total))
    return Comparison(TOTAL_CONTRADICTS_PARTS, ~np.isnan(left + total), found, left, total)


def filer_totals(sheets: BalanceSheets, sums: Sums) -> Totals:
    """Each of the filer's own totals that debt does not consist of: where it is equal to debt, and where it is not.

    A total may include short-term borrowings or not, and may be rounded.
    """
    debt = np.full(len(sheets), np.nan)
    debt[sums.sheet] = np.where(sums.is_filer_total, np.nan, sums.value)
    found = []
    for line, of_noncurrent in (("debt_long_term", sheets.value("debt_noncurrent")), ("debt_all", np.nan * debt)):
        is_part = np.zeros(len(sheets), dtype=np.bool_)
        is_part[sums.sheet[sums.part_sum[sums.part_line == LINE[line]]]] = True
        total = np.where(is_part, np.nan, sheets.value(line))
        unit = grains(total, fewest_digits=1)
        readings = (debt, debt - sheets.or_zero("debt_short_term"), _of_long_term(sheets))
        equal = np.logical_or.reduce([same(each, total) for each in readings])
        apart = ~np.isnan(debt) & is_apart(total, *readings, of_noncurrent, within=CONTRADICTS)
        apart &= np.logical_and.reduce([~(np.abs(each - total) <= unit / 2) for each in readings])
        found.append((equal, apart))
    return found


def _of_long_term(sheets: BalanceSheets) -> Floats:
    """Non-current debt plus the current maturities."""
    return sheets.value("debt_noncurrent") + sheets.value("debt_current_maturities")


def withheld_for_notes(sheets: BalanceSheets, is_served: Flags) -> Ints:
    """The balance sheets with current debt only and larger notes, whose total debt is withheld."""
    is_classified = np.logical_or.reduce([sheets.has(line) for line in PARTS_OF_CLASSIFIED])
    return np.flatnonzero(_notes_exceed_current_debt(sheets) & is_classified & is_served)


def _add_lines_beside(sheets: BalanceSheets, chosen: Flags, where: Flags) -> list[tuple[Rule, Ints]]:
    """Add additional instruments to the chosen lines, in place; returns each rule with the CIK of its sheets."""
    decided = []
    for each in LINES_BESIDE:
        is_beside = chosen[LINE[each.beside]]
        if each.beside == "debt_current_maturities":
            is_beside = is_beside | (chosen[LINE["debt_long_term"]] & _nothing_is_noncurrent(sheets))
        adds = where & is_beside & sheets.has(each.line)
        if adds.any():
            adds &= each.holds(sheets)
            chosen[LINE[each.line]] |= adds
            sheets.reclassified[LINE[each.line], adds] = roles.RULES.index(each.rule)
            decided.append((each.rule, sheets.cik[adds]))
    return decided


def _nothing_is_noncurrent(sheets: BalanceSheets) -> Flags:
    """Whether long-term debt is no more than its current maturities, so that both are the same line."""
    return same(sheets.value("debt_long_term"), sheets.value("debt_current_maturities"))


def _notes_exceed_current_debt(sheets: BalanceSheets) -> Flags:
    """Whether no long-term debt is stated, and notes or loans of any term exceed what is due by more than rounding.

    Other borrowings that are the rest of them are a line of their own.
    """
    long_term = ("debt_noncurrent", "debt_long_term", "debt_all")
    has_none = ~np.logical_or.reduce([sheets.has(line) for line in long_term])
    exceed: Flags = has_none & (roles.of_any_term(sheets) > due(sheets) * (1 + CONTRADICTS))
    return exceed & ~roles.other_borrowings_complete_notes(sheets)


def _filer_total_is_larger(sheets: BalanceSheets, chosen: Flags) -> Flags:
    """Whether the filer's own total exceeds the lines added up by more than DISCOUNT, and the liabilities include it.

    Where the balance sheet has no total of current liabilities, the lines come from the notes and may omit short-term
    borrowings that no element states. A total that includes leases is compared if the non-current line includes them
    too; it is a carrying amount, so that no discount explains a difference.
    """
    everything = sheets.value("debt_all")
    with_leases = sheets.is_stated_by("debt_all", OF_DEBT_WITH_LEASES)
    asked = ~sheets.has("liabilities_current") & ~np.isnan(everything)
    asked &= ~with_leases | sheets.is_stated_by("debt_noncurrent", OF_LONG_TERM_DEBT_WITH_LEASES)
    stated = np.zeros(len(sheets))
    stated[asked] = np.where(chosen[:, asked], np.nan_to_num(sheets.values[: len(chosen), asked]), 0.0).sum(axis=0)
    most = sheets.value("liabilities") + sheets.or_zero("not_borrowed") + sheets.or_zero("not_borrowed_repos")
    explained = np.where(with_leases, CONTRADICTS, DISCOUNT)
    is_larger: Flags = asked & (everything > stated * (1 + explained)) & (everything <= most)
    return is_larger


def _filer_total_exceeds_lines(sheets: BalanceSheets, chosen: Flags) -> Flags:
    """Whether the filer's own total shows that a line is missing.

    On a balance sheet without current liabilities this is certain only if the principal is the carrying amount, so that
    no discount explains the difference.
    """
    everything = sheets.value("debt_all")
    has_no_discount = same(sheets.value("debt_principal"), sheets.value("debt_noncurrent"))
    asked = (sheets.has("liabilities_current") | has_no_discount) & ~np.isnan(everything)
    asked &= ~sheets.is_stated_by("debt_all", OF_DEBT_WITH_LEASES)
    stated = np.zeros(len(sheets))
    stated[asked] = np.where(chosen[:, asked], np.nan_to_num(sheets.values[: len(chosen), asked]), 0.0).sum(axis=0)
    explained = np.where(has_no_discount, CONTRADICTS, DISCOUNT)
    most = (sheets.value("liabilities") + sheets.or_zero("not_borrowed")) * instruments.ROOM
    exceeds: Flags = asked & (everything > stated * (1 + explained)) & (everything <= most)
    return exceeds


def _lines_exceed_filer_total(sheets: BalanceSheets, chosen: Flags) -> Flags:
    """Whether the lines added up exceed the filer's own total, and the non-current line alone is within it.

    Some filers state the total of long-term debt as that of all debt; so it may lack the short-term borrowings.
    """
    everything, noncurrent = sheets.value("debt_all"), sheets.value("debt_noncurrent")
    everything = everything + np.where(chosen[LINE["debt_short_term"]], sheets.or_zero("debt_short_term"), 0.0)
    stated = np.where(chosen, np.nan_to_num(sheets.values[: len(chosen)]), 0.0).sum(axis=0)
    exceed: Flags = (everything > 0) & (stated > everything * (1 + DISCOUNT)) & (noncurrent <= everything)
    exceed &= ~chosen[LINE["debt_all"]]
    return exceed


def _is_contradicted(sheets: BalanceSheets, debt: Floats, chosen: Flags) -> Flags:
    """Whether one of the filer's own totals is neither the debt nor a part of it."""
    noncurrent, maturities = sheets.value("debt_noncurrent"), sheets.value("debt_current_maturities")
    short, short_or_zero = sheets.value("debt_short_term"), sheets.or_zero("debt_short_term")
    of_long_term = (
        is_apart(
            sheets.value("debt_long_term"),
            debt,
            debt - short_or_zero,
            noncurrent,
            _of_long_term(sheets),
            within=CONTRADICTS,
        )
        & ~(chosen[LINE["debt_long_term"]])
    )
    of_everything = is_apart(sheets.value("debt_all"), debt, debt - short_or_zero, within=CONTRADICTS)
    of_current = sheets.has("debt_current_maturities") & is_apart(
        sheets.value("debt_current"), maturities, short, maturities + short_or_zero, within=CONTRADICTS
    )
    contradicted: Flags = (debt != 0) & (of_long_term | of_everything | of_current)
    return contradicted
