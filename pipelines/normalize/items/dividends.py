"""Dividends per share: as filed, where dividends paid do not contradict their sum.

Belongs here: twelve months of dividends per share against dividends paid. Does not: figures of one filing
(corrections.dividends), the sum of quarters (ttm).
"""

from dataclasses import replace

import numpy as np

from pipelines.normalize.items.earnings import CONTRADICTED_REASON
from pipelines.normalize.items.item import Item, Proof, flow
from pipelines.normalize.items.points import Points
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.ways import FOUR_QUARTERS, METHODS

AS_PAID = 0.25
"""Dividends per share times shares are the dividends paid if they differ by less than this share: those declared are
paid some weeks later, on other counts."""
EVEN = 1.25
"""Four quarters whose dividends differ by less than this factor have no special dividend."""
TOO_MANY = 1.5
"""Four even dividends exceed those paid in the same twelve months by less than this factor: at most one of them is paid
later. Measured on 228 companies: 4 of 900 sums exceed them by more, Disney's, whose four contexts have two half-yearly
dividends, each in the quarter in which it was declared and in that in which it was paid."""

TIMES_SHARES = Rule(
    "identity.dividends.times-shares",
    "Dividends per share times average shares are the dividends paid: a sum of four even quarters that exceeds them "
    f"by more than {TOO_MANY - 1:.0%}, and the next sum without such payments, is withheld, because contexts of "
    "quarters repeat a dividend.",
    "Taxonomy definitions: dividends per share times the shares are the dividends",
    "withhold",
)


def dividends(points: Points, basic: Item, diluted: Item) -> Item:
    """The item of dividends per share.

    Args:
        points: the amounts known at each quarter end after each filing.
        basic, diluted: average shares.
    """
    found, paid = flow(points, "dividends_per_share"), np.abs(points.of("dividends_paid"))
    product = found.value * np.where(np.isnan(basic.value), diluted.value, basic.value)
    times = product / paid
    may_repeat = (found.method == METHODS.index(FOUR_QUARTERS)) & (points.of(found.name, "own_spread") < EVEN)
    contradicted = may_repeat & np.isfinite(times) & (times > TOO_MANY)
    if contradicted.any():
        before = points.earlier(points.changes, 1)
        contradicted |= may_repeat & np.isnan(times) & (before >= 0) & contradicted[before]
    is_shown = contradicted | (np.abs(times - 1) <= AS_PAID)
    return replace(
        found,
        proofs=(Proof(TIMES_SHARES, is_shown, np.where(contradicted, 2, 0), product, paid),),
    ).withholding((CONTRADICTED_REASON, TIMES_SHARES, contradicted))
