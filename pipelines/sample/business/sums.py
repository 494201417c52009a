"""The sums of statements: totals and their addends, by the names of `statements`.

Belongs here: tables. Does not: where lines are printed (faces).
"""

from collections.abc import Mapping

SUMS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("revenue", {"premiums": 1, "investment_income": 1, "commissions": 1}),
    ("revenue", {"rent": 1, "contract_revenue": 1}),
    ("revenue", {"gross_revenue": 1, "interest_expense": -1}),
    ("gross_profit", {"revenue": 1, "cost": -1}),
    ("net_interest_income", {"interest_income": 1, "interest_expense": -1}),
    ("pretax", {"net_interest_income": 1, "noninterest_income": 1, "provision": -1, "noninterest_expense": -1}),
    ("pretax", {"revenue": 1, "benefits": -1}),
    ("pretax", {"revenue": 1, "noninterest_expense": -1}),
    ("net_income", {"pretax": 1, "tax": -1}),
    ("cash_with_margin", {"cash": 1, "margin_deposits": 1}),
    ("long_term_debt", {"debt_noncurrent": 1, "debt_current": 1}),
)
"""Totals and their addends. A sum is in the calculation of a statement that has all its lines; if a total has two sums,
the first one is used."""

ACROSS: tuple[tuple[str, Mapping[str, int]], ...] = (("equity", {"assets": 1, "liabilities": -1}),)
"""Sums that hold, but that no calculation states."""

ADDENDS: Mapping[str, tuple[str, ...]] = {
    "assets": ("cash", "short_term_investments"),
    "liabilities": ("short_term_debt", "debt_current", "debt_noncurrent"),
    "operating_cash_flow": ("net_income",),
}
"""The ordinary lines below totals that may have own lines; the own lines have the remainder of the total."""
