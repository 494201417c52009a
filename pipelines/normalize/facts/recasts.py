"""Current reports: which of their figures count beside the periodic reports.

Belongs here: what an 8-K or 6-K may say of a period. Does not: which forms are read at all (facts).
"""

import polars as pl

SLOT = ["cik", "concept", "start", "end"]
FILING = ["cik", "seq"]

COMPLETE: tuple[tuple[str, ...], ...] = (
    ("net_income_common", "net_income_parent"),
    ("revenue",),
    ("operating_cash_flow", "assets", "equity", "cash"),
)
"""A complete set of statements states one concept of each row: profit, revenue, and one of a second statement."""


def without_partial_recasts(vintages: pl.DataFrame) -> pl.DataFrame:
    """Leave out what a current report says anew of a period, unless it carries a complete set of statements.

    After a change of segments, a disposal or a new standard, a company files its audited statements again under
    cover of an 8-K (Form 8-K item 8.01 or 9.01, Regulation S-K item 10), and a foreign issuer its interim statements
    under a 6-K: these count like periodic reports. A press release repeats single figures, and restates nothing; what
    no periodic report said before it is taken from it too.

    Args:
        vintages: of stated.stated_concepts.
    """
    states = [pl.col("concept").is_in(one_of).any().over(FILING) for one_of in COMPLETE]
    reported = pl.col("seq").filter(pl.col("periodic")).min().over(SLOT)
    is_new = (pl.col("seq") < reported).fill_null(value=True)
    return vintages.filter(pl.col("periodic") | pl.all_horizontal(states) | is_new)
