"""The eleven line items, from twelve-month flows and balances.

Belongs here: how concepts combine into the items of the specification (section 2.4), and why an item has no value.
Does not: where the concepts' amounts come from (flows, balances).
"""

import polars as pl

from pipelines.normalize.concepts import BY_NAME
from pipelines.normalize.legs import (
    DIVIDEND,
    DIVISOR,
    DIVISOR_MEAN,
    MEAN,
    POINT,
    QUARTERS_A_YEAR,
    SUM,
    how,
    item,
    legs_of,
    recast,
)
from pipelines.normalize.returns import (
    CAPITAL,
    CAPITAL_BEFORE,
    OPERATING_INCOME,
    RETURN_ON_CAPITAL,
    return_on_capital,
    tax_rate,
)

SIGNIFICANT_DIGITS = 6

ROLES = (SUM, MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN, *RETURN_ON_CAPITAL)
"""The parts that legs play in a value; `recomputed` says how they make it."""

CALCULATED = ("eps_basic", "dividends_per_share", "roic", "debt_to_fcf")
SHARES = ("shares_basic", "shares_diluted")


def line_items(flows: pl.DataFrame, balances: pl.DataFrame, of_industry: pl.DataFrame) -> pl.DataFrame:
    """The items that have a value.

    Args:
        flows: of flows.twelve_months.
        balances: of flows.at_instants.
        of_industry: `cik`, `industry`.

    Returns:
        `cik`, `seq`, `q`, `item`, `value` (units of the reporting currency, shares, or a ratio), `method`, `flags`,
        `legs` (list of structs: `vintage`, `operation`).
    """
    money = _wide(flows, balances).join(of_industry, on="cik")
    plain = flows.filter(pl.col("concept").is_in(["revenue", "dividends_per_share"])).select(
        *POINT, pl.col("concept").alias("item"), pl.col("amount").alias("value"), "method", "flags", "legs"
    )
    shares = flows.filter(pl.col("concept").is_in(SHARES)).select(
        *POINT,
        pl.col("concept").alias("item"),
        (pl.col("amount") / pl.col("days")).alias("value"),
        pl.when(pl.col("method") == "fiscal_year")
        .then("method")
        .otherwise(pl.lit("day_weighted_mean"))
        .alias("method"),
        "flags",
        recast(pl.col("legs"), MEAN).alias("legs"),
    )
    net_income = _net_income(money)
    items = pl.concat(
        [plain, shares, net_income, _earnings_per_share(flows, net_income, shares), *_calculated(money)], how="vertical"
    )
    return items.filter(pl.col("value").is_finite())


def served(column: str) -> pl.Expr:
    """Values as they are served: per-share amounts and ratios to six significant digits, all else in whole units."""
    calculated = pl.col("item").is_in(CALCULATED)
    return pl.when(calculated).then(pl.col(column).round_sig_figs(SIGNIFICANT_DIGITS)).otherwise(pl.col(column).round())


def _wide(flows: pl.DataFrame, balances: pl.DataFrame) -> pl.DataFrame:
    """One row a point: amounts by concept, and for flows their `<concept>_how` (method, flags, legs)."""
    stocks = balances.select(
        *POINT,
        "concept",
        "amount",
        how=pl.struct(pl.lit("balance_sheet").alias("method"), pl.lit("").alias("flags"), "legs"),
    )
    both = pl.concat([flows.select(*POINT, "concept", "amount", how=pl.struct("method", "flags", "legs")), stocks])
    names = [*(name for name in BY_NAME), "total_debt", "cash_and_equivalents"]
    return both.group_by(POINT, maintain_order=True).agg(
        *(pl.col("amount").filter(pl.col("concept") == name).first().alias(name) for name in names),
        *(pl.col("how").filter(pl.col("concept") == name).first().alias(f"{name}_how") for name in names),
    )


