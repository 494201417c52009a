"""Checks whether the rules in force made the tables and the build of a home.

Belongs here: comparing. Does not: the rules (normalize), making rows again (stages).
"""

from collections.abc import Iterator

import polars as pl

from pipelines.errors import PipelineError
from pipelines.stages import values
from pipelines.stages.batch.predecessors import held_predecessors
from pipelines.stages.batch.schemas import REPLAYED
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables.stored import BUILT, CONTENTS, is_of_this_code
from warehouse.build.publish import readable
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding

SAMPLE = 20
"""The number of companies whose values are computed again and compared."""
COMPARED = (REPLAYED, "gaps")
NEEDED = ("profiles", BUILT, CONTENTS, "facts", "acceptances", "registrants", "reports", "listings", *COMPARED)


def check(home: Home, *, quick: bool) -> Iterator[Finding]:
    """Check whether the rules in force made the build; unless `quick`, compute values of SAMPLE companies again, and
    compare.

    Other checks find missing or damaged tables, and the next synchronization makes them again.
    """
    lake, pointer = Lake(home.tables), readable(home.published)
    if pointer is None or not all(map(lake.holds, NEEDED)):
        return
    try:
        if not is_of_this_code(lake):
            yield Finding("rules", WARNING, "the build is not of the rules in force", "run `fundamentals sync`")
            return
        held = sorted((lake.inputs("profiles").keys() & lake.inputs("facts")) - values.plan(lake, []).to_do.keys())
        sample = [] if quick else held[:: max(1, len(held) // SAMPLE)][:SAMPLE]
        wrong = _different(lake, sample)
    except PipelineError:
        return
    if wrong:
        yield Finding(
            "rules",
            DAMAGE,
            f"the values of {len(wrong):,} of {len(sample):,} companies are not those that the rules make, such as CIK "
            f"{wrong[0]}",
            "run `fundamentals sync --full`, which makes all of them again",
        )
        return
    yield Finding(
        "rules", WELL, f"the values of {len(sample):,} companies were computed again" if sample else "in force"
    )


def _different(lake: Lake, ciks: list[str]) -> list[str]:
    """The companies whose stored rows differ from the rows that the rules make now."""
    if not ciks:
        return []
    batch = values.batch_of(tuple(ciks), held_predecessors(lake), values.filings_read(lake))
    tables, _ = values.work(lake, batch)
    wrong = set()
    for name in COMPARED:
        stored = lake.of_companies(name, ciks)
        for cik in ciks:
            of_cik = pl.col("cik") == cik
            if not tables[name].filter(of_cik).equals(stored.filter(of_cik)):
                wrong.add(cik)
    return sorted(wrong)
