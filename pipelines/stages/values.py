"""The standardized values: tables `replayed`, `periods`, `gaps` and so on.

Belongs here: which companies are standardized again, and which keep their rows. Does not: any rule (normalize), what
holds a company back (quarantine).
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import polars as pl

from pipelines.normalize.periods.predecessors import chains, stitched, under_successors
from pipelines.normalize.pipeline import Observer, standardize
from pipelines.stages import batches, held_back, quarantine
from pipelines.stages.batches import Batch, Plan, in_batches, joined, processed
from pipelines.stages.isolation import Fault, ciks_of
from pipelines.stages.schemas import REPLAYED, VALUE_TABLES
from pipelines.storage.lake import Batches, Lake
from pipelines.workers import ALONE, Workers

StepNote = tuple[str, int, float]
"""A step of the rules, its rows and its seconds."""

Notes = tuple[list[StepNote], list[Fault]]
"""What a batch reports: the steps, and the companies that are held back."""


def update(
    lake: Lake, again: Iterable[str], observe: Observer = lambda *step: None, workers: Workers = ALONE
) -> dict[str, int]:
    """Standardize the companies whose facts, filings or rules changed: tables `replayed`, `periods`, `gaps` and so on.

    Args:
        lake: the tables.
        again: companies to standardize even if nothing is new.
        observe: called with each step of the rules of each batch.
        workers: the processes that share the batches.

    A company that cannot be processed, or that would lose many values (quarantine.withdrawals), keeps its rows.

    Returns:
        counts: `standardized`.
    """
    planned = plan(lake, again)
    with lake.gathering("values") as output:
        notes, faults = processed("values", planned, partial(work, lake), output, workers)
        return collect(lake, observe, planned, output, notes, faults)


def plan(lake: Lake, again: Iterable[str]) -> Plan:
    """The companies whose facts, filings or rules changed, and those in `again`."""
    facts, registrants = lake.inputs("facts"), lake.inputs("registrants")
    earlier = held_predecessors(lake)
    continued = {cik for chain in earlier.values() for cik in chain}
    rules = batches.rules_digest()
    wanted = {
        cik: rules + joined(digest, registrants.get(cik, ""), *(facts[each] for each in earlier.get(cik, ())))
        for cik, digest in facts.items()
        if cik not in continued
    }
    known = lake.inputs("profiles")
    chosen = set(again)
    to_do = {cik: digest for cik, digest in wanted.items() if known.get(cik) != digest or cik in chosen}
    if not to_do and known:
        return Plan([], {})
    accepted = quarantine.accepted_companies(lake)
    withdrawing = {row[0] for row in held_back.withdrawing(lake)}
    return Plan(
        [
            Batch(
                ciks,
                predecessors={cik: earlier[cik] for cik in ciks if cik in earlier},
                compared=tuple(
                    cik for cik in ciks if cik in known and accepted.isdisjoint((cik, *earlier.get(cik, ())))
                ),
                same_rules=tuple(cik for cik in ciks if known.get(cik, "").startswith(rules)),
                withdrawing=tuple(cik for cik in ciks if cik in withdrawing),
            )
            for ciks in in_batches(sorted(to_do))
        ],
        to_do,
    )


def work(lake: Lake, batch: Batch) -> tuple[dict[str, pl.DataFrame], Notes]:
    """Standardize a batch of companies: the rows of each table, by name; and the steps with their rows and seconds."""
    filers = [*batch.ciks, *(cik for chain in batch.predecessors.values() for cik in chain)]
    accepted = under_successors(lake.of_companies("acceptances", filers), batch.predecessors)
    codes = lake.of_companies("registrants", batch.ciks).select("cik", "sic")
    facts, of_predecessors = stitched(lake.of_companies("facts", filers), batch.predecessors)
    steps: list[StepNote] = []
    found = standardize(facts, accepted, codes, lambda *step: steps.append(step))
    tables = {name: getattr(found, "versions" if name == REPLAYED else name) for name in VALUE_TABLES}
    tables["decisions"] = pl.concat([of_predecessors, tables["decisions"]])
    refused = _withdrawing(lake, batch, tables)
    return tables, (steps, [Fault(cik, held_back.VALUES, reason) for cik, reason in refused.items()])


def _withdrawing(lake: Lake, batch: Batch, tables: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    """Why companies of a batch are held back: their values were replayed before, and many would be withdrawn now."""
    compared = {*batch.compared} & {*batch.ciks}
    if not compared:
        return {}
    value = quarantine.REPLAYED_VALUE
    before = lake.scan(REPLAYED, compared).select(value).collect()
    filed = lake.scan("filings", compared).select("cik", "accession").collect()
    new = tables["filings"].join(filed, on=["cik", "accession"], how="anti")["cik"]
    may_lose_some = ({*new} | (compared - {*batch.same_rules})) - {*batch.withdrawing}
    return quarantine.withdrawals(before, tables[REPLAYED].select(value), may_lose_some)


def collect(
    lake: Lake,
    observe: Observer,
    planned: Plan,
    output: Batches,
    notes: Iterable[Notes],
    faults: Sequence[Fault] = (),
) -> dict[str, int]:
    """Put the rows of all batches into their tables, but those of companies that are held back.

    Args:
        observe: called with each step of the rules of each batch.
        notes: those of each batch.
        faults: of companies that could not be processed.

    Returns:
        counts: `standardized`.
    """
    found = [*faults]
    for steps, withdrawing in notes:
        found += withdrawing
        for step in steps:
            observe(*step)
    left_out = ciks_of(found)
    done = {cik: digest for cik, digest in planned.to_do.items() if cik not in left_out}
    for name in VALUE_TABLES if planned.batches else ():
        lake.replace_companies(name, output.of(name), done, left_out)
    held_back.remove_withdrawing(lake, planned.to_do)
    held_back.add(lake, found)
    return {"standardized": len(done)}


def held_predecessors(lake: Lake) -> dict[str, list[str]]:
    """The possible predecessors of each listed company whose facts are stored, the nearest first."""
    held, listed = lake.inputs("facts"), lake.read("listings").filter("is_listed")["cik"]
    earlier = chains(listed, listed)
    return {cik: known for cik, chain in earlier.items() if (known := [each for each in chain if each in held])}