def _net_income(money: pl.DataFrame) -> pl.DataFrame:
    """Net income on one basis a company: to common shareholders where it covers every window or can be completed.

    Every window means those after the last that it is not stated for; what lies before is the parent's, flagged.

    Completed means: net income attributable to the parent less preferred dividends, which are nothing before the
    first and more than a year after the last that is filed. Between them a window without them has no value. Where
    the two bases differ without preferred dividends (participating securities) and common is not stated throughout,
    the parent's stands throughout, flagged.
    """
    covered = pl.col("net_income_parent").is_not_null() | pl.col("net_income_common").is_not_null()
    stated = pl.col("net_income_common").is_not_null()
    paid = pl.col("preferred_dividends") > 0
    bases = money.group_by("cik").agg(
        last_unstated=pl.col("q").filter(covered & ~stated).max(),
        has_common=stated.any(),
        first_paid=pl.col("q").filter(paid).min(),
        last_paid=pl.col("q").filter(paid).max(),
    )
    frame = money.filter(covered).join(bases, on="cik")
    throughout = (pl.col("q") > pl.col("last_unstated")).fill_null(value=True)
    has_preferred = pl.col("first_paid").is_not_null()
    near = pl.col("q").is_between("first_paid", pl.col("last_paid") + QUARTERS_A_YEAR).fill_null(value=False)
    known_dividends = pl.col("preferred_dividends").is_not_null()
    basis = (
        pl.when(throughout)
        .then(pl.lit("common"))
        .when(has_preferred & stated)
        .then(pl.lit("common"))
        .when(near & known_dividends)
        .then(pl.lit("completed"))
        .when(~near)
        .then(pl.lit("parent"))
    )
    frame = frame.with_columns(basis=basis)
    is_common, is_completed = pl.col("basis") == "common", pl.col("basis") == "completed"
    value = (
        pl.when(is_common)
        .then(pl.col("net_income_common"))
        .when(is_completed)
        .then(pl.col("net_income_parent") - pl.col("preferred_dividends"))
        .when(pl.col("basis") == "parent")
        .then(pl.col("net_income_parent"))
    )
    to_parent = (pl.col("basis") == "parent") & pl.col("has_common") & ~has_preferred
    differs = (pl.col("net_income_common") != pl.col("net_income_parent")).any().over("cik").fill_null(value=False)
    mark = pl.when(to_parent & differs).then(pl.lit("attributable_to_parent"))
    parents, commons = how("net_income_parent", "flags"), how("net_income_common", "flags")
    flags = pl.concat_str(
        pl.when(is_common).then(commons).otherwise(parents).replace("", None), mark, separator=",", ignore_nulls=True
    )
    method = pl.when(is_common).then(how("net_income_common", "method")).otherwise(how("net_income_parent", "method"))
    legs = (
        pl.when(is_common)
        .then(legs_of("net_income_common"))
        .when(is_completed)
        .then(pl.concat_list(legs_of("net_income_parent"), legs_of("preferred_dividends", times=-1.0)))
        .otherwise(legs_of("net_income_parent"))
    )
    return item(frame, "net_income", value, method, flags, legs)


def _earnings_per_share(flows: pl.DataFrame, net_income: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """As filed; where no earnings per share are filed for a window, net income over the average shares."""
    filed = flows.filter(pl.col("concept") == "eps_basic").select(
        *POINT, item=pl.lit("eps_basic"), value="amount", method="method", flags="flags", legs="legs"
    )
    average = shares.filter((pl.col("item") == "shares_basic") & (pl.col("value") > 0))
    derived = (
        net_income.join(average.select(*POINT, shares="value", share_legs="legs"), on=POINT)
        .join(filed.select(POINT), on=POINT, how="anti")
        .select(
            *POINT,
            item=pl.lit("eps_basic"),
            value=pl.col("value") / pl.col("shares"),
            method=pl.lit("net_income_over_shares"),
            flags=pl.lit("derived"),
            legs=pl.concat_list(recast(pl.col("legs"), DIVIDEND), recast(pl.col("share_legs"), DIVISOR_MEAN)),
        )
    )
    return pl.concat([filed, derived])


def _calculated(money: pl.DataFrame) -> list[pl.DataFrame]:
    """Free cash flow, the two balances, debt to free cash flow, and return on invested capital."""
    fcf = pl.col("operating_cash_flow") - pl.col("capital_expenditure")
    fcf_legs = pl.concat_list(legs_of("operating_cash_flow"), legs_of("capital_expenditure", times=-1.0))
    fcf_flags = how("operating_cash_flow", "flags")
    years = pl.when(fcf > 0).then(pl.col("total_debt") / fcf)
    balances = [
        item(money, name, pl.col(name), pl.lit("balance_sheet"), pl.lit(""), legs_of(name))
        for name in ("total_debt", "cash_and_equivalents")
    ]
    return [
        item(money, "free_cash_flow", fcf, how("operating_cash_flow", "method"), fcf_flags, fcf_legs),
        *balances,
        item(
            money,
            "debt_to_fcf",
            years,
            pl.lit("ratio"),
            fcf_flags,
            pl.concat_list(legs_of("total_debt", DIVIDEND), recast(fcf_legs, DIVISOR)),
        ),
        return_on_capital(money),
    ]


def recomputed(legs: pl.DataFrame, of: list[str]) -> pl.DataFrame:
    """Values from their legs alone: what anybody can do with the lineage of a value.

    Args:
        legs: `role`, `weight`, `value` (as filed) and `split_factor` (what puts it on the newest share basis).
        of: the columns that name a value.

    Returns:
        `of` and `recomputed`: the sum of the legs, each times its weight; or their weighted mean; or a quotient; or
        return on capital, by the roles of the legs.
    """
    part = pl.col("value") * pl.col("split_factor") * pl.col("weight")
    roles = {role: part.filter(pl.col("role") == role) for role in ROLES}

    def total(role: str) -> pl.Expr:
        return pl.when(roles[role].len() > 0).then(roles[role].sum())

    def mean(role: str) -> pl.Expr:
        return total(role) / pl.col("weight").filter(pl.col("role") == role).sum()

    sums = legs.group_by(of).agg(
        *(total(role).alias(role) for role in (SUM, DIVIDEND, DIVISOR, *RETURN_ON_CAPITAL)),
        *(mean(role).alias(role) for role in (MEAN, DIVISOR_MEAN)),
    )
    on_capital = pl.col(OPERATING_INCOME) * (1 - tax_rate()) / ((pl.col(CAPITAL) + pl.col(CAPITAL_BEFORE)) / 2)
    quotient = pl.col(DIVIDEND) / pl.coalesce(DIVISOR, DIVISOR_MEAN)
    return sums.select(*of, recomputed=pl.coalesce(on_capital, quotient, MEAN, SUM))
