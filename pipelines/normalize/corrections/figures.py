"""Figures: the filed amounts as arrays, in the order in which corrections compare them.

Belongs here: the columns that the proofs of errors use, the figures of one filing and period in one row, the company's
record of satisfying an identity, and the form of a proposed correction. Does not: any proof (signs, scale, footing,
agreement, dividends, contexts), applying and recording proposals (ledger).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    Flags,
    Floats,
    Ints,
    Timeline,
    first_row,
    flags,
    floats,
    ints,
    packed,
    picked,
    starts,
)
from pipelines.normalize.elements import NUMBER_OF
from pipelines.normalize.rule import Rule

A_YEAR, A_QUARTER = (350, 380), (75, 110)
"""Fewest and most days of a year (also between the ends of one period in two years: 52 or 53 weeks, with shifted ends),
and of a quarter."""
SCALE, SIGN, FIGURE, CONTEXT, TOTAL, DOUBT = "scale", "sign", "figure", "context", "total", "doubt"
"""The kinds of corrections. A figure is multiplied by a power of ten (scale) or by minus one (sign), or replaced
(figure); or it is left out because it belongs to another period (context), a total contradicts it (total), or other
figures of its filing contradict it (doubt)."""

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
OUTSTANDING = "shares_outstanding"
PER_SHARE = (EARNINGS, DILUTED_EARNINGS)
OF_INCOME = (COMMON, PARENT, EARNINGS, PRETAX, TAX, *COUNTS, PROFIT, DILUTED_EARNINGS, COMPREHENSIVE, OPERATING)
FEWEST_OTHERS = 2
"""Fewest other periods in which an identity must hold to count for a company: it does not hold in two by chance."""
MOSTLY = 0.8
"""Smallest share of the other periods in which an identity must hold to count for a company. Measured on 228 companies:
nearly all figures that contradict an identity which held before are errors or have no other witness."""
MANY_OTHERS, NEARLY_ALL = 6, 0.95
"""FEWEST_OTHERS and MOSTLY for identities that hold so exactly that small differences are contradictions."""
CENT_ROUNDING = 0.0055
"""Rounding of earnings per share: half a cent, and a little more for averages."""
RESTATED = 0.005
"""Two statements of one amount differ by less than this share, because of rounding."""
SIMILAR = 0.1
"""Figures are similar if they differ by less than this share: income to common, income with minorities and earnings per
share times shares; basic and diluted earnings per share; the counts of successive periods."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The corrections that one rule proposes.

    rule: the rule.
    evidence: the proof of the error, in words, for all figures or each; published in table `repairs`.
    at: indices of the figures in Figures, each once.
    factor: the factor by which each figure, or all, are multiplied; NaN leaves them out because the right ones are
        unknown.
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
    seq: number of the filing in the order of the company's filings.
    concept: number of the amount in elements.AMOUNT.
    rank: rank of its source among the sources of the concept.
    start, end: first and last day of the period, as days since 1970; an instant starts where it ends.
    is_instant: whether the figure is of an instant.
    value: in units of the reporting currency, or in shares; as corrected so far.
    grain: the power of ten to which the value is rounded; as corrected so far.
    repair: the factor by which the value was corrected so far; NaN if it is left out.
    measure_sign: 0 money, 1 shares, -1 amounts per share.
    line: number of the company and concept.
    first: index of the figure in the first filing that states the same line and period.
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
    repair: Floats
    measure_sign: Ints
    line: Ints
    first: Ints

    @classmethod
    def of(cls, vintages: pl.DataFrame) -> "Figures":
        """Build them from a frame of vintages (columns as in ledger.corrected)."""
        dated = vintages.with_columns(start=pl.coalesce("start", "end"), is_instant=pl.col("start").is_null())
        company = np.searchsorted(dated["cik"].unique().sort(), dated["cik"])
        row = np.argsort(packed(company, *(ints(dated, name) for name in ("concept", "start", "end", "seq"))))
        figures = dated[row]
        company = company[row]
        seq, concept, start, end = (ints(figures, name) for name in ("seq", "concept", "start", "end"))
        return cls(
            row=row,
            company=company,
            seq=seq,
            concept=concept,
            rank=ints(figures, "rank"),
            start=start,
            end=end,
            is_instant=flags(figures, "is_instant"),
            value=floats(figures, "value"),
            grain=floats(figures, "grain"),
            repair=np.ones(len(seq)),
            measure_sign=ints(figures, "measure_sign"),
            line=np.cumsum(starts(company, concept)) - 1,
            first=first_row(starts(company, concept, start, end)),
        )

    def corrected(self, proposals: Sequence[Proposal]) -> tuple["Figures", list[Proposal]]:
        """The figures after the corrections that one corrector proposes, and its proposals that are in force."""
        in_force = [proposal for proposal in proposals if proposal.rule.where(condition=True)]
        factor = np.ones(len(self.value))
        for proposal in in_force:
            factor[proposal.at] *= proposal.factor
        value, grain = self.value * factor, self.grain * np.abs(factor)
        return replace(self, value=value, grain=grain, repair=self.repair * factor), in_force

    def of_concepts(self, names: tuple[str, ...]) -> Ints:
        """Indices of the figures of the given concepts."""
        return np.flatnonzero(np.isin(self.concept, [NUMBER_OF[name] for name in names]))

    @property
    def days(self) -> Ints:
        """Days of each period, first and last day included; 1 for an instant."""
        return self.end - self.start + 1


