"""The rules in force: whether the tables of a home and its build are what they make.

Belongs here: comparing. Does not: the rules (normalize), making anything again (stages).
"""

from collections.abc import Iterator

import polars as pl

from pipelines.home import Home
from pipelines.lake import Lake
from pipelines.stages import values
from pipelines.stages.batches import Batch
from pipelines.stages.schemas import REPLAYED
from pipelines.tables import CONTENTS, changed_since
from warehouse.findings import DAMAGE, WARNING, WELL, Finding
from warehouse.publish import readable

SAMPLE = 20
"""Companies whose values are computed again and compared."""
COMPARED = (REPLAYED, "gaps")


def check(home: Home, *, quick: bool) -> Iterator[Finding]:
    """Whether the values are made by the rules in force; unless `quick`, those of some companies are computed again."""
    lake, pointer = Lake(home.tables), readable(home.published)
    if pointer is None or not lake.holds("profiles") or not lake.holds(CONTENTS):
        return
    behind = len(values.plan(lake, []).to_do)
    if behind or changed_since(lake, pointer.build) is None:
        found = f"{behind:,} companies have values" if behind else "the build has tables"
        yield Finding(
            "rules", WARNING, f"{found} that are not of the rules and documents in force", "run `fundamentals sync`"
        )
        return
    held = sorted(lake.inputs("profiles"))
    sample = [] if quick else held[:: max(1, len(held) // SAMPLE)][:SAMPLE]
    if wrong := _different(lake, sample):
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
    """The companies whose stored rows are not those that the rules make now."""
    if not ciks:
        return []
    earlier = values.held_predecessors(lake)
    made, _ = values.work(lake, Batch(tuple(ciks), predecessors={cik: earlier[cik] for cik in ciks if cik in earlier}))
    wrong = set()
    for name in COMPARED:
        stored = lake.of_companies(name, ciks)
        for cik in ciks:
            of_cik = pl.col("cik") == cik
            if not made[name].filter(of_cik).equals(stored.filter(of_cik)):
                wrong.add(cik)
    return sorted(wrong)
