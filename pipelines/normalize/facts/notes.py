"""Notes: amounts of annual reports that stand in a note, filed under an element of the statements.

Belongs here: telling an amount of a note from the line of a statement. Does not: which elements are the sources of a
line, and in which order (elements).

A line of the statements is in every report. An amount that only annual reports have is from a note, and may be another
amount: capital expenditure with what is not paid yet, income before taxes by country.
"""

import numpy as np

from pipelines.normalize.arrays import SEQ_BITS, Flags, Timeline, key_of, starts
from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.facts.candidates import Candidates
from pipelines.normalize.rule import Rule

ANNUAL_NOTE = Rule(
    "fact.annual-note",
    "An amount of a year under an element that no interim report of the last 400 days uses is from a note, and gives "
    "way to the line of the statements if that is at least half of it.",
    "Regulation S-X Rule 10-01(a): interim statements may be condensed and omit notes",
    "withhold",
    "pre-tax income, capital expenditure and other lines whose elements are used in notes",
)
RULES = (ANNUAL_NOTE,)

INTERIM_DAYS = 300
"""Durations under 300 days are interim: nine months are at most 280 days, a year at least 340."""
LOOKS_BACK_DAYS = 400
"""An annual report and the time until the next: within it a line of the statements has been in an interim report."""
LARGE_PART = 0.5
"""A line that is less than half of the amount beside it is a part of it, and does not replace it."""

COMPANY_BITS, CONCEPT_BITS, RANK_BITS = 20, 8, 6
"""The bits that a place of a company, a code of a concept and a rank of a source need in a key."""

_IN_NOTES = np.isin(AMOUNT.categories.to_numpy(), [concept.name for concept in CONCEPTS if concept.in_notes])
"""By code of the concept: whether notes state other amounts under its elements."""


def of_notes(candidates: Candidates) -> Flags:
    """Which candidates are an annual amount from a note, beside a line of the statements that is most of it.

    A source is a line of the statements if an interim report of the last 400 days shows it.
    """
    found = np.zeros(len(candidates.slot), dtype=np.bool_)
    rows = np.flatnonzero(_IN_NOTES[candidates.concept])
    if not len(rows):
        return found
    of = candidates.where(rows)
    source = key_of((of.company, COMPANY_BITS), (of.concept, CONCEPT_BITS), (of.rank, RANK_BITS))
    is_interim = of.days < INTERIM_DAYS
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
