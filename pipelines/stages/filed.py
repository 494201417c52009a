"""The digests of what filings themselves state, by company: tables `filed_facts` and `statement_lines`.

Belongs here: how a stage knows that rows are new. Does not: which of them the rules see (filed_of_batch), making them
(statements).
"""

from collections.abc import Mapping, Sequence

import polars as pl

from pipelines.stages.batches import joined
from pipelines.storage.lake import Lake

FACTS, LINES = "filed_facts", "statement_lines"
"""The names of the tables."""
PACKAGES = ""
"""The ending of the names of the tables of packages; those of data sets end with their quarter, such as `_2010q1`."""

Tables = dict[str, pl.DataFrame]
"""Rows by the name of their table."""

Digests = Mapping[str, Mapping[str, str]]
"""The digest of each company's rows, by the ending of the names of their tables."""


def digests(lake: Lake) -> Digests:
    """What the rows of each company are made from, in the tables of packages and in those of each quarter."""
    quarters = sorted(path.name.removeprefix(LINES) for path in lake.folder.glob(f"{LINES}_????q?"))
    found = {}
    for ending in (PACKAGES, *quarters):
        facts, lines = (lake.inputs(name + ending) for name in (FACTS, LINES))
        # the digest of a company that a quarter leaves out is empty, and that of the quarter itself has no company
        found[ending] = {
            cik: joined(made_from, lines.get(cik, "")) for cik, made_from in facts.items() if cik and made_from
        }
    return {ending: of_table for ending, of_table in found.items() if of_table}


def digest(of: Digests, filers: Sequence[str]) -> str:
    """One digest of all rows of some companies; empty if there are none."""
    found = [f"{ending} {of_table[cik]}" for ending, of_table in of.items() for cik in filers if cik in of_table]
    return joined(*found) if found else ""
