"""Stated concepts: the amount that each filing states for each concept and period.

Belongs here: from which source of a concept the amount of a filing is taken; which figures a current report (8-K, 6-K)
restates. Does not: which elements are the sources of a concept (elements), which facts count (reports), arithmetic on
values (ttm, balance).
"""

import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.facts import candidates, matching
from pipelines.normalize.facts.precision import SCALE_OF_FILING
from pipelines.normalize.facts.reports import FILED_TWICE
from pipelines.normalize.forms import PERIODIC_FORMS
from pipelines.normalize.frames import DECISIONS, counted
from pipelines.normalize.rule import Rule

PARTIAL = Rule(
    "recast.partial",
    "A current report (8-K, 6-K) restates figures of earlier periodic reports only with a complete set of statements "
    "(profit, revenue and a balance sheet or cash flow statement); figures that no periodic report stated before "
    "count anyway.",
    "Form 8-K Item 2.02 and General Instruction B.2: a press release is furnished, not filed; Items 8.01 and 9.01: "
    "audited statements recast after a change of segments, a disposal or a new standard",
    "withhold",
)

COMPLETE: tuple[tuple[str, ...], ...] = (
    ("net_income_common", "net_income_parent"),
    ("revenue",),
    ("operating_cash_flow", "total_assets", "equity", "cash"),
)
"""A complete set of statements has at least one concept of each row: profit, revenue, and a second statement."""


