"""Scale: figures that are a thousand or a million times too large or too small.

Belongs here: errors of scale that are proved by income, earnings per share and shares of one
filing, by share counts of earlier filings, by earlier filings of the period, or by the level of the line. Does not:
statements that foot with another scale (footing), splits, which restate counts by small ratios (splits).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import NOTHING, Flags, Floats, Ints, floats, packed, picked
from pipelines.normalize.corrections.figures import (
    COMMON,
    COUNTS,
    EARNINGS,
    OUTSTANDING,
    PARENT,
    Figures,
    PeriodRows,
    Proposal,
    first_known,
)
from pipelines.normalize.elements import NUMBER_OF
from pipelines.normalize.powers import EXACTLY, NEAR_STATED, POWER, power_of_thousand
from pipelines.normalize.rule import Rule

ERRORS_MEASURED = (
    "Measured: an error of a thousand or a million is 6 % of the changes between successive filings of a period"
)
"""The source of rules that rest on the frequency of errors of scale."""

NEAR_COUNTS = 0.35
"""The largest distance of a quotient of share counts of different periods from a power of a thousand, in powers of ten:
counts change over time."""
NEAR_EARNINGS = 0.2
"""The largest distance of a quotient of income, earnings per share and shares from a power of a thousand, in powers of
ten: earnings per share are rounded to cents, and income available to common differs from income of the parent."""
LARGEST_EARNINGS, FEWEST_SHARES = 500.0, 1e5
"""Hardly any listed company earns more than the first amount per share (in the reporting currency), and no company with
fewer shares than the second number does."""
BY_EARNINGS = "net income over earnings per share of the same filing"
BY_COUNTS = "the share counts of earlier filings"
BY_LIMITS = "no company with so few shares earns so much a share"

NEAR_OUTSTANDING = 1.0
"""The largest distance of an average from the shares outstanding of its filing, in powers of ten: the average of a year
with offerings is lower, and shares outstanding may be of one class only."""
FEWEST_FILINGS = 4
"""Fewest earlier filings that show the level of a line; fewer filings may all be wrong."""
MOST_SHARES = 1e12
"""No company has so many shares."""

BY_FILINGS_AND_LEVEL = "earlier filings of the same period, and the level of the line"

WEIGHTED_AVERAGE = (
    "ASC 260-10-45-10: basic earnings per share are income available to common over the weighted average shares"
)

INCOME_AND_SHARES = Rule(
    "correction.scale.income-earnings-and-shares",
    "If net income is a power of a thousand times earnings per share times shares, the share count is multiplied by "
    "it; if shares outstanding or earlier filings confirm the count, earnings per share or net income is corrected "
    "instead.",
    WEIGHTED_AVERAGE,
    "correct",
)
COUNT_BY_EARLIER_COUNTS = Rule(
    "correction.scale.count-by-earlier-filings",
    "A share count that earnings per share do not verify is multiplied by the power of a thousand by which it "
    "differs from shares outstanding or the last verified count, or otherwise falls short of the median of earlier "
    "filings.",
    ERRORS_MEASURED,
    "correct",
)
COUNT_BY_LARGEST_EARNINGS = Rule(
    "correction.scale.count-by-largest-earnings",
    "A share count below 100,000 that no earlier count verifies, and that would mean earnings of more than 500 per "
    "share, is taken as stated in thousands or millions.",
    f"{WEIGHTED_AVERAGE}; hardly a listed company earns more than 500 a share, and none with fewer than 100,000 shares",
    "correct",
)
SCALE_OF_EARLIER_FILINGS = Rule(
    "correction.scale.earlier-filings",
    "A figure that is a power of a thousand times the figure first filed for its period is divided by it, as are the "
    "line's other figures in the filing, if this brings them nearer to the line's usual level.",
    ERRORS_MEASURED,
    "correct",
)
SCALE_ALONE = Rule(
    "correction.scale.alone",
    "Revenue or dividends per share are left out if they are about a thousand or a million times the line's level in "
    "earlier filings, while another figure of the line in the same filing is at that level.",
    f"{ERRORS_MEASURED}; no other figure shows the amount",
    "withhold",
)
MORE_THAN_ANY = Rule(
    "correction.scale.more-shares-than-any-company",
    f"An average of more than {MOST_SHARES:,.0f} shares, also after a correction, is left out.",
    "Measured by market: the largest count, that of Industrial and Commercial Bank of China, is 0.36 trillion, and a "
    "thousand times the shares of a large company is more than a trillion",
    "withhold",
)

STEADY = ("revenue", "dividends_per_share")
"""Lines that hardly ever move by a thousand times from one period to the next."""
NEAR_LEVEL = 0.7
"""The largest distance of a figure from the level of its line, or from a thousand times the level, in powers of ten."""


def proposals_for_shares(figures: Figures) -> list[Proposal]:
    """Correct share counts, earnings per share and net income that are wrong by a power of a thousand.

    Net income over earnings per share of the same filing proves the error, or counts of earlier filings do. Money is in
    the reporting currency, counts are in shares.
    """
    rows = PeriodRows.of(figures, (COMMON, PARENT, EARNINGS, *COUNTS))
    powers = {name: _power_off_income(rows, name) for name in COUNTS}
    outstanding = _outstanding(rows.company, rows.seq, figures)
    return [*_proposals_by_income(rows, powers, outstanding), *_proposals_by_earlier_counts(rows, powers, outstanding)]


def _power_off_income(rows: PeriodRows, count: str) -> Floats:
    """The power of a thousand, as an exponent of ten, by which net income over earnings per share exceeds a count.

    NaN if it is unknown.
    """
    earnings = np.abs(rows[EARNINGS])
    of_common, of_parent = (
        power_of_thousand(np.abs(rows[income]) / earnings / rows[count], NEAR_EARNINGS) for income in (COMMON, PARENT)
    )
    return np.where(of_parent == 0, 0.0, first_known(of_common, of_parent))


def _proposals_by_income(rows: PeriodRows, powers: dict[str, Floats], outstanding: Floats) -> list[Proposal]:
    """Correct counts, earnings per share or income by a thousand or a million, so that they agree with each other.

    Usually the count is wrong. If the count is similar to counts of earlier filings, the earnings per share are
    corrected instead, or the income if the earnings per share are similar to earlier ones, too. If a corrected count
    would be too small and the earnings per share too large for any company, both are corrected.
    """
    power = first_known(*powers.values())
    own = _power_over_first_filing(rows.figures)
    is_own = (first_known(*(picked(own, rows.index[income]) for income in (COMMON, PARENT))) == power) & (power != 0)
    count, earnings = first_known(*(rows[name] for name in COUNTS)), np.abs(rows[EARNINGS])
    agreed = rows.last(power == 0)

    def fits(amount: Floats) -> Flags:
        """Whether the last agreeing filing's amount is nearer to the filed amount than to the corrected one."""
        off: Floats = np.log10(amount / picked(amount, agreed))
        return abs(off) < abs(off + power)

    is_off = ~np.isnan(power) & (power != 0) & ~is_own
    fits_before = fits(count)

    def is_right(amount: Floats, off: Floats) -> Flags:
        """Whether a count is like the shares outstanding or, if these show nothing, like earlier counts."""
        is_like = _is_near_outstanding(amount, outstanding)
        return np.where(is_like | _is_near_outstanding(amount * 10.0**off, outstanding), is_like, fits_before)

    is_count = is_right(count, power)
    is_plain = (earnings <= LARGEST_EARNINGS) & (abs(100 * earnings - np.round(100 * earnings)) < EXACTLY * 100)
    is_earnings = np.where(agreed == NOTHING, is_plain, fits(earnings))
    count_errs, earnings_err = is_off & ~is_count, is_off & is_count & ~is_earnings
    income_errs = is_off & is_count & is_earnings | is_own
    too_much = (earnings > LARGEST_EARNINGS) & (count * 10.0**power < FEWEST_SHARES)
    of_parent = power_of_thousand(np.abs(rows[PARENT]) / np.abs(rows[COMMON]), NEAR_EARNINGS)
    factors = {
        name: np.where(~is_right(rows[name], off) & (off != 0) & ~is_own, 10.0 ** (off + POWER * too_much), 1.0)
        for name, off in powers.items()
    }
    factors[EARNINGS] = np.select([earnings_err, count_errs & too_much], [10.0**power, 10.0**-POWER], 1.0)
    factors[COMMON] = np.select([income_errs, power == 0], [10.0**-power, 10.0**of_parent], 1.0)
    factors[PARENT] = np.where(income_errs, 10.0**-power, 1.0)
    return [
        rows.propose(INCOME_AND_SHARES, BY_EARNINGS, name, ~np.isnan(factor) & (factor != 1), factor)
        for name, factor in factors.items()
    ]


