"""Derived amounts: amounts that no filing states, but that the statements of filings prove.

Belongs here: adding derived amounts to the stated ones, with the facts that they consist of. Does not: the rules that
prove an amount (the other modules of this folder).

Derived amounts are added after the corrections, so they never prove a correction or another derived amount.
"""

import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.derived import (
    dividends,
    no_dividends,
    remainders,
    share_averages,
)
from pipelines.normalize.derived.stated import FILING, PERIOD, SPAN, not_yet_stated, stated
from pipelines.normalize.elements import BY_NAME, MEASURE_SIGN
from pipelines.normalize.forms import PERIODIC_FORMS
from pipelines.normalize.frames import DECISIONS

_RANK_OF_DERIVED = {name: len(concept.sources) for name, concept in BY_NAME.items()}
"""The rank of a derived amount: the one after all sources of its concept."""
_SIGN = {name: MEASURE_SIGN[concept.measure] for name, concept in BY_NAME.items()}


def with_derived(
    facts: pl.DataFrame, stated_facts: pl.DataFrame, sound: pl.DataFrame, regimes: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Add derived amounts, which statements prove, to the amounts that filings state.

    Args:
        facts: typed facts in filing order.
        stated_facts: the facts of each vintage (frames.StatedFacts).
        sound: the vintages that count (frames.Sound).
        regimes: of periods.breaks.regimes.

    Returns:
        sound, with derived vintages (`corrected_by` is their rule, `rank` comes after all sources), and with the
        `regime` of the filing.
        stated_facts, with the facts of the derived vintages.
        decisions: the number of amounts that each rule derived.
    """
    of_elements = stated(facts)
    rates, against = dividends.confirmed_rates(of_elements, sound)
    sound = sound.join(against, on=["concept", *PERIOD], how="anti")
    first = int(ints(stated_facts, "vintage").max(initial=-1)) + 1
    derived = _vintages(facts, _lines(of_elements, stated_facts, sound, regimes, rates)).with_columns(
        vintage=pl.int_range(first, first + pl.len(), dtype=pl.UInt32)
    )
    return (
        pl.concat([sound, derived.select(sound.columns)])
        .sort(*FILING, "start", "end", "concept", nulls_last=False, maintain_order=True)
        .join(regimes.select(*FILING, "regime"), on=FILING, how="left", maintain_order="left"),
        pl.concat([stated_facts, _facts_of(derived, facts).select(stated_facts.columns)]).sort(
            "vintage", "tag", maintain_order=True
        ),
        pl.concat([derived.select("cik", "rule"), against.select("cik", "rule")])
        .group_by("cik", "rule")
        .agg(figures=pl.len())
        .cast(DECISIONS),
    )


def _lines(
    facts: pl.DataFrame,
    stated_facts: pl.DataFrame,
    sound: pl.DataFrame,
    regimes: pl.DataFrame,
    rates: pl.DataFrame,
) -> pl.DataFrame:
    """Derive the amounts that statements prove and no filing states; the first proof of a period counts."""
    period = ["concept", *PERIOD]
    of_vintage = stated_facts.group_by("vintage", maintain_order=True).agg(legs="fact", weights="coefficient")
    stated = sound.join(of_vintage, on="vintage", maintain_order="left")
    like_basic, averages = share_averages.amounts(facts, stated)
    rests = [remainders.capital_expenditure(facts), remainders.beginnings(stated)]
    unstated = pl.concat([averages, *rests], how="diagonal")
    lines = [
        no_dividends.amounts(facts, regimes),
        dividends.dated(facts, sound),
        rates,
        like_basic,
        not_yet_stated(unstated, pl.concat([sound.select(period), like_basic.select(period)]), [*SPAN, "concept"]),
    ]
    found = pl.concat(lines, how="diagonal").unique(period, keep="first", maintain_order=True)
    return found.join(sound.select(period), on=period, how="anti", maintain_order="left")


def _vintages(facts: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Give derived amounts the columns of vintages."""
    of_filing = facts.select(*FILING, "filed", "form_family", "amended").unique(
        FILING, keep="first", maintain_order=True
    )
    return lines.join(of_filing, on=FILING, maintain_order="left").with_columns(
        rank=pl.col("concept").replace_strict(_RANK_OF_DERIVED, return_dtype=pl.Int16),
        grain=pl.col("grain").fill_null(1.0),
        periodic=pl.col("form_family").is_in(PERIODIC_FORMS),
        used=pl.col("used").fill_null(0),
        other_source=pl.col("other_source").fill_null(value=False),
        measure_sign=pl.col("concept").replace_strict(_SIGN, return_dtype=pl.Int8),
        repair=pl.col("repair").fill_null(1.0),
        foots=pl.lit(value=False),
        corrected_by="rule",
    )


def _facts_of(derived: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """The facts of derived vintages (frames.StatedFacts)."""
    own = derived.select("vintage", "fact", "coefficient").explode("fact", "coefficient")
    tags = facts.select("taxonomy", "tag")[own["fact"]].select(tag=pl.concat_str("taxonomy", pl.lit(":"), "tag"))
    return own.hstack(tags)
