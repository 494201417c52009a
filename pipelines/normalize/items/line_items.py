"""The eleven line items, from twelve-month flows and balances.

Belongs here: how concepts combine into the items of the specification (section 2.4), and why an item has no value.
Does not: where the concepts' amounts come from (flows, balances).
"""

import polars as pl

from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.items.legs import (
    DIVIDEND,
    DIVISOR,
    DIVISOR_MEAN,
    MEAN,
    POINT,
    QUARTERS_A_YEAR,
    SUM,
    flags_of,
    how,
    item,
    legs_of,
    recast,
)
from pipelines.normalize.items.returns import (
    CAPITAL,
    CAPITAL_BEFORE,
    OPERATING_INCOME,
    RETURN_ON_CAPITAL,
    return_on_capital,
    tax_rate,
)

SIGNIFICANT_DIGITS = 6

PREFERRED_SHARE = 0.08
"""Participating securities hardly take more of net income than this; preferred dividends do."""
ROUNDINGS, SHARE_APART = 2, 0.02
"""Four roundings of half a cent each, or two per cent: so far the sum of quarters may be from the control."""
FAR_APART, A_HUNDREDFOLD = 0.5, 2
"""A sum of quarters that is off by half is no sum of like quarters, whatever the reason."""
ISSUANCE = 1.1
"""A count that grows or shrinks by a tenth within a window makes per-share quarters on different counts."""

ROLES = (SUM, MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN, *RETURN_ON_CAPITAL)
"""The parts that legs play in a value; `recomputed` says how they make it."""

CALCULATED = ("eps_basic", "dividends_per_share", "roic", "debt_to_fcf")
SHARES = ("shares_basic", "shares_diluted")


