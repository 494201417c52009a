"""Return on invested capital: operating income after tax over the capital that earned it.

Belongs here: the tax rate, invested capital, and when a return on it says nothing. Does not: total debt and cash
(balances), twelve months of income (flows).
"""

import polars as pl

from pipelines.normalize.legs import QUARTERS_A_YEAR, how, item, legs_of, recast

STATUTORY_TAX_RATE = 0.21
"""Internal Revenue Code section 11(b), where a loss before tax says nothing about the rate on operating income."""
HIGHEST_TAX_RATE = 0.35
THIN_CAPITAL = 0.05
"""Capital below this share of assets makes a ratio to it explode."""

OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX = "operating_income", "pretax_income", "income_tax"
CAPITAL, CAPITAL_BEFORE = "capital", "capital_before"
RETURN_ON_CAPITAL = (OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX, CAPITAL, CAPITAL_BEFORE)
"""The parts that legs play in a return on capital."""


def return_on_capital(money: pl.DataFrame) -> pl.DataFrame:
    """Operating income after tax over the mean of invested capital now and four quarters before.

    Capital is debt and equity with minorities, less cash; both ends are required. Banks have no such capital.
    """
    capital = money.filter(pl.col("industry") != "bank").with_columns(
        capital=pl.col("total_debt") + pl.col("equity") - pl.col("cash_and_equivalents"),
        capital_legs=pl.concat_list(
            legs_of("total_debt", CAPITAL),
            legs_of("equity", CAPITAL),
            legs_of("cash_and_equivalents", CAPITAL, times=-1.0),
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
        legs_of("operating_income", OPERATING_INCOME),
        legs_of("pretax_income", PRETAX_INCOME),
        legs_of("income_tax", INCOME_TAX),
        "capital_legs",
        recast(pl.col("legs_before"), CAPITAL_BEFORE),
    )
    value = pl.when(sound).then(income * (1 - tax_rate()) / mean_capital)
    return item(frame, "roic", value, pl.lit("ratio"), how("operating_income", "flags"), legs)


def tax_rate() -> pl.Expr:
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
