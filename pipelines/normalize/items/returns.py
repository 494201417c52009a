"""Return on invested capital: operating income after tax over the capital that earned it.

Belongs here: operating income, also where a filer does not state it, the tax rate, invested capital, when the ratio has
no meaning.
Does not: total debt and cash (balance), twelve months of income (ttm), companies with capital as their business
(industry).
"""

from dataclasses import replace

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, any_of, picked
from pipelines.normalize.items.gaps import GAPS, NO_OPERATING_INCOME, THIN_CAPITAL
from pipelines.normalize.items.item import Candidate, Item, flow
from pipelines.normalize.items.points import Leg, Points
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR

STATUTORY_TAX_RATE = 0.21
"""Internal Revenue Code section 11(b); used on operating income if a loss before tax gives no rate."""
HIGHEST_TAX_RATE = 0.35
"""The federal rate until 2017: a higher effective rate is a one-off charge."""

OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX = "operating_income", "pretax_income", "income_tax"
CAPITAL, CAPITAL_BEFORE = "capital", "capital_before"
RETURN_ON_CAPITAL = (OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX, CAPITAL, CAPITAL_BEFORE)
"""The roles of legs in a return on capital."""

BEYOND = 0.1
"""Operating income is contradicted if it exceeds the amount that other lines give by more than this share."""

STATED = Rule(
    "roic.stated-operating-income",
    "Return on invested capital is operating income as stated, after tax, divided by the mean of invested capital at "
    "the period end and a year before.",
    "Service specification, section 2.4; Regulation S-X Rule 5-03",
    "compose",
)
FROM_PRETAX = Rule(
    "roic.income-before-tax-and-interest",
    "If no operating income is stated, return on invested capital uses income before tax plus interest expense less "
    "investment income, or less net interest.",
    "Regulation S-X Rule 5-03: income before tax is operating income plus non-operating income less interest expense",
    "compose",
)
NOT_THE_SEGMENTS = Rule(
    "roic.contradicted-operating-income",
    "Operating income that exceeds both revenue less costs and income before tax and interest is a total of segments, "
    "and income before tax and interest is used instead.",
    "ASC 280-10-50-30: the total of segments' profit is reconciled to consolidated income before tax",
    "correct",
)
SEGMENTS_WITHHELD = Rule(
    "operating-income.withheld.of-segments",
    "Operating income that exceeds both revenue less costs and income before tax and interest is a total of segments, "
    "and is withheld.",
    NOT_THE_SEGMENTS.source,
    "withhold",
)
DERIVED_OPERATING_INCOME = Rule(
    "flag.derived-operating-income",
    "Operating income is not stated; income before tax and interest is used.",
    FROM_PRETAX.source,
    "flag",
)
CONTRADICTED_OPERATING_INCOME = Rule(
    "flag.contradicted-operating-income",
    "Operating income as stated is contradicted by the income statement; income before tax and interest is used.",
    NOT_THE_SEGMENTS.source,
    "flag",
)
TAX_RATE = Rule(
    "roic.tax-rate",
    "The tax rate on operating income is income tax divided by income before tax, between 0 and 35%. If income "
    "before tax is not positive, the rate is 21% for operating income and 0 for an operating loss.",
    "Internal Revenue Code section 11: the tax is imposed on taxable income, and was 35% until 2017; us-gaap taxonomy: "
    "definitions of income tax and income before tax",
    "compose",
)
TAX_OF_INCOME = Rule(
    "roic.tax-of-income-before-tax",
    "If a later filing restates income tax but not income before tax, the tax known with that income before tax "
    "counts, unless net income was restated by the opposite amount.",
    "ASC 250-10-45-5; Regulation S-X Rule 5-03: income before tax less income tax is income from continuing operations",
    "select",
)


