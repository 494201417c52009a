"""Signs: figures with the opposite sign of other filings.

Belongs here: errors of sign that earlier filings of the same period prove. Does not: errors that other figures of the
same filing prove (identities).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np
import polars as pl

from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.rule import Rule

UNCHECKED = ("operating_cash_flow", "capital_expenditure", "operating_income", "pretax_income")
"""Concepts whose sign no identity determines, so only other filings can."""

SAME_BUT_FOR_SIGN = 0.001
"""Two figures are equal except for the sign if their amounts differ by less than this share. Rounding to three digits
changes an amount by more."""

BY_FILINGS_OF_PERIOD = "earlier filings of the same period"
BY_LINE = "the figures of the line for other periods, as filings state both signs equally often"

SIGN_OF_FILINGS = Rule(
    "correction.sign.filings-of-period",
    "Operating cash flow, capital expenditure, operating income and income before tax have the sign that most filings "
    "state so far; if as many state either, that of the line's other periods; else they are left out.",
    "taxonomy definitions: a line of one period has one sign; measured on 228 companies: 2 of 32,700 figures are of "
    "periods with such a tie",
    "correct",
)


def proposals(figures: Figures) -> list[Proposal]:
    """Figures that differ from earlier filings by the sign only."""
    at = figures.of_concepts(UNCHECKED)
    at = at[np.abs(figures.value[at]) > 0]
    names = ("line", "seq", "first", "value")
    size, first = pl.col("value").abs(), pl.col("value").abs().first().over("first")
    votes = (
        pl.DataFrame({"at": at, **{name: getattr(figures, name)[at] for name in names}})
        .filter((size - first).abs() <= SAME_BUT_FOR_SIGN * size)
        .with_columns(sign=pl.col("value").sign())
        .with_columns(of_period=pl.col("sign").cum_sum().over("first"))
        .sort("line", "seq", maintain_order=True)
        .with_columns(of_line=pl.col("sign").cum_sum().over("line"))
        .with_columns(pl.col("of_line").last().over("line", "seq"))
    )
    is_tied, is_turned = pl.col("of_period") == 0, pl.col("sign") == -pl.col("of_line").sign()
    by_none = "filings state both signs equally often, and so do those of the line's other periods"
    return [
        Proposal(SIGN_OF_FILINGS, evidence, votes.filter(holds)["at"].to_numpy(), factor)
        for evidence, holds, factor in (
            (BY_FILINGS_OF_PERIOD, pl.col("sign") == -pl.col("of_period").sign(), -1.0),
            (BY_LINE, is_tied & is_turned, -1.0),
            (by_none, is_tied & (pl.col("of_line") == 0), np.nan),
        )
    ]
