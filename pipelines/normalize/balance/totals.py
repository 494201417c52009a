"""The totals of balance sheets: how the total of each section is computed from the amounts that a filing states.

Belongs here: the amounts of a day and its totals. Does not: which amounts are lines (likely, reading).
"""

from pipelines.normalize.elements.lines import (
    BOTH_SIDES,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    LIABILITIES,
    NONCURRENT_LIABILITIES,
    REDEEMABLE,
    SECTION_TOTALS,
    TEMPORARY_EQUITY,
)

Day = dict[str, tuple[float, int]]
"""The amounts that a filing states for a day: by element, the amount in currency units and the row of the fact."""

NOT_STATED = -1
"""Stands in place of the fact's row if the amount is derived."""

Terms = tuple[tuple[str, float], ...]
"""The terms of a computed total: elements, each with its coefficient."""


def sections_of(stated: Day) -> tuple[str, ...]:
    """The sections of a balance sheet that have debt or cash.

    Source: a balance sheet with total current liabilities is classified (ASC 210-10-45-5, IAS 1.60).
    """
    if not stated.keys().isdisjoint(SECTION_TOTALS[CURRENT_LIABILITIES]):
        return CURRENT_ASSETS, CURRENT_LIABILITIES, NONCURRENT_LIABILITIES
    return CURRENT_ASSETS, LIABILITIES


def apart_from_both_sides(stated: Day) -> float:
    """Liabilities as liabilities and equity less equity, less liabilities as stated; zero if one is not stated."""
    total, terms = _first(stated, *SECTION_TOTALS[LIABILITIES]), _of_both_sides(stated)
    return amount_of(terms, stated) - amount_of(total, stated) if total and terms else 0.0


def _first(stated: Day, *elements: str) -> Terms:
    for element in elements:
        if element in stated:
            return ((element, 1.0),)
    return ()


def _less(terms: Terms) -> Terms:
    return tuple((element, -coefficient) for element, coefficient in terms)


def _of_both_sides(stated: Day) -> Terms:
    """The terms of liabilities as liabilities and equity less all equity; empty if one of the two is not stated."""
    both = _first(stated, *BOTH_SIDES)
    equity = _first(
        stated, "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest", "ifrs-full:Equity"
    )
    if not equity and "StockholdersEquity" in stated:
        equity = (("StockholdersEquity", 1.0), *_first(stated, "MinorityInterest"))
    if not both or not equity:
        return ()
    temporary, redeemable = _first(stated, *TEMPORARY_EQUITY), _first(stated, REDEEMABLE)
    if temporary and redeemable and amount_of(temporary, stated) == amount_of(redeemable, stated):
        redeemable = ()
    return (*both, *_less((*equity, *temporary, *redeemable)))


def section_totals(stated: Day) -> dict[str, Terms]:
    """The terms of the total of each section of a balance sheet.

    If total liabilities are not stated, they are liabilities and equity less all equity. A balance sheet without total
    current liabilities is not classified.

    Source: ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet); us-gaap:Liabilities.
    """
    current_assets, current, noncurrent, total = (_first(stated, *elements) for elements in SECTION_TOTALS.values())
    total = total or _of_both_sides(stated)
    totals = {CURRENT_ASSETS: current_assets, CURRENT_LIABILITIES: current}
    if current:
        totals[NONCURRENT_LIABILITIES] = (*total, *_less(current)) if total else noncurrent
    else:
        totals[LIABILITIES] = total
    return {section: terms for section, terms in totals.items() if terms}


def amount_of(terms: Terms, stated: Day) -> float:
    """The amount of a total, computed from its terms."""
    return sum(coefficient * stated[element][0] for element, coefficient in terms)
