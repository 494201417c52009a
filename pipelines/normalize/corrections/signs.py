"""Signs: figures that a filing states with the other sign than filings before it.

Belongs here: what earlier filings of a period prove about a sign. Does not: what the figures of one filing prove about
each other (identities).

Only the same filing and earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

import polars as pl

SLOT = ["cik", "concept", "start", "end"]

UNCHECKED = ("operating_cash_flow", "capital_expenditure", "operating_income", "pretax_income")
"""Concepts that no identity holds the sign of, so that filings alone can."""

SAME = 0.001

BY_FILINGS = "earlier filings of the same period"


def repaired(vintages: pl.DataFrame) -> pl.DataFrame:
    """Multiply `value` and `repair` by -1 where a figure merely has the other sign than before.

    It is turned back, unless the filings that state it so are more by now than those that stated it otherwise.

    Args:
        vintages: of scale.repaired.
    """
    size, sign = pl.col("value").abs(), pl.col("value").sign()
    alike = ((size - size.first().over(SLOT)).abs() <= SAME * size).fill_null(value=False)
    signed = (
        vintages.filter(pl.col("concept").is_in(UNCHECKED), pl.col("value") != 0)
        .sort(*SLOT, "seq")
        .filter(alike)
        .with_columns(sign=sign)
    )
    balance = pl.col("sign").cum_sum().over(SLOT)
    majority = pl.when(balance == 0).then(pl.col("sign").first().over(SLOT)).otherwise(balance.sign())
    flipped = signed.filter(pl.col("sign") != majority).select("vintage", factor=pl.lit(-1.0))
    factor = pl.col("factor").fill_null(1.0)
    return (
        vintages.join(flipped, on="vintage", how="left", maintain_order="left")
        .with_columns(
            pl.col("value", "repair") * factor,
            evidence=pl.when(factor < 0).then(pl.lit(BY_FILINGS)).otherwise("evidence"),
        )
        .drop("factor")
    )
