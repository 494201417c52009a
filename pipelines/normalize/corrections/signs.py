"""Signs: figures with the opposite sign of other filings.

Belongs here: errors of sign that earlier filings of the same period prove. Does not: errors that other figures of the
same filing prove (identities).

Only the same filing and earlier ones are used, so that what was known on a day does not depend on later filings.
"""

import numpy as np

from pipelines.normalize.arrays import first_row, starts
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule

UNCHECKED = ("operating_cash_flow", "capital_expenditure", "operating_income", "pretax_income")
"""Concepts whose sign no identity determines, so only other filings can."""

SAME_BUT_FOR_SIGN = 0.001
"""Two figures are equal except for the sign if their amounts differ by less than this share. Rounding to three digits
changes an amount by more."""

BY_FILINGS_OF_PERIOD = "earlier filings of the same period"

BY_LINE = "the figures of the line for other periods, as filings state both signs equally often"
BY_NONE = "filings state both signs equally often, and so do those of the line's other periods"

SIGN_OF_EARLIER_FILINGS = Rule(
    "correction.sign.earlier-filings",
    "The sign of operating cash flow, capital expenditure, operating income or income before tax is reversed if "
    "more filings so far state the same amount for the period with the other sign.",
    "taxonomy definitions: a line of one period has one sign; measured by the rule: which sign most filings so far "
    "state",
    "correct",
)
SIGN_OF_LINE = Rule(
    "correction.sign.line",
    "Where as many filings so far have the one sign as the other, the sign is that of most figures of the line for "
    "other periods; if these are equal, too, the figure of the filing is left out.",
    "taxonomy definitions: a line of one period has one sign; measured on 228 companies: 2 of 32,700 figures are of "
    "periods with such a tie",
    "correct",
)
RULES = (SIGN_OF_EARLIER_FILINGS, SIGN_OF_LINE)


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
    turned, tied = at[sign == -np.sign(balance)], np.flatnonzero(balance == 0)
    found = [Proposal(SIGN_OF_EARLIER_FILINGS, BY_FILINGS_OF_PERIOD, turned, np.full(len(turned), -1.0))]
    if len(tied):
        # the figures of the period itself add up to zero
        key = packed(figures.line[at], figures.seq[at])
        order = np.argsort(key)
        total = np.append(0, np.cumsum(sign[order]))
        of_line = np.searchsorted(figures.line[at[order]], figures.line[at[tied]])
        of_others = total[np.searchsorted(key[order], key[tied], side="right")] - total[of_line]
        for evidence, holds, factor in (
            (BY_LINE, np.sign(of_others) == -sign[tied], -1.0),
            (BY_NONE, of_others == 0, np.nan),
        ):
            rows = at[tied[holds]]
            found.append(Proposal(SIGN_OF_LINE, evidence, rows, np.full(len(rows), factor)))
    return found
