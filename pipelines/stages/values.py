"""The standardized values: tables `replayed`, `periods`, `gaps` and so on.

Belongs here: which companies are standardized again, and which keep their rows. Does not: any rule (normalize), what
holds a company back (quarantine).
"""

import gc
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec
import polars as pl

from pipelines.normalize.facts.unread import unread_reports
from pipelines.normalize.history.versions import with_class_member
from pipelines.normalize.periods.predecessors import chains, stitched, under_successors
from pipelines.normalize.pipeline import Observer, standardize
from pipelines.settings import filings_wanted
from pipelines.stages import batches, filed, held_back, quarantine
from pipelines.stages.batches import Batch, MadeFrom, Plan, in_batches, joined, processed
from pipelines.stages.isolation import Fault, ciks_of
from pipelines.stages.schemas import REPLAYED, UNREAD_REPORTS, VALUE_TABLES
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
    """The companies whose facts, filings or rules changed, and those in `again`.

    Raises:
        SettingError: FUNDAMENTALS_FILINGS is wrong.
    """
    facts, registrants, known = (lake.inputs(name) for name in ("facts", "registrants", "profiles"))
    earlier, read = held_predecessors(lake), filings_read(lake)
    continued = {cik for chain in earlier.values() for cik in chain}
    rules = batches.rules_digest()

    def made_from(cik: str) -> MadeFrom:
        filers = (cik, *earlier.get(cik, ()))
        documents = joined(registrants.get(cik, ""), *(facts.get(each, "") for each in filers))
        return MadeFrom(rules, documents, filed.digest(read, filers))

    companies = {*facts, *_without_companyfacts(lake, read)} - continued
    wanted = {cik: made_from(cik) for cik in sorted(companies)}
    chosen = set(again)
    to_do = {cik: str(new) for cik, new in wanted.items() if known.get(cik) != str(new) or cik in chosen}
    if not to_do and known:
        return Plan([], {})
    before = {cik: MadeFrom.read(known[cik]) for cik in to_do if cik in known}
    reread = {cik for cik, held in before.items() if wanted[cik].is_reread(held)}
    same_documents = {cik for cik in reread if wanted[cik].documents == before[cik].documents}
    # where the document has not changed, a value that the filing's own statements withdraw was wrong
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
            for ciks in in_batches(to_do)
        ],
        to_do,
    )


def batch_of(ciks: tuple[str, ...], earlier: Mapping[str, list[str]], read: filed.Digests) -> Batch:
    """Some companies with their possible predecessors, and where the filings of both are."""
    filers = {*ciks, *(each for cik in ciks for each in earlier.get(cik, ()))}
    return Batch(
        ciks,
        predecessors={cik: earlier[cik] for cik in ciks if cik in earlier},
        filed=tuple(ending for ending, of_table in read.items() if not filers.isdisjoint(of_table)),
    )


def filings_read(lake: Lake) -> filed.Digests:
    """The digests of the rows of filings that values are made from; none with FUNDAMENTALS_FILINGS=off.

    Raises:
        SettingError: the setting is another word.
    """
    return {} if filings_wanted() == "off" else filed.digests(lake)


def _without_companyfacts(lake: Lake, read: filed.Digests) -> set[str]:
    """The companies that EDGAR has no companyfacts document of, but whose filings are here: those that are listed, and
    those that already had values from their filings.

    A company whose document cannot be read is not one of them: it keeps its values until the document can be read.
    """
    listed = lake.read("listings").filter("is_listed")["cik"]
    with_document = lake.read("documents").drop_nulls("facts_digest")["cik"]
    with_filings = {cik for of_table in read.values() for cik in of_table}
    had_filings = {cik for cik, held in lake.inputs("profiles").items() if MadeFrom.read(held).filings}
    return (with_filings.intersection(listed) | had_filings) - {*with_document} - lake.inputs("facts").keys()


def work(lake: Lake, batch: Batch) -> tuple[dict[str, pl.DataFrame], Notes]:
    """Standardize a batch of companies: the rows of each table, by name; and the steps with their rows and seconds."""
    filers = [*batch.ciks, *(cik for chain in batch.predecessors.values() for cik in chain)]
    accepted = under_successors(_acceptances(lake, filers), batch.predecessors)
    codes = lake.of_companies("registrants", batch.ciks).select("cik", "sic", "succeeded")
    facts, of_predecessors = stitched(lake.of_companies("facts", filers), batch.predecessors)
    of_filings = filed.read(lake, filers, batch.filed, facts, batch.predecessors)
    steps: list[StepNote] = []
    if not gc.get_freeze_count():  # what is loaded stays; else each search for garbage among small objects reads it all
        gc.freeze()
    found = standardize(facts, accepted, codes, lambda *step: steps.append(step), filed=of_filings)
    unread = unread_reports(lake.of_companies("reports", batch.ciks), facts, found.filings)
    unread = unread.join(accepted, on=["cik", "accession"], how="left", maintain_order="left")
    frames = {REPLAYED: found.versions, UNREAD_REPORTS: unread}
    tables = {name: frames[name] if name in frames else getattr(found, name) for name in VALUE_TABLES}
    tables["decisions"] = pl.concat([of_predecessors, tables["decisions"]])
    named = facts.select("cik", "accession", in_companyfacts=pl.lit(value=True)).unique()
    is_named = pl.col("in_companyfacts").fill_null(value=False)
    tables["filings"] = (
        tables["filings"].join(named, on=["cik", "accession"], how="left", maintain_order="left").with_columns(is_named)
    )
    refused = _withdrawing(lake, batch, tables)
    return tables, (steps, [Fault(cik, held_back.VALUES, reason) for cik, reason in refused.items()])


def _acceptances(lake: Lake, filers: Sequence[str]) -> pl.DataFrame:
    """When EDGAR accepted the filings of some companies: as their submissions say, or else the feed."""
    listed = lake.of_companies("acceptances", filers)
    of_feed = filed.fed(lake, filers).join(listed, on=["cik", "accession"], how="anti").select(listed.columns)
    return pl.concat([listed, of_feed])


def _withdrawing(lake: Lake, batch: Batch, tables: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    """Why companies of a batch are held back: their values were replayed before, and many would be withdrawn now."""
    compared = {*batch.compared} & {*batch.ciks}
    if not compared:
        return {}
    value = quarantine.REPLAYED_VALUE
    before = with_class_member(lake.scan(REPLAYED, compared).collect()).select(value)
    filed = lake.scan("filings", compared).select("cik", "accession").collect()
    new = tables["filings"].join(filed, on=["cik", "accession"], how="anti")["cik"]
    may_lose_some = ({*new, *batch.reread} | (compared - {*batch.same_rules})) - {*batch.withdrawing}
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
