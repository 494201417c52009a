"""Return on invested capital: operating income after tax over the capital that earned it.

Belongs here: operating income if a filer states none, the tax rate, invested capital, when the ratio has no meaning.
Does not: total debt and cash (balance), twelve months of income (ttm), companies whose business is capital (industry).
"""

from dataclasses import replace

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, picked
from pipelines.normalize.items.item import Item, ids
from pipelines.normalize.items.points import Leg, Points
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR

STATUTORY_TAX_RATE = 0.21
"""Internal Revenue Code section 11(b); used if a loss before tax shows no rate on operating income."""
HIGHEST_TAX_RATE = 0.35
"""The federal rate until 2017: a higher effective rate is a one-off charge."""
THIN_CAPITAL = 0.05
"""If capital is below this share of assets, small changes of it would multiply the ratio."""

OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX = "operating_income", "pretax_income", "income_tax"
CAPITAL, CAPITAL_BEFORE = "capital", "capital_before"
RETURN_ON_CAPITAL = (OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX, CAPITAL, CAPITAL_BEFORE)
"""The roles of legs in a return on capital."""

LEAST_TAX = 0.005
"""Income tax that is restated by less than this share moves no return."""
BEYOND_INCOME = 0.1
"""Operating income that exceeds income before tax and interest by more than this share is contradicted. Other losses
below operating income may explain a smaller difference."""
BEYOND_COSTS = 0.02
"""Operating income that exceeds revenue less costs by more than this share is contradicted; they are equal except for
rounding."""

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
    "and income before tax and interest is used instead; if a window lacks interest or costs to compare, the newest "
    "comparison of the four quarter ends before counts.",
    "ASC 280-10-50-30: the total of segments' profit is reconciled to consolidated income before tax",
    "correct",
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
NET_INTEREST_SIGN = Rule(
    "roic.net-interest-sign",
    "Net interest counts only if the balance sheet confirms its sign: an expense if debt exceeds cash, an income if "
    "cash exceeds debt.",
    "Some filers state interest paid without a minus sign; with the wrong sign, interest would be counted twice",
    "withhold",
)
STATUTORY_RATE = Rule(
    "roic.statutory-tax-rate",
    "Where income before tax is not positive and operating income is, operating income is taxed at the statutory rate "
    f"of {STATUTORY_TAX_RATE:.0%}.",
    "Internal Revenue Code section 11(b)",
    "compose",
)
NO_TAX_ON_A_LOSS = Rule(
    "roic.no-tax-on-loss",
    "If neither income before tax nor operating income is positive, operating income is not taxed.",
    "Internal Revenue Code section 11(a): the tax is imposed on taxable income",
    "compose",
)
TAX_WITHIN_BOUNDS = Rule(
    "roic.tax-rate-within-bounds",
    f"The tax rate is income tax divided by income before tax, at least 0 and at most {HIGHEST_TAX_RATE:.0%}.",
    "us-gaap taxonomy: definitions of income tax and income before tax; Internal Revenue Code section 11(b): 35% was "
    "the federal rate until 2017",
    "compose",
)
TAX_OF_INCOME = Rule(
    "roic.tax-of-income-before-tax",
    "If a later filing restates income tax and not the income before tax that is known, the tax counts as known with "
    "that income, unless net income was restated by the opposite amount.",
    "ASC 250-10-45-5; Regulation S-X Rule 5-03: income before tax less income tax is income from continuing operations",
    "select",
)
RULES = (
    STATED,
    FROM_PRETAX,
    NOT_THE_SEGMENTS,
    DERIVED_OPERATING_INCOME,
    CONTRADICTED_OPERATING_INCOME,
    NET_INTEREST_SIGN,
    STATUTORY_RATE,
    NO_TAX_ON_A_LOSS,
    TAX_WITHIN_BOUNDS,
    TAX_OF_INCOME,
)

