"""Gross profit: as filed, or revenue less the cost of revenue where the statement has no line for it.

Belongs here: when the difference of both is gross profit. Does not: revenue and cost as stated (ttm), identities of the
income statement that correct revenue (corrections.footing).
"""

from dataclasses import replace

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, any_of, picked
from pipelines.normalize.items.item import SUM, Candidate, Item, flow
from pipelines.normalize.items.points import Points
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR

SAME = 0.005
"""Amounts of one income statement that differ by at most this share of revenue are the same line, rounded."""

AS_FILED = Rule(
    "gross-profit.as-filed",
    "Gross profit is as filed for a fiscal year, and otherwise twelve months of filed figures.",
    "Regulation S-X Rule 5-03; IAS 1.103",
    "select",
)
REVENUE_LESS_COST = Rule(
    "gross-profit.revenue-less-cost",
    "If no gross profit is stated, it is revenue less cost of revenue of the same period, if both follow one set of "
    "accounting standards.",
    "Regulation S-X Rule 5-03.1 and 5-03.2: revenue and the costs applicable to it are separate lines",
    "compose",
)
LEAST_PART = 0.1
"""Cost of revenue is hardly ever a smaller part of the costs of operations. Oracle's cost of revenue of 2010 and 2011
covers some products only: it is 5 % and 9 % of them; Meta's smallest part is 16 %."""

OTHER_SCOPE = Rule(
    "gross-profit.withheld.other-scope",
    "Revenue less cost of revenue is not taken as gross profit if it equals operating income or income before tax, "
    f"or if the cost is zero, all costs of operations, or less than {LEAST_PART:.0%} of them.",
    "Regulation S-X Rule 5-03.2: costs applicable to revenue leave out selling and administrative expenses",
    "withhold",
)
GOODS_ALONE = Rule(
    "gross-profit.withheld.goods-alone",
    "Revenue less cost of goods sold is not taken as gross profit if the cost of services is a separate line.",
    "Regulation S-X Rule 5-03.2: the costs of goods and of services are separate lines",
    "withhold",
)
ONE_STATEMENT = Rule(
    "gross-profit.withheld.revenue-restated",
    "Revenue less cost of revenue is not taken as gross profit if a later filing restates revenue by more than "
    f"{SAME:.1%} and leaves the cost as it was.",
    "ASC 205-20-45-3 and 250-10-45-5: a disposal or a change is applied to all lines of a statement",
    "withhold",
)
OTHER_COST = Rule(
    "gross-profit.withheld.other-cost",
    "Revenue less cost of revenue is not taken as gross profit if, within the year before, the last stated gross "
    f"profit differs from this difference by more than {SAME:.1%} of revenue: the cost element has other costs.",
    "Taxonomy definitions: gross profit is revenue less cost of revenue",
    "withhold",
)
NO_COST, MIXED_REASON = "no_cost_of_revenue", "mixed_basis"
CONTRADICTED = "contradicted_by_filing"


def gross_profit(points: Points, revenue: Item) -> Item:
    """Gross profit as filed, or revenue less cost of revenue.

    Args:
        points: the amounts known at each quarter end after each filing.
        revenue: the item; the difference has its legs and rules, too.
    """
    stated, cost = flow(points, "gross_profit"), flow(points, "cost_of_revenue")
    is_stated = ~np.isnan(stated.value)
    difference = revenue.value - cost.value
    of_two_regimes = abs(points.of(revenue.name, "regime") - points.of(cost.name, "regime")) > 0
    is_difference = ~is_stated & ~np.isnan(difference) & ~of_two_regimes
    found = replace(
        stated,
        method=np.where(is_stated, stated.method, cost.method),
        flags={
            **{
                name: np.where(is_stated, holds, np.logical_or(revenue.flags[name], cost.flags[name]))
                for name, holds in stated.flags.items()
            },
            "derived": is_difference,
        },
        gaps=((NO_COST, ~is_stated & np.isnan(cost.value) & ~np.isnan(revenue.value)),),
    ).choosing(
        Candidate(AS_FILED, is_stated, stated.value, stated.legs),
        Candidate(
            REVENUE_LESS_COST,
            is_difference,
            difference,
            (*revenue.legs, *(leg.recast(SUM, -1.0) for leg in cost.legs)),
        ),
    )
    near = SAME * abs(revenue.value)
    is_part = abs(cost.value - points.of("cost_of_goods_alone")) <= near
    return found.withholding(
        (CONTRADICTED, OTHER_SCOPE, is_difference & _is_of_other_scope(points, difference, cost.value, near)),
        (CONTRADICTED, GOODS_ALONE, is_difference & is_part),
        (MIXED_REASON, ONE_STATEMENT, is_difference & _is_of_other_statement(points, revenue, near)),
        (CONTRADICTED, OTHER_COST, is_difference & _is_other_cost(points, stated.value, difference, near)),
    )


def _is_of_other_scope(points: Points, difference: Floats, cost: Floats, near: Floats) -> Flags:
    """Whether the difference equals a lower line, so no other costs are left, or hardly any costs are subtracted."""
    of_operations = points.of("operating_costs")
    below = (points.of(name) for name in ("operating_income", "pretax_income"))
    return any_of(
        [
            *(abs(difference - amount) <= near for amount in below),
            abs(cost - of_operations) <= near,
            cost < LEAST_PART * of_operations,
            cost <= 0,
        ]
    )


def _is_of_other_statement(points: Points, revenue: Item, near: Floats) -> Flags:
    """Whether revenue has changed since the filing that changed the cost last."""
    with_cost = points.changes.after(points.window, points.of("cost_of_revenue", "seq"))
    return abs(revenue.value - picked(revenue.value, with_cost)) > near


def _is_other_cost(points: Points, stated: Floats, difference: Floats, near: Floats) -> Flags:
    """Whether the last gross profit stated for the four quarter ends before is not the difference known there."""
    stands = points.changes.of_rows(~np.isnan(stated + difference))
    before = [points.earlier(stands, back) for back in range(1, QUARTERS_A_YEAR + 1)]
    last = np.select([at >= 0 for at in before], before, -1)
    return abs(picked(stated, last) - picked(difference, last)) > picked(near, last)
