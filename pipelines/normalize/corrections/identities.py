"""Identities: errors of scale and sign that the figures of one filing and period prove.

Belongs here: income equals earnings per share times shares; income equals income before tax less tax; payments and
interest are positive. Does not: errors that other filings of the period prove (scale, signs, contexts).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, starts
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.powers import ERRORS_MEASURED, POWER, power_of_thousand
from pipelines.normalize.corrections.side_by_side import (
    COMMON,
    COUNTS,
    EARNINGS,
    NEAR_EARNINGS,
    PARENT,
    PRETAX,
    TAX,
    SideBySide,
    at_rows,
    either,
)
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule

OUTFLOWS = ("capital_expenditure", "preferred_dividends", "interest_expense")
"""Payments and expenses, positive by definition. Negative figures repeat the minus sign of the printed statement."""

NEAR_COUNTS = 0.35
"""The largest distance of a share count from a power of a thousand times an earlier one, in powers of ten, because
counts change over time."""
HUNDRED = 2
NEAR_CENTS = 0.05
"""The largest distance of a quotient from a hundred or a hundredth, in powers of ten. Other errors are more often near
these than near a thousand, so the figures must agree to about a tenth."""
LIKE_BEFORE = 0.5
"""A count is similar to an earlier one within half a power of ten, a factor of about three. After most larger splits it
is not."""
LARGEST_EARNINGS, FEWEST_SHARES = 500.0, 1e5
"""Hardly any listed company earns more per share (in the reporting currency), and none with so few shares."""
CLOSE_TO_TAX = 0.1
"""The largest difference of income before tax less tax from net income, as a share of the tax: the part of minorities
and discontinued operations."""
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
    "A share count that differs by a power of a thousand from net income divided by earnings per share of the same "
    "filing and period is multiplied by that power, unless it is similar to the counts of earlier filings.",
    WEIGHTED_AVERAGE,
    "correct",
)
COUNT_AND_EARNINGS = Rule(
    "correction.scale.count-and-earnings-per-share",
    "If a count corrected by net income and earnings per share were below 100,000 shares that earn more than 500 each, "
    "the earnings per share are a thousand times too large as well, and both are corrected.",
    WEIGHTED_AVERAGE,
    "correct",
)
EARNINGS_BY_COUNT = Rule(
    "correction.scale.earnings-per-share-by-count",
    "Earnings per share that differ by a power of a thousand from net income divided by the share count are corrected "
    "if the count is similar to those of earlier filings, and the correction brings the earnings per share nearer to "
    "earlier ones.",
    WEIGHTED_AVERAGE,
    "correct",
)
EARNINGS_IN_CENTS = Rule(
    "correction.scale.earnings-per-share-in-cents",
    "Earnings per share that are a hundred times too large or too small against net income over shares, where the "
    "share count is like earlier ones, are corrected by that factor.",
    WEIGHTED_AVERAGE,
    "correct",
)
INCOME_BY_EARNINGS = Rule(
    "correction.scale.income-by-earnings-per-share",
    "Net income that differs by a power of a thousand from earnings per share times shares is corrected if the count "
    "is similar to those of earlier filings, and such a correction of the earnings per share would bring these no "
    "nearer to earlier ones.",
    WEIGHTED_AVERAGE,
    "correct",
)
COMMON_BY_PARENT = Rule(
    "correction.scale.common-income-by-parent-income",
    "Net income available to common that differs by a power of a thousand from that of the parent is corrected if the "
    "latter equals earnings per share times shares.",
    WEIGHTED_AVERAGE,
    "correct",
)
COUNT_BY_EARLIER_COUNTS = Rule(
    "correction.scale.count-by-earlier-counts",
    "A share count without earnings per share in its filing that differs by a power of a thousand from the last count "
    "that agreed with earnings per share is multiplied by that power.",
    ERRORS_MEASURED,
    "correct",
)
COUNT_BY_LAST_FILING = Rule(
    "correction.scale.count-by-last-filing",
    "A share count that no earnings per share verify, and that is a thousandth or a millionth of the counts as filed "
    "before (within a factor of two), is in thousands or millions, as long as fewer filings are so than not, or if it "
    "means earnings of more than 500 per share.",
    ERRORS_MEASURED,
    "correct",
)
COUNT_BY_LARGEST_EARNINGS = Rule(
    "correction.scale.count-by-largest-earnings",
    "A first share count below 100,000 that would mean earnings of more than 500 per share is stated in thousands or "
    "millions.",
    f"{WEIGHTED_AVERAGE}; hardly a listed company earns more than 500 a share, and none with fewer than 100,000 shares",
    "correct",
)
TAX_SIGN = Rule(
    "correction.sign.tax-by-income-after-tax",
    "The sign of income tax is reversed if income before tax plus the tax as filed gives net income, and income before "
    "tax less the tax does not.",
    AFTER_TAX,
    "correct",
)
OUTFLOW_SIGN = Rule(
    "correction.sign.outflow",
    "The sign of capital expenditure, preferred dividends or interest expense is reversed if every figure of the line "
    "in a filing is negative.",
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
    COUNT_BY_LAST_FILING,
    COUNT_BY_LARGEST_EARNINGS,
    TAX_SIGN,
    OUTFLOW_SIGN,
)


def proposals(figures: Figures) -> list[Proposal]:
    """Corrections that other figures of the same filing prove; money in the reporting currency, counts in shares."""
    beside = SideBySide.of(figures, with_powers=True)
    return [*_of_scale(beside), *_of_earlier_counts(beside), _of_tax(beside), _of_outflows(figures)]


def _of_scale(beside: SideBySide) -> list[Proposal]:
    """Counts, earnings per share and income that are wrong by a thousand or a million times.

    Usually the count is wrong. If the count is similar to those of earlier filings, the earnings per share are
    corrected instead; if this takes them away from earlier ones, the income is corrected. If a corrected count would be
    too small and the earnings per share too large for any company, both are corrected. Earnings in cents are wrong by a
    hundred times, with a count similar to those of earlier filings.
    """
    value, powers = beside.value, beside.power
    power = either(*(powers[count] for count in COUNTS))
    count, earnings = either(*(value[count] for count in COUNTS)), np.abs(value[EARNINGS])
    income = np.abs(either(value[COMMON], value[PARENT]))
    agrees = beside.last(power == 0)
    off = np.log10(count / at_rows(count, agrees))
    is_off = ~np.isnan(power) & (power != 0)
    count_fits = np.abs(off) < np.abs(off + power)
    away = np.log10(earnings / at_rows(earnings, agrees))
    earnings_fit = np.abs(away) < np.abs(away + power)
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
    """Counts in filings without earnings per share, compared with the last verified count and with income.

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
        thousands = _by_last_filing(beside, name, is_judged | ~np.isnan(level))
        is_thousands = thousands > 0
        found.append(beside.propose(COUNT_BY_LAST_FILING, BY_COUNTS, name, is_thousands, 10.0**thousands))
        each = income / count
        too_few = (count < FEWEST_SHARES) & (each > LARGEST_EARNINGS) & np.isnan(level) & ~is_judged & ~is_thousands
        thousands = np.ceil(np.log10(each / LARGEST_EARNINGS) / POWER) * POWER
        found.append(beside.propose(COUNT_BY_LARGEST_EARNINGS, BY_LIMITS, name, too_few, 10.0**thousands))
    return found


