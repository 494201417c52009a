"""Identities: what the figures of one filing and period prove about each other's scale and sign.

Belongs here: income is earnings per share times shares; income is what is left before tax less the tax; payments and
interest are positive. Does not: what other filings of the period say (scale, signs, contexts).

Beside the filing itself only earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

import polars as pl

PERIOD = ["cik", "seq", "start", "end"]

COUNTS = ("shares_basic", "shares_diluted")
COMMON, PARENT, EARNINGS, PRETAX, TAX = (
    "net_income_common",
    "net_income_parent",
    "eps_basic",
    "pretax_income",
    "income_tax",
)
OUTFLOWS = ("capital_expenditure", "preferred_dividends", "interest_expense")
"""Payments and expenses are positive by definition (debits in us-gaap); a negative column was typed as it is shown."""

DIGITS = 3
NEAR_EARNINGS, NEAR_COUNTS = 0.2, 0.35
"""How far from a power of a thousand (in powers of ten) a quotient may be: earnings are rounded, counts grow."""
NEAR_CENTS = 0.05
SMALLEST_EARNINGS = 0.015
"""Earnings per share of a cent are rounded by half of themselves and prove nothing."""
LARGEST_EARNINGS, FEWEST_SHARES = 500.0, 1e5
"""Hardly a listed company earns more a share, and none that has so few shares."""
CLOSE = 0.05
CLOSE_TO_TAX = 0.1
"""What minorities earn, and discontinued operations, is between income after tax and net income."""

BY_EARNINGS = "net income over earnings per share of the same filing"
BY_COUNTS = "the share counts of earlier filings"
BY_LIMITS = "no company with so few shares earns so much a share"
BY_PARENT = "net income attributable to the parent, and earnings per share, of the same filing"
BY_TAX = "income before tax less tax of the same filing"
BY_LINE = "the filing shows every figure of this outflow with a minus sign"


def repaired(vintages: pl.DataFrame) -> pl.DataFrame:
    """Put right what the figures beside it prove wrong.

    Args:
        vintages: of stated.stated_concepts.

    Returns:
        the vintages with `value` and `grain` multiplied by `repair` (1 where nothing was to do), and `evidence`.

    Source: ASC 260-10-45-10, basic earnings per share are income available to common over the weighted average;
    ASC 230-10-45-13, payments are cash outflows.
    """
    beside = _side_by_side(vintages)
    told = pl.concat(
        [
            *_of_scale(beside),
            _of_earlier_counts(vintages, beside),
            *_of_sign(beside),
            _of_outflows(vintages),
        ]
    )
    factors = told.group_by("vintage", maintain_order=True).agg(pl.col("repair").product(), pl.col("evidence").first())
    factor = pl.col("repair").fill_null(1.0)
    return vintages.join(factors, on="vintage", how="left", maintain_order="left").with_columns(
        pl.col("value") * factor, pl.col("grain") * factor.abs(), repair=factor
    )


def thousands(quotient: pl.Expr, near: float) -> pl.Expr:
    """The power of ten, a multiple of three, that a quotient is near to; null where it is near to none."""
    power = (quotient.log10() / DIGITS).round() * DIGITS
    return pl.when((quotient.log10() - power).abs() <= near).then(power)


def _side_by_side(vintages: pl.DataFrame) -> pl.DataFrame:
    """One row a filing and period: the value and the vintage of each concept that an identity holds between."""
    names = (COMMON, PARENT, EARNINGS, PRETAX, TAX, *COUNTS)
    wide = (
        vintages.filter(pl.col("concept").is_in(names))
        .group_by(PERIOD, maintain_order=True)
        .agg(
            *(pl.col("value").filter(pl.col("concept") == name).first().alias(name) for name in names),
            *(pl.col("vintage").filter(pl.col("concept") == name).first().alias(f"{name}_is") for name in names),
        )
    )
    earnings = pl.col(EARNINGS).abs()
    tells = earnings >= SMALLEST_EARNINGS
    for count in COUNTS:
        of_common, of_parent = (
            thousands(pl.col(income).abs() / earnings / pl.col(count), NEAR_EARNINGS) for income in (COMMON, PARENT)
        )
        power = pl.when((of_common == 0) | (of_parent == 0)).then(0.0).otherwise(pl.coalesce(of_common, of_parent))
        wide = wide.with_columns(pl.when(tells).then(power).alias(f"{count}_power"))
    power = pl.coalesce(f"{count}_power" for count in COUNTS)
    sound = (
        wide.filter(power == 0)
        .select("cik", "seq", level=pl.coalesce(COUNTS), earnings_level=earnings)
        .sort("seq")
        .group_by("cik", "seq", maintain_order=True)
        .last()
    )
    return wide.sort("seq").join_asof(sound, on="seq", by="cik", check_sortedness=False)


def _told(beside: pl.DataFrame, concept: str, holds: pl.Expr, factor: pl.Expr, evidence: str) -> pl.DataFrame:
    return beside.filter(holds.fill_null(value=False), pl.col(f"{concept}_is").is_not_null()).select(
        vintage=pl.col(f"{concept}_is"), repair=factor.cast(pl.Float64), evidence=pl.lit(evidence)
    )


def _of_scale(beside: pl.DataFrame) -> list[pl.DataFrame]:
    """Counts, earnings per share and income that are a thousand or a million times off.

    Counts are the usual victims. They are left, and the earnings per share repaired, where they fit the counts of
    filings before, or where repaired counts would be too few and the earnings are too many for any company; and both
    are left, and the income repaired, where the earnings fit those of filings before, too. Earnings in cents are a
    hundred times off, beside a count as in filings before.
    """
    power = pl.coalesce(f"{count}_power" for count in COUNTS)
    count, earnings = pl.coalesce(COUNTS), pl.col(EARNINGS).abs()
    off = (count / pl.col("level")).log10().abs()
    off_repaired = (count * pl.lit(10.0).pow(power) / pl.col("level")).log10().abs()
    counts_fit = (off < off_repaired).fill_null(value=False)
    too_much = (earnings > LARGEST_EARNINGS) & (count * pl.lit(10.0).pow(power) < FEWEST_SHARES)
    earnings_fit = ((earnings / pl.col("earnings_level")).log10().abs() < 1).fill_null(value=False)
    is_off = power != 0
    income_errs = is_off & counts_fit & earnings_fit
    earnings_err = is_off & counts_fit & ~earnings_fit
    both_err = is_off & ~counts_fit & too_much
    of_counts = [
        _told(
            beside,
            name,
            pl.col(f"{name}_power").is_not_null() & (pl.col(f"{name}_power") != 0) & ~counts_fit,
            pl.lit(10.0).pow(pl.col(f"{name}_power") + pl.when(too_much).then(DIGITS).otherwise(0)),
            BY_EARNINGS,
        ).filter(pl.col("repair") != 1)
        for name in COUNTS
    ]
    hundreds = (pl.coalesce(COMMON, PARENT).abs() / earnings / count).log10()
    in_cents = ((hundreds.abs() - 2).abs() <= NEAR_CENTS) & ((count / pl.col("level")).log10().abs() < 0.5)
    common_off = thousands(pl.col(PARENT).abs() / pl.col(COMMON).abs(), NEAR_EARNINGS)
    common_errs = (power == 0) & (common_off != 0)
    return [
        *of_counts,
        _told(beside, EARNINGS, earnings_err, pl.lit(10.0).pow(power), BY_EARNINGS),
        _told(beside, EARNINGS, in_cents, pl.lit(10.0).pow(hundreds.round()), BY_EARNINGS),
        _told(beside, EARNINGS, both_err, pl.lit(10.0**-DIGITS), BY_EARNINGS),
        *(_told(beside, name, income_errs, pl.lit(10.0).pow(-power), BY_EARNINGS) for name in (COMMON, PARENT)),
        _told(beside, COMMON, common_errs, pl.lit(10.0).pow(common_off), BY_PARENT),
    ]


def _of_earlier_counts(vintages: pl.DataFrame, beside: pl.DataFrame) -> pl.DataFrame:
    """Counts without earnings per share beside them: held against the last count that was judged, and against income.

    Fewer than a hundred thousand shares that earn more than 500 each are stated in thousands or millions.
    """
    judged = [
        beside.filter(pl.col(f"{name}_power").is_not_null()).select(
            "cik", "seq", concept=pl.lit(name), level=pl.col(name) * pl.lit(10.0).pow(pl.col(f"{name}_power"))
        )
        for name in COUNTS
    ]
    untold = [
        beside.filter(pl.col(f"{name}_power").is_null(), pl.col(name).is_not_null()).select(
            "cik",
            "seq",
            concept=pl.lit(name),
            vintage=f"{name}_is",
            value=name,
            income=pl.coalesce(COMMON, PARENT).abs(),
        )
        for name in COUNTS
    ]
    compared = (
        pl.concat(untold)
        .sort("seq")
        .join_asof(pl.concat(judged).sort("seq"), on="seq", by=["cik", "concept"], check_sortedness=False)
    )
    by_level = thousands(pl.col("level") / pl.col("value"), NEAR_COUNTS)
    each = pl.col("income") / pl.col("value")
    too_few = (pl.col("value") < FEWEST_SHARES) & (each > LARGEST_EARNINGS)
    by_limits = pl.when(too_few).then(((each / LARGEST_EARNINGS).log10() / DIGITS).ceil() * DIGITS)
    return compared.select(
        "vintage",
        repair=pl.lit(10.0).pow(pl.coalesce(by_level, pl.when(pl.col("level").is_null()).then(by_limits))),
        evidence=pl.when(by_level.is_not_null()).then(pl.lit(BY_COUNTS)).otherwise(pl.lit(BY_LIMITS)),
    ).filter(pl.col("repair") != 1)


def _of_sign(beside: pl.DataFrame) -> list[pl.DataFrame]:
    """Tax, income and earnings per share that have the other sign than the figures beside them allow."""
    pretax, tax, income, earnings = pl.col(PRETAX), pl.col(TAX), pl.coalesce(PARENT, COMMON), pl.col(EARNINGS)
    left = pretax - tax
    fits = ((left - income).abs() <= CLOSE * income.abs()).fill_null(value=False)
    tax_errs = ((pretax + tax - income).abs() <= CLOSE_TO_TAX * tax.abs()) & ~fits
    agree = (earnings * income > 0).fill_null(value=False)
    income_errs = ((left + income).abs() <= CLOSE * income.abs()) & ~fits & ~tax_errs & ~agree
    available = pl.coalesce(COMMON, PARENT)
    is_product = (available.abs() / earnings.abs() / pl.coalesce(COUNTS) - 1).abs() <= 2 * CLOSE
    disagree = (earnings * available < 0) & (earnings.abs() >= SMALLEST_EARNINGS) & is_product
    income_is_other = income_errs | (disagree & (earnings * pretax > 0) & ~fits)
    minus = pl.lit(-1.0)
    return [
        _told(beside, TAX, tax_errs, minus, BY_TAX),
        *(_told(beside, name, income_is_other, minus, BY_TAX) for name in (COMMON, PARENT)),
        _told(beside, EARNINGS, disagree & ~income_is_other.fill_null(value=False), minus, BY_EARNINGS),
    ]


def _of_outflows(vintages: pl.DataFrame) -> pl.DataFrame:
    """Outflows whose every figure in a filing is negative."""
    negative = pl.col("value").max().over("cik", "seq", "concept") < 0
    return vintages.filter(pl.col("concept").is_in(OUTFLOWS), negative).select(
        "vintage", repair=pl.lit(-1.0), evidence=pl.lit(BY_LINE)
    )
