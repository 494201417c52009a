"""Breaks: filings from which on the figures under a CIK are another company's, follow other accounting standards, or
are in another purchasing power.

Belongs here: how these filings are found, and which twelve months have no value because of them. Does not: combining
figures of one regime (ttm), why a value changed (causes).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import previous
from pipelines.normalize.elements import CONCEPTS, REPEATING
from pipelines.normalize.elements.sources import IFRS
from pipelines.normalize.powers import NEAR_STATED, power_of_thousand
from pipelines.normalize.rule import Rule
from warehouse.contract.line_items import items_of

FILING = ["cik", "seq"]

ANOTHER_COMPANY = Rule(
    "break.entity.nearly-all-figures",
    "If a filing restates by more than half nearly all earlier figures (at least six, of three concepts), or total "
    "assets and cash of one date, they are another company's figures and are not added to earlier ones.",
    "ASC 805-40-45-1: after a reverse acquisition the statements are those of the accounting acquirer",
    "withhold",
)
OTHER_STANDARDS = Rule(
    "break.standards",
    "If most facts of a filing follow other accounting standards than the filing before, its figures are not added to "
    "those of earlier filings.",
    "us-gaap and ifrs-full taxonomies: the taxonomy of a fact is that of the standards it follows",
    "withhold",
)
PURCHASING_POWER = Rule(
    "break.purchasing-power",
    "If a filing restates nearly all earlier figures (at least six, of three concepts) by one factor of 1.05 to 5, "
    "it is in the purchasing power of its own date: growth rates do not compare it with earlier filings.",
    "IAS 29.8 and 29.34: in a hyperinflationary economy comparatives are restated by a general price index",
    "flag",
)
ACROSS = Rule(
    "break.twelve-months-across",
    "Twelve months in which the company or its accounting standards changed have no value, unless all figures that "
    "are added up are from before the change or all from after it.",
    "ASC 250-10-45-21 (change in the reporting entity) and IFRS 1.21: comparatives are stated on the new basis",
    "withhold",
)
RULES = (ANOTHER_COMPANY, OTHER_STANDARDS, PURCHASING_POWER, ACROSS)

REGIMES_OF_COMPANY = 2
"""How many regimes each company can have: one under US-GAAP, one under IFRS."""
MOST_FACTS = 0.5
"""A filing follows the standards of more than half of its facts; a few facts of other standards are not a change."""
LARGE = 0.5
"""A restatement or a disposal changes some figures by more than half, but not cash, equity or other periods."""
FEWEST_RESTATED, FEWEST_CONCEPTS = 6, 3
"""Fewer figures or concepts may all change in one restatement."""
INFLATION, ONE_FACTOR = (1.05, 5.0), 0.01
"""The range of the factor of a price index, and the tolerance. Restated figures all change by one factor, except for
rounding and a few lines that are stated otherwise. Argentina's index of 2023 is 3.1 times the index of 2022; the
figures of another company differ by more."""
MOVED_PART = 0.75
"""The share of the figures that must change; a few stay about the same by chance."""
SHEET = ("total_assets", "cash")
"""A restatement does not change both of these by more than half; they decide if a report has few earlier figures."""
DAYS_OF_YEAR, QUARTER_AND_YEAR = 366, 366 + 135
"""A break becomes visible up to a quarter, plus the time until its report, after it happened. Filings within a further
year show the rest of the other company's past, and are not another break."""
LINE = ["cik", "concept", "start", "end"]
_MONEY = [concept.name for concept in CONCEPTS if concept.measure == "money" and concept.name not in REPEATING]
RULE_OF_KIND = {
    "entity": ANOTHER_COMPANY.id,
    "standards": OTHER_STANDARDS.id,
    "purchasing_power": PURCHASING_POWER.id,
}


def regimes(facts: pl.DataFrame, vintages: pl.DataFrame) -> pl.DataFrame:
    """The regime of each filing: filings of one regime are of one company and one set of standards.

    Args:
        facts: typed facts in filing order.
        vintages: corrected amounts of filings: `cik`, `seq`, `filed`, `concept`, `start`, `end`, `value`.

    Returns:
        `cik`, `seq`, sorted: `regime` (a number, different on both sides of a break), `entity` (number of breaks of
        the entity so far), `is_ifrs`, `is_repriced` (whether the filing restates earlier figures by a price index).
    """
    entity = pl.col("begins").fill_null(value=False).cum_sum().over("cik").cast(pl.Int32)
    return (
        facts.group_by(FILING)
        .agg(is_ifrs=OTHER_STANDARDS.where((pl.col("taxonomy") == IFRS).mean() > MOST_FACTS))
        .sort(FILING)
        .join(_restating(vintages), on=FILING, how="left", maintain_order="left")
        .select(
            *FILING,
            "is_ifrs",
            pl.col("is_repriced").fill_null(value=False),
            regime=(REGIMES_OF_COMPANY * entity + pl.col("is_ifrs")).cast(pl.Int32),
            entity=entity,
        )
    )


