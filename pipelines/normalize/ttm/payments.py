"""Payments: twelve months of dividends of a filer that states what it pays, and pays in some quarters only.

Belongs here: whether dividends paid in four quarters are those declared in them. Does not: the quarters (quarters),
dividends that filings date by day (derived.dated_dividends).
"""

import numpy as np

from pipelines.normalize.arrays import Flags
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import DIVIDENDS, NOISE_OF_SUMS, QUARTERS_A_YEAR
from pipelines.normalize.ttm.lookups import Windows
from pipelines.normalize.ttm.quarters import Quarter

PAID = [source.rule for source in BY_NAME["dividends_per_share"].sources].index("dividends-per-share.paid")
"""The rank of dividends paid in cash."""
FEWEST = 2
"""Quarters without dividends in two years, one of them between two with dividends, of a filer that pays in some only.
A single one is a payment that came some days later: Costco Wholesale's of the spring of 2012."""

PAID_LATER = Rule(
    "ttm.dividends-paid-in-other-quarters",
    "Dividends paid in some quarters only count as those of four quarters if one quarter later they are the same sum: "
    "otherwise a dividend that was paid in them may have been declared before, or one that was declared in them later.",
    "Taxonomy definitions: dividends declared and dividends paid per share are two elements; ASC 505-10-50-2",
    "withhold",
)
RULES = (PAID_LATER,)


def paid_later(windows: Windows, quarters: tuple[Quarter, ...], asked: Flags) -> Flags:
    """Whether dividends of a filer that pays in some quarters only are another sum one quarter later.

    Args:
        windows: the windows.
        quarters: their discrete quarters, from the last one back.
        asked: the windows that are the sum of these.
    """
    found = np.zeros(len(asked), dtype=np.bool_)
    rows = np.flatnonzero(asked & (windows.concept == DIVIDENDS))
    some = windows.at(rows)
    before = range(QUARTERS_A_YEAR, 2 * QUARTERS_A_YEAR)
    amounts = [quarter.amount[rows] for quarter in quarters]
    amounts += [some.of("amount", some.find(some.q - back, 1)) for back in before]
    nothing = np.sum([amount == 0 for amount in amounts], axis=0)
    three = zip(amounts, amounts[1:], amounts[2:], strict=False)
    skips = np.any([(last > 0) & (amount == 0) & (first > 0) for last, amount, first in three], axis=0)
    is_paid = np.zeros(len(rows), dtype=np.bool_)
    for leg in (leg for quarter in quarters for leg in quarter.legs):
        row = leg.row[rows]
        is_other = (some.of("rank", row) == PAID) | (some.of("other_source", row) > 0)
        is_paid |= is_other & (some.of("amount", row) > 0)
    following, first = some.of("amount", some.find(some.q + 1, 1)), amounts[QUARTERS_A_YEAR - 1]
    moves = ~(np.abs(following - first) <= NOISE_OF_SUMS)
    found[rows] = is_paid & skips & (nothing >= FEWEST) & moves
    return found