def _proposals_by_earlier_counts(rows: PeriodRows, powers: dict[str, Floats], outstanding: Floats) -> list[Proposal]:
    """Correct counts that earnings per share do not verify, by the shares outstanding, by earlier counts and by income.

    A count below a hundred thousand shares that earn more than 500 each is stated in thousands or millions.
    """
    income = np.abs(first_known(rows[COMMON], rows[PARENT]))
    found = []
    for name in COUNTS:
        count, is_verified = rows[name], ~np.isnan(powers[name])
        per_share = income / count
        level = picked(count * 10.0 ** powers[name], rows.last(is_verified))
        is_verified |= _is_near_outstanding(count, outstanding)
        is_open = ~is_verified & np.isnan(level)
        off = first_known(*(power_of_thousand(known / count, NEAR_COUNTS) for known in (outstanding, level)))
        as_filed = power_of_thousand(_level_as_filed(rows, count, is_open, per_share) / count, NEAR_COUNTS)
        power = np.where(
            is_verified, 0.0, first_known(off, np.where(as_filed > 0, as_filed, np.nan), np.zeros(len(off)))
        )
        too_few = is_open & (power == 0) & (count < FEWEST_SHARES) & (per_share > LARGEST_EARNINGS)
        thousands = np.ceil(np.log10(per_share / LARGEST_EARNINGS) / POWER) * POWER
        found.append(rows.propose(COUNT_BY_EARLIER_COUNTS, BY_COUNTS, name, power != 0, 10.0**power))
        found.append(rows.propose(COUNT_BY_LARGEST_EARNINGS, BY_LIMITS, name, too_few, 10.0**thousands))
    return found