NO_OPERATING_INCOME = "no_operating_income"
"""Also the reason of windows for which no amount of a return is stated."""


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
    has_return = ~np.any([holds for _, holds in gaps], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = earned * (1 - tax_rate(earned, pretax, tax)) / capital
    return replace(
        operating,
        name="roic",
        value=np.where(has_return, ratio, np.nan),
        legs=(*operating.legs, points.leg(PRETAX_INCOME, PRETAX_INCOME), tax_leg, *capital_legs),
        decided=(
            *operating.decided,
            (STATUTORY_RATE, has_return & ~(pretax > 0) & (earned > 0)),
            (NO_TAX_ON_A_LOSS, has_return & ~(pretax > 0) & ~(earned > 0)),
            (TAX_WITHIN_BOUNDS, has_return & (pretax > 0)),
            (TAX_OF_INCOME, has_return & takes_former_tax),
        ),
        gaps=gaps,
    )


def _capital(points: Points, regime: Floats) -> tuple[Floats, list[Leg], list[tuple[str, Flags]]]:
    """The mean of invested capital now and a year before, its legs, and why it is missing or divides nothing.

    Args:
        points: the points.
        regime: of the income, which that of the capital has to be.
    """
    lines = {"total_debt": 1.0, "equity": 1.0, "cash_and_equivalents": -1.0}
    (debt, equity, cash), assets = (points.of(name) for name in lines), points.of("assets")
    now = debt + equity - cash
    year_before = points.earlier(points.timeline(~np.isnan(now)), QUARTERS_A_YEAR)
    before = picked(now, year_before)
    mean, mean_assets = (now + before) / 2, (assets + picked(assets, year_before)) / 2
    regimes = [points.of(name, "regime") for name in lines]
    regimes += [picked(one, year_before) for one in regimes]
    legs = [points.leg(name, CAPITAL, sign) for name, sign in lines.items()]
    gaps = [
        ("no_equity", np.isnan(equity)),
        ("no_total_debt", np.isnan(debt)),
        ("no_cash", np.isnan(cash)),
        ("no_capital_a_year_before", np.isnan(before)),
        ("basis_break", np.any([one != regime for one in regimes], axis=0)),
        ("non_positive_capital", np.minimum(now, before) <= 0),
        ("thin_capital", mean < THIN_CAPITAL * mean_assets),
    ]
    return mean, [*legs, *(leg.at(year_before).recast(CAPITAL_BEFORE) for leg in legs)], gaps


def tax_rate(earned: Floats, pretax: Floats, tax: Floats) -> Floats:
    """The tax rate: as filed, within limits; otherwise the statutory rate on operating income, and 0 on a loss."""
    with np.errstate(divide="ignore", invalid="ignore"):
        filed = np.clip(tax / pretax, 0.0, HIGHEST_TAX_RATE)
    return np.select([pretax > 0, earned > 0, pretax <= 0], [filed, STATUTORY_TAX_RATE, 0.0], np.nan)


def tax_rate_expression(earned: pl.Expr) -> pl.Expr:
    """`tax_rate` as an expression on columns `pretax_income` and `income_tax`, for computing values from their legs."""
    pretax = pl.col(PRETAX_INCOME)
    filed = (pl.col(INCOME_TAX) / pretax).clip(0.0, HIGHEST_TAX_RATE)
    return pl.when(pretax > 0).then(filed).when(earned > 0).then(STATUTORY_TAX_RATE).when(pretax <= 0).then(0.0)


def _tax(points: Points) -> tuple[Floats, Leg, Flags]:
    """Income tax on the basis of income before tax: as known now, or after the filing that changed the latter last.

    A tax that is restated alone moves net income the other way. If net income stays, income before tax moved as well,
    and its twelve months on the new basis are not known.

    Returns:
        the amount, the leg, and the points at which the tax is a former one.
    """
    tax, leg, own = points.of(INCOME_TAX), points.leg(INCOME_TAX, INCOME_TAX), np.arange(len(points))
    changed = points.of(PRETAX_INCOME, "seq")
    with_income = points.after(changed)
    income = points.of("net_income_parent")
    moved, of_income = (amount - picked(amount, with_income) for amount in (tax, income))
    is_former = (points.of(INCOME_TAX, "seq") > changed) & (np.abs(moved) > LEAST_TAX * np.abs(tax))
    is_former &= np.abs(moved + of_income) > np.abs(moved) / 2
    at = np.where(is_former, with_income, own)
    return picked(tax, at), leg.at(at), is_former


def _operating_income(points: Points) -> tuple[Item, Floats]:
    """Operating income as stated, or derived if it is not stated or contradicted; and its regime.

    Source: the identity of the income statement: income before tax is operating income, less interest expense, plus
    investment income. Other income (gains, results of affiliates) remains included, so the value is flagged.
    """
    stated, pretax = points.of(OPERATING_INCOME), points.of(PRETAX_INCOME)
    expense, income, net = (points.of(name) for name in ("interest_expense", "investment_income", "net_interest"))
    has_expense = ~np.isnan(expense)
    # a company with more debt than cash has net interest expense; some filers state it without a minus sign
    net_debt = points.of("cash_and_equivalents") - points.of("total_debt")
    has_net = ~has_expense & (net * net_debt >= 0)
    derived = np.select([has_expense, has_net], [pretax + expense - np.nan_to_num(income), pretax - net], np.nan)
    is_contradicted = _is_contradicted(points, stated, derived)
    takes_stated = ~np.isnan(stated) & ~is_contradicted
    is_derived = ~takes_stated
    of_stated, of_pretax = points.flags(OPERATING_INCOME), points.flags(PRETAX_INCOME)
    found = Item(
        OPERATING_INCOME,
        np.where(takes_stated, stated, derived),
        rules=ids(STATED, FROM_PRETAX, NOT_THE_SEGMENTS),
        rule=np.select([takes_stated, is_contradicted], [0, 2], 1),
        methods=("ratio",),
        method=np.zeros(len(points), dtype=np.int64),
        flags={
            **{name: np.where(takes_stated, of_stated[name], of_pretax[name]) for name in of_stated},
            "derived_operating_income": is_derived & ~is_contradicted,
            "contradicted_operating_income": is_contradicted,
        },
        legs=(
            points.leg(OPERATING_INCOME, OPERATING_INCOME).where(takes_stated),
            points.leg(PRETAX_INCOME, OPERATING_INCOME).where(is_derived),
            points.leg("interest_expense", OPERATING_INCOME).where(is_derived & has_expense),
            points.leg("investment_income", OPERATING_INCOME, -1.0).where(is_derived & has_expense),
            points.leg("net_interest", OPERATING_INCOME, -1.0).where(is_derived & ~has_expense),
        ),
        decided=((NET_INTEREST_SIGN, is_derived & ~has_expense & ~np.isnan(net * pretax) & ~has_net),),
    )
    return found, np.where(takes_stated, points.of(OPERATING_INCOME, "regime"), points.of(PRETAX_INCOME, "regime"))


def _is_contradicted(points: Points, stated: Floats, derived: Floats) -> Flags:
    """Whether operating income as stated exceeds both revenue less costs and income before tax and interest.

    Some filers use the element for the total of their segments, before corporate expenses, amortization, restructuring
    and impairments. Only one of the two conditions would prove nothing: a loss on investments reduces income before
    tax, and some totals of costs include interest.

    Some filers state interest or costs in annual reports only, but use the element in the same way in quarterly ones.
    If this window cannot be compared, the newest comparison of the four quarter ends before it counts.

    Source: ASC 280-10-50-30, the total of segments' profit is reconciled to consolidated income before tax.
    """
    less_costs = points.of("revenue") - points.of("operating_costs")
    beyond_income = stated - derived > BEYOND_INCOME * np.abs(stated)
    beyond_costs = stated - less_costs > BEYOND_COSTS * np.abs(stated)
    knows_income, knows_costs = ~np.isnan(stated - derived), ~np.isnan(stated - less_costs)
    # if one end supports the stated amount, it is not contradicted whatever the other end is
    is_compared = (knows_income & knows_costs) | (knows_income & ~beyond_income) | (knows_costs & ~beyond_costs)
    exceeds_both = np.where(is_compared, beyond_income & beyond_costs, np.nan)
    compared = points.timeline(is_compared)
    for back in range(1, QUARTERS_A_YEAR + 1):
        earlier = picked(exceeds_both, points.earlier(compared, back))
        exceeds_both = np.where(is_compared, exceeds_both, earlier)
        is_compared = ~np.isnan(exceeds_both)
    return exceeds_both > 0