@dataclass(frozen=True, slots=True)
class PeriodRows:
    """One row for each filing and period, in the order of company, filing and period.

    figures: all figures.
    company, seq: the filing.
    start, end: the period, as days since 1970.
    since, of_filing, after: the first row of the company, the first row of the filing, and the first row after the
        filing.
    index: for each concept, the index of the figure in Figures, or NOTHING.
    """

    figures: Figures
    company: Ints
    seq: Ints
    start: Ints
    end: Ints
    since: Ints
    of_filing: Ints
    after: Ints
    index: dict[str, Ints]

    @classmethod
    def of(cls, figures: Figures, concepts: tuple[str, ...]) -> "PeriodRows":
        """Collect the figures of the given concepts, one row for each filing and period."""
        at = figures.of_concepts(concepts)
        company, seq, start, end = (column[at] for column in (figures.company, figures.seq, figures.start, figures.end))
        _, first, row = np.unique(packed(company, seq, start, end), return_index=True, return_inverse=True)
        index = {name: np.full(len(first), NOTHING) for name in concepts}
        for name in concepts:
            is_named = figures.concept[at] == NUMBER_OF[name]
            index[name][row[is_named]] = at[is_named]
        company, seq = company[first], seq[first]
        is_new = starts(company, seq)
        after = np.append(np.flatnonzero(is_new), len(first))[np.cumsum(is_new)]
        since, of_filing = first_row(starts(company)), first_row(is_new)
        return cls(figures, company, seq, start[first], end[first], since, of_filing, after, index)

    def __getitem__(self, name: str) -> Floats:
        """The figures of a concept; NaN if the filing does not state one for the period."""
        return picked(self.figures.value, self.index[name])

    def grain(self, name: str) -> Floats:
        """The power of ten to which the figures of a concept are rounded."""
        return picked(self.figures.grain, self.index[name])

    def is_of(self, name: str, ranks: tuple[int, ...]) -> Flags:
        """Whether the figure of a concept comes from a source with one of the given ranks."""
        return (self.index[name] >= 0) & np.isin(picked(self.figures.rank, self.index[name]), ranks)

    def last(self, holds: Flags) -> Ints:
        """The last row of this or an earlier filing of the company where the condition holds; NOTHING without one."""
        newest = np.maximum.accumulate(np.where(holds, np.arange(len(holds)), NOTHING))[self.after - 1]
        return np.where(newest >= self.since, newest, NOTHING)

    def balance(self, name: str, day: Ints) -> Ints:
        """The index of a concept's balance on a day, as known after each filing; NOTHING if there is none."""
        at = self.figures.of_concepts((name,))
        key = packed(np.append(self.figures.company[at], self.company), np.append(self.figures.end[at], day))
        row = Timeline(key[: len(at)], self.figures.seq[at]).after(key[len(at) :], self.seq)
        return np.append(at, NOTHING)[row]

    def usually_holds(self, known: Flags, agrees: Flags, fewest: int = FEWEST_OTHERS, mostly: float = MOSTLY) -> Flags:
        """Whether an identity holds in most other periods of the same and earlier filings.

        It does not count if it fails in most other periods of the filing itself: its lines then have another meaning
        from now on.

        Args:
            known: where both sides are stated.
            agrees: where they are equal.
            fewest: the fewest other periods.
            mostly: the share of the other periods in which the identity must hold.
        """
        counts = [np.append(0, np.cumsum(flags)) for flags in (known & agrees, known)]
        held, compared = (count[self.after] - count[self.since] - np.diff(count) for count in counts)
        held_here, compared_here = (count[self.after] - count[self.of_filing] - np.diff(count) for count in counts)
        is_usual: Flags = (held >= mostly * compared) & (compared >= fewest) & (2 * held_here >= compared_here)
        return is_usual

    def propose(self, rule: Rule, evidence: str, name: str, holds: Flags, factor: npt.NDArray[Any] | float) -> Proposal:
        """Propose to multiply the figures of a concept where the condition holds."""
        rows = np.flatnonzero(holds & (self.index[name] >= 0))
        return Proposal(rule, evidence, self.index[name][rows], np.broadcast_to(factor, holds.shape)[rows])


def first_known(*numbers: Floats) -> Floats:
    """The first of the given numbers that is not NaN."""
    found = numbers[-1]
    for number in reversed(numbers[:-1]):
        found = np.where(np.isnan(number), found, number)
    return found
