"""Breaks: filings from which on the figures under a CIK are another company's, or follow other standards.

Belongs here: what tells such a filing. Does not: what becomes of twelve months that lie across it (flows), or why a
value changed (causes).
"""

from datetime import timedelta

import polars as pl

from pipelines.normalize.corrections.powers import thousands
from pipelines.normalize.corrections.scale import NEAR_STATED
from pipelines.normalize.elements.sources import IFRS

FILING = ["cik", "seq"]
SLOT = ["cik", "concept", "start", "end"]

ENTITY, STANDARDS = "entity", "standards"

HALF = 0.5
LARGE = 0.5
FEWEST_FIGURES, FEWEST_CONCEPTS = 6, 3
NEARLY_ALL = 0.75
A_YEAR = timedelta(days=400)
DAYS_OF_YEAR, QUARTER_AND_YEAR = 366, 366 + 135
FLOW_ITEMS = (
    "revenue",
    "net_income",
    "eps_basic",
    "dividends_per_share",
    "free_cash_flow",
    "shares_basic",
    "shares_diluted",
)
"""A filing that states so many figures of earlier periods anew, and nearly all by more than half, shows another
company: after a reverse acquisition the statements are the accounting acquirer's (ASC 805-40-45-1). A restatement, a
disposal or a wrong context moves some figures, and leaves cash or equity or other periods alone."""
SHEET = ("assets", "cash")
"""Nor does a restatement move both of these by so much, where a report shows few figures of earlier periods."""


def regimes(facts: pl.DataFrame, vintages: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `seq`, `regime`: a number that filings share whose figures may be added up.

    Args:
        facts: in filing order.
        vintages: sound ones, with `measure_sign`.
    """
    of_standard = facts.group_by(FILING).agg(ifrs=(pl.col("taxonomy") == IFRS).mean() > HALF)
    return (
        of_standard.join(_other_entities(vintages), on=FILING, how="left")
        .sort(FILING)
        .with_columns(entity=pl.col("another").fill_null(value=False).cum_sum().over("cik"))
        .select(*FILING, regime=(2 * pl.col("entity") + pl.col("ifrs").cast(pl.UInt32)).cast(pl.Int32))
    )


def breaks(of_filing: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `accession`, `filed`, `kind` (entity, standards): the filings that begin another regime.

    Args:
        of_filing: of regimes.
        filings: `cik`, `seq`, `accession`, `filed`.
    """
    before = pl.col("regime").shift().over("cik")
    return (
        filings.join(of_filing, on=FILING)
        .sort(FILING)
        .with_columns(before=before)
        .filter(pl.col("regime") != pl.col("before"))
        .select(
            "cik",
            "accession",
            "filed",
            kind=pl.when(pl.col("regime") // 2 != pl.col("before") // 2)
            .then(pl.lit(ENTITY))
            .otherwise(pl.lit(STANDARDS)),
        )
    )


def straddling(found: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """The twelve months that a break lies in, and what they cannot have: `cik`, `q`, `item`, `reason`.

    A break is seen at the first filing that shows the other past, up to a quarter after the period in which it
    happened; the figures of four quarters around it are not all told in one regime.

    Args:
        found: of breaks.
        grid: of calendar.fiscal_grid.
    """
    since = (pl.col("period_end") - pl.col("filed")).dt.total_days()
    return (
        grid.join(found.select("cik", "filed"), on="cik")
        .filter(since.is_between(-QUARTER_AND_YEAR, DAYS_OF_YEAR))
        .select("cik", "q", item=pl.lit(list(FLOW_ITEMS)), reason=pl.lit("basis_break"))
        .explode("item")
        .unique()
    )


def _other_entities(vintages: pl.DataFrame) -> pl.DataFrame:
    """`cik`, `seq`, `another`: whether the filing shows another company's past than the filings before.

    The filings of the year that follows show the rest of that past, and are no further break.
    """
    before = pl.col("value").shift().over(SLOT)
    pairs = (
        vintages.filter(pl.col("measure_sign") == 0)
        .sort(*SLOT, "seq")
        .with_columns(before=before)
        .filter(pl.col("before") != 0)
        .with_columns(large=(pl.col("value") - pl.col("before")).abs() > LARGE * pl.col("before").abs())
        .filter(thousands(pl.col("value") / pl.col("before"), NEAR_STATED).fill_null(0.0) == 0)
    )
    nearly_all = (
        (pl.len() >= FEWEST_FIGURES)
        & (pl.col("concept").n_unique() >= FEWEST_CONCEPTS)
        & (pl.col("large").mean() >= NEARLY_ALL)
    )
    whole_sheet = pl.all_horizontal((pl.col("large") & (pl.col("concept") == line)).any() for line in SHEET)
    shown = pairs.group_by(FILING).agg(pl.col("filed").first(), another=nearly_all | whole_sheet)
    since = pl.col("filed").diff().over("cik")
    return shown.filter("another").sort(FILING).filter((since > A_YEAR).fill_null(value=True)).drop("filed")
