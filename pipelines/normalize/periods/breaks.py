"""Breaks: filings from which on the figures under a CIK are another company's, or follow other accounting standards.

Belongs here: how such a filing is found, and which twelve months have no value because of it. Does not: combining
figures of one regime (ttm), why a value changed (causes).
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, ints, starts
from pipelines.normalize.corrections.powers import power_of_thousand
from pipelines.normalize.corrections.scale import NEAR_STATED
from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.elements.sources import IFRS
from pipelines.normalize.keys import filing_rows, packed, sortable_days
from pipelines.normalize.rule import Rule
from warehouse.schema import items_of

FILING = ["cik", "seq"]

ENTITY, STANDARDS = "entity", "standards"

NEARLY_ALL_FIGURES = Rule(
    "break.entity.nearly-all-figures",
    "A filing that restates at least six figures of earlier periods, of three concepts, and nearly all of them by more "
    "than half, shows another company's past: its figures are not added to those of earlier filings.",
    "ASC 805-40-45-1: after a reverse acquisition the statements are those of the accounting acquirer",
    "withhold",
)
WHOLE_SHEET = Rule(
    "break.entity.whole-sheet",
    "A filing that restates both total assets and cash of an earlier day by more than half shows another company's "
    "balance sheet: its figures are not added to those of earlier filings.",
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
ACROSS = Rule(
    "break.twelve-months-across",
    "Twelve months in which the company or its standards changed have no value unless all their figures are from the "
    "same side of the change.",
    "ASC 250-10-45-21 (change in the reporting entity) and IFRS 1.21: comparatives are stated on the new basis",
    "withhold",
)
RULES = (NEARLY_ALL_FIGURES, WHOLE_SHEET, OTHER_STANDARDS, ACROSS)

REGIMES_OF_COMPANY = 2
"""Numbers of regimes for each company: one by US-GAAP, one by IFRS."""
MOST_FACTS = 0.5
"""A filing follows the standards of more than half of its facts; a few facts of other standards are not a change."""
LARGE = 0.5
"""A restatement or a disposal changes some figures by more than half, but not cash, equity or other periods."""
FEWEST_RESTATED, FEWEST_CONCEPTS = 6, 3
"""Fewer figures or concepts may all change in one restatement."""
MOVED_PART = 0.75
"""The share of the figures that must change; a few stay about the same by chance."""
SHEET = ("assets", "cash")
"""A restatement does not change both of these by so much; they decide if a report has few earlier figures."""
SAME_BREAK_DAYS = 400
"""Filings within so many days show the rest of the other company's past, and are not another break."""
DAYS_OF_YEAR, QUARTER_AND_YEAR = 366, 366 + 135
"""A break becomes visible up to a quarter, plus the time until its report, after it happened."""
_IS_MONEY: Flags = np.isin(AMOUNT.categories.to_numpy(), [one.name for one in CONCEPTS if one.measure == "money"])
_SHEET: Ints = np.array([AMOUNT.categories.index_of(name) for name in SHEET])


def regimes(facts: pl.DataFrame, vintages: pl.DataFrame) -> pl.DataFrame:
    """The regime of each filing: filings of one regime are of one company and one set of standards.

    Args:
        facts: typed facts in filing order.
        vintages: corrected amounts of filings: `cik`, `seq`, `filed`, `concept`, `start`, `end`, `value`.

    Returns:
        `cik`, `seq`, sorted: `regime` (a number, different on both sides of a break), `entity` (number of breaks of
        the entity so far), `is_ifrs`, `entity_rule` (the rule by which another entity begins here, or null).
    """
    filings = facts.group_by(FILING).agg(is_ifrs=(pl.col("taxonomy") == IFRS).mean() > MOST_FACTS).sort(FILING)
    cik, is_ifrs = ints(filings, "cik"), filings["is_ifrs"].to_numpy()
    rule = _entity_rules(vintages, filings)
    begun = np.cumsum(rule != NO_RULE)
    first = np.maximum.accumulate(np.where(starts(cik), np.arange(len(cik)), 0))
    before_company = begun[first] - (rule[first] != NO_RULE)
    entity = begun - before_company
    return filings.with_columns(
        regime=pl.Series((REGIMES_OF_COMPANY * entity + is_ifrs).astype(np.int32)),
        entity=pl.Series(entity.astype(np.int32)),
        entity_rule=pl.Series([None, *(one.id for one in RULES[:2])], dtype=pl.String)[rule],
    )