def return_on_capital(points: Points) -> Item:
    """Operating income after tax divided by the mean of invested capital now and four quarters before.

    Capital is debt and equity with minorities, less cash; both end points are required. If a filer states no operating
    income, or the total of its segments instead, income before tax and interest is used and flagged.

    Args:
        points: the amounts known at each quarter end after each filing.
    """
    operating, regime = _operating_income(points)
    capital, capital_legs, capital_gaps = _capital(points, regime)
    earned, pretax, (tax, tax_leg, takes_former_tax) = operating.value, points.of(PRETAX_INCOME), _tax(points)
    gaps = (
        (NO_OPERATING_INCOME, np.isnan(earned)),
        ("no_pretax_income", np.isnan(pretax)),
        ("no_income_tax", (pretax > 0) & np.isnan(tax)),
        *capital_gaps,
    )
    has_return = TAX_RATE.where(~any_of([GAPS[reason].where(holds) for reason, holds in gaps]))
    ratio = earned * (1 - tax_rate(earned, pretax, tax)) / capital
    return replace(
        operating,
        name="roic",
        value=np.where(has_return, ratio, np.nan),
        legs=(*operating.legs, points.leg(PRETAX_INCOME, PRETAX_INCOME), tax_leg, *capital_legs),
        decided=(
            (TAX_RATE, has_return),
            (TAX_OF_INCOME, has_return & takes_former_tax),
        ),
        gaps=gaps,
    )


def stated_operating_income(points: Points) -> Item:
    """Operating income as the filer states it, where the income statement does not contradict it.

    Args:
        points: the amounts known at each quarter end after each filing.
    """
    stated = flow(points, OPERATING_INCOME)
    is_contradicted = _is_contradicted(points, stated.value, _before_tax_and_interest(points))
    return stated.withholding(("contradicted_by_filing", SEGMENTS_WITHHELD, is_contradicted))


def _before_tax_and_interest(points: Points) -> Floats:
    """Income before tax plus interest expense less investment income, or less net interest."""
    pretax = points.of(PRETAX_INCOME)
    expense, income, net = (points.of(name) for name in ("interest_expense", "investment_income", "net_interest"))
    return np.where(np.isnan(expense), pretax - net, pretax + expense - np.nan_to_num(income))


def _capital(points: Points, regime: Floats) -> tuple[Floats, list[Leg], list[tuple[str, Flags]]]:
    """The mean of invested capital now and a year before, its legs, and the reasons why it is missing or no divisor.

    Args:
        points: the points.
        regime: of the income; the capital must have the same one.
    """
    lines = {"total_debt": 1.0, "equity": 1.0, "cash_and_equivalents": -1.0}
    (debt, equity, cash), assets = (points.of(name) for name in lines), points.of("total_assets")
    now = debt + equity - cash
    year_before = points.earlier(points.changes.of_rows(~np.isnan(now)), QUARTERS_A_YEAR)
    before = picked(now, year_before)
    mean, mean_assets = (now + before) / 2, (assets + picked(assets, year_before)) / 2
    regimes = [points.of(name, "regime") for name in lines]
    legs = [points.leg(name, CAPITAL, sign) for name, sign in lines.items()]
    gaps = [
        ("no_equity", np.isnan(equity)),
        ("no_total_debt", np.isnan(debt)),
        ("no_cash", np.isnan(cash)),
        ("no_capital_a_year_before", np.isnan(before)),
        ("basis_break", any_of([(one != regime) | (picked(one, year_before) != regime) for one in regimes])),
        ("non_positive_capital", np.minimum(now, before) <= 0),
        ("thin_capital", mean < THIN_CAPITAL * mean_assets),
    ]
    return mean, [*legs, *(leg.at(year_before).recast(CAPITAL_BEFORE) for leg in legs)], gaps


