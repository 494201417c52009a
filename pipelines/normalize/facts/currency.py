"""The reporting currency: the currency of a company's books.

Belongs here: choosing one currency for each company, and selecting the facts in it. Does not: conversion; no amount is
converted.
"""

import polars as pl

from pipelines.normalize.decisions import DECISIONS
from pipelines.normalize.rule import Rule

REPORTING = Rule(
    "currency.reporting",
    "Amounts count only in the reporting currency, the currency of most amounts of money that the company filed in the "
    "800 days up to its newest filing; a convenience translation is left out.",
    "Regulation S-X Rule 3-20: statements in one currency; a convenience translation covers the newest year only",
    "withhold",
)

CURRENCY_DAYS = 800
"""The time of two annual reports: a company that changed its currency has used the new one for so long."""


def reporting_currency(facts: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `currency`: the currency of most monetary facts in the filings of the newest years.

    A convenience translation covers the newest year only and has no comparatives, so most facts are in the currency of
    the books. The values of a company that changed its currency are in the new one.
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


def in_currency(facts: pl.DataFrame, currencies: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The facts in their company's reporting currency and those in shares, without facts in other currencies.

    Args:
        facts: typed facts.
        currencies: of reporting_currency; a company that is missing has no facts that count.

    Returns:
        the facts; and the decisions (decisions.DECISIONS).
    """
    marked = facts.join(currencies.rename({"currency": "reporting"}), on="cik", maintain_order="left")
    is_other = REPORTING.where((marked["currency"] != marked["reporting"]).fill_null(value=False))
    others = marked.filter(is_other).group_by("cik").agg(figures=pl.len())
    decisions = others.select("cik", rule=pl.lit(REPORTING.id), figures="figures").cast(DECISIONS)
    return marked.filter(~is_other).drop("reporting"), decisions
