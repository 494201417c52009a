"""Signs: figures that a filing states with the other sign than filings before it.

Belongs here: what earlier filings of a period prove about a sign. Does not: what the figures of one filing prove about
each other (identities).

Only the same filing and earlier ones are looked at, so that what was known on a day does not depend on later ones.
"""

import numpy as np

from pipelines.normalize.arrays import first_row, starts
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.rule import Rule

UNCHECKED = ("operating_cash_flow", "capital_expenditure", "operating_income", "pretax_income")
"""Concepts that no identity holds the sign of, so that filings alone can."""

SAME_BUT_FOR_SIGN = 0.001
"""Two figures are the same but for their sign within this share of them: rounding to three digits differs by more."""

BY_FILINGS_OF_PERIOD = "earlier filings of the same period"

SIGN_OF_EARLIER_FILINGS = Rule(
    "correction.sign.earlier-filings",
    "Cash flow, capital expenditure, operating income or income before tax that merely has the other sign than before "
    "is turned, unless the filings that state it so are more by now than those that stated it otherwise.",
    "Observed: six months of operating cash flow, 2,360.8 million to 2023-04-02, shown with a minus sign a year later",
    "correct",
)
RULES = (SIGN_OF_EARLIER_FILINGS,)


def proposals(figures: Figures) -> list[Proposal]:
    """Figures that merely have the other sign than in filings before."""
    at = figures.of_concepts(UNCHECKED)
    at = at[figures.value[at] != 0]
    if not len(at):
        return []
    size = np.abs(figures.value[at])
    first = first_row(starts(figures.first[at]))
    alike = np.abs(size - size[first]) <= SAME_BUT_FOR_SIGN * size
    at = at[alike]
    sign = np.sign(figures.value[at])
    first = first_row(starts(figures.first[at]))
    so_far = np.cumsum(sign)
    balance = so_far - so_far[first] + sign[first]
    majority = np.where(balance == 0, sign[first], np.sign(balance))
    turned = at[sign != majority]
    return [Proposal(SIGN_OF_EARLIER_FILINGS, BY_FILINGS_OF_PERIOD, turned, np.full(len(turned), -1.0))]
