"""The ledger of corrections: the filed value, the corrected value, the proof of each error, and the items it concerns.

Belongs here: the order of the corrections, applying and recording them, and their results for the items, together with
the results of the identities: proofs of values and reasons of gaps. Does not: the proof of an error (signs, scale,
footing, agreement, dividends, contexts, parts).
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from pipelines.normalize.arrays import floats, ints, numbers
from pipelines.normalize.corrections import agreement, contexts, dividends, footing, scale, signs
from pipelines.normalize.corrections.figures import DOUBT, FIGURE, SCALE, SIGN, TOTAL, Figures, Proposal
from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.frames import CORRECTED, FRAMES, HOLDS, PROOFS, WITHHELD, WITHHELD_OUTCOME, counted
from pipelines.normalize.periods.calendar import on_grid
from pipelines.normalize.powers import is_power_of_ten
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.windows import of_items
from warehouse.contract.line_items import ITEM_NAMES, LINE_ITEMS

PROVING = (
    signs.SIGN_BY_VOTE,
    signs.NO_MAJORITY,
    signs.SIGN_OF_FILINGS,
    scale.SCALE_ALONE,
    footing.CHANGE_IN_CASH,
    footing.INVESTING,
    agreement.BY_TWO_OTHERS,
    agreement.CONTRADICTED,
    agreement.DILUTED_BELOW_BASIC,
    dividends.RATE,
    dividends.SCALE,
    dividends.NOT_AS_PAID,
    dividends.AS_PAID_PER_SHARE,
)
"""The rules whose corrections count as proofs of an item."""
REASONS = {identity.rule.id: identity.reason for identity in footing.IDENTITIES}
"""The gap reason of each identity, for items with a figure that a total contradicts."""
JUDGED = ["cik", "q", "item", "rule"]

FIGURE_KEY = ["cik", "seq", "concept", "start", "end"]

Corrector = Callable[[Figures], Sequence[Proposal]]
CORRECTORS: tuple[Corrector, ...] = (
    signs.proposals_for_income,
    scale.proposals_for_shares,
    signs.proposals_for_tax_and_outflows,
    footing.proposals,
    scale.proposals_by_filings,
    signs.proposals_by_filings,
    agreement.proposals_for_income,
    agreement.proposals_for_revenue,
    dividends.proposals,
)
"""The correctors, in order: each works on the figures as corrected by the earlier ones."""

KEPT_WITNESSES = ("dividends_paid", "cost_of_revenue", "cost_of_goods_alone", *ITEM_NAMES)
"""Witnesses (amounts that prove others) that are kept: line items of the warehouse, and amounts that later steps
compare."""
FURTHER = [item.name for item in LINE_ITEMS if not item.is_served]
_IS_WITNESS = np.isin(
    AMOUNT.categories.to_numpy(),
    [concept.name for concept in CONCEPTS if concept.compared_with and concept.name not in KEPT_WITNESSES],
)


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
            statement holds with the figure. Amounts that are only witnesses have no rows.
        corrections: one row a figure: `cik`, `seq`, `concept`, `start`, `end`, `kind` (scale, sign, figure,
            context, total, doubt), `filed_value`, `value` (null if the figure is left out), `evidence` and `rule`. A
            figure that is corrected twice has the rule and the evidence of the last correction.
        footings: frames.Footings.
        decisions: `cik`, `rule`, `figures`.
    """
    figures = Figures.of(vintages)
    applied = list[Proposal]()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for corrector in correctors:
            figures, in_force = figures.corrected(corrector(figures))
            applied = [*in_force, *applied]
        statements = footing.compare_statements(figures)
        footings = _footings(vintages, figures, [*statements, dividends.as_paid(figures)])
        by_total = "the totals of the same statement contradict it, and those of the company's other statements foot"
        contradicted = [Proposal(each.rule, by_total, each.at[each.contradicted], kind=TOTAL) for each in statements]
        figures, in_force = figures.corrected([*contexts.proposals(figures), *contradicted])
        applied = [*in_force, *applied]
    repair = figures.repair
    foots = np.isin(np.arange(len(repair)), np.concatenate([each.at[each.holds] for each in statements]))
    by_row = np.argsort(figures.row)
    judgement = vintages.with_columns(
        filed_value="value",
        value=numbers(figures.value[by_row]),
        grain=figures.grain[by_row],
        repair=repair[by_row],
        foots=foots[by_row],
        row=np.arange(len(by_row)),
    ).join(_recorded(figures, applied), on="row", how="left", maintain_order="left")
    is_right = pl.col("repair") == 1
    counts = ~np.isnan(repair) & ~_IS_WITNESS[figures.concept]
    sound = judgement.filter(counts[by_row]).with_columns(corrected_by=pl.when(~is_right).then("rule"))
    wrong = judgement.filter(~is_right)
    of_factor = np.select([wrong["repair"] == -1, is_power_of_ten(floats(wrong, "repair"))], [SIGN, SCALE], FIGURE)
    kind = pl.when(pl.col("repair").is_nan()).then("kind").otherwise(pl.Series(of_factor))
    cik = ints(vintages, "cik")[figures.row]
    return (
        sound.drop("filed_value", "kind", "evidence", "rule", "row"),
        wrong.with_columns(kind=kind)
        .select(*FIGURE_KEY, "kind", "filed_value", "value", "evidence", "rule")
        .sort(*FIGURE_KEY, nulls_last=True),
        footings,
        counted([(proposal.rule, cik[proposal.at]) for proposal in applied]),
    )


