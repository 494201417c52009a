"""Return on invested capital: operating income after tax over the capital that earned it.

Belongs here: operating income where a filer states none, the tax rate, invested capital, and when a return on it says
nothing. Does not: total debt and cash (balances), twelve months of income (flows), companies whose business is capital
(industries).
"""

import polars as pl

from pipelines.normalize.items.legs import QUARTERS_A_YEAR, how, item, legs_of, recast

STATUTORY_TAX_RATE = 0.21
"""Internal Revenue Code section 11(b), where a loss before tax says nothing about the rate on operating income."""
HIGHEST_TAX_RATE = 0.35
THIN_CAPITAL = 0.05
"""Capital below this share of assets makes a ratio to it explode."""

OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX = "operating_income", "pretax_income", "income_tax"
CAPITAL, CAPITAL_BEFORE = "capital", "capital_before"
RETURN_ON_CAPITAL = (OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX, CAPITAL, CAPITAL_BEFORE)
"""The parts that legs play in a return on capital."""

BEYOND_INCOME, BEYOND_COSTS = 0.1, 0.02
"""The share of operating income that income before tax and interest, and revenue less costs, have to leave unexplained
before it is no subtotal of the income statement. The first has room for other losses below the line; the second has
room for rounding only, for a subtotal is what revenue and costs leave."""

CAPITAL_LINES = ("total_debt", "equity", "cash_and_equivalents")
DERIVED = "derived_operating_income"
CONTRADICTED = "contradicted_operating_income"
NO_OPERATING_INCOME = "no_operating_income"
"""Also of windows for which nothing that a return is made of is stated."""


def return_on_capital(money: pl.DataFrame) -> pl.DataFrame:
    """Operating income after tax over the mean of invested capital now and four quarters before.

    Capital is debt and equity with minorities, less cash; both ends are required. Where a filer states no operating
    income, or the total of its segments instead, it is income before tax and interest, flagged.

    Args:
        money: of items.wide: one row a point, amounts and how they came about.

    Returns:
        rows of the item `roic`, a fraction; none where `no_return` has a reason.
    """
    frame = _judged(money).filter(pl.col("reason").is_null())
    legs = pl.concat_list(
        "earned_legs",
        legs_of("pretax_income", PRETAX_INCOME),
        legs_of("income_tax", INCOME_TAX),
        "capital_legs",
        recast(pl.col("legs_before"), CAPITAL_BEFORE),
    )
    value = pl.col("earned") * (1 - tax_rate(pl.col("earned"))) / pl.col("mean_capital")
    return item(frame, "roic", value, pl.lit("ratio"), pl.col("earned_flags"), legs)


def no_return(money: pl.DataFrame) -> pl.DataFrame:
    """Why there is no return on capital: `cik`, `seq`, `q`, `reason`, for the points that have none."""
    return _judged(money).drop_nulls("reason").select("cik", "seq", "q", "reason")


def tax_rate(earned: pl.Expr) -> pl.Expr:
    """The rate on operating income: as filed, within bounds; the statutory one where a loss before tax tells none."""
    pretax = pl.col(PRETAX_INCOME)
    filed = (pl.col(INCOME_TAX) / pretax).clip(0.0, HIGHEST_TAX_RATE)
    return pl.when(pretax > 0).then(filed).when(earned > 0).then(STATUTORY_TAX_RATE).when(pretax <= 0).then(0.0)


def _judged(money: pl.DataFrame) -> pl.DataFrame:
    """The points with what a return is made of, and `reason`: the first of REASONS that holds, null where none does."""
    frame = _with_capital_before(_with_earnings(money))
    reason = pl.lit(None, pl.String)
    for code, holds in reversed(REASONS.items()):
        reason = pl.when(holds.fill_null(value=False)).then(pl.lit(code)).otherwise(reason)
    return frame.with_columns(reason=reason)


def _with_earnings(money: pl.DataFrame) -> pl.DataFrame:
    """Add `earned`: operating income as stated, or derived; `earned_flags`, `earned_legs`, `earned_regime`.

    It is derived where none is stated, and where what is stated is contradicted.

    Source: the identity of the income statement: income before tax is operating income, less interest expense, and
    investment income. What a filer has besides (gains, shares in affiliates) stays in, and so it is flagged.
    """
    stated, pretax, interest = pl.col(OPERATING_INCOME), pl.col(PRETAX_INCOME), pl.col("interest_expense")
    has_interest = interest.is_not_null()
    derived = (
        pl.when(has_interest)
        .then(pretax + interest - pl.col("investment_income").fill_null(0.0))
        .when(_is_borne_out(pl.col("net_interest")))
        .then(pretax - pl.col("net_interest"))
    )
    interest_legs = pl.concat_list(
        legs_of("interest_expense", OPERATING_INCOME), legs_of("investment_income", OPERATING_INCOME, times=-1.0)
    )
    net_legs = legs_of("net_interest", OPERATING_INCOME, times=-1.0)
    derived_legs = pl.concat_list(
        legs_of("pretax_income", OPERATING_INCOME), pl.when(has_interest).then(interest_legs).otherwise(net_legs)
    )
    contradicted = pl.col("contradicted")
    takes_stated = stated.is_not_null() & ~contradicted
    mark = pl.when(contradicted).then(pl.lit(CONTRADICTED)).otherwise(pl.lit(DERIVED))
    derived_flags = pl.concat_str(
        how("pretax_income", "flags").replace("", None), mark, separator=",", ignore_nulls=True
    )
    return _with_verdict(money, _is_contradicted(stated, derived)).with_columns(
        earned=pl.when(takes_stated).then(stated).otherwise(derived),
        earned_flags=pl.when(takes_stated).then(how("operating_income", "flags")).otherwise(derived_flags),
        earned_legs=pl.when(takes_stated).then(legs_of("operating_income", OPERATING_INCOME)).otherwise(derived_legs),
        earned_regime=pl.when(takes_stated)
        .then(how("operating_income", "regime"))
        .otherwise(how("pretax_income", "regime")),
    )


