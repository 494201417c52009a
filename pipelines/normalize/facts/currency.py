"""The reporting currency: the one that a company keeps its books in.

Belongs here: choosing one currency a company, and the facts in it. Does not: conversion; nothing is converted.
"""

import polars as pl

CURRENCY_DAYS = 800
"""Two annual reports and what lies between: so long a company has kept its books in the currency it is served in."""


def reporting_currency(facts: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `currency`: the one of most monetary facts in the filings of the newest years.

    A convenience translation covers the newest year only, and comparatives do not have it, so the majority is the
    currency of the books. A company that changed it has left the former one behind.
    """
    newest = pl.col("filed").max().over("cik")
    return (
        facts.filter(pl.col("measure") == "money", newest - pl.col("filed") <= pl.duration(days=CURRENCY_DAYS))
        .group_by("cik", "currency")
        .len()
        .sort("cik", "len", "currency", descending=[False, True, False])
        .group_by("cik", maintain_order=True)
        .agg(pl.col("currency").first())
    )


def in_currency(facts: pl.DataFrame, currencies: pl.DataFrame) -> pl.DataFrame:
    """The facts in their company's reporting currency, and those in shares; others are never mixed in."""
    return (
        facts.join(currencies.rename({"currency": "reporting"}), on="cik")
        .filter(pl.col("currency").is_null() | (pl.col("currency") == pl.col("reporting")))
        .drop("reporting")
    )