def stated_concepts(facts: pl.DataFrame, of_industry: pl.DataFrame, shown: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
    """The amount of each filing for each concept and period, from the best source in the filing.

    Args:
        facts: typed facts in filing order, one currency a company.
        of_industry: `cik`, `seq`, `industry` (industries.industries).
        shown: the lines of income and cash flow statements (faces.facts.SHOWN_SCHEMA).

    Returns:
        vintages: one row a filing, concept and period, sorted by `cik`, `seq`, `start` (instants first), `end`,
            `concept`: `vintage` (row number), these columns, `rank` of the source, `value` (units), `grain` (the power
            of ten to which it is rounded), `filed`, `periodic` (in a periodic report), `amended`, `measure_sign`
            (money 0, shares 1, amounts per share -1), `used` (the source and its elements that count),
            `other_source` (for this company, the source is a different amount than the best source so far).
        legs: the facts of each amount, sorted by `vintage`, `tag`: these columns, `fact` (row number of `facts`),
            `coefficient`; `tag` includes the taxonomy.
        left_out: the amounts that do not count because of a condition of their source, as a part, or as a placeholder:
            `cik`, `concept`, `start`, `end`, `rule`.
        decisions: frames.DECISIONS; for each source the number of amounts taken from it.
    """
    pairs, zero_counts, without_shares = matching.matched(facts, of_industry)
    repeated, added = candidates.repeated_parts(pairs), candidates.interests_already_in_equity(pairs)
    pairs = _without(pairs, "pair", repeated, added)
    complete, parts, above = candidates.complete(pairs)
    noted, subtracted = candidates.annual_note_amounts(complete), candidates.of_net_income(complete)
    lines = _without(complete, "candidate", noted, subtracted)
    replaced = candidates.replaced_by_statement_lines(lines, pairs, _of_filings(shown, facts))
    lines = _without(lines, "candidate", replaced)
    of_income = candidates.of_income_statement(lines)
    is_best = pl.col("amount").ne_missing(pl.col("amount").shift())  # amounts are in order, the best of each first
    best = _without(lines, "candidate", of_income).filter(is_best)
    lesser, other = candidates.of_lesser_sources(best, candidates.differences(lines), noted)
    chosen = _without(best, "amount", lesser).with_row_index("vintage")
    decided = [
        (matching.ZERO_COUNT, zero_counts),
        (matching.WITHOUT_SHARES, without_shares),
        (FILED_TWICE, repeated),
        (candidates.OF_WHOLE_ALREADY, added),
        (candidates.OF_WHOLE_ALREADY, subtracted),
        (candidates.NO_LESS_THAN_PART, parts),
        (candidates.ANNUAL_NOTE, noted),
        (candidates.REVENUE_THAT_FOOTS, of_income),
        (candidates.LINE_OF_STATEMENT, replaced),
        (candidates.LESSER_SOURCE, lesser),
        (candidates.OTHER_SOURCE, other),
        (SCALE_OF_FILING, chosen.filter("is_scaled")),
    ]
    # each source is a rule
    choices = chosen.group_by("cik", "rule").agg(figures=pl.len()).cast(DECISIONS)
    decisions = pl.concat([counted([(rule, ints(rows, "cik")) for rule, rows in decided]), choices])
    zeros = zero_counts.join(matching.ALONE, on=["taxonomy", "tag"], maintain_order="left")
    left_out = pl.concat(
        rows.select("cik", "concept", "start", "end", rule=rule)
        for rows, rule in (
            (above, "rule"),
            (parts, pl.lit(candidates.NO_LESS_THAN_PART.id)),
            (zeros, pl.lit(matching.ZERO_COUNT.id)),
        )
    )
    return _vintages(facts, chosen, other), _legs(pairs, chosen), left_out, decisions


def without_partial_recasts(vintages: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Leave out figures that a current report states again, unless it has a complete set of statements.

    Figures that no periodic report has stated before are also taken from press releases.

    Args:
        vintages: of stated.stated_concepts.

    Returns:
        the vintages that count; and the decisions (frames.DECISIONS).
    """
    amount = ["cik", "concept", "start", "end"]
    is_complete = pl.all_horizontal(pl.col("concept").is_in(names).any().over("cik", "seq") for names in COMPLETE)
    partial = vintages.filter(~pl.col("periodic")).filter(~is_complete)
    reported = vintages.filter("periodic").join(partial, on=amount, how="semi", nulls_equal=True)
    first_reports = reported.group_by(amount).agg(first_seq=pl.col("seq").min())
    left_out = partial.join(first_reports, on=amount, nulls_equal=True).filter(
        PARTIAL.where(pl.col("seq") > pl.col("first_seq"))
    )
    counts = ~pl.col("vintage").is_in(left_out["vintage"].implode())
    return vintages.filter(counts), counted([(PARTIAL, ints(left_out, "cik"))])


def _of_filings(shown: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """The lines, with the `seq` of their filing."""
    if not shown.height:
        return shown
    filings = facts.select("cik", "accession", "seq").unique(["cik", "accession"])
    return shown.join(filings, on=["cik", "accession"])


def _without(rows: pl.DataFrame, number: str, *left_out: pl.DataFrame) -> pl.DataFrame:
    numbers = pl.concat([each[number] for each in left_out])
    return rows.filter(~pl.col(number).is_in(numbers.implode())) if len(numbers) else rows


def _vintages(facts: pl.DataFrame, chosen: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    of_filing = facts.select("amended", periodic=pl.col("form_family").is_in(PERIODIC_FORMS))[chosen["fact"]]
    return pl.concat([chosen, of_filing], how="horizontal").select(
        *("vintage", "cik", "seq", "start", "end", "concept", "rank", "value", "grain", "filed", "periodic", "amended"),
        "measure_sign",
        used=pl.col("source").cast(pl.Int64) * matching.MOST_SETS + pl.col("used"),
        other_source=pl.col("amount").is_in(other["amount"].implode()),
    )


def _legs(pairs: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    """The facts that each chosen amount consists of."""
    legs = pairs.select("candidate", "taxonomy", "tag", "fact", "coefficient").filter(pl.col("coefficient") != 0)
    of_chosen = legs.join(chosen.select("candidate", "vintage"), on="candidate", maintain_order="left")
    tag = pl.concat_str("taxonomy", pl.lit(":"), "tag").alias("tag")
    return of_chosen.sort("vintage", maintain_order=True).select("vintage", tag, "fact", "coefficient")
