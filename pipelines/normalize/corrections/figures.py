"""Figures: the filed amounts as arrays, in the order in which corrections compare them.

Belongs here: the columns that the proofs of errors use, and the form of a proposed correction. Does not: any proof
(identities, scale, signs, contexts), applying and recording proposals (ledger).
"""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Floats, Ints, first_row, floats, ints, packed, starts
from pipelines.normalize.elements import AMOUNT, NUMBER_OF
from pipelines.normalize.rule import Rule

A_YEAR, A_QUARTER = (350, 380), (75, 110)
"""Fewest and most days of a year, and between the ends of the same period in two years (52 or 53 weeks, with shifted
ends); and of a quarter."""
SCALE, SIGN, FIGURE, CONTEXT, TOTAL, DOUBT = "scale", "sign", "figure", "context", "total", "doubt"
"""The kinds of corrections: the factor is a power of ten, minus one, or another; the figure is left out as that of
another period, because a total contradicts it, or because other figures of its filing do."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The corrections that one rule proposes.

    rule: the rule.
    evidence: the proof of the error, in words, for all figures or each; published in table `repairs`.
    at: places of the figures in Figures, each once.
    factor: the factor by which each figure, or all, are multiplied; NaN leaves them out: nothing shows the right ones.
    kind: why the figure is left out: CONTEXT, TOTAL or DOUBT.
    """

    rule: Rule
    evidence: str | pl.Series
    at: Ints
    factor: Floats | float = np.nan
    kind: str = DOUBT


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures, sorted by company, concept, period and filing.

    row: row of the figure in the frame of vintages.
    company: number of the company, in the order of the CIKs.
    seq: place of the filing among the company's filings.
    concept: number of the amount in elements.AMOUNT.
    rank: place of its source among those of the concept.
    start, end: first and last day of the period, as days since 1970; an instant starts where it ends.
    is_instant: whether the figure is of an instant.
    value: in units of the reporting currency, or in shares; as corrected so far.
    grain: the power of ten to which the value is rounded; as corrected so far.
    measure_sign: 0 money, 1 shares, -1 amounts per share.
    line: number of the company and concept.
    first: place of the figure in the first filing that states the same line and period.
    """

    row: Ints
    company: Ints
    seq: Ints
    concept: Ints
    rank: Ints
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
        """Make them from a frame of vintages (columns as in ledger.corrected)."""
        cik, seq, concept = (ints(vintages, name) for name in ("cik", "seq", "concept"))
        company = np.searchsorted(np.unique(cik), cik)
        is_instant = vintages["start"].is_null().to_numpy()
        dates = vintages.select("end", start=pl.coalesce("start", "end"))
        start, end = ints(dates, "start"), ints(dates, "end")
        period = packed(company, concept, start, end)
        row = np.argsort(packed(period, seq), kind="stable")
        company, concept, period = company[row], concept[row], period[row]
        return cls(
            row=row,
            company=company,
            seq=seq[row],
            concept=concept,
            rank=ints(vintages, "rank")[row],
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
        """The figures, each multiplied by its factor."""
        return replace(self, value=self.value * factor, grain=self.grain * np.abs(factor))

    def of_concepts(self, names: tuple[str, ...]) -> Ints:
        """Places of the figures of some concepts."""
        is_named = np.zeros(len(AMOUNT.categories), dtype=np.bool_)
        is_named[[NUMBER_OF[name] for name in names]] = True
        return np.flatnonzero(is_named[self.concept])

    @property
    def days(self) -> Ints:
        """Days of each period, first and last day included; 1 for an instant."""
        return self.end - self.start + 1

    @property
    def is_first(self) -> Flags:
        """Whether no earlier filing states a figure for the same line and period."""
        is_first: Flags = self.first == np.arange(len(self.first))
        return is_first
