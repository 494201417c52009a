"""The standardized values: tables `replayed`, `periods`, `gaps` and so on.

Belongs here: which companies are standardized again. Does not: any rule (normalize).
"""

from collections.abc import Iterable, Sequence
from functools import partial

import polars as pl

from pipelines.normalize.periods.predecessors import chains, stitched
from pipelines.normalize.pipeline import Observer, standardize
from pipelines.stages import batches
from pipelines.stages.batches import Batch, Plan, in_batches, joined, processed
from pipelines.stages.schemas import REPLAYED, VALUE_TABLES
from pipelines.storage.lake import Batches, Lake
from pipelines.workers import ALONE, Workers

StepNote = tuple[str, int, float]
"""A step of the rules, its rows and its seconds."""


def update(
    lake: Lake, again: Iterable[str], observe: Observer = lambda *step: None, workers: Workers = ALONE
) -> dict[str, int]:
    """Standardize the companies whose facts, filings or rules changed: tables `replayed`, `periods`, `gaps` and so on.

    Args:
        lake: the tables.
        again: companies to standardize even if nothing is new.
        observe: called with each step of the rules of each batch.
        workers: the processes that share the batches.

    Returns:
        counts: `standardized`.
    """
    planned = plan(lake, again)
    with lake.gathering("values") as output:
        notes = processed("values", planned, partial(work, lake), output, workers)
        return collect(lake, observe, planned, output, notes)


def plan(lake: Lake, again: Iterable[str]) -> Plan:
    """The companies whose facts, filings or rules changed, and those in `again`."""
    facts, registrants = lake.inputs("facts"), lake.inputs("registrants")
    earlier = held_predecessors(lake)
    continued = {cik for chain in earlier.values() for cik in chain}
    rules = batches.rules_digest()
    wanted = {
        cik: joined(digest, registrants.get(cik, ""), *(facts[each] for each in earlier.get(cik, ())), rules)
        for cik, digest in facts.items()
        if cik not in continued
    }
    known = lake.inputs("profiles")
    chosen = set(again)
    to_do = {cik: digest for cik, digest in wanted.items() if known.get(cik) != digest or cik in chosen}
    if not to_do and known:
        return Plan([], {})
    return Plan(
        [
            Batch(ciks, predecessors={cik: earlier[cik] for cik in ciks if cik in earlier})
            for ciks in in_batches(sorted(to_do))
        ],
        to_do,
    )


def work(lake: Lake, batch: Batch) -> tuple[dict[str, pl.DataFrame], list[StepNote]]:
    """Standardize a batch of companies: the rows of each table, by name; and the steps with their rows and seconds."""
    filers = [*batch.ciks, *(cik for chain in batch.predecessors.values() for cik in chain)]
    accepted = lake.of_companies("acceptances", filers).select("accession", "accepted_at")
    codes = lake.of_companies("registrants", batch.ciks).select("cik", "sic")
    facts, of_predecessors = stitched(lake.of_companies("facts", filers), batch.predecessors)
    steps: list[StepNote] = []
    found = standardize(facts, accepted, codes, lambda *step: steps.append(step))
    tables = {name: getattr(found, "versions" if name == REPLAYED else name) for name in VALUE_TABLES}
    return {**tables, "decisions": pl.concat([of_predecessors, tables["decisions"]])}, steps


def collect(
    lake: Lake, observe: Observer, planned: Plan, output: Batches, notes: Iterable[Sequence[StepNote]]
) -> dict[str, int]:
    """Put the rows of all batches into their tables.

    Args:
        observe: called with each step of the rules of each batch.
        notes: the steps of each batch.

    Returns:
        counts: `standardized`.
    """
    for steps in notes:
        for step in steps:
            observe(*step)
    for name in VALUE_TABLES if planned.batches else ():
        lake.replace_companies(name, output.of(name), planned.to_do)
    return {"standardized": len(planned.to_do)}


def held_predecessors(lake: Lake) -> dict[str, list[str]]:
    """The possible predecessors of each listed company whose facts are stored, the nearest first."""
    held, listed = lake.inputs("facts"), lake.read("listings").filter("is_listed")["cik"]
    earlier = chains(listed, listed)
    return {cik: known for cik, chain in earlier.items() if (known := [each for each in chain if each in held])}