@np.errstate(divide="ignore", invalid="ignore")
def tax_rate(earned: Floats, pretax: Floats, tax: Floats) -> Floats:
    """The tax rate: as filed, within limits; otherwise the statutory rate on operating income, and 0 on a loss."""
    filed = np.clip(tax / pretax, 0.0, HIGHEST_TAX_RATE)
    return np.select([pretax > 0, earned > 0, pretax <= 0], [filed, STATUTORY_TAX_RATE, 0.0], np.nan)


def _tax(points: Points) -> tuple[Floats, Leg, Flags]:
    """Income tax on the basis of income before tax: as known now, or as known when income before tax changed last.

    If the tax alone is restated, net income moves the other way. If net income stays, income before tax moved as well,
    and its twelve months on the new basis are not known.

    Returns:
        the amount, the leg, and the points at which the tax is a former one.
    """
    tax, income = points.of(INCOME_TAX), points.of("net_income_parent")
    with_income = points.changes.after(points.window, points.of(PRETAX_INCOME, "seq"))
    moved, of_income = (amount - picked(amount, with_income) for amount in (tax, income))
    is_former = TAX_OF_INCOME.where((abs(moved) > 0) & (abs(moved + of_income) > abs(moved) / 2))
    at = np.where(is_former, with_income, np.arange(len(points)))
    return picked(tax, at), points.leg(INCOME_TAX, INCOME_TAX).at(at), is_former


def _operating_income(points: Points) -> tuple[Item, Floats]:
    """Operating income as stated, or derived if it is not stated or contradicted; and its regime.

    Source: the identity of the income statement: income before tax is operating income, less interest expense, plus
    investment income. Other income (gains, results of affiliates) remains included, so the value is flagged.
    """
    stated, derived = points.of(OPERATING_INCOME), _before_tax_and_interest(points)
    has_expense = ~np.isnan(points.of("interest_expense"))
    is_contradicted = NOT_THE_SEGMENTS.where(_is_contradicted(points, stated, derived))
    takes_stated = STATED.where(~np.isnan(stated) & ~is_contradicted)
    is_derived = ~takes_stated
    of_stated, of_pretax = flow(points, OPERATING_INCOME), flow(points, PRETAX_INCOME)
    flags = {name: np.where(takes_stated, of_stated.flags[name], holds) for name, holds in of_pretax.flags.items()}
    legs = (
        points.leg(PRETAX_INCOME, OPERATING_INCOME),
        points.leg("interest_expense", OPERATING_INCOME).where(has_expense),
        points.leg("investment_income", OPERATING_INCOME, -1.0).where(has_expense),
        points.leg("net_interest", OPERATING_INCOME, -1.0).where(~has_expense),
    )
    found = replace(
        of_stated,
        methods=("ratio",),
        method=np.zeros(len(points), dtype=np.int64),
        flags={
            **flags,
            "derived_operating_income": is_derived & ~is_contradicted,
            "contradicted_operating_income": is_contradicted,
        },
    ).choosing(
        Candidate(STATED, takes_stated, stated, (points.leg(OPERATING_INCOME, OPERATING_INCOME),)),
        Candidate(NOT_THE_SEGMENTS, is_contradicted, derived, legs),
        Candidate(FROM_PRETAX, is_derived, derived, legs),
    )
    return found, np.where(takes_stated, points.of(OPERATING_INCOME, "regime"), points.of(PRETAX_INCOME, "regime"))


def _is_contradicted(points: Points, stated: Floats, derived: Floats) -> Flags:
    """Whether operating income as stated exceeds both revenue less costs and income before tax and interest.

    Some filers use the element for the total of their segments, before corporate expenses, amortization, restructuring
    and impairments. One of the two conditions alone proves nothing: a loss on investments reduces income before tax,
    and some totals of costs include interest.

    Source: ASC 280-10-50-30, the total of segments' profit is reconciled to consolidated income before tax.
    """
    less_costs = points.of("revenue") - points.of("operating_costs")
    margin = BEYOND * abs(stated)
    return (stated - derived > margin) & (stated - less_costs > margin)
