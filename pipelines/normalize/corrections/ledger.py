"""The ledger of corrections: the filed value, the corrected value, and the proof of each error.

Belongs here: the order of the corrections, applying them, and recording each. Does not: what proves an error
(signs, scale, footing, agreement, dividends, contexts).
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Ints, floats, ints, numbers
from pipelines.normalize.corrections import agreement, contexts, dividends, footing, scale, signs
from pipelines.normalize.corrections.figures import FIGURE, SCALE, SIGN, TOTAL, Figures, Proposal
from pipelines.normalize.corrections.scale import is_power_of_ten
from pipelines.normalize.elements import AMOUNT, CONCEPTS, OF_SOURCE
from pipelines.normalize.frames import CORRECTED, DECISIONS, FRAMES, HOLDS, WITHHELD_OUTCOME, counted
from warehouse.schema import ITEM_NAMES

WHAT = ["cik", "seq", "concept", "start", "end"]
CORRECTIONS = [*WHAT, "kind", "filed_value", "value", "evidence", "rule"]

RECORDED = pl.Schema({"row": pl.Int64(), "kind": pl.String(), "evidence": pl.String(), "rule": pl.String()})

Corrector = Callable[[Figures], Sequence[Proposal]]
CORRECTORS: tuple[Corrector, ...] = (
    signs.of_income,
    scale.of_shares,
    signs.of_tax_and_outflows,
    footing.proposals,
    scale.of_filings,
    signs.of_filings,
    agreement.proposals,
    dividends.proposals,
)
"""The correctors, in order: each works on the figures as corrected by those before it."""

KEPT = ("dividends_paid", *ITEM_NAMES)
"""Witnesses that are line items of the warehouse, or that later steps compare with other amounts, too."""
_IS_WITNESS = np.isin(
    AMOUNT.categories.to_numpy(),
    [concept.name for concept in CONCEPTS if concept.compared_with and concept.name not in KEPT],
)


class Ledger:
    """Figures as corrected so far, and the corrections.

    figures: the figures. repair: the factor by which each was corrected; NaN if it is left out.
    applied: all proposals, those of the last corrector first.
    """

    def __init__(self, figures: Figures) -> None:
        self.figures, self.repair = figures, np.ones(len(figures.value))
        self.applied: list[Proposal] = []

    def apply(self, proposals: Sequence[Proposal]) -> None:
        """Apply all proposals of one corrector."""
        in_force = [proposal for proposal in proposals if proposal.rule.where(condition=True)]
        factor = np.ones(len(self.repair))
        for proposal in in_force:
            factor[proposal.at] *= proposal.factor
        self.figures, self.repair = self.figures.multiplied(factor), self.repair * factor
        self.applied = [*in_force, *self.applied]

    def recorded(self) -> pl.DataFrame:
        """The last correction of each figure, of several of one corrector the first: `row`, `kind`, `evidence`, `rule`.

        `row` is the row of the figure in the frame of vintages.
        """
        found = [
            pl.DataFrame({"row": self.figures.row[each.at]}).with_columns(
                kind=pl.lit(each.kind), evidence=pl.lit(each.evidence), rule=pl.lit(each.rule.id)
            )
            for each in self.applied
            if len(each.at)
        ]
        return pl.concat([RECORDED.to_frame(), *found]).unique("row", keep="first", maintain_order=True)


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
            statement holds with the figure. Amounts that only prove others have no rows.
        corrections: one row a figure: `cik`, `seq`, `concept`, `start`, `end`, `kind` (scale, sign, figure,
            context, total, doubt), `filed_value`, `value` (null if the figure is left out), `evidence` and `rule`. A
            figure that is corrected twice has the rule and the evidence of the last correction.
        footings: frames.Footings.
        decisions: `cik`, `rule`, `figures`.
    """
    ledger = Ledger(Figures.of(vintages))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for corrector in correctors:
            ledger.apply(corrector(ledger.figures))
        judged = [footing.judged(ledger.figures, identity) for identity in footing.IDENTITIES]
        judged.append(dividends.judged(ledger.figures))
        left_out = footing.contradicted(judged)
        footings = _footings(vintages, ledger, judged, left_out)
        contradicted = [
            Proposal(each.rule, footing.CONTRADICTED, each.at[wrong], kind=TOTAL)
            for each, wrong in zip(judged, left_out, strict=True)
        ]
        ledger.apply([*contexts.proposals(ledger.figures), *contradicted])
    figures, repair = ledger.figures, ledger.repair
    foots = np.isin(np.arange(len(repair)), np.concatenate([each.at[each.holds] for each in judged[:-1]]))
    by_row = np.argsort(figures.row)
    judgement = vintages.with_columns(
        filed_value="value",
        value=numbers(figures.value[by_row]),
        grain=figures.grain[by_row],
        repair=repair[by_row],
        foots=foots[by_row],
        row=np.arange(len(by_row)),
    ).join(ledger.recorded(), on="row", how="left", maintain_order="left")
    is_right = pl.col("repair") == 1
    counts = ~np.isnan(repair) & ~_IS_WITNESS[figures.concept]
    sound = judgement.filter(counts[by_row]).with_columns(corrected_by=pl.when(~is_right).then("rule"))
    wrong = judgement.filter(~is_right)
    factor = floats(wrong, "repair")
    of_factor = np.select([factor == -1, is_power_of_ten(factor)], [SIGN, SCALE], FIGURE)
    kind = pl.when(pl.col("repair").is_nan()).then("kind").otherwise(pl.Series(of_factor))
    cik = ints(vintages, "cik")[figures.row]
    decided = counted([(proposal.rule, cik[proposal.at]) for proposal in ledger.applied])
    return (
        sound.drop("filed_value", "kind", "evidence", "rule", "row"),
        wrong.with_columns(kind=kind).select(CORRECTIONS).sort(*WHAT, nulls_last=True),
        footings,
        pl.concat([decided, _of_witnesses(vintages, figures, judged)]),
    )


def _of_witnesses(vintages: pl.DataFrame, figures: Figures, judged: list[footing.Judged]) -> pl.DataFrame:
    """The figures that each source of a witness contributed to a comparison: columns of DECISIONS."""
    places: Ints = np.unique(np.concatenate([each.compared for each in judged]))
    rows = figures.row[places[_IS_WITNESS[figures.concept[places]]]]
    used = vintages[rows].select("cik", "concept", "rank").join(OF_SOURCE, on=["concept", "rank"])
    return used.group_by("cik", "rule").agg(figures=pl.len()).cast(DECISIONS)


def _footings(
    vintages: pl.DataFrame, ledger: Ledger, judged: list[footing.Judged], left_out: list[Flags]
) -> pl.DataFrame:
    """The statements that satisfy an identity, and those whose figure is left out: frames.Footings."""
    parts = [FRAMES["footings"].empty]
    for each, is_left_out in zip(judged, left_out, strict=True):
        shown = np.flatnonzero(each.holds | is_left_out)
        at = each.at[shown]
        cases = [is_left_out[shown], ledger.repair[at] != 1]
        parts.append(
            vintages[ledger.figures.row[at]].select(
                *("cik", "seq", "start", "end"),
                item=pl.lit(each.item),
                rule=pl.lit(each.rule.id),
                outcome=pl.Series(np.select(cases, [WITHHELD_OUTCOME, CORRECTED], HOLDS), dtype=pl.String),
                left_side=numbers(each.left[shown]),
                right_side=numbers(each.right[shown]),
            )
        )
    return pl.concat(parts)