def _recorded(figures: Figures, applied: list[Proposal]) -> pl.DataFrame:
    """The last correction of each figure (of several by one corrector the first): `row`, `kind`, `evidence`, `rule`.

    Args:
        figures: the figures; `row` is their row in the frame of vintages.
        applied: all proposals in force, beginning with the last corrector's.
    """
    found = [
        pl.DataFrame({"row": figures.row[each.at]}).with_columns(
            kind=pl.lit(each.kind), evidence=pl.lit(each.evidence), rule=pl.lit(each.rule.id)
        )
        for each in applied
        if len(each.at) or each is applied[-1]  # most have no figures, and one frame must give the columns
    ]
    return pl.concat(found).unique("row", keep="first", maintain_order=True)


def _footings(vintages: pl.DataFrame, figures: Figures, comparisons: list[footing.Comparison]) -> pl.DataFrame:
    """The statements that satisfy an identity or have their figure left out: frames.Footings."""
    parts = [FRAMES["footings"].empty]
    for each in comparisons:
        shown = np.flatnonzero(each.holds | each.contradicted)
        at = each.at[shown]
        cases = [each.contradicted[shown], figures.repair[at] != 1]
        judged = vintages[figures.row[at]].select(
            *("cik", "seq", "start", "end"),
            item=pl.lit(each.item),
            rule=pl.lit(each.rule.id),
            outcome=pl.Series(np.select(cases, [WITHHELD_OUTCOME, CORRECTED], HOLDS), dtype=pl.String),
            left_side=numbers(each.left[shown]),
            right_side=numbers(each.right[shown]),
        )
        own = pl.Series(AMOUNT.categories[figures.concept[at]])
        parts += [judged, judged.with_columns(item=own).filter(own.is_in(FURTHER))]
    return pl.concat(parts)


def of_corrections(corrections: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The withheld items and the proofs that follow from corrections.

    Args:
        corrections: of ledger.corrected.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        withheld: frames.WITHHELD: the items that may have no value because a figure was left out.
        proofs: frames.PROOFS: `left_side` is the filed figure, `right_side` the corrected one.
    """
    is_doubt = pl.col("kind") == DOUBT
    placed = (
        of_items(corrections.filter(pl.col("rule").is_in([rule.id for rule in PROVING])))
        .join(grid.select("cik", "q", end="period_end"), on=["cik", "end"], maintain_order="left")
        .with_columns(
            reason=pl.lit("contradicted_by_filing"),
            outcome=pl.when(is_doubt).then(pl.lit(WITHHELD_OUTCOME)).otherwise(pl.lit(CORRECTED)),
            left_side="filed_value",
            right_side="value",
        )
    )
    proofs = placed.unique([*JUDGED, "seq"], keep="last", maintain_order=True)
    return withheld(placed.filter(is_doubt), pl.col("start").is_null()), proofs.select(PROOFS.names())


def proofs_of_statements(footings: pl.DataFrame, grid: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The proofs and the withheld items that follow from the identities of statements.

    Args:
        footings: frames.Footings.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        proofs: for each item of a quarter end, the judgement of the longest period that ends there.
        contradicted: frames.WITHHELD: the items that may lack a value because a figure was left out.
    """
    on, _ = on_grid(footings, grid)
    in_order = on.sort(*JUDGED, "seq", "n", maintain_order=True)
    proofs = in_order.unique([*JUDGED, "seq"], keep="last", maintain_order=True)
    left_out = on.filter(pl.col("outcome") == WITHHELD_OUTCOME).with_columns(
        reason=pl.col("rule").replace_strict(REASONS, default=None, return_dtype=pl.String)
    )
    return proofs.select(PROOFS.names()), withheld(left_out, pl.lit(value=False))


def withheld(left_out: pl.DataFrame, is_balance: pl.Expr) -> pl.DataFrame:
    """The items that need a figure, at its own quarter end and, for a flow, at the four quarter ends after it.

    Args:
        left_out: `cik`, `q`, `item`, `reason`, `rule`: the figures that are left out.
        is_balance: whether a figure is of an instant.
    """
    later = pl.when(is_balance).then(pl.lit([0])).otherwise(pl.lit(list(range(QUARTERS_A_YEAR + 1))))
    windows = left_out.with_columns(later=later).explode("later").with_columns(q=pl.col("q") + pl.col("later"))
    return windows.select(WITHHELD.names()).cast(WITHHELD).unique(maintain_order=True)


def standing(judgements: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """The last judgement of each item and quarter end by each identity.

    Args:
        judgements: frames.PROOFS, of all steps.
        grid: of periods.calendar.fiscal_grid.

    Returns:
        `cik`, `period_end`, `item`, `rule`, `outcome`, `left_side`, `right_side`, sorted by the first four; identities
        that can no longer be compared have no row.
    """
    in_order = judgements.sort(*JUDGED, "seq", maintain_order=True)
    last = in_order.unique(JUDGED, keep="last", maintain_order=True)
    periods = grid.filter(pl.col("fiscal_quarter") > 0).select("cik", "q", "period_end")
    return (
        last.drop_nulls("outcome")
        .join(periods, on=["cik", "q"])
        .select("cik", "period_end", "item", "rule", "outcome", "left_side", "right_side")
        .sort("cik", "period_end", "item", "rule")
    )