def _level_as_filed(rows: PeriodRows, count: Floats, is_open: Flags, per_share: Floats) -> Floats:
    """The median count of earlier filings, as filed; the largest one where earnings per share exceed LARGEST_EARNINGS.

    Only counts as filed show a level, never corrected ones: if most filings are in thousands, no error is found.
    """
    height = np.where(is_open & (count > 0), np.log10(count), np.nan)
    heights = pl.DataFrame({"company": rows.company, "seq": rows.seq, "height": height}, nan_to_null=True)
    filings = heights.drop_nulls().group_by("company", "seq", maintain_order=True).agg(pl.col("height").median())
    median = pl.col("height").rolling_median(max(filings.height, 1), min_samples=1)
    before = filings.with_columns(
        median.shift(1).over("company").alias("median"),
        pl.col("height").cum_max().shift(1).over("company").alias("largest"),
    )
    known = heights.join(before, on=["company", "seq"], how="left", maintain_order="left")
    level = np.where(per_share > LARGEST_EARNINGS, known["largest"].to_numpy(), known["median"].to_numpy())
    return np.where(is_open, 10.0**level, np.nan)


def proposals_by_filings(figures: Figures) -> list[Proposal]:
    """Corrections of figures in another scale than in earlier filings.

    If two figures of one period differ by a thousand or a million times, the one that is far from the level of the line
    is wrong. Then the filing's figures of the line for other periods are wrong too, if they are as far off. Figures of
    the newest period that are so far off alone are left out.
    """
    off = _distance_from_level(figures)
    far = first_known(off, _distance_from_others(figures))
    own = _power_over_first_filing(figures)
    power = _commonest_power(figures, np.where((np.abs(own) > 0) & (np.abs(far - own) < np.abs(far)), own, np.nan))
    counts = figures.of_concepts(COUNTS)
    is_count = figures.concept == NUMBER_OF[OUTSTANDING]
    outstanding = _outstanding(figures.company[counts], figures.seq[counts], figures)
    is_count[counts] = _is_near_outstanding(figures.value[counts], outstanding)
    errs = (np.abs(far - power) < np.abs(far)) & ~is_count
    steady = figures.of_concepts(STEADY)
    filing = packed(figures.line[steady], figures.seq[steady])
    is_far = np.abs(power_of_thousand(10.0 ** off[steady], NEAR_LEVEL)) > 0
    is_alone = is_far & np.isin(filing, filing[np.abs(off[steady]) <= NEAR_LEVEL])
    too_many = counts[(figures.value[counts] > MOST_SHARES) & ~errs[counts]]
    by_level = "the other figures of the line in this and earlier filings"
    return [
        Proposal(SCALE_OF_EARLIER_FILINGS, BY_FILINGS_AND_LEVEL, np.flatnonzero(errs), 10.0 ** -power[errs]),
        Proposal(SCALE_ALONE, by_level, steady[is_alone & ~errs[steady]]),
        Proposal(MORE_THAN_ANY, "no company has so many shares", too_many),
    ]


