"""Identities: what the figures of one filing and period prove about each other's scale and sign.

Belongs here: income is earnings per share times shares; income is what is left before tax less the tax; payments and
interest are positive. Does not: what other filings of the period say (scale, signs, contexts).

Beside the filing itself only earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

import numpy as np

from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.powers import ERRORS_MEASURED, POWER, power_of_thousand
from pipelines.normalize.corrections.side_by_side import (
    COMMON,
    COUNTS,
    EARNINGS,
    NEAR_EARNINGS,
    PARENT,
    PRETAX,
    SMALLEST_EARNINGS,
    TAX,
    SideBySide,
    at_rows,
    either,
)
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule

OUTFLOWS = ("capital_expenditure", "preferred_dividends", "interest_expense")
"""Payments and expenses are positive by definition; a negative column was typed as it is shown."""

NEAR_COUNTS = 0.35
"""How far a share count may be from a power of a thousand times an earlier one, in powers of ten: counts grow."""
HUNDRED = 2
NEAR_CENTS = 0.05
"""How far a quotient may be from a hundred or a hundredth, in powers of ten: other errors come near these sooner than
near a thousand, so that the figures must agree to about a tenth."""
LIKE_BEFORE = 0.5
"""A count is like that of an earlier filing within half a power of ten, a factor of about three; it is not after most
larger splits."""
SAME_SIZE = 1.0
"""Earnings per share are of the size of earlier ones within a power of ten."""
LARGEST_EARNINGS, FEWEST_SHARES = 500.0, 1e5
"""Hardly a listed company earns more a share (reporting currency), and none that has so few shares."""
CLOSE = 0.05
"""How near income before tax less tax must come to net income, as a share of it: what minorities earn lies between."""
CLOSE_TO_TAX = 0.1
"""The same as a share of the tax, where the tax is in question: what minorities and discontinued operations earn."""
CLOSE_PRODUCT = 0.1
"""How near earnings per share times shares must come to income, as a share of it, before their signs are compared."""

BY_EARNINGS = "net income over earnings per share of the same filing"
BY_COUNTS = "the share counts of earlier filings"
BY_LIMITS = "no company with so few shares earns so much a share"
BY_PARENT = "net income attributable to the parent, and earnings per share, of the same filing"
BY_TAX = "income before tax less tax of the same filing"
BY_LINE = "the filing shows every figure of this outflow with a minus sign"

WEIGHTED_AVERAGE = (
    "ASC 260-10-45-10: basic earnings per share are income available to common over the weighted average shares"
)
CASH_OUTFLOW = (
    "ASC 230-10-45-13: payments to acquire property are cash outflows; us-gaap defines the element as the outflow"
)
AFTER_TAX = "Regulation S-X Rule 5-03: income before income tax expense, less income tax expense, is net income"

COUNT_BY_EARNINGS = Rule(
    "correction.scale.count-by-earnings-per-share",
    "A share count that is a power of a thousand away from net income over earnings per share of its own filing and "
    "period is multiplied by that power, unless it is like the counts of earlier filings.",
    WEIGHTED_AVERAGE,
    "correct",
)
COUNT_AND_EARNINGS = Rule(
    "correction.scale.count-and-earnings-per-share",
    "Where a count corrected by net income and earnings per share would be below 100,000 shares that earn more than "
    "500 each, the earnings per share are a thousand times too large, too, and both are corrected.",
    WEIGHTED_AVERAGE,
    "correct",
)
EARNINGS_BY_COUNT = Rule(
    "correction.scale.earnings-per-share-by-count",
    "Earnings per share that are a power of a thousand away from net income over the share count are corrected where "
    "the count is like those of earlier filings and the earnings per share are not.",
    WEIGHTED_AVERAGE,
    "correct",
)
EARNINGS_IN_CENTS = Rule(
    "correction.scale.earnings-per-share-in-cents",
    "Earnings per share that are a hundred times net income over a share count like that of earlier filings are in "
    "cents, or a hundredth of it, and are corrected.",
    WEIGHTED_AVERAGE,
    "correct",
)
INCOME_BY_EARNINGS = Rule(
    "correction.scale.income-by-earnings-per-share",
    "Net income that is a power of a thousand away from earnings per share times shares is corrected where both of "
    "these are like those of earlier filings.",
    WEIGHTED_AVERAGE,
    "correct",
)
COMMON_BY_PARENT = Rule(
    "correction.scale.common-income-by-parent-income",
    "Net income available to common that is a power of a thousand away from that of the parent is corrected where the "
    "latter equals earnings per share times shares.",
    WEIGHTED_AVERAGE,
    "correct",
)
COUNT_BY_EARLIER_COUNTS = Rule(
    "correction.scale.count-by-earlier-counts",
    "A share count without earnings per share beside it that is a power of a thousand away from the last count that "
    "was compared with them is multiplied by that power.",
    ERRORS_MEASURED,
    "correct",
)
COUNT_BY_LARGEST_EARNINGS = Rule(
    "correction.scale.count-by-largest-earnings",
    "A first count of fewer than 100,000 shares that would earn more than 500 each is stated in thousands or millions.",
    "Chosen limits: they separate counts in thousands and millions from companies with few and dear shares",
    "correct",
)
TAX_SIGN = Rule(
    "correction.sign.tax-by-income-after-tax",
    "Income tax has its sign turned where income before tax plus the tax as filed gives net income and less the tax "
    "does not.",
    AFTER_TAX,
    "correct",
)
INCOME_SIGN = Rule(
    "correction.sign.income-by-income-before-tax",
    "Net income has its sign turned where income before tax less tax is its opposite and earnings per share do not "
    "agree with it.",
    AFTER_TAX,
    "correct",
)
INCOME_SIGN_BY_EARNINGS = Rule(
    "correction.sign.income-by-earnings-per-share",
    "Net income has its sign turned where earnings per share and income before tax both have the other sign and "
    "earnings per share times shares give its amount.",
    WEIGHTED_AVERAGE,
    "correct",
)
EARNINGS_SIGN = Rule(
    "correction.sign.earnings-per-share-by-income",
    "Earnings per share have their sign turned where they times shares give the amount of net income with the other "
    "sign.",
    WEIGHTED_AVERAGE,
    "correct",
)
OUTFLOW_SIGN = Rule(
    "correction.sign.outflow",
    "Capital expenditure, preferred dividends and interest expense have their sign turned where every figure of the "
    "line in a filing is negative.",
    CASH_OUTFLOW,
    "correct",
)
RULES = (
    COUNT_BY_EARNINGS,
    COUNT_AND_EARNINGS,
    EARNINGS_BY_COUNT,
    EARNINGS_IN_CENTS,
    INCOME_BY_EARNINGS,
    COMMON_BY_PARENT,
    COUNT_BY_EARLIER_COUNTS,
    COUNT_BY_LARGEST_EARNINGS,
    TAX_SIGN,
    INCOME_SIGN,
    INCOME_SIGN_BY_EARNINGS,
    EARNINGS_SIGN,
    OUTFLOW_SIGN,
)


def proposals(figures: Figures) -> list[Proposal]:
    """What the figures beside them prove wrong; money is in the reporting currency, counts in shares."""
    beside = SideBySide.of(figures)
    return [*_of_scale(beside), *_of_earlier_counts(beside), *_of_sign(beside), _of_outflows(figures)]


def _of_scale(beside: SideBySide) -> list[Proposal]:
    """Counts, earnings per share and income that are a thousand or a million times off.

    Counts are the usual victims. They are left, and the earnings per share corrected, where they are like those of
    filings before, or where corrected counts would be too few and the earnings are too many for any company; and both
    are left, and the income corrected, where the earnings are like those of filings before, too. Earnings in cents are
    a hundred times off, beside a count as in filings before.
    """
    value, powers = beside.value, beside.power
    power = either(*(powers[count] for count in COUNTS))
    count, earnings = either(*(value[count] for count in COUNTS)), np.abs(value[EARNINGS])
    income = np.abs(either(value[COMMON], value[PARENT]))
    agrees = beside.last(power == 0)
    off = np.log10(count / at_rows(count, agrees))
    is_off = ~np.isnan(power) & (power != 0)
    count_fits = np.abs(off) < np.abs(off + power)
    earnings_fit = np.abs(np.log10(earnings / at_rows(earnings, agrees))) < SAME_SIZE
    too_much = (earnings > LARGEST_EARNINGS) & (count * 10.0**power < FEWEST_SHARES)
    hundreds = np.log10(income / earnings / count)
    in_cents = (np.abs(np.abs(hundreds) - HUNDRED) <= NEAR_CENTS) & (np.abs(off) < LIKE_BEFORE)
    of_parent = power_of_thousand(np.abs(value[PARENT]) / np.abs(value[COMMON]), NEAR_EARNINGS)
    common_errs = (power == 0) & ~np.isnan(of_parent) & (of_parent != 0)
    both_err = is_off & ~count_fits & too_much
    counts = []
    for name in COUNTS:
        errs = ~np.isnan(powers[name]) & (powers[name] != 0) & ~count_fits
        factor = 10.0 ** (powers[name] + np.where(too_much, POWER, 0))
        counts += [
            beside.propose(COUNT_BY_EARNINGS, BY_EARNINGS, name, errs & ~too_much, factor),
            beside.propose(COUNT_AND_EARNINGS, BY_EARNINGS, name, errs & too_much & (factor != 1), factor),
        ]
    earnings_err, income_errs = is_off & count_fits & ~earnings_fit, is_off & count_fits & earnings_fit
    return [
        *counts,
        beside.propose(EARNINGS_BY_COUNT, BY_EARNINGS, EARNINGS, earnings_err, 10.0**power),
        beside.propose(EARNINGS_IN_CENTS, BY_EARNINGS, EARNINGS, in_cents, 10.0 ** np.round(hundreds)),
        beside.propose(COUNT_AND_EARNINGS, BY_EARNINGS, EARNINGS, both_err, 10.0**-POWER),
        *(
            beside.propose(INCOME_BY_EARNINGS, BY_EARNINGS, name, income_errs, 10.0**-power)
            for name in (COMMON, PARENT)
        ),
        beside.propose(COMMON_BY_PARENT, BY_PARENT, COMMON, common_errs, 10.0**of_parent),
    ]


def _of_earlier_counts(beside: SideBySide) -> list[Proposal]:
    """Counts without earnings per share beside them: compared with the last count that was judged, and with income.

    Fewer than a hundred thousand shares that earn more than 500 each are stated in thousands or millions.
    """
    income = np.abs(either(beside.value[COMMON], beside.value[PARENT]))
    found = []
    for name in COUNTS:
        count, power = beside.value[name], beside.power[name]
        is_judged = ~np.isnan(power)
        level = at_rows(count * 10.0**power, beside.last(is_judged))
        by_level = np.where(is_judged, np.nan, power_of_thousand(level / count, NEAR_COUNTS))
        is_off = ~np.isnan(by_level) & (by_level != 0)
        found.append(beside.propose(COUNT_BY_EARLIER_COUNTS, BY_COUNTS, name, is_off, 10.0**by_level))
        each = income / count
        too_few = (count < FEWEST_SHARES) & (each > LARGEST_EARNINGS) & np.isnan(level) & ~is_judged
        thousands = np.ceil(np.log10(each / LARGEST_EARNINGS) / POWER) * POWER
        found.append(beside.propose(COUNT_BY_LARGEST_EARNINGS, BY_LIMITS, name, too_few, 10.0**thousands))
    return found


def _of_sign(beside: SideBySide) -> list[Proposal]:
    """Tax, income and earnings per share that have the other sign than the figures beside them allow."""
    value = beside.value
    pretax, tax, earnings = value[PRETAX], value[TAX], value[EARNINGS]
    income, available = either(value[PARENT], value[COMMON]), either(value[COMMON], value[PARENT])
    left = pretax - tax
    fits = np.abs(left - income) <= CLOSE * np.abs(income)
    tax_errs = (np.abs(pretax + tax - income) <= CLOSE_TO_TAX * np.abs(tax)) & ~fits
    agree = earnings * income > 0
    income_errs = (np.abs(left + income) <= CLOSE * np.abs(income)) & ~fits & ~tax_errs & ~agree
    count = either(*(value[count] for count in COUNTS))
    is_product = np.abs(np.abs(available) / np.abs(earnings) / count - 1) <= CLOSE_PRODUCT
    disagree = (earnings * available < 0) & (np.abs(earnings) >= SMALLEST_EARNINGS) & is_product
    both_disagree = disagree & (earnings * pretax > 0) & ~fits & ~income_errs
    earnings_err = disagree & ~income_errs & ~both_disagree
    return [
        beside.propose(TAX_SIGN, BY_TAX, TAX, tax_errs, -1.0),
        *(beside.propose(INCOME_SIGN, BY_TAX, name, income_errs, -1.0) for name in (COMMON, PARENT)),
        *(beside.propose(INCOME_SIGN_BY_EARNINGS, BY_TAX, name, both_disagree, -1.0) for name in (COMMON, PARENT)),
        beside.propose(EARNINGS_SIGN, BY_EARNINGS, EARNINGS, earnings_err, -1.0),
    ]


def _of_outflows(figures: Figures) -> Proposal:
    """Outflows whose every figure in a filing is negative."""
    at = figures.of_concepts(OUTFLOWS)
    if not len(at):
        return Proposal(OUTFLOW_SIGN, BY_LINE, at, np.zeros(0))
    _, of_line = np.unique(packed(figures.line[at], figures.seq[at]), return_inverse=True)
    not_negative = np.bincount(of_line, weights=figures.value[at] >= 0)
    at = at[not_negative[of_line] == 0]
    return Proposal(OUTFLOW_SIGN, BY_LINE, at, np.full(len(at), -1.0))