def line_items(flows: pl.DataFrame, money: pl.DataFrame) -> pl.DataFrame:
    """The items that have a value.

    Args:
        flows: of flows.twelve_months.
        money: of wide.

    Returns:
        `cik`, `seq`, `q`, `item`, `value` (units of the reporting currency, shares, or a ratio), `method`, `flags`,
        `legs` (list of structs: `vintage`, `operation`).
    """
    plain = flows.filter(pl.col("concept").is_in(["revenue", "dividends_per_share"])).select(
        *POINT,
        pl.col("concept").cast(pl.String).alias("item"),
        pl.col("amount").alias("value"),
        "method",
        "flags",
        "legs",
    )
    shares = flows.filter(pl.col("concept").is_in(SHARES)).select(
        *POINT,
        pl.col("concept").cast(pl.String).alias("item"),
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


def wide(flows: pl.DataFrame, balances: pl.DataFrame) -> pl.DataFrame:
    """One row a point: amounts by concept, and for flows their `<concept>_how` (method, flags, legs, regime)."""
    stocks = balances.select(
        *POINT,
        "concept",
        "amount",
        how=pl.struct(pl.lit("balance_sheet").alias("method"), pl.lit("").alias("flags"), "legs", "regime"),
    )
    made = flows.select(*POINT, "concept", "amount", how=pl.struct("method", "flags", "legs", "regime"))
    both = pl.concat([made, stocks])
    names = [*(name for name in BY_NAME), "total_debt", "cash_and_equivalents"]
    return both.group_by(POINT, maintain_order=True).agg(
        *(pl.col("amount").filter(pl.col("concept") == name).first().alias(name) for name in names),
        *(pl.col("how").filter(pl.col("concept") == name).first().alias(f"{name}_how") for name in names),
    )


def _net_income(money: pl.DataFrame) -> pl.DataFrame:
    """Net income on one basis: to common shareholders where it is stated throughout or can be completed.

    Throughout means: for the window and the four quarter ends before it, as far as net income is known there, so that
    a figure of annual reports alone makes no sawtooth. Completed means: net income attributable to the parent less
    preferred dividends, where a window of the year before, or this one, has any; without them it has no value. Where
    the two bases differ without preferred dividends (participating securities) and common is not stated throughout,
    the parent's stands, flagged. All of it is judged by what was known after the filing.
    """
    covered = pl.col("net_income_parent").is_not_null() | pl.col("net_income_common").is_not_null()
    frame = _with_year_before(money.filter(covered))
    stated = pl.col("net_income_common").is_not_null()
    has_preferred = pl.col("preferred_dividends") > 0
    near = has_preferred.fill_null(value=False) | pl.col("paid_before")
    basis = (
        pl.when(stated & (~pl.col("unstated_before") | near))
        .then(pl.lit("common"))
        .when(near & pl.col("preferred_dividends").is_not_null())
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
    mark = pl.when((pl.col("basis") == "parent") & pl.col("differs_before")).then(pl.lit("attributable_to_parent"))
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


def _with_year_before(money: pl.DataFrame) -> pl.DataFrame:
    """Add what was known, after the filing, of the four quarter ends before.

    `unstated_before`: net income, but not to common. `paid_before`: preferred dividends, or so much less to common
    than to the parent that there are some. `differs_before`: to common is not the parent's, there or here.
    """
    common, parent = pl.col("net_income_common"), pl.col("net_income_parent")
    differs = (common != parent).fill_null(value=False)
    known = money.select(
        "cik",
        "seq",
        past_q="q",
        unstated=common.is_null() & parent.is_not_null(),
        paid=(pl.col("preferred_dividends") > 0).fill_null(value=False)
        | ((parent - common) > PREFERRED_SHARE * parent.abs()).fill_null(value=False),
        differs=differs,
    ).sort("seq")
    quarters = range(1, QUARTERS_A_YEAR + 1)
    frame = money.sort("seq")
    for back in quarters:
        frame = frame.with_columns(past_q=pl.col("q") - back).join_asof(
            known.rename({name: f"{name}_{back}" for name in ("unstated", "paid", "differs")}),
            on="seq",
            by=["cik", "past_q"],
            check_sortedness=False,
        )

    def any_of(name: str) -> pl.Expr:
        return pl.any_horizontal(pl.col(f"{name}_{back}").fill_null(value=False) for back in quarters)

    return frame.with_columns(
        unstated_before=any_of("unstated"), paid_before=any_of("paid"), differs_before=any_of("differs") | differs
    ).drop("past_q", *(f"{name}_{back}" for name in ("unstated", "paid", "differs") for back in quarters))


def _earnings_per_share(flows: pl.DataFrame, net_income: pl.DataFrame, shares: pl.DataFrame) -> pl.DataFrame:
    """As filed, with net income over average shares for a control, which stands in where it tells better.

    That is where no earnings per share are filed for a window, and where the sum of quarters is another while the
    count changes much within the window or the year that a quarter is left over of (an offering): quarters on few
    shares and on many do not add up. Where they are apart for another reason, what was filed stands, flagged, unless
    it is off by half.

    Source: ASC 260-10-45-10; quarterly earnings per share need not add up to the year's (ASC 270-10-45-19).
    """
    filed = flows.filter(pl.col("concept") == "eps_basic").select(
        *POINT, "grain", item=pl.lit("eps_basic"), value="amount", method="method", flags="flags", legs="legs"
    )
    average = shares.filter((pl.col("item") == "shares_basic") & (pl.col("value") > 0))
    control = (
        net_income.join(average.select(*POINT, shares="value", share_legs="legs"), on=POINT)
        .join(_spreads(flows), on=POINT)
        .select(
            *POINT,
            "spread",
            control=pl.col("value") / pl.col("shares"),
            control_legs=pl.concat_list(recast(pl.col("legs"), DIVIDEND), recast(pl.col("share_legs"), DIVISOR_MEAN)),
        )
    )
    both = filed.join(control, on=POINT, how="full", coalesce=True)
    off = (pl.col("value") - pl.col("control")).abs()
    rounded = ROUNDINGS * pl.col("grain")
    apart = (off > rounded) & (off > SHARE_APART * pl.col("control").abs()) & (pl.col("method") != "fiscal_year")
    offered = apart & (pl.col("spread") > ISSUANCE)
    # a count a thousand times off would make the control the wrong one of the two
    of_one_scale = (pl.col("value") / pl.col("control")).abs().log10().abs() < A_HUNDREDFOLD
    is_far = apart & (off > FAR_APART * pl.col("control").abs()) & of_one_scale
    derived = pl.col("value").is_null()
    takes_control = derived | (offered | is_far).fill_null(value=False)
    mark = (
        pl.when(derived)
        .then(pl.lit("derived"))
        .when(offered)
        .then(pl.lit("issuance"))
        .when(apart)
        .then(pl.lit("apart_from_net_income"))
    )
    return both.select(
        *POINT,
        item=pl.lit("eps_basic"),
        value=pl.when(takes_control).then("control").otherwise("value"),
        method=pl.when(takes_control).then(pl.lit("net_income_over_shares")).otherwise("method"),
        flags=pl.concat_str(pl.col("flags").replace("", None), mark, separator=",", ignore_nulls=True),
        legs=pl.when(takes_control).then("control_legs").otherwise("legs"),
    )


def _spreads(flows: pl.DataFrame) -> pl.DataFrame:
    """How much the count changes around a window: the largest `spread` of it and of the three that end before it."""
    own = flows.filter(pl.col("concept") == "shares_basic").select(*POINT, "spread").sort("seq")
    frame = own
    names = ["spread"]
    for back in range(1, QUARTERS_A_YEAR):
        names.append(f"spread_{back}")
        frame = frame.with_columns(past_q=pl.col("q") - back).join_asof(
            own.rename({"q": "past_q", "spread": names[-1]}), on="seq", by=["cik", "past_q"], check_sortedness=False
        )
    return frame.select(*POINT, spread=pl.max_horizontal(names))


def _calculated(money: pl.DataFrame) -> list[pl.DataFrame]:
    """Free cash flow, the two balances, debt to free cash flow, and return on invested capital."""
    of_one_regime = how("operating_cash_flow", "regime") == how("capital_expenditure", "regime")
    fcf = pl.when(of_one_regime).then(pl.col("operating_cash_flow") - pl.col("capital_expenditure"))
    fcf_legs = pl.concat_list(legs_of("operating_cash_flow"), legs_of("capital_expenditure", times=-1.0))
    fcf_flags = flags_of("operating_cash_flow", "capital_expenditure")
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
    after_tax = pl.col(OPERATING_INCOME) * (1 - tax_rate(pl.col(OPERATING_INCOME)))
    on_capital = after_tax / ((pl.col(CAPITAL) + pl.col(CAPITAL_BEFORE)) / 2)
    quotient = pl.col(DIVIDEND) / pl.coalesce(DIVISOR, DIVISOR_MEAN)
    return sums.select(*of, recomputed=pl.coalesce(on_capital, quotient, MEAN, SUM))
