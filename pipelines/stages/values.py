"""Stage values: standardizes companies into tables `replayed`, `periods`, `gaps` and so on.

Belongs here: choosing the companies to standardize, and the companies that keep their rows. Does not: any rule
(normalize), the limits that hold a company back (quarantine).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import msgspec
import polars as pl

from pipelines.loading import loading
from pipelines.settings import filings_wanted
from pipelines.stages.batch import batches, held_back, quarantine
from pipelines.stages.batch.batches import Batch, InputDigests, Plan, StepNote, in_batches, joined, processed
from pipelines.stages.batch.isolation import Fault, ciks_of
from pipelines.stages.batch.predecessors import held_predecessors
from pipelines.stages.batch.schemas import VALUE_TABLES
from pipelines.stages.filed import filed_digests
from pipelines.storage.lake import Batches, Lake
from pipelines.workers import ALONE, Workers

Observer = Callable[[str, int, float], object]
"""Called for each step of the rules in each batch, with its name, its rows and its seconds."""


def update(
    lake: Lake, again: Iterable[str], observe: Observer = lambda *step: None, workers: Workers = ALONE
) -> dict[str, int]:
    """Standardize the companies whose facts, filings or rules changed: tables `replayed`, `periods`, `gaps` and so on.

    Args:
        lake: the tables.
        again: companies to standardize even if nothing is new.
        observe: called for each step of the rules in each batch.
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
    """Plan the companies whose facts, filings or rules changed, and the companies in `again`.

    Raises:
        SettingError: FUNDAMENTALS_FILINGS has an invalid value.
    """
    facts, registrants, known = (lake.inputs(name) for name in ("facts", "registrants", "profiles"))
    earlier, read = held_predecessors(lake), filings_read(lake)
    continued = {cik for chain in earlier.values() for cik in chain}
    rules = batches.rules_digest()

    def made_from(cik: str) -> InputDigests:
        filers = (cik, *earlier.get(cik, ()))
        documents = joined(registrants.get(cik, ""), *(facts.get(each, "") for each in filers))
        return InputDigests(rules, documents, filed_digests.digest(read, filers))

    companies = {*facts, *_without_companyfacts(lake, read)} - continued
    wanted = {cik: made_from(cik) for cik in sorted(companies)}
    chosen = set(again)
    to_do = {cik: str(new) for cik, new in wanted.items() if known.get(cik) != str(new) or cik in chosen}
    if not to_do and known:
        return Plan([], {})
    before = {cik: InputDigests.read(known[cik]) for cik in to_do if cik in known}
    reread = {cik for cik, held in before.items() if wanted[cik].is_reread(held)}
    same_documents = {cik for cik in reread if wanted[cik].documents == before[cik].documents}
    # if the documents have not changed, a value that the filing's own statements withdraw was wrong
    accepted = quarantine.accepted_companies(lake)
    compared = {cik for cik in before.keys() - same_documents if accepted.isdisjoint((cik, *earlier.get(cik, ())))}
    withdrawing = {row[0] for row in held_back.withdrawing(lake)}
    return Plan(
        [
            msgspec.structs.replace(
                batch_of(ciks, earlier, read),
                compared=tuple(cik for cik in ciks if cik in compared),
                same_rules=tuple(cik for cik in ciks if cik in before and before[cik].rules == rules),
                withdrawing=tuple(cik for cik in ciks if cik in withdrawing),
                reread=tuple(cik for cik in ciks if cik in reread),
            )
            for ciks in in_batches(to_do, lake.rows_by_company("facts"))
        ],
        to_do,
    )


def work(lake: Lake, batch: Batch) -> tuple[dict[str, pl.DataFrame], tuple[list[StepNote], list[Fault]]]:
    """Standardize a batch of companies (values_of_batch)."""
    with loading():
        from pipelines.stages import values_of_batch
    return values_of_batch.work(lake, batch)


def batch_of(ciks: tuple[str, ...], earlier: Mapping[str, list[str]], read: filed_digests.Digests) -> Batch:
    """A batch of companies with their possible predecessors, and the tables with filings of both."""
    filers = {*ciks, *(each for cik in ciks for each in earlier.get(cik, ()))}
    return Batch(
        ciks,
        predecessors={cik: earlier[cik] for cik in ciks if cik in earlier},
        table_endings=tuple(ending for ending, of_table in read.items() if not filers.isdisjoint(of_table)),
    )


def filings_read(lake: Lake) -> filed_digests.Digests:
    """The digests of the rows of filings that are used for values; empty with FUNDAMENTALS_FILINGS=off.

    Raises:
        SettingError: the setting has an invalid value.
    """
    return {} if filings_wanted() == "off" else filed_digests.digests(lake)


def _without_companyfacts(lake: Lake, read: filed_digests.Digests) -> set[str]:
    """The companies without a companyfacts document that have rows of filings and are listed, and companies that
    already had values from their filings.

    A company with an unreadable document is not included: it keeps its values until the document can be read.
    """
    listed = lake.read("listings").filter("is_listed")["cik"]
    with_document = lake.read("documents").drop_nulls("facts_digest")["cik"]
    with_filings = {cik for of_table in read.values() for cik in of_table}
    had_filings = {cik for cik, held in lake.inputs("profiles").items() if InputDigests.read(held).filings}
    return (with_filings.intersection(listed) | had_filings) - {*with_document} - lake.inputs("facts").keys()


def collect(
    lake: Lake,
    observe: Observer,
    planned: Plan,
    output: Batches,
    notes: Iterable[tuple[list[StepNote], list[Fault]]],
    faults: Sequence[Fault] = (),
) -> dict[str, int]:
    """Put the rows of all batches into their tables, except rows of companies that are held back.

    Args:
        observe: called for each step of the rules in each batch.
        notes: the notes on each batch.
        faults: the faults of companies that could not be processed.

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
