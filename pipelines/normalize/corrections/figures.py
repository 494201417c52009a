"""Figures as arrays: what filings state, in the order in which corrections compare it.

Belongs here: the columns that the proofs of errors read, and what a proof proposes. Does not: any proof (identities,
scale, signs, contexts), or how proposals are applied and written down (ledger).
"""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, first_row, floats, ints, starts
from pipelines.normalize.keys import day_numbers, packed, places_in
from pipelines.normalize.rule import Rule


@dataclass(frozen=True, slots=True)
class Proposal:
    """What one rule corrects.

    rule: the rule.
    evidence: what proves the error, in words; published in table `repairs`.
    at: places of the figures in Figures, each once.
    factor: what each figure is multiplied by.
    """

    rule: Rule
    evidence: str
    at: Ints
    factor: Floats


@dataclass(frozen=True, slots=True)
class Figures:
    """One element a figure, sorted by company, concept, period and filing.

    row: row of the frame that the figure comes from.
    company: number of the company, in the order of the CIKs.
    seq: place of the filing among the company's filings.
    concept: number of the amount in elements.AMOUNT.
    start, end: first and last day of the period, as days since 1970; an instant starts where it ends.
    is_instant: whether the figure stands at an instant.
    value: in units of the reporting currency, or in shares; as corrected so far.
    grain: the power of ten that the value is stated to; as corrected so far.
    measure_sign: 0 money, 1 shares, -1 amounts per share.
    line: number of the company and concept.
    first: place of the figure that the first filing states for the same line and period.
    """

    row: Ints
    company: Ints
    seq: Ints
    concept: Ints
    start: Ints
    end: Ints
    is_instant: Flags
    value: Floats
    grain: Floats
    measure_sign: Ints
    line: Ints
    first: Ints

    @classmethod
    def of(cls, vintages: pl.DataFrame) -> "Figures":
        """Take them from a frame of vintages (columns as in ledger.corrected)."""
        cik, seq, concept = (ints(vintages, name) for name in ("cik", "seq", "concept"))
        company = np.searchsorted(np.unique(cik), cik)
        end = day_numbers(vintages["end"])
        is_instant = vintages["start"].is_null().to_numpy()
        start = np.where(is_instant, end, day_numbers(vintages["start"]))
        period = packed(company, concept, start, end)
        row = np.argsort(packed(period, seq), kind="stable")
        company, concept, period = company[row], concept[row], period[row]
        return cls(
            row=row,
            company=company,
            seq=seq[row],
            concept=concept,
            start=start[row],
            end=end[row],
            is_instant=is_instant[row],
            value=floats(vintages, "value")[row],
            grain=floats(vintages, "grain")[row],
            measure_sign=ints(vintages, "measure_sign")[row],
            line=np.cumsum(starts(company, concept)) - 1,
            first=first_row(starts(period)),
        )

    def multiplied(self, factor: Floats) -> "Figures":
        """The same figures, each times its factor."""
        return replace(self, value=self.value * factor, grain=self.grain * np.abs(factor))

    def of_concepts(self, names: tuple[str, ...]) -> Ints:
        """Places of the figures of some concepts."""
        return np.flatnonzero(places_in(names, self.concept) >= 0)

    @property
    def days(self) -> Ints:
        """Days of each period, both ends counted; 1 for an instant."""
        return self.end - self.start + 1

    @property
    def is_first(self) -> Flags:
        """Whether no earlier filing states a figure for the same line and period."""
        is_first: Flags = self.first == np.arange(len(self.first))
        return is_first
