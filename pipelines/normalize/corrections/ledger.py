"""The ledger of corrections: the filed value, the corrected value, and the proof of each error.

Belongs here: the order of the corrections, applying them, and recording each. Does not: what proves an error
(identities, scale, signs, contexts).
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Floats, Ints, ints, numbers
from pipelines.normalize.corrections import (
    agreement,
    contexts,
    dividends,
    footing,
    identities,
    scale,
    signs,
    votes,
)
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.judgements import DOUBT
from pipelines.normalize.corrections.powers import is_power_of_ten
from pipelines.normalize.elements import AMOUNT, OF_SOURCE, WITNESSES
from pipelines.normalize.frames import DECISIONS, HOLDS, counted
from pipelines.normalize.keys import dates
from pipelines.normalize.rule import Rule

SCALE, SIGN, CONTEXT, TOTAL, FIGURE = "scale", "sign", "context", "total", "figure"

ELSEWHERE = "it is the figure of {} to {}, and filings so far say otherwise of this period"
"""The evidence that is recorded for a figure of another period, with that period's first and last day."""
CONTRADICTED = "the totals of the same statement contradict it, and those of the company's other statements foot"
"""The evidence that is recorded for a figure that footing leaves out."""

WHAT = ["cik", "seq", "concept", "start", "end"]
CORRECTIONS = [*WHAT, "kind", "filed_value", "value", "evidence", "rule"]

Corrector = Callable[[Figures], Sequence[Proposal]]
CORRECTORS: tuple[Corrector, ...] = (
    votes.proposals,
    identities.proposals,
    footing.proposals,
    scale.proposals,
    signs.proposals,
    agreement.proposals,
    dividends.proposals,
)
"""The correctors, in order: each works on the figures as corrected by those before it."""


