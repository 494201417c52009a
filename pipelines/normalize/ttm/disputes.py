"""Disputes: fiscal years of which two filings state amounts that differ by one digit.

Belongs here: from which filing on an amount is in dispute, and from which no more. Does not: which sums are withheld
for it (ways).
"""

from collections.abc import Mapping

import numpy as np

from pipelines.normalize.arrays import Flags, Floats, Ints, Timeline, picked
from pipelines.normalize.elements import BY_NAME
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import NOISE_OF_SUMS, QUARTERS_A_YEAR, RESTATED_ALONE, slot_key

FEWEST_UNITS, FEWEST_CENTS = 10, 2
"""Amounts that differ by one digit in the last place, or amounts per share by a cent, may be rounded in another way."""
LEAST_DISPUTE = 0.001
"""A dispute about less than a thousandth of an amount moves no value."""
FEWEST_UNITS_OF = np.array(
    [FEWEST_CENTS if concept.measure == "per_share" else FEWEST_UNITS for concept in BY_NAME.values()]
)
"""For each code of a concept: the fewest units by which two filings dispute an amount."""

NO_YEAR_IN_DISPUTE = Rule(
    "ttm.no-year-in-dispute",
    "A fiscal year that one filing states so is not added to interim periods if the next one has one other digit and "
    "restates hardly anything else, until an interim period of it or of the next year is restated.",
    "Measured on 101 companies: 5 of 10,380 amounts of fiscal years; capital expenditure of AT&T for 2019 (19,435 and "
    "19,635 million) was restated along with interim periods of 2019 and 2020",
    "withhold",
)


def disputed(rows: Mapping[str, Floats], following: Ints, concept: Ints, is_year: Flags) -> Floats:
    """The filing from which on an amount of a year is in dispute; missing for other amounts.

    One filing states it, the next that states the year does so with one other digit of the same element, and restates
    hardly anything else of it: one of the two is mistyped. Interim periods are left aside: their comparatives differ so
    by restatements, too.

    Args:
        rows: columns of the known amounts (lookups.Known).
        following: the row of the same amount in the next filing that states it; NOTHING if there is none.
        concept: the code of the concept of each.
        is_year: whether it is of a fiscal year.
    """
    compared = ("amount", "weight", "grain", "rank", "seq", "since", "restated_along")
    other = {name: picked(rows[name], following) for name in compared}
    # figures as filed, not weighted by days
    figure, next_figure = (each["amount"] / each["weight"] for each in (rows, other))
    off, unit = abs(next_figure - figure), np.minimum(rows["grain"], other["grain"])
    digits = off / 10.0 ** np.floor(np.log10(np.maximum(off, unit)) + NOISE_OF_SUMS)
    holds = abs(digits - np.rint(digits)) <= NOISE_OF_SUMS
    holds &= (off >= FEWEST_UNITS_OF[concept] * unit - NOISE_OF_SUMS) & (off > LEAST_DISPUTE * abs(figure))
    holds &= is_year & (rows["rank"] == other["rank"]) & (other["restated_along"] <= RESTATED_ALONE)
    holds &= (rows["since"] == rows["seq"]) & (other["since"] == other["seq"])
    return np.where(holds, other["seq"], np.nan)


def settled(rows: Mapping[str, Floats], timeline: Timeline, *slot: Ints) -> Floats:
    """The filing from which on an amount of a year is no longer in dispute; missing for other amounts.

    A later filing restates an interim period of the year, or of the next one: the line was defined anew.

    Args:
        rows: columns of the known amounts, with `disputed`.
        timeline: of these rows.
        slot: company, concept and quarter of each.
    """
    found, at = np.full(len(rows["disputed"]), np.nan), np.flatnonzero(~np.isnan(rows["disputed"]))
    revisions = timeline.of_rows(rows["revised"] == rows["seq"])
    company, concept, quarter = (each[at] for each in slot)
    years = [quarter + later for later in range(1 - QUARTERS_A_YEAR, QUARTERS_A_YEAR) if later]
    spans = [np.full(len(at), quarters) for quarters in range(1, QUARTERS_A_YEAR)]
    interim = np.array([slot_key(company, concept, end, span) for end in years for span in spans])
    found[at] = np.fmin.reduce(picked(rows["seq"], revisions.since(interim, rows["seq"][at] + 1)))
    return found