def breaks(of_filing: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """The filings that begin another regime: `cik`, `accession`, `filed`, `kind` (entity, standards), `rule`.

    Args:
        of_filing: of regimes.
        filings: `cik`, `seq`, `accession`, `filed`.
    """
    another = pl.col("entity") != pl.col("entity").shift().over("cik")
    other_standards = pl.col("is_ifrs") != pl.col("is_ifrs").shift().over("cik")
    return (
        filings.join(of_filing, on=FILING)
        .sort(FILING)
        .with_columns(another=another)
        .filter(pl.col("another") | other_standards)
        .select(
            "cik",
            "accession",
            "filed",
            kind=pl.when("another").then(pl.lit(ENTITY)).otherwise(pl.lit(STANDARDS)),
            rule=pl.when("another").then("entity_rule").otherwise(pl.lit(OTHER_STANDARDS.id)),
        )
    )


def straddling(found: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """The twelve months that contain a break, and their items without value: `cik`, `q`, `item`, `reason`, `rule`.

    The date of a break is that of the first filing that shows the other past, up to a quarter after the period in which
    the break happened. The figures of the four quarters around it are not all stated in one regime.

    Args:
        found: of breaks.
        grid: of calendar.fiscal_grid.
    """
    since = (pl.col("period_end") - pl.col("filed")).dt.total_days()
    return (
        grid.join(found.select("cik", "filed"), on="cik")
        .filter(since.is_between(-QUARTER_AND_YEAR, DAYS_OF_YEAR))
        .select("cik", "q", item=pl.lit(list(items_of("flow"))), reason=pl.lit("basis_break"), rule=pl.lit(ACROSS.id))
        .explode("item")
        .unique()
    )


NO_RULE = 0


class _Pairs(NamedTuple):
    """Figures of money that an earlier filing stated too, compared with the last such filing.

    filing: row of the filing. concept: its code. filed: day of filing. large: whether they differ by more than half.
    """

    filing: Ints
    concept: Ints
    filed: Ints
    large: Flags


def _entity_rules(vintages: pl.DataFrame, filings: pl.DataFrame) -> Ints:
    """For each filing the number (1 or 2) of the rule by which it shows another company's past, or NO_RULE."""
    pairs = _stated_anew(vintages, filings)
    rule = np.full(filings.height, NO_RULE)
    figures = np.bincount(pairs.filing, minlength=filings.height)
    moved = np.bincount(pairs.filing, pairs.large, minlength=filings.height)
    is_stated, is_moved = (np.zeros((filings.height, len(_IS_MONEY)), dtype=np.bool_) for _ in range(2))
    is_stated[pairs.filing, pairs.concept] = True
    is_moved[pairs.filing[pairs.large], pairs.concept[pairs.large]] = True
    rule[is_moved[:, _SHEET].all(axis=1)] = 2
    enough = (figures >= FEWEST_RESTATED) & (is_stated.sum(axis=1) >= FEWEST_CONCEPTS)
    rule[enough & (moved >= MOVED_PART * figures)] = 1
    shown = np.flatnonzero(rule)
    filed = np.zeros(filings.height, dtype=np.int64)
    filed[pairs.filing[::-1]] = pairs.filed[::-1]
    is_first = starts(ints(filings, "cik")[shown])
    repeats = np.append(False, np.diff(filed[shown]) <= SAME_BREAK_DAYS)[: len(shown)] & ~is_first
    rule[shown[repeats]] = NO_RULE
    return rule


def _stated_anew(vintages: pl.DataFrame, filings: pl.DataFrame) -> _Pairs:
    """Figures of money that an earlier filing stated too, without errors of scale (a thousand times another)."""
    rows = np.flatnonzero(_IS_MONEY[ints(vintages, "concept")])
    cik, seq = ints(vintages, "cik")[rows], ints(vintages, "seq")[rows]
    concept, value = ints(vintages, "concept")[rows], vintages["value"].to_numpy()[rows]
    line = packed(cik, concept, sortable_days(vintages["start"])[rows], sortable_days(vintages["end"])[rows])
    order = np.argsort(packed(line, seq), kind="stable")
    again = np.flatnonzero(~starts(line[order]))
    at, before = order[again], order[again - 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        power = power_of_thousand(value[at] / value[before], NEAR_STATED)
    counts = (value[before] != 0) & ~(np.abs(power) > 0)
    at, before = at[counts], before[counts]
    difference: Floats = np.abs(value[at] - value[before])
    return _Pairs(
        filing=filing_rows(cik[at], seq[at], filings),
        concept=concept[at],
        filed=sortable_days(vintages["filed"])[rows][at],
        large=difference > LARGE * np.abs(value[before]),
    )
