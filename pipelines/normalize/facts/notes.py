"""Notes: amounts from notes of annual reports that use an element of the statements.

Belongs here: distinguishing the amount of a note from the line of a statement. Does not: which elements are the sources
of a line, and in which order (elements).

A line of the statements is in every report. An amount that only annual reports have is from a note and may be a
different amount: capital expenditure including unpaid invoices, income before taxes by country.
"""

import numpy as np

from pipelines.normalize.arrays import SEQ_BITS, Flags, Timeline, key_of, starts
from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.facts.candidates import Candidates
from pipelines.normalize.rule import Rule

ANNUAL_NOTE = Rule(
    "fact.annual-note",
    "An annual amount under an element that no interim report of the last 400 days uses is from a note; it is replaced "
    "by the line of the statements if that is more than half of it.",
    "Regulation S-X Rule 10-01(a): interim statements may be condensed and omit notes",
    "withhold",
    "income before tax and capital expenditure of all filers",
)
RULES = (ANNUAL_NOTE,)

LONGEST_INTERIM_DAYS = 300
"""Durations under 300 days are interim: nine months are at most 280 days, a year at least 340."""
LOOKS_BACK_DAYS = 400
"""The time between two annual reports: within it, every line of the statements is in an interim report."""
LARGE_PART = 0.5
"""A line of at most half of the other amount is a part of it, and does not replace it."""

COMPANY_BITS, CONCEPT_BITS, RANK_BITS = 20, 8, 6
"""Bits of a key for the place of a company, the code of a concept and the rank of a source."""

_IN_NOTES = np.isin(AMOUNT.categories.to_numpy(), [concept.name for concept in CONCEPTS if concept.in_notes])
"""For each code of a concept: whether notes use its elements for other amounts."""


def of_notes(candidates: Candidates) -> Flags:
    """Which candidates are annual amounts from a note where a line of the statements has more than half of it.

    A source is a line of the statements if an interim report of the last 400 days shows it.
    """
    found = np.zeros(len(candidates.slot), dtype=np.bool_)
    rows = np.flatnonzero(_IN_NOTES[candidates.concept])
    if not len(rows):
        return found
    of = candidates.where(rows)
    source = key_of((of.company, COMPANY_BITS), (of.concept, CONCEPT_BITS), (of.rank, RANK_BITS))
    is_interim = of.days < LONGEST_INTERIM_DAYS
    filing = np.where(is_interim, (source << SEQ_BITS) | of.seq, -1)
    shown, row = np.unique(filing, return_index=True)
    row = row[shown >= 0]
    newest = Timeline(source[row], of.seq[row]).after(source, of.seq)
    is_line = np.zeros(len(rows), dtype=np.bool_)
    is_shown = newest >= 0
    is_line[is_shown] = of.filed[is_shown] - of.filed[row[newest[is_shown]]] <= LOOKS_BACK_DAYS
    size = np.abs(of.value)
    begins = starts(of.slot)
    line = np.maximum.reduceat(np.where(is_line, size, -np.inf), np.flatnonzero(begins))[np.cumsum(begins) - 1]
    found[rows] = ~is_interim & ~is_line & (line > LARGE_PART * size)
    return found
