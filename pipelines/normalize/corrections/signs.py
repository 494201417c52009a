"""Signs: figures with the opposite sign of earlier filings.

Belongs here: errors of sign that earlier filings of the same period prove. Does not: errors that other figures of the
same filing prove (identities).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np

from pipelines.normalize.arrays import first_row, starts
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.rule import Rule

UNCHECKED = ("operating_cash_flow", "capital_expenditure", "operating_income", "pretax_income")
"""Concepts whose sign no identity determines, so only other filings can."""

SAME_BUT_FOR_SIGN = 0.001
"""Two figures are equal except for the sign if their amounts differ by less than this share. Rounding to three digits
changes an amount by more."""

BY_FILINGS_OF_PERIOD = "earlier filings of the same period"

SIGN_OF_EARLIER_FILINGS = Rule(
    "correction.sign.earlier-filings",
    "The sign of operating cash flow, capital expenditure, operating income or income before tax is reversed if "
    "earlier filings of the period state the same amount with the other sign, unless more filings so far have the new "
    "sign.",
    "taxonomy definitions: a line of one period has one sign; measured by the rule: which sign most filings so far "
    "state",
    "correct",
)
RULES = (SIGN_OF_EARLIER_FILINGS,)


def proposals(figures: Figures) -> list[Proposal]:
    """Figures that differ from earlier filings by the sign only."""
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
