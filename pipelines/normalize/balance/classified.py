"""The compositions of debt on a classified balance sheet, which separates current and non-current debt.

Belongs here: which lines add up to total debt, as a decision table. Does not: the filer's own total in place of lines
(debt), lines that the totals of the balance sheet prove (proved_lines), instruments (instruments).
"""

from collections.abc import Callable

import numpy as np

from pipelines.normalize.arrays import Flags
from pipelines.normalize.balance.footing import within_current_liabilities
from pipelines.normalize.balance.roles import OF_SHORT_TERM_BORROWINGS
from pipelines.normalize.balance.sheets import CONTRADICTS, SAME_MONEY, BalanceSheets, same
from pipelines.normalize.balance.sums import Composition
from pipelines.normalize.facts.precision import grains
from pipelines.normalize.rule import Rule

DISCOUNT = 0.03
"""Principal exceeds the carrying amount by discounts and costs of issue, hardly ever by more than three per cent."""

CLASSIFIED_SHEETS = "classified balance sheets"

PARTS_OF_CLASSIFIED = ("debt_noncurrent", "debt_current_maturities", "debt_current")
"""A balance sheet with one of these lines separates current and non-current debt."""


def _maturities_as_short_term(sheets: BalanceSheets) -> Flags:
    """Whether short-term borrowings repeat the current maturities, and the current liabilities do not prove both."""
    return same(sheets.value("debt_short_term"), sheets.value("debt_current_maturities")) & ~_are_two_lines(sheets)


def _foots(sheets: BalanceSheets) -> tuple[Flags, Flags]:
    """Whether the current liabilities add up with short-term borrowings alone, and with these plus the maturities."""
    if "short-term" in sheets.known:
        alone, both = sheets.known["short-term"]
        return alone, both
    short, maturities = sheets.value("debt_short_term"), sheets.value("debt_current_maturities")
    where = (maturities > 0) & (short >= maturities * (1 - SAME_MONEY))
    alone, both = (within_current_liabilities(sheets, debt, where) for debt in (short, short + maturities))
    sheets.known["short-term"] = alone, both
    return alone, both


def _are_two_lines(sheets: BalanceSheets) -> Flags:
    """Whether the current liabilities add up only with both, short-term borrowings and current maturities."""
    alone, both = _foots(sheets)
    return both & ~alone


def _short_term_includes_maturities(sheets: BalanceSheets) -> Flags:
    """Whether the current liabilities add up only with short-term borrowings alone, which include the maturities."""
    alone, both = _foots(sheets)
    return alone & ~both


def _current_debt_covers_maturities(sheets: BalanceSheets) -> Flags:
    """Whether current debt is at least the current maturities and the short-term borrowings, which it includes."""
    least = sheets.or_zero("debt_current_maturities") * (1 - SAME_MONEY)
    current, short = sheets.value("debt_current"), sheets.value("debt_short_term")
    exceeds = sheets.is_stated_by("debt_short_term", OF_SHORT_TERM_BORROWINGS) & (short > current * (1 + DISCOUNT))
    covers: Flags = (current >= least) & ~exceeds
    return covers


def _long_term_debt_has_unnamed_maturities(sheets: BalanceSheets) -> Flags:
    """Whether long-term debt exceeds its non-current part, and no line states the current part.

    A long-term debt that is a small multiple of a large unit may be the non-current debt, rounded.
    """
    whole, noncurrent = sheets.value("debt_long_term"), sheets.value("debt_noncurrent")
    has: Flags = whole > noncurrent * (1 + SAME_MONEY)
    has &= ~sheets.has("debt_current_maturities") & ~sheets.has("debt_current")
    rows = np.flatnonzero(has & (whole - noncurrent <= DISCOUNT * whole))
    unit, finer = (grains(each[rows], fewest_digits=1) for each in (whole, noncurrent))
    has[rows] = (unit <= finer) | ((whole - noncurrent)[rows] > unit / 2)
    return has


def _is_rest_of_long_term_debt(sheets: BalanceSheets) -> Flags:
    """Whether short-term borrowings are long-term debt less its non-current part."""
    both = sheets.value("debt_noncurrent") + sheets.value("debt_short_term")
    return same(both, sheets.value("debt_long_term"), CONTRADICTS)


def _is_other_money_than_current_debt(sheets: BalanceSheets) -> Flags:
    """Whether current debt is only the maturities, and short-term borrowings are another amount."""
    current, maturities = sheets.value("debt_current"), sheets.value("debt_current_maturities")
    found: Flags = (
        _current_debt_covers_maturities(sheets) & same(current, maturities) & ~_maturities_as_short_term(sheets)
    )
    return found


def _there(line: str) -> Callable[[BalanceSheets], Flags]:
    return lambda sheets: sheets.has(line)


def _both(*conditions: Callable[[BalanceSheets], Flags]) -> Callable[[BalanceSheets], Flags]:
    def hold(sheets: BalanceSheets) -> Flags:
        found: Flags = np.logical_and.reduce([condition(sheets) for condition in conditions])
        return found

    return hold


def _rule(id: str, statement: str, source: str) -> Rule:
    return Rule(id, statement, source, "compose", CLASSIFIED_SHEETS)


_WHOLE = "us-gaap:LongTermDebt (long-term debt including current maturities)"