def breaks(of_filing: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """The filings that begin another regime or are in another purchasing power.

    Returns:
        `cik`, `accession`, `filed`, `kind` (entity, standards, purchasing_power), `rule`.

    Args:
        of_filing: of regimes.
        filings: `cik`, `seq`, `accession`, `filed`.
    """
    return (
        filings.join(of_filing, on=FILING)
        .sort(FILING)
        .with_columns(
            kind=pl.when(pl.col("entity") != pl.col("entity").shift().over("cik"))
            .then(pl.lit("entity"))
            .when(pl.col("regime") != pl.col("regime").shift().over("cik"))
            .then(pl.lit("standards"))
            .when("is_repriced")
            .then(pl.lit("purchasing_power"))
        )
        .drop_nulls("kind")
        .select("cik", "accession", "filed", "kind", rule=pl.col("kind").replace_strict(RULE_OF_KIND))
    )


def twelve_months_across_breaks(found: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """The twelve months that contain a break, and their items without value: `cik`, `q`, `item`, `reason`, `rule`.

    The date of a break is the date of the first filing that shows the other past, up to a quarter after the period in
    which the break happened. The figures of the four quarters around it are not all stated in one regime.

    Args:
        found: of breaks.
        grid: of calendar.fiscal_grid.
    """
    return (
        grid.join(found.filter(pl.col("kind") != "purchasing_power").select("cik", "filed"), on="cik")
        .with_columns(since=(pl.col("period_end") - pl.col("filed")).dt.total_days())
        .filter(ACROSS.where(pl.col("since").is_between(-QUARTER_AND_YEAR, DAYS_OF_YEAR)))
        .select("cik", "q", item=pl.lit(list(items_of("flow"))), reason=pl.lit("basis_break"), rule=pl.lit(ACROSS.id))
        .explode("item")
        .unique()
    )


def _restating(vintages: pl.DataFrame) -> pl.DataFrame:
    """The filings that restate nearly all earlier figures: as another company (`begins`), or by a price index.

    Errors of scale (a figure a thousand times another one) do not count.

    Returns:
        `cik`, `seq`, `begins`, `is_repriced`.
    """
    former, value = pl.col("former"), pl.col("value")
    is_moved = (value - former).abs() > LARGE * former.abs()
    again = (
        vintages.filter(pl.col("concept").is_in(_MONEY))
        .sort(*LINE, "seq", maintain_order=True)
        .with_columns(former=previous(value, LINE))
        .filter(former != 0)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        is_off_scale = np.abs(power_of_thousand((again["value"] / again["former"]).to_numpy(), NEAR_STATED)) > 0
    is_whole_sheet = pl.col("concept").filter(pl.col("concept").is_in(SHEET) & is_moved).n_unique() == len(SHEET)
    is_enough = (pl.len() >= FEWEST_RESTATED) & (pl.col("concept").n_unique() >= FEWEST_CONCEPTS)
    factor = value / former
    is_of_one = (factor / factor.median() - 1).abs() <= ONE_FACTOR
    is_inflated = is_enough & (is_of_one.mean() >= MOVED_PART) & factor.median().is_between(*INFLATION)
    shown = (
        again.filter(~is_off_scale)
        .group_by(FILING)
        .agg(
            pl.col("filed").first(),
            shown=is_whole_sheet | (is_enough & (is_moved.mean() >= MOVED_PART)),
            is_repriced=PURCHASING_POWER.where(is_inflated),
        )
        .sort(FILING)
    )
    others = (
        shown.filter(ANOTHER_COMPANY.where(pl.col("shown") & ~pl.col("is_repriced")))
        .with_columns(since_last=(pl.col("filed") - pl.col("filed").shift().over("cik")).dt.total_days())
        .filter((pl.col("since_last") > QUARTER_AND_YEAR).fill_null(value=True))
    )
    begins = others.select(*FILING, begins=True)
    return shown.join(begins, on=FILING, how="left", maintain_order="left").select(*FILING, "begins", "is_repriced")
