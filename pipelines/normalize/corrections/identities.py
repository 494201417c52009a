"""Identities: errors of scale and sign that the figures of one filing and period prove.

Belongs here: income equals earnings per share times shares; income equals income before tax less tax; payments and
interest are positive. Does not: errors that other filings of the period prove (scale, signs, contexts).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, packed, picked
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.period_rows import (
    COMMON,
    COUNTS,
    EARNINGS,
    PARENT,
    PRETAX,
    TAX,
    PeriodRows,
    either,
)
from pipelines.normalize.corrections.powers import ERRORS_MEASURED, NEAR_COUNTS, POWER, power_of_thousand
from pipelines.normalize.elements import NUMBER_OF
from pipelines.normalize.rule import Rule

OUTFLOWS = ("capital_expenditure", "preferred_dividends", "interest_expense")
"""Payments and expenses, positive by definition. Negative figures repeat the minus sign of the printed statement."""
DIVIDENDS = "dividends_per_share"

NEAR_EARNINGS = 0.2
"""The largest distance of a quotient of income, earnings per share and shares from a power of a thousand, in powers of
ten: earnings per share are rounded to cents, and income available to common differs from that of the parent."""
LARGEST_EARNINGS, FEWEST_SHARES = 500.0, 1e5
"""Hardly any listed company earns more per share (in the reporting currency), and none with so few shares."""
CLOSE_TO_TAX = 0.1
"""The largest difference of income before tax less tax from net income, as a share of the tax: the part of minorities
and discontinued operations."""
BY_EARNINGS = "net income over earnings per share of the same filing"
BY_COUNTS = "the share counts of earlier filings"
BY_LIMITS = "no company with so few shares earns so much a share"
BY_LINE = "the filing shows every figure of this outflow with a minus sign"

WEIGHTED_AVERAGE = (
    "ASC 260-10-45-10: basic earnings per share are income available to common over the weighted average shares"
)

INCOME_AND_SHARES = Rule(
    "correction.scale.income-earnings-and-shares",
    "Where net income differs by a power of a thousand from earnings per share times shares, the share count is "
    "multiplied by it; the earnings per share or the income instead, if the others are like those of earlier filings.",
    WEIGHTED_AVERAGE,
    "correct",
)
COUNT_BY_EARLIER_COUNTS = Rule(
    "correction.scale.count-by-earlier-filings",
    "A share count that no earnings per share verify is multiplied by the power of a thousand by which it differs from "
    "the last verified count, or by which it is below most counts of earlier filings.",
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
    "Regulation S-X Rule 5-03: income before income tax expense, less income tax expense, is net income",
    "correct",
)
OUTFLOW_SIGN = Rule(
    "correction.sign.outflow",
    "The sign of negative dividends per share is reversed; that of capital expenditure, preferred dividends or "
    "interest expense is, if every figure of the line in a filing is negative.",
    "ASC 230-10-45-13: payments to acquire property are cash outflows; us-gaap defines the elements as the outflow",
    "correct",
)


def proposals(figures: Figures) -> list[Proposal]:
    """Corrections that other figures of the same filing prove; money in the reporting currency, counts in shares."""
    rows = PeriodRows.of(figures, (COMMON, PARENT, EARNINGS, PRETAX, TAX, *COUNTS))
    powers = {name: _power(rows, name) for name in COUNTS}
    return [*_of_scale(rows, powers), *_of_earlier_counts(rows, powers), _of_tax(rows), _of_outflows(figures)]


def _power(rows: PeriodRows, count: str) -> Floats:
    """The power of a thousand by which income over earnings per share exceeds a count; NaN if it is not known."""
    earnings = np.abs(rows[EARNINGS])
    of_common, of_parent = (
        power_of_thousand(np.abs(rows[income]) / earnings / rows[count], NEAR_EARNINGS) for income in (COMMON, PARENT)
    )
    return np.where(of_parent == 0, 0.0, either(of_common, of_parent))


def _of_scale(rows: PeriodRows, powers: dict[str, Floats]) -> list[Proposal]:
    """Counts, earnings per share and income that are wrong by a thousand or a million times.

    Usually the count is wrong. If the count is similar to those of earlier filings, the earnings per share are
    corrected instead; if this takes them away from earlier ones, the income is corrected. If a corrected count would be
    too small and the earnings per share too large for any company, both are corrected.
    """
    power = either(*powers.values())
    count, earnings = either(*(rows[name] for name in COUNTS)), np.abs(rows[EARNINGS])
    agreed = rows.last(power == 0)

    def fits(amount: Floats) -> Flags:
        """Whether the amount as filed is nearer to that of the last agreeing filing than the corrected one."""
        off: Floats = np.log10(amount / picked(amount, agreed))
        return abs(off) < abs(off + power)

    is_off = ~np.isnan(power) & (power != 0)
    count_errs, earnings_err = is_off & ~fits(count), is_off & fits(count) & ~fits(earnings)
    income_errs = is_off & fits(count) & fits(earnings)
    too_much = (earnings > LARGEST_EARNINGS) & (count * 10.0**power < FEWEST_SHARES)
    of_parent = power_of_thousand(np.abs(rows[PARENT]) / np.abs(rows[COMMON]), NEAR_EARNINGS)
    factors = {
        name: np.where(~fits(count) & (off != 0), 10.0 ** (off + POWER * too_much), 1.0) for name, off in powers.items()
    }
    factors[EARNINGS] = np.select([earnings_err, count_errs & too_much], [10.0**power, 10.0**-POWER], 1.0)
    factors[COMMON] = np.select([income_errs, power == 0], [10.0**-power, 10.0**of_parent], 1.0)
    factors[PARENT] = np.where(income_errs, 10.0**-power, 1.0)
    return [
        rows.propose(INCOME_AND_SHARES, BY_EARNINGS, name, ~np.isnan(factor) & (factor != 1), factor)
        for name, factor in factors.items()
    ]


def _of_earlier_counts(rows: PeriodRows, powers: dict[str, Floats]) -> list[Proposal]:
    """Counts that no earnings per share verify, compared with earlier counts and with income.

    Fewer than a hundred thousand shares that earn more than 500 each are stated in thousands or millions.
    """
    income = np.abs(either(rows[COMMON], rows[PARENT]))
    found = []
    for name in COUNTS:
        count, is_verified = rows[name], ~np.isnan(powers[name])
        each = income / count
        level = picked(count * 10.0 ** powers[name], rows.last(is_verified))
        is_open = ~is_verified & np.isnan(level)
        off = power_of_thousand(level / count, NEAR_COUNTS)
        as_filed = power_of_thousand(_level_as_filed(rows, count, is_open, each) / count, NEAR_COUNTS)
        power = np.where(is_verified, 0.0, either(off, np.where(as_filed > 0, as_filed, np.nan), np.zeros(len(off))))
        too_few = is_open & (power == 0) & (count < FEWEST_SHARES) & (each > LARGEST_EARNINGS)
        thousands = np.ceil(np.log10(each / LARGEST_EARNINGS) / POWER) * POWER
        found.append(rows.propose(COUNT_BY_EARLIER_COUNTS, BY_COUNTS, name, power != 0, 10.0**power))
        found.append(rows.propose(COUNT_BY_LARGEST_EARNINGS, BY_LIMITS, name, too_few, 10.0**thousands))
    return found


def _level_as_filed(rows: PeriodRows, count: Floats, is_open: Flags, each: Floats) -> Floats:
    """The median count of earlier filings, as filed; the largest one where the count would earn too much a share.

    Only counts as filed show a level, never corrected ones: if most filings are in thousands, nothing shows that.
    """
    of_open = np.flatnonzero(is_open & (count > 0))
    heights = pl.DataFrame(
        {"company": rows.company[of_open], "seq": rows.seq[of_open], "height": np.log10(count[of_open])}
    )
    filings = heights.group_by("company", "seq", maintain_order=True).agg(pl.col("height").median())
    median = pl.col("height").rolling_median(max(filings.height, 1), min_samples=1)
    before = filings.with_columns(
        median.shift(1).over("company").alias("median"),
        pl.col("height").cum_max().shift(1).over("company").alias("largest"),
    )
    known = heights.join(before, on=["company", "seq"], how="left", maintain_order="left")
    level = np.full(len(count), np.nan)
    level[of_open] = np.where(each[of_open] > LARGEST_EARNINGS, known["largest"].to_numpy(), known["median"].to_numpy())
    return 10.0**level


def _of_tax(rows: PeriodRows) -> Proposal:
    """Tax whose sign contradicts income before tax and net income of the same filing."""
    pretax, tax, income = rows[PRETAX], rows[TAX], either(rows[PARENT], rows[COMMON])
    after_tax, with_tax = (np.abs(amount - income) for amount in (pretax - tax, pretax + tax))
    errs = (with_tax <= CLOSE_TO_TAX * np.abs(tax)) & (after_tax > CLOSE_TO_TAX * np.abs(tax))
    return rows.propose(TAX_SIGN, "income before tax less tax of the same filing", TAX, errs, -1.0)


def _of_outflows(figures: Figures) -> Proposal:
    """Negative dividends, and outflows of which every figure in a filing is negative."""
    at = figures.of_concepts((*OUTFLOWS, DIVIDENDS))
    _, of_line = np.unique(packed(figures.line[at], figures.seq[at]), return_inverse=True)
    is_alone = np.bincount(of_line, weights=figures.value[at] >= 0)[of_line] == 0
    at = at[(figures.value[at] < 0) & (is_alone | (figures.concept[at] == NUMBER_OF[DIVIDENDS]))]
    return Proposal(OUTFLOW_SIGN, BY_LINE, at, -1.0)
