"""The digests of the rows of filings, by company: tables `filed_facts` and `statement_lines`.

Belongs here: the digests that show a stage which rows are new. Does not: choosing rows for the rules (filed_of_batch),
making rows (statements).
"""

from collections.abc import Mapping, Sequence

import polars as pl

from pipelines.stages.batch.batches import joined
from pipelines.storage.lake import Lake

FACTS, LINES = "filed_facts", "statement_lines"
"""The names of the tables."""
PACKAGES = ""
"""The ending of the names of tables with rows of packages; for data sets, names end with the quarter, such as
`_2010q1`."""

Tables = dict[str, pl.DataFrame]
"""Rows by the name of their table."""

Digests = Mapping[str, Mapping[str, str]]
"""The digest of each company's rows, by the ending of the names of their tables."""


def digests(lake: Lake) -> Digests:
    """The digests of each company's rows, in the tables of packages and of each quarter."""
    quarters = sorted(path.name.removeprefix(LINES) for path in lake.folder.glob(f"{LINES}_????q?"))
    found = {}
    for ending in (PACKAGES, *quarters):
        facts, lines = (lake.inputs(name + ending) for name in (FACTS, LINES))
        # the digest of a company that a quarter leaves out is empty; the key of the quarter itself is no company
        found[ending] = {
            cik: joined(made_from, lines.get(cik, "")) for cik, made_from in facts.items() if cik and made_from
        }
    return {ending: of_table for ending, of_table in found.items() if of_table}


def digest(of: Digests, filers: Sequence[str]) -> str:
    """One digest of all rows of the given companies; empty if they have no rows."""
    found = [f"{ending} {of_table[cik]}" for ending, of_table in of.items() for cik in filers if cik in of_table]
    return joined(*found) if found else ""
