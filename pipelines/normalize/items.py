"""The eleven line items, from twelve-month flows and balances.

Belongs here: how concepts combine into the items of the specification (section 2.4), and why an item has no value.
Does not: where the concepts' amounts come from (flows, balances).
"""

import polars as pl

from pipelines.normalize.concepts import BY_NAME, ITEM_CONCEPTS
from pipelines.normalize.flows import LEG, SUM
from warehouse.schema import ITEM_NAMES

SIGNIFICANT_DIGITS = 6
QUARTERS_A_YEAR = 4

STATUTORY_TAX_RATE = 0.21
"""Internal Revenue Code section 11(b), where a loss before tax says nothing about the rate on operating income."""
HIGHEST_TAX_RATE = 0.35
THIN_CAPITAL = 0.05
"""Capital below this share of assets makes a ratio to it explode."""

POINT = ["cik", "seq", "q"]

MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN = "mean", "dividend", "divisor", "divisor_mean"
OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX = "operating_income", "pretax_income", "income_tax"
CAPITAL, CAPITAL_BEFORE = "capital", "capital_before"
RETURN_ON_CAPITAL = (OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX, CAPITAL, CAPITAL_BEFORE)
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
        _recast(pl.col("legs"), MEAN).alias("legs"),
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


def _how(concept: str, field: str) -> pl.Expr:
    return pl.col(f"{concept}_how").struct.field(field)


def _legs_of(concept: str, role: str = SUM, times: float = 1.0) -> pl.Expr:
    """The legs of a concept, none where it has none; in a role, and times a factor."""
    return _recast(_how(concept, "legs"), role, times).fill_null(pl.lit([], pl.List(LEG)))


def _recast(legs: pl.Expr, role: str, times: float = 1.0) -> pl.Expr:
    """Legs in another role, their weights multiplied."""
    leg = pl.element().struct
    return legs.list.eval(leg.with_fields(role=pl.lit(role), weight=leg.field("weight") * times))


def _item(
    frame: pl.DataFrame, item: str, value: pl.Expr, method: pl.Expr, flags: pl.Expr, legs: pl.Expr
) -> pl.DataFrame:
    named = frame.select(*POINT, item=pl.lit(item), value=value, method=method, flags=flags.fill_null(""), legs=legs)
    return named.drop_nulls("value")


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
    parents, commons = _how("net_income_parent", "flags"), _how("net_income_common", "flags")
    flags = pl.concat_str(
        pl.when(is_common).then(commons).otherwise(parents).replace("", None), mark, separator=",", ignore_nulls=True
    )
    method = pl.when(is_common).then(_how("net_income_common", "method")).otherwise(_how("net_income_parent", "method"))
    legs = (
        pl.when(is_common)
        .then(_legs_of("net_income_common"))
        .when(is_completed)
        .then(pl.concat_list(_legs_of("net_income_parent"), _legs_of("preferred_dividends", times=-1.0)))
        .otherwise(_legs_of("net_income_parent"))
    )
    return _item(frame, "net_income", value, method, flags, legs)


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
            legs=pl.concat_list(_recast(pl.col("legs"), DIVIDEND), _recast(pl.col("share_legs"), DIVISOR_MEAN)),
        )
    )
    return pl.concat([filed, derived])


def _calculated(money: pl.DataFrame) -> list[pl.DataFrame]:
    """Free cash flow, the two balances, debt to free cash flow, and return on invested capital."""
    fcf = pl.col("operating_cash_flow") - pl.col("capital_expenditure")
    fcf_legs = pl.concat_list(_legs_of("operating_cash_flow"), _legs_of("capital_expenditure", times=-1.0))
    fcf_flags = _how("operating_cash_flow", "flags")
    years = pl.when(fcf > 0).then(pl.col("total_debt") / fcf)
    balances = [
        _item(money, item, pl.col(item), pl.lit("balance_sheet"), pl.lit(""), _legs_of(item))
        for item in ("total_debt", "cash_and_equivalents")
    ]
    return [
        _item(money, "free_cash_flow", fcf, _how("operating_cash_flow", "method"), fcf_flags, fcf_legs),
        *balances,
        _item(
            money,
            "debt_to_fcf",
            years,
            pl.lit("ratio"),
            fcf_flags,
            pl.concat_list(_legs_of("total_debt", DIVIDEND), _recast(fcf_legs, DIVISOR)),
        ),
        _return_on_capital(money),
    ]