def _outstanding(company: Ints, seq: Ints, figures: Figures) -> Floats:
    """The newest shares outstanding that each filing states, on its cover if possible; NaN if it states none."""
    at = figures.of_concepts((OUTSTANDING,))
    stated = pl.DataFrame({name: getattr(figures, name)[at] for name in ("company", "seq", "rank", "end", "value")})
    newest = stated.filter(pl.col("value") > 0).sort("rank", "end", descending=[True, False])
    of_filing = newest.unique(["company", "seq"], keep="last", maintain_order=True)
    filings = pl.DataFrame({"company": company, "seq": seq})
    return floats(filings.join(of_filing, on=["company", "seq"], how="left", maintain_order="left"), "value")


def _is_near_outstanding(count: Floats, outstanding: Floats) -> Flags:
    """Whether averages are of the size of the shares outstanding."""
    is_near: Flags = abs(np.log10(count / outstanding)) < NEAR_OUTSTANDING
    return is_near


def _power_over_first_filing(figures: Figures) -> Floats:
    """The power of a thousand, as an exponent of ten, by which figures exceed those of the first filing."""
    return power_of_thousand(figures.value / figures.value[figures.first], NEAR_STATED)


def _commonest_power(figures: Figures, proven: Floats) -> Floats:
    """The most frequent proven power of each line and filing, of equally frequent ones the smallest; NaN if none."""
    powers = pl.DataFrame({"line": figures.line, "seq": figures.seq, "power": proven}, nan_to_null=True)
    modes = powers.drop_nulls().group_by("line", "seq").agg(mode=pl.col("power").mode().min())
    return powers.join(modes, on=["line", "seq"], how="left", maintain_order="left")["mode"].to_numpy()


def _distance_from_others(figures: Figures) -> Floats:
    """The distance of figures from the mean of the other figures of their line and filing, in powers of ten."""
    height = np.log10(np.abs(figures.value) / figures.days)
    stated = pl.DataFrame({"line": figures.line, "seq": figures.seq, "height": height})
    known = pl.when(pl.col("height").is_finite()).then("height")
    number = known.count().over("line", "seq")
    others = (known.sum().over("line", "seq") - known) / pl.when(number > 1).then(number - 1)
    off: Floats = stated.select((pl.col("height") - others).fill_null(np.nan))["height"].to_numpy()
    return off


def _distance_from_level(figures: Figures) -> Floats:
    """The distance of figures from the level of their line in earlier filings, in powers of ten; NaN without a level.

    The level is the mean over at least FEWEST_FILINGS filings; each counts with the mean logarithm of its figures (of
    the amount a day, or of the balance).
    """
    height = np.log10(np.abs(figures.value) / figures.days)
    stated = pl.DataFrame({"line": figures.line, "seq": figures.seq, "height": height})
    filings = stated.filter(pl.col("height").is_finite()).group_by("line", "seq").agg(mean=pl.col("height").mean())
    number = pl.int_range(pl.len()).over("line")
    levels = filings.sort("line", "seq").select(
        "line",
        "seq",
        level=pl.when(number >= FEWEST_FILINGS).then((pl.col("mean").cum_sum() - pl.col("mean")).over("line") / number),
    )
    level: Floats = stated.join(levels, on=["line", "seq"], how="left", maintain_order="left")["level"].to_numpy()
    return height - level
