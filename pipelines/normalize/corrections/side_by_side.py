"""Side by side: the figures of one filing and period for which identities hold, in one row.

Belongs here: collecting them into one row, and the power of a thousand by which a share count is wrong. Does not: the
corrections that follow (identities).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pipelines.normalize.arrays import Flags, Floats, Ints
from pipelines.normalize.corrections.figures import Figures, Proposal
from pipelines.normalize.corrections.powers import power_of_thousand
from pipelines.normalize.keys import packed
from pipelines.normalize.rule import Rule

COUNTS = ("shares_basic", "shares_diluted")
COMMON, PARENT, EARNINGS, PRETAX, TAX = (
    "net_income_common",
    "net_income_parent",
    "eps_basic",
    "pretax_income",
    "income_tax",
)
PROFIT, DILUTED_EARNINGS, COMPREHENSIVE, OPERATING, RETAINED = (
    "profit",
    "eps_diluted",
    "comprehensive_income",
    "operating_income",
    "retained_earnings",
)
COMPARED = (COMMON, PARENT, EARNINGS, PRETAX, TAX, *COUNTS)
OF_INCOME = (*COMPARED, PROFIT, DILUTED_EARNINGS, COMPREHENSIVE, OPERATING)
NEAR_EARNINGS = 0.2
"""The largest distance of a quotient of income, earnings per share and shares from a power of a thousand, in powers of
ten: earnings per share are rounded to cents, and income available to common differs from that of the parent."""
SMALLEST_EARNINGS = 0.015
"""Smaller earnings per share prove nothing, because rounding to a cent changes them by up to a half."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """One row for each filing and period, in the order of company, filing and period.

    company, seq: the filing.
    start, end: the period, as days since 1970.
    value: for each concept, the figure; NaN if the filing does not state it.
    place: for each concept, the place of the figure in Figures, or -1.
    power: for each of COUNTS, the power of ten, a multiple of three, by which income divided by earnings per share
        exceeds the count; NaN if it is not known.
    """

    company: Ints
    seq: Ints
    start: Ints
    end: Ints
    value: dict[str, Floats]
    place: dict[str, Ints]
    power: dict[str, Floats]

    @classmethod
    def of(cls, figures: Figures, concepts: tuple[str, ...] = COMPARED, *, with_powers: bool = False) -> "SideBySide":
        """Collect the figures of some concepts."""
        at = figures.of_concepts(concepts)
        key = packed(*(column[at] for column in (figures.company, figures.seq, figures.start, figures.end)))
        _, first, period = np.unique(key, return_index=True, return_inverse=True)
        value, place = {}, {}
        for name in concepts:
            of_name = figures.of_concepts((name,))
            where = np.full(len(first), -1)
            where[period[np.searchsorted(at, of_name)]] = of_name
            place[name] = where
            value[name] = np.where(where < 0, np.nan, figures.value[where] if len(figures.value) else np.nan)
        power: dict[str, Floats] = {}
        earnings = np.abs(value.get(EARNINGS, np.zeros(0)))
        for count in COUNTS if with_powers else ():
            of_common, of_parent = (
                power_of_thousand(np.abs(value[income]) / earnings / value[count], NEAR_EARNINGS)
                for income in (COMMON, PARENT)
            )
            known = np.where((of_common == 0) | (of_parent == 0), 0.0, either(of_common, of_parent))
            power[count] = np.where(earnings >= SMALLEST_EARNINGS, known, np.nan)
        at_first = at[first]
        company, seq, start, end = (
            column[at_first] for column in (figures.company, figures.seq, figures.start, figures.end)
        )
        return cls(company, seq, start, end, value, place, power)

    def last(self, holds: Flags) -> Ints:
        """The last row of the same or an earlier filing of the company where the condition holds; -1 if none."""
        if not len(holds):
            return np.zeros(0, dtype=np.int64)
        filing = packed(self.company, self.seq)
        newest = np.maximum.accumulate(np.where(holds, np.arange(len(holds)), -1))
        found = newest[np.searchsorted(filing, filing, side="right") - 1]
        return np.where((found >= 0) & (self.company[found] == self.company), found, -1)

    def propose(self, rule: Rule, evidence: str, name: str, holds: Flags, factor: npt.NDArray[Any] | float) -> Proposal:
        """Propose to multiply the figures of a concept where the condition holds."""
        holds = holds & (self.place[name] >= 0)
        of_all = np.broadcast_to(factor, holds.shape)
        return Proposal(rule, evidence, self.place[name][holds], of_all[holds])


def either(first: Floats, second: Floats) -> Floats:
    """The first number, or the second if the first is NaN."""
    return np.where(np.isnan(first), second, first)


def at_rows(values: Floats, rows: Ints) -> Floats:
    """The numbers at some rows; NaN for NOTHING."""
    return np.where(rows < 0, np.nan, values[rows]) if len(values) else values