def _return_on_capital(money: pl.DataFrame) -> pl.DataFrame:
    """Operating income after tax over the mean of invested capital now and four quarters before.

    Capital is debt and equity with minorities, less cash; both ends are required. Banks have no such capital.
    """
    capital = money.filter(pl.col("industry") != "bank").with_columns(
        capital=pl.col("total_debt") + pl.col("equity") - pl.col("cash_and_equivalents"),
        capital_legs=pl.concat_list(
            _legs_of("total_debt", CAPITAL),
            _legs_of("equity", CAPITAL),
            _legs_of("cash_and_equivalents", CAPITAL, times=-1.0),
        ),
    )
    before = capital.select(
        "cik",
        "seq",
        q=pl.col("q") + QUARTERS_A_YEAR,
        capital_before="capital",
        assets_before="assets",
        legs_before="capital_legs",
    )
    income = pl.col("operating_income")
    mean_capital = (pl.col("capital") + pl.col("capital_before")) / 2
    mean_assets = (pl.col("assets") + pl.col("assets_before")) / 2
    sound = (mean_capital > 0) & (mean_capital >= THIN_CAPITAL * mean_assets)
    frame = (
        capital.sort("seq")
        .join_asof(before.sort("seq"), on="seq", by=["cik", "q"], check_sortedness=False)
        .drop_nulls("capital_before")
    )
    legs = pl.concat_list(
        _legs_of("operating_income", OPERATING_INCOME),
        _legs_of("pretax_income", PRETAX_INCOME),
        _legs_of("income_tax", INCOME_TAX),
        "capital_legs",
        _recast(pl.col("legs_before"), CAPITAL_BEFORE),
    )
    value = pl.when(sound).then(income * (1 - _tax_rate()) / mean_capital)
    return _item(frame, "roic", value, pl.lit("ratio"), _how("operating_income", "flags"), legs)


def _tax_rate() -> pl.Expr:
    """The rate on operating income: as filed, within bounds; the statutory one where a loss before tax tells none."""
    pretax = pl.col("pretax_income")
    return (
        pl.when(pretax > 0)
        .then((pl.col("income_tax") / pretax).clip(0.0, HIGHEST_TAX_RATE))
        .when(pl.col("operating_income") > 0)
        .then(pl.lit(STATUTORY_TAX_RATE))
        .when(pretax.is_not_null())
        .then(pl.lit(0.0))
    )


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
    on_capital = pl.col(OPERATING_INCOME) * (1 - _tax_rate()) / ((pl.col(CAPITAL) + pl.col(CAPITAL_BEFORE)) / 2)
    quotient = pl.col(DIVIDEND) / pl.coalesce(DIVISOR, DIVISOR_MEAN)
    return sums.select(*of, recomputed=pl.coalesce(on_capital, quotient, MEAN, SUM))


def gaps(items: pl.DataFrame, stated: pl.DataFrame, of_industry: pl.DataFrame) -> pl.DataFrame:
    """Why a window that has some value lacks an item: `cik`, `q`, `item`, `reason`.

    Args:
        items: of line_items, at one point a company.
        stated: `cik`, `concept` of everything that a company ever states.
        of_industry: `cik`, `industry`.
    """
    windows = items.select("cik", "q").unique()
    wanted = windows.join(pl.DataFrame({"item": ITEM_NAMES}), how="cross")
    missing = wanted.join(items.select("cik", "q", "item"), on=["cik", "q", "item"], how="anti")
    ever = (
        stated.select("cik", "concept")
        .unique()
        .join(_concepts_of_items(), on="concept")
        .group_by("cik", "item")
        .agg(stated=pl.col("group").n_unique(), groups=pl.col("groups").first())
    )
    values = items.filter(pl.col("item").is_in(["free_cash_flow", "total_debt"])).select(
        "cik", "q", pl.col("item").alias("input"), "value"
    )
    inputs = values.group_by("cik", "q").agg(
        fcf=pl.col("value").filter(pl.col("input") == "free_cash_flow").first(),
        debt=pl.col("value").filter(pl.col("input") == "total_debt").first(),
    )
    described = (
        missing.join(ever, on=["cik", "item"], how="left")
        .join(inputs, on=["cik", "q"], how="left")
        .join(of_industry, on="cik", how="left")
    )
    item = pl.col("item")
    balance = item.is_in(["total_debt", "cash_and_equivalents"])
    reason = (
        pl.when((item == "debt_to_fcf") & (pl.col("fcf") <= 0))
        .then(pl.lit("negative_fcf"))
        .when((item == "debt_to_fcf") & pl.col("fcf").is_null())
        .then(pl.lit("no_free_cash_flow"))
        .when((item == "debt_to_fcf") & pl.col("debt").is_null())
        .then(pl.lit("no_total_debt"))
        .when((item == "roic") & (pl.col("industry") == "bank"))
        .then(pl.lit("financial_company"))
        .when(pl.col("stated").is_null() | (pl.col("stated") < pl.col("groups")))
        .then(pl.lit("no_tag"))
        .when((item == "roic") & pl.col("debt").is_null())
        .then(pl.lit("no_total_debt"))
        .when(item == "roic")
        .then(pl.lit("capital_undefined"))
        .when(balance)
        .then(pl.lit("not_on_balance_sheet"))
        .otherwise(pl.lit("missing_quarter"))
    )
    return described.select("cik", "q", "item", reason=reason).sort("cik", "q", "item")


ALL_NEEDED = ("free_cash_flow", "roic")
"""Items that need each of their concepts; the others need one of them."""


def _concepts_of_items() -> pl.DataFrame:
    """`concept`, `item`, `group` (concepts that stand in for each other), `groups` (how many the item needs)."""
    rows = [
        {
            "concept": concept.name,
            "item": item,
            "group": concept.name if item in ALL_NEEDED else item,
            "groups": len(concepts) if item in ALL_NEEDED else 1,
        }
        for item, concepts in ITEM_CONCEPTS.items()
        for concept in concepts
    ]
    return pl.DataFrame(rows)