def _by_last_filing(beside: SideBySide, name: str, is_verified: Flags) -> Floats:
    """The power of ten by which counts that earnings per share cannot verify are too small against the filing before.

    Only counts that are too small are judged: nothing shows that counts of the first filings are not in thousands. The
    level is that of counts as filed, never of corrected ones, and more filings must have it than are corrected by it,
    or net income would be too much for so few shares: if not, the filing that began the level is the error.
    """
    count = beside.value[name]
    each = np.abs(either(beside.value[COMMON], beside.value[PARENT])) / count
    power = np.zeros(len(count))
    rows = np.flatnonzero(~np.isnan(count) & ~is_verified)
    if not len(rows):
        return power
    company = beside.company[rows]
    begins = np.flatnonzero(starts(company))
    height = np.log10(count[rows])
    spread = np.maximum.reduceat(height, begins) - np.minimum.reduceat(height, begins)
    for first, after in zip(
        begins[spread > POWER / 2], np.append(begins[1:], len(rows))[spread > POWER / 2], strict=True
    ):
        level, as_filed, corrected = np.nan, 0, 0
        for filing in np.split(rows[first:after], np.flatnonzero(np.diff(beside.seq[rows[first:after]])) + 1):
            found = power_of_thousand(10.0**level / count[filing], NEAR_COUNTS)
            if (found > 0).any() and (corrected < as_filed or (each[filing] > LARGEST_EARNINGS).any()):
                power[filing] = np.where(found > 0, found, 0.0)
                corrected += 1
                continue
            is_like = abs(float(np.median(np.log10(count[filing]))) - level) < POWER / 2
            as_filed, corrected = (as_filed + 1, corrected) if is_like else (1, 0)
            level = float(np.median(np.log10(count[filing])))
    return power


def _of_tax(beside: SideBySide) -> Proposal:
    """Tax whose sign contradicts income before tax and net income of the same filing."""
    pretax, tax, income = (beside.value[name] for name in (PRETAX, TAX, PARENT))
    income = either(income, beside.value[COMMON])
    after_tax, with_tax = (np.abs(amount - income) for amount in (pretax - tax, pretax + tax))
    errs = (with_tax <= CLOSE_TO_TAX * np.abs(tax)) & (after_tax > CLOSE_TO_TAX * np.abs(tax))
    return beside.propose(TAX_SIGN, BY_TAX, TAX, errs, -1.0)


def _of_outflows(figures: Figures) -> Proposal:
    """Outflows of which every figure in a filing is negative."""
    at = figures.of_concepts(OUTFLOWS)
    if not len(at):
        return Proposal(OUTFLOW_SIGN, BY_LINE, at, np.zeros(0))
    _, of_line = np.unique(packed(figures.line[at], figures.seq[at]), return_inverse=True)
    not_negative = np.bincount(of_line, weights=figures.value[at] >= 0)
    at = at[not_negative[of_line] == 0]
    return Proposal(OUTFLOW_SIGN, BY_LINE, at, np.full(len(at), -1.0))