def _is_borne_out(net_interest: pl.Expr) -> pl.Expr:
    """Whether the balance sheet bears out the sign of net interest: who owes more than he has pays more than he gets.

    Some filers type what they pay as it is shown, without a minus sign; the wrong sign would count it twice.
    """
    return net_interest * (pl.col("cash_and_equivalents") - pl.col("total_debt")) >= 0


def _with_verdict(money: pl.DataFrame, verdict: pl.Expr) -> pl.DataFrame:
    """Add `contradicted`: the verdict on this window or, where nothing tells, the newest on one of the year before it.

    Some filers state interest, or their costs, in annual reports alone; what the element means to them is the same in
    quarterly ones.
    """
    told = money.select("cik", "seq", past_q="q", verdict=verdict).drop_nulls("verdict").sort("seq")
    frame = money.with_columns(verdict=verdict).sort("seq")
    names = ["verdict"]
    for back in range(1, QUARTERS_A_YEAR + 1):
        names.append(f"verdict_{back}")
        frame = frame.with_columns(past_q=pl.col("q") - back).join_asof(
            told.rename({"verdict": names[-1]}), on="seq", by=["cik", "past_q"], check_sortedness=False
        )
    return frame.with_columns(contradicted=pl.coalesce(*names, pl.lit(value=False))).drop(*names, "past_q")


def _is_contradicted(stated: pl.Expr, derived: pl.Expr) -> pl.Expr:
    """Whether operating income as stated is more than both ends of the income statement leave room for.

    Null where one end is not stated.

    Some filers tag the total of their segments so, before corporate expenses, amortization, restructuring and
    impairments: more than revenue less costs, and more than income before tax and interest. One end alone proves
    nothing: a loss on investments lowers income before tax, and some totals of costs have interest in them.

    Source: ASC 280-10-50-30, the total of segments' profit is reconciled to consolidated income before tax.
    """
    room = pl.col("revenue") - pl.col("operating_costs")
    beyond_income = stated - derived > BEYOND_INCOME * stated.abs()
    beyond_costs = stated - room > BEYOND_COSTS * stated.abs()
    return beyond_income & beyond_costs


def _with_capital_before(money: pl.DataFrame) -> pl.DataFrame:
    """Add capital and assets now and four quarters before, as known after the filing, and their means."""
    capital = money.with_columns(
        capital=pl.col("total_debt") + pl.col("equity") - pl.col("cash_and_equivalents"),
        capital_legs=pl.concat_list(
            legs_of("total_debt", CAPITAL),
            legs_of("equity", CAPITAL),
            legs_of("cash_and_equivalents", CAPITAL, times=-1.0),
        ),
        regimes=pl.concat_list(how(line, "regime") for line in CAPITAL_LINES),
    )
    before = capital.drop_nulls("capital").select(
        "cik",
        "seq",
        q=pl.col("q") + QUARTERS_A_YEAR,
        capital_before="capital",
        assets_before="assets",
        legs_before="capital_legs",
        regimes_before="regimes",
    )
    frame = capital.sort("seq").join_asof(before.sort("seq"), on="seq", by=["cik", "q"], check_sortedness=False)
    return frame.with_columns(
        mean_capital=(pl.col("capital") + pl.col("capital_before")) / 2,
        mean_assets=(pl.col("assets") + pl.col("assets_before")) / 2,
        regimes=pl.concat_list("regimes", "regimes_before", "earned_regime"),
    )


def _lacks(name: str) -> pl.Expr:
    return pl.col(name).is_null()


REASONS: dict[str, pl.Expr] = {
    NO_OPERATING_INCOME: _lacks("earned"),
    "no_pretax_income": _lacks(PRETAX_INCOME),
    "no_income_tax": (pl.col(PRETAX_INCOME) > 0) & _lacks(INCOME_TAX),
    "no_equity": _lacks("equity"),
    "no_total_debt": _lacks("total_debt"),
    "no_cash": _lacks("cash_and_equivalents"),
    "no_capital_a_year_before": _lacks("capital_before"),
    "basis_break": pl.col("regimes").list.n_unique() > 1,
    "non_positive_capital": pl.min_horizontal("capital", "capital_before") <= 0,
    "no_assets": _lacks("mean_assets"),
    "thin_capital": pl.col("mean_capital") < THIN_CAPITAL * pl.col("mean_assets"),
}
"""Why there is no return on capital, in the order of asking."""
