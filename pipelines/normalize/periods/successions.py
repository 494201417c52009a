"""Successions: which CIK may continue the reports of another CIK since a reorganization.

Belongs here: the candidates, and the possible predecessors of a company. Does not: the proof by the figures of both
(predecessors). Only the proof needs facts; the choice of documents to fetch needs the candidates alone.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import polars as pl


class Succession(NamedTuple):
    """A CIK that may continue the reports of another CIK.

    successor, predecessor: CIKs of ten digits. event: what happened, and when. source: accession number of the notice
    of succession, such as Form 8-K12B; empty if the notice was not read.
    """

    successor: str
    predecessor: str
    event: str
    source: str = ""


_CANDIDATES = pl.read_csv(Path(__file__).with_name("predecessors.csv"), infer_schema=False).fill_null("")
SUCCESSIONS = tuple(Succession(**row) for row in _CANDIDATES.iter_rows(named=True))
"""The candidates; the filings have to prove each succession. Many predecessors continue to file as subsidiaries of the
successor, and these later reports are not the successor's."""


def chains(ciks: Iterable[str], listed: Iterable[str]) -> dict[str, list[str]]:
    """Each company's possible predecessors, the nearest first; companies without any are left out.

    Args:
        ciks: the companies to look for.
        listed: every company of the SEC's list; a listed company cannot be a predecessor.
    """
    before = {each.successor: each.predecessor for each in SUCCESSIONS}
    taken = set(listed)
    found: dict[str, list[str]] = {}
    for cik in ciks:
        at = cik
        while (earlier := before.get(at)) and earlier not in taken:
            found.setdefault(cik, []).append(earlier)
            at = earlier
    return found