_PARTS = "us-gaap:LongTermDebtNoncurrent, us-gaap:LongTermDebtCurrent; Regulation S-X Rule 5-02.19, 5-02.22; IAS 1.69"

_CURRENT = "us-gaap:DebtCurrent (short-term borrowings and current maturities); IAS 1.69"

_REPEATED = f"{_PARTS}; measured: one amount under two elements is one borrowing"

CLASSIFIED: tuple[Composition, ...] = (
    Composition(
        _rule(
            "debt.classified.long-term-debt-with-maturities-as-short-term",
            "Total debt is long-term debt if it exceeds its non-current part by the amount tagged as short-term "
            "borrowings.",
            _WHOLE,
        ),
        ("debt_long_term",),
        _both(_long_term_debt_has_unnamed_maturities, _is_rest_of_long_term_debt),
    ),
    Composition(
        _rule(
            "debt.classified.long-term-debt-with-unnamed-maturities",
            "Total debt is long-term debt plus short-term borrowings if long-term debt exceeds its non-current part "
            f"by more than rounding (half of its unit, but at most {DISCOUNT:.0%} of it) and no line states the "
            "current part.",
            _WHOLE,
        ),
        ("debt_long_term", "debt_short_term"),
        _long_term_debt_has_unnamed_maturities,
    ),
    Composition(
        _rule(
            "debt.classified.noncurrent-current-and-short-term",
            "Total debt is non-current debt plus current debt plus short-term borrowings if current debt is only the "
            "current maturities.",
            _CURRENT,
        ),
        ("debt_noncurrent", "debt_current", "debt_short_term"),
        _both(_there("debt_noncurrent"), _is_other_money_than_current_debt),
    ),
    Composition(
        _rule(
            "debt.classified.noncurrent-and-current",
            "Total debt is non-current debt plus current debt, which includes maturities and short-term borrowings.",
            _CURRENT,
        ),
        ("debt_noncurrent", "debt_current"),
        _both(_there("debt_noncurrent"), _current_debt_covers_maturities),
    ),
    Composition(
        _rule(
            "debt.classified.noncurrent-and-short-term-by-footing",
            "Total debt is non-current debt plus short-term borrowings if the current liabilities add up with these "
            "alone, and not with the current maturities besides.",
            "ASC 210-10-45-5 (current liabilities)",
        ),
        ("debt_noncurrent", "debt_short_term"),
        _both(_there("debt_noncurrent"), _short_term_includes_maturities),
    ),
    Composition(
        _rule(
            "debt.classified.noncurrent-and-maturities",
            "Total debt is non-current debt plus current maturities if short-term borrowings repeat the maturities.",
            _REPEATED,
        ),
        ("debt_noncurrent", "debt_current_maturities"),
        _both(_there("debt_noncurrent"), _maturities_as_short_term),
    ),
    Composition(
        _rule(
            "debt.classified.noncurrent-maturities-and-short-term",
            "Total debt is non-current debt plus current maturities plus short-term borrowings, as far as stated.",
            _PARTS,
        ),
        ("debt_noncurrent", "debt_current_maturities", "debt_short_term"),
        _there("debt_noncurrent"),
    ),
    Composition(
        _rule(
            "debt.classified.long-term-debt",
            "Total debt is long-term debt if no non-current part is stated and short-term borrowings repeat the "
            "current maturities.",
            _WHOLE,
        ),
        ("debt_long_term",),
        _both(_there("debt_long_term"), _maturities_as_short_term),
    ),
    Composition(
        _rule(
            "debt.classified.long-term-debt-and-short-term",
            "Total debt is long-term debt, which includes its maturities, plus short-term borrowings.",
            _WHOLE,
        ),
        ("debt_long_term", "debt_short_term"),
        _there("debt_long_term"),
    ),
    Composition(
        _rule(
            "debt.classified.filer-total",
            "Total debt is the filer's own total if no long-term debt is stated.",
            "us-gaap:DebtLongtermAndShorttermCombinedAmount; IFRS 7.8(g)",
        ),
        ("debt_all",),
        _there("debt_all"),
    ),
    Composition(
        _rule(
            "debt.classified.current-alone",
            "Total debt is current debt if nothing else is stated.",
            _CURRENT,
        ),
        ("debt_current",),
        _current_debt_covers_maturities,
    ),
    Composition(
        _rule(
            "debt.classified.maturities-alone",
            "Total debt is the current maturities if short-term borrowings repeat them and no long-term debt is "
            "stated.",
            _REPEATED,
        ),
        ("debt_current_maturities",),
        _maturities_as_short_term,
    ),
    Composition(
        _rule(
            "debt.classified.maturities-and-short-term",
            "Total debt is current maturities plus short-term borrowings if no long-term debt is stated.",
            _PARTS,
        ),
        ("debt_current_maturities", "debt_short_term"),
        _there("debt_current_maturities"),
    ),
)
"""The compositions of debt on a classified balance sheet; the first one whose condition holds decides."""

OF_UNNAMED_MATURITIES = tuple(
    each.rule for each in CLASSIFIED if each.holds in (_long_term_debt_has_unnamed_maturities,)
)
"""The rules by which long-term debt is a total that includes maturities without a line of their own."""

RULES: tuple[Rule, ...] = tuple(each.rule for each in CLASSIFIED)