def corrected(
    vintages: pl.DataFrame, correctors: Sequence[Corrector] = CORRECTORS
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Correct figures with errors of scale or sign; leave out figures of another period, and contradicted ones.

    Args:
        vintages: one row a filing, concept and period: `cik`, `seq`, `concept`, `start` (null for
            an instant), `end`, `value` (units of the reporting currency, or shares), `grain`, `measure_sign` (money 0,
            shares 1, amounts per share -1).
        correctors: all correctors in their order; only tests pass others.

    Returns:
        sound: the vintages that count, `value` and `grain` multiplied by `repair` (1 for figures without error), and
            `corrected_by`, the rule (null for figures without error), and `foots`, whether an identity of its
            statement holds with the figure. Amounts that only prove others (WITNESSES) have
            no rows.
        corrections: one row a figure: `cik`, `seq`, `concept`, `start`, `end`, `kind` (scale, sign, figure,
            context, total, doubt), `filed_value`, `value` (null if the figure is left out), `evidence` and `rule`. A
            figure that is corrected twice has the rule and the evidence of the last correction.
        footings: footing.FOOTINGS.
        decisions: `cik`, `rule`, `figures`.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        figures, repair, applied, last = _applied(Figures.of(vintages), correctors)
        elsewhere = contexts.of_other_periods(figures)
        footed = footing.judgements(figures)
        as_paid = _as_paid(vintages, figures)
    rules = [proposal.rule.id for proposal in applied]
    is_doubtful = np.isnan(repair)
    counts = ~is_doubtful
    counts[elsewhere.at] = False
    counts[footed.left_out] = False
    by_row = np.argsort(figures.row)
    foots = np.zeros(len(by_row), dtype=np.bool_)
    foots[np.concatenate([each.at[each.holds] for each in footed.judged])] = True
    sound = vintages.with_columns(
        value=figures.value[by_row],
        grain=figures.grain[by_row],
        repair=repair[by_row],
        corrected_by=_picked(rules, np.where(repair == 1, -1, last)[by_row]),
        foots=foots[by_row],
    ).filter(counts[by_row] & ~_IS_WITNESS[figures.concept[by_row]])
    turned, doubtful = np.flatnonzero(counts & (repair != 1)), np.flatnonzero(is_doubtful)
    evidence = [proposal.evidence for proposal in applied]
    corrections = pl.concat(
        [
            _filed(vintages, figures.row[turned]).with_columns(
                kind=_kinds(repair[turned]),
                value=figures.value[turned],
                evidence=_picked(evidence, last[turned]),
                rule=_picked(rules, last[turned]),
            ),
            _filed(vintages, figures.row[doubtful]).with_columns(
                kind=pl.lit(DOUBT),
                value=pl.lit(None, pl.Float64),
                evidence=_picked(evidence, last[doubtful]),
                rule=_picked(rules, last[doubtful]),
            ),
            _left_out(vintages, figures, elsewhere),
            _filed(vintages, figures.row[footed.left_out]).with_columns(
                kind=pl.lit(TOTAL),
                value=pl.lit(None, pl.Float64),
                evidence=pl.lit(CONTRADICTED),
                rule=pl.Series([rule.id for rule in footed.rule], dtype=pl.String),
            ),
        ]
    )
    cik = ints(vintages, "cik")[figures.row]
    decided: list[tuple[Rule, Ints]] = [(proposal.rule, cik[proposal.at]) for proposal in applied]
    decided += [(rule, cik[elsewhere.at[elsewhere.rule == number]]) for number, rule in enumerate(contexts.RULES)]
    decided += [(rule, cik[footed.left_out[[at]]]) for at, rule in enumerate(footed.rule)]
    return (
        sound,
        corrections.select(*CORRECTIONS).sort(*WHAT, nulls_last=True),
        pl.concat([footing.rows(footed, figures, vintages, repair), as_paid]),
        pl.concat([counted(decided), _of_witnesses(vintages, figures, footed.witnesses)]),
    )


KEPT = ("dividends_paid",)
"""Witnesses that later steps compare with other amounts, too."""
_IS_WITNESS = np.isin(AMOUNT.categories.to_numpy(), [concept.name for concept in WITNESSES if concept.name not in KEPT])


def _of_witnesses(vintages: pl.DataFrame, figures: Figures, places: Ints) -> pl.DataFrame:
    """The figures that each source of a witness contributed to a comparison: columns of DECISIONS."""
    rows = figures.row[places[_IS_WITNESS[figures.concept[places]]]]
    used = vintages[rows].select("cik", "concept", "rank").join(OF_SOURCE, on=["concept", "rank"])
    return used.group_by("cik", "rule").agg(figures=pl.len()).cast(DECISIONS)


def _as_paid(vintages: pl.DataFrame, figures: Figures) -> pl.DataFrame:
    """The dividends per share that are as paid, as judgements: columns of footing.FOOTINGS."""
    at, left, right = dividends.holding(figures)
    if not len(at):
        return footing.FOOTINGS.to_frame()
    texts = {"item": dividends.PER_SHARE, "rule": dividends.NOT_AS_PAID.id, "outcome": HOLDS}
    return vintages[figures.row[at]].select(
        *("cik", "seq", "start", "end"),
        *(pl.lit(text).alias(name) for name, text in texts.items()),
        left_side=numbers(left),
        right_side=numbers(right),
    )


def _applied(figures: Figures, correctors: Sequence[Corrector]) -> tuple[Figures, Floats, list[Proposal], Ints]:
    """The corrected figures; the factor of each; all proposals; and the number of each figure's proposal, or -1.

    If one corrector has several proposals for a figure, all are applied, and the first one is recorded.
    """
    repair = np.ones(len(figures.value))
    last = np.full(len(figures.value), -1)
    applied: list[Proposal] = []
    for corrector in correctors:
        factor, of_this = np.ones(len(repair)), np.full(len(repair), -1)
        for proposal in corrector(figures):
            factor[proposal.at] *= proposal.factor
            of_this[proposal.at] = np.where(of_this[proposal.at] < 0, len(applied), of_this[proposal.at])
            applied.append(proposal)
        figures, repair = figures.multiplied(factor), repair * factor
        last = np.where(of_this < 0, last, of_this)
    return figures, repair, applied, last


def _filed(vintages: pl.DataFrame, rows: Ints) -> pl.DataFrame:
    """The filed values of some rows."""
    return vintages.select(*WHAT, filed_value="value")[rows]


def _kinds(factor: Floats) -> pl.Series:
    """The kind of each correction, by its factor."""
    kinds = np.where(is_power_of_ten(factor), SCALE, FIGURE)
    return pl.Series(np.where(factor == -1, SIGN, kinds), dtype=pl.String)


def _left_out(vintages: pl.DataFrame, figures: Figures, elsewhere: contexts.WrongPeriods) -> pl.DataFrame:
    """The records of figures that belong to another period."""
    of_period = pl.format(ELSEWHERE, dates(elsewhere.true_start), dates(elsewhere.true_end))
    return _filed(vintages, figures.row[elsewhere.at]).with_columns(
        kind=pl.lit(CONTEXT),
        value=pl.lit(None, pl.Float64),
        evidence=of_period,
        rule=_picked([rule.id for rule in contexts.RULES], elsewhere.rule),
    )


def _picked(texts: Sequence[str], numbers: Ints) -> pl.Series:
    """The text of each number; null for -1."""
    return pl.Series([*texts, None], dtype=pl.String)[numbers]
