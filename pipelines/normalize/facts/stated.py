"""Stated concepts: the amount that each filing states for each concept and period.

Belongs here: from which source of a concept the amount of a filing is taken. Does not: which elements are the sources
of a concept (elements), which facts count (reports), arithmetic on values (ttm, balance).
"""

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Ints, ints, starts
from pipelines.normalize.decisions import DECISIONS, counted
from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.facts import matching, notes, owners, repetitions
from pipelines.normalize.facts.candidates import NO_LESS_THAN_PART, Candidates, candidates
from pipelines.normalize.facts.matching import Matched
from pipelines.normalize.facts.precision import SCALE_OF_FILING
from pipelines.normalize.facts.reports import PERIODIC_FORMS


def stated_concepts(facts: pl.DataFrame, of_industry: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The amount of each filing for each concept and period, from the best source in the filing.

    Args:
        facts: typed facts in filing order, one currency a company.
        of_industry: `cik`, `seq`, `industry` (industries.industries).

    Returns:
        vintages: one row a filing, concept and period, sorted by `cik`, `seq`, `start` (instants first), `end`,
            `concept`: `vintage` (row number), these columns, `rank` of the source, `value` (units), `grain` (the power
            of ten to which it is rounded), `filed`, `periodic` (in a periodic report), `amended`, `used` (the source
            and those of its elements that count), `other_source` (for this company, the source is a different amount
            than the best source so far).
        legs: the facts of each amount, sorted by `vintage`, `tag`: these columns, `fact` (row number of `facts`),
            `coefficient`; `tag` includes the taxonomy.
        decisions: decisions.DECISIONS; for each source the number of amounts taken from it.
    """
    cik = ints(facts, "cik")
    pairs, zero_counts, without_shares = matching.matched(facts, of_industry)
    is_repeated = repetitions.of_other_elements(pairs, facts["value"].to_numpy())
    repeated, pairs = pairs.where(is_repeated), pairs.where(~is_repeated)
    is_owned = repetitions.of_owners(pairs, facts["value"].to_numpy())
    owned, pairs = pairs.where(is_owned), pairs.where(~is_owned)
    complete, is_total = candidates(facts, pairs)
    parts, complete = complete.where(~is_total), complete.where(is_total)
    is_note = notes.of_notes(complete)
    noted, lines = complete.where(is_note), complete.where(~is_note)
    is_whole = owners.of_parent_already(lines)
    whole, lines = lines.where(is_whole), lines.where(~is_whole)
    best = lines.where(starts(lines.slot))
    is_lesser, is_other = repetitions.of_lesser_sources(
        best, repetitions.Differences(lines), keeps=np.isin(best.slot, noted.slot)
    )
    lesser, chosen, is_other = best.where(is_lesser), best.where(~is_lesser), is_other[~is_lesser]
    decisions = counted(
        [
            (matching.ZERO_COUNT, cik[zero_counts]),
            (matching.WITHOUT_SHARES, cik[without_shares]),
            (repetitions.TWO_ELEMENTS, cik[repeated.row]),
            (repetitions.OF_ALL_OWNERS, cik[owned.row]),
            (NO_LESS_THAN_PART, cik[parts.first]),
            (notes.ANNUAL_NOTE, cik[noted.first]),
            (owners.OF_PARENT_ALREADY, cik[whole.first]),
            (repetitions.LESSER_SOURCE, cik[lesser.first]),
            (repetitions.OTHER_SOURCE, cik[chosen.first[is_other]]),
            (SCALE_OF_FILING, cik[chosen.first[chosen.is_scaled]]),
        ]
    )
    choices = _choices(cik[chosen.first], chosen.source)
    return _vintages(facts, chosen, is_other), _legs(pairs, chosen), pl.concat([decisions, choices])


def _choices(cik: Ints, source: Ints) -> pl.DataFrame:
    """The number of amounts of each company from each source, as each source is a rule: decisions.DECISIONS."""
    sources = len(matching.RULE_OF_SOURCE)
    keys, figures = np.unique(cik * sources + source, return_counts=True)
    return pl.DataFrame(
        {"cik": keys // sources, "rule": matching.RULE_OF_SOURCE[keys % sources], "figures": figures}
    ).cast(DECISIONS)


def _vintages(facts: pl.DataFrame, chosen: Candidates, is_other: Flags) -> pl.DataFrame:
    of_first = facts.select("cik", "seq", "start", "end", "filed", "form_family", "amended")[chosen.first]
    return of_first.select(
        pl.int_range(pl.len(), dtype=pl.UInt32).alias("vintage"),
        "cik",
        "seq",
        "start",
        "end",
        concept=pl.Series(chosen.concept.astype(np.uint8)).cat.to(AMOUNT),
        rank=pl.Series(chosen.rank.astype(np.int16)),
        value=pl.Series(chosen.value),
        grain=pl.Series(chosen.grain),
        filed="filed",
        periodic=pl.col("form_family").is_in(PERIODIC_FORMS),
        amended="amended",
        used=pl.Series((chosen.source << matching.PART_BITS) | chosen.parts),
        other_source=pl.Series(is_other),
    )


def _legs(pairs: Matched, chosen: Candidates) -> pl.DataFrame:
    """The facts that each chosen amount consists of; the row of an amount is its `vintage`."""
    group = np.cumsum(starts(pairs.slot, matching.SOURCE[pairs.part])) - 1
    vintage = np.full(len(group) + 1, -1)
    vintage[chosen.number] = np.arange(len(chosen.number))
    of_pair = vintage[group]
    coefficient = matching.COEFFICIENT[pairs.part]
    rows = np.flatnonzero((of_pair >= 0) & (coefficient != 0))
    return pl.DataFrame(
        {
            "vintage": of_pair[rows].astype(np.uint32),
            "tag": matching.NAME[pairs.part[rows]],
            "fact": pairs.row[rows].astype(np.uint32),
            "coefficient": coefficient[rows],
        }
    )
