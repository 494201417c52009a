"""The stages of a synchronization: each reads tables of a home, computes, and writes tables.

Belongs here: which companies a stage has to process again, processing them in batches, and failures that concern one
company only. Does not: Dagster (assets), the rules (normalize), the documents (edgar), the build (warehouse.publish).

Each stage compares, for each company, the digest of its inputs with the digest stored in its table. So a run that was
killed, a run for some symbols and a run after a change of the rules all continue with the companies that are left.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import cache, partial
from itertools import islice
from pathlib import Path

import polars as pl

from pipelines import doubts, normalize
from pipelines.code import digest_of
from pipelines.edgar.documents import FactColumns, decode_facts, decode_submissions, decode_tickers
from pipelines.edgar.errors import CorruptError, DocumentError
from pipelines.edgar.extract import CompanyDocuments, fetch_documents, fetch_tickers
from pipelines.edgar.raw_store import Documents, RawStore
from pipelines.edgar.sources import Source
from pipelines.errors import PipelineError
from pipelines.lake import Lake, Notes
from pipelines.log import check, clear, committed, read, segment_name, segments_of, write
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.facts.reports import RAW_SCHEMA
from pipelines.normalize.history.versions import VERSION_OF, numbered, on_basis_of_today, recorded, to_append
from pipelines.normalize.listings import classified
from pipelines.normalize.periods.predecessors import chains, stitched
from pipelines.normalize.pipeline import ITEM_SIGNS, Observer, standardize
from pipelines.progress import report
from pipelines.workers import ALONE, Workers

BATCH = 125
"""Companies that a process works on at a time: enough rows for columnar operations to be fast, few enough for memory.

More companies are shared by worker processes (FUNDAMENTALS_PROCESSES)."""

TEXT, FLAG, UTC_TIME = pl.String(), pl.Boolean(), pl.Datetime("us", "UTC")

LISTINGS = pl.Schema(
    {
        "cik": TEXT,
        "symbol": TEXT,
        "name": TEXT,
        "exchange": TEXT,
        "position": pl.Int32(),
        "is_listed": FLAG,
        "kind": TEXT,
        "is_primary": FLAG,
    }
)
DOCUMENTS = pl.Schema(
    {
        "cik": TEXT,
        "status": TEXT,
        "facts_digest": TEXT,
        "submissions_digest": TEXT,
        "failure": TEXT,
        "synchronized_at": UTC_TIME,
    }
)
REGISTRANTS = pl.Schema({"cik": TEXT, "name": TEXT, "sic": TEXT})
ACCEPTANCES = pl.Schema({"cik": TEXT, "accession": TEXT, "accepted_at": UTC_TIME})
QUARANTINE = pl.Schema({"cik": TEXT, "reason": TEXT, "place": TEXT, "raw_document": TEXT})
REPLAYED, VERSIONS, APPENDED, RECORDED = "replayed", "versions", "appended", "recorded"
VALUE_TABLES = (
    REPLAYED,
    *("periods", "gaps", "splits", "breaks", "repairs", "filings", "latest_shares", "evidence", "decisions", "proofs"),
    "profiles",
)
"""The frames of Standardized as tables. `profiles` is written last, because its digests mark all tables of a company as
finished. The frame `versions` becomes table `replayed`, because table `versions` is the whole log."""

MADE_FROM = "made_from"
"""The key of the digest of inputs in a table that is written as a whole."""

Quarantined = tuple[str, str, str, str]
"""A row of QUARANTINE."""

FACT = ["cik", "taxonomy", "tag", "unit", "start", "end", "accession"]


class UnknownSymbolError(PipelineError):
    """A symbol that is not in the SEC's list."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The request of a synchronization: some symbols or all companies, and whether to process everything again."""

    symbols: tuple[str, ...] = ()
    full: bool = False


# --- Documents --------------------------------------------------------------------------------------------------


def update_listings(source: Source, store: RawStore, lake: Lake, now: datetime) -> pl.DataFrame:
    """Bring table `listings` up to date; a symbol that leaves the SEC's list stays in it, marked as not listed.

    Table `doubts` has what a check has to confirm before the list is published.

    Raises:
        SourceError: the list cannot be fetched.
        DocumentError: it is not a list of companies, or it is empty.
    """
    document = fetch_tickers(source, store, now)
    rows = decode_tickers(store.get(str(document.digest)))
    if not rows:
        raise DocumentError("lists no company at all; check the source", "tickers file")
    listed_now = pl.DataFrame(
        [(row.cik, row.symbol, row.name, row.exchange) for row in rows],
        schema=dict.fromkeys(("cik", "symbol", "name", "exchange"), pl.String),
        orient="row",
    )
    before = lake.read("listings") if lake.holds("listings") else pl.DataFrame(schema=LISTINGS)
    known = lake.read(doubts.TABLE) if lake.holds(doubts.TABLE) else pl.DataFrame(schema=doubts.DOUBTS)
    found = doubts.found(listed_now, before.filter("is_listed"), known, now)
    if not found.equals(known) or not lake.holds(doubts.TABLE):
        lake.write(doubts.TABLE, found)
    listed = classified(
        listed_now.unique("symbol", keep="first", maintain_order=True)
        .with_row_index("position")
        .with_columns(pl.col("position").cast(pl.Int32), is_listed=pl.lit(value=True))
    ).select(LISTINGS.names())
    gone = before.join(listed, on="symbol", how="anti").with_columns(is_listed=pl.lit(value=False))
    listed = pl.concat([listed, gone.select(LISTINGS.names())])
    if not listed.equals(before):
        lake.write("listings", listed)
    return listed


def companies_asked(listings: pl.DataFrame, asked: Asked) -> list[str]:
    """The companies to synchronize, in the order of the list.

    Raises:
        UnknownSymbolError: a symbol is not in the list.
    """
    listed = listings.filter("is_listed")
    company_of = dict(listed.select("symbol", "cik").iter_rows())
    unknown = [symbol for symbol in asked.symbols if symbol not in company_of]
    if unknown:
        close = get_close_matches(unknown[0], company_of, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UnknownSymbolError(
            f"no such symbol in the SEC's list of {len(company_of)}: {', '.join(unknown)}{hint} "
            "(classes are written with a dash: BRK-B)"
        )
    ciks = [company_of[symbol] for symbol in asked.symbols] or listed["cik"].to_list()
    return list(dict.fromkeys(ciks))


def with_predecessors(ciks: Sequence[str], listings: pl.DataFrame) -> list[str]:
    """The companies and their possible predecessors, whose documents are needed too."""
    earlier = chains(ciks, listings.filter("is_listed")["cik"])
    return list(dict.fromkeys([*ciks, *(cik for chain in earlier.values() for cik in chain)]))


def update_documents(
    source: Source,
    store: RawStore,
    lake: Lake,
    ciks: Sequence[str],
    now: datetime,
    absence_lasts: timedelta | None = None,
    ask: Collection[str] | None = None,
) -> tuple[pl.DataFrame, Counter[str]]:
    """Bring the raw zone and table `documents` up to date: the state of the documents of each company.

    Args:
        absence_lasts: how long a 404 is not requested again; None: the default of the source.
        ask: the companies to request; None: all.

    Raises:
        SourceError: the source refuses, or fails for several companies in a row.
    """

    def tell(done: int, total: int, _: CompanyDocuments) -> None:
        report("documents", done, total)

    extracted = fetch_documents(source, store, ciks, now, progress=tell, absence_lasts=absence_lasts, ask=ask)
    before = {row[0]: row for row in lake.read("documents").iter_rows()} if lake.holds("documents") else {}
    rows = []
    for company in extracted.companies:
        held_submissions = before[company.cik][3] if company.cik in before else None
        submissions = company.submissions.digest if company.submissions else None
        asked_and_answered = not company.failure and company.facts.change != "skipped"
        at = now if asked_and_answered else before[company.cik][5] if company.cik in before else None
        rows.append(
            (
                company.cik,
                company.facts.change,
                company.facts.digest,
                submissions or held_submissions,
                company.failure or None,
                at,
            )
        )
    changed = pl.DataFrame(rows, schema=DOCUMENTS, orient="row")
    lake.replace_companies("documents", [changed], dict.fromkeys(ciks, ""))
    return lake.read("documents"), extracted.counts


# --- Facts ------------------------------------------------------------------------------------------------------


def update_facts(store: RawStore, lake: Lake, again: Iterable[str], workers: Workers = ALONE) -> dict[str, int]:
    """Decode new documents of the raw zone into tables `facts`, `registrants`, `acceptances`, `quarantine`.

    If a document cannot be used, its company is quarantined and keeps its previous rows.

    Args:
        store: the raw zone.
        lake: the tables.
        again: companies to decode even if nothing is new.
        workers: the processes that share the batches.

    Returns:
        counts: `decoded`, `quarantined`.
    """
    documents = lake.read("documents")
    quarantine: list[Quarantined] = []
    to_do = _outdated(lake, "facts", documents, "facts_digest", again, code=elements_digest())
    done = {cik: _joined(digest, elements_digest()) for cik, digest in to_do.items()}
    batches = [{cik: to_do[cik] for cik in batch} for batch in in_batches(sorted(to_do))]
    with lake.gathering("facts") as made:
        for broken in _reported("facts", batches, made.fill(workers, partial(_decoded, store.home, lake), batches)):
            quarantine += broken
        for cik, *_ in quarantine:
            del done[cik]
        lake.replace_companies("facts", made.of("facts"), done)
    registrants = _outdated(lake, "registrants", documents, "submissions_digest", again)
    profiles, accepted = [], []
    for cik, digest in registrants.items():
        try:
            submissions = decode_submissions(store.get(digest), cik)
        except (DocumentError, CorruptError) as error:
            quarantine.append(_quarantined(cik, error, digest))
            continue
        profiles.append((cik, submissions.name, submissions.sic))
        accepted += [
            (cik, filing.accession, filing.accepted_at) for filing in submissions.filings if filing.accepted_at
        ]
    refused = {row[0] for row in quarantine}
    kept = {cik: digest for cik, digest in registrants.items() if cik not in refused}
    acceptances = pl.DataFrame(accepted, schema={**ACCEPTANCES, "accepted_at": pl.String}, orient="row")
    instants = pl.col("accepted_at").str.to_datetime(time_unit="us", time_zone="UTC")
    lake.replace_companies("acceptances", [acceptances.with_columns(instants)], kept)
    # last, because its digests mark a company's submissions as finished
    lake.replace_companies("registrants", [pl.DataFrame(profiles, schema=REGISTRANTS, orient="row")], kept)
    # companyfacts and submissions may be the same bytes, such as an error page: one row, with both places
    document = ["cik", "raw_document"]
    first_reason, places = pl.col("reason").first(), pl.col("place").unique(maintain_order=True).str.join("; ")
    rows = pl.DataFrame(quarantine, schema=QUARANTINE, orient="row").group_by(document).agg(first_reason, places)
    lake.write("quarantine", rows.select(QUARANTINE.names()).sort(document))
    return {"decoded": len(done), "quarantined": rows["cik"].n_unique()}


def _decoded(home: Path, lake: Lake, batch: Mapping[str, str]) -> tuple[dict[str, pl.DataFrame], list[Quarantined]]:
    """The facts of the documents of some companies, and the documents that cannot be used."""
    store, columns, broken = Documents(home), FactColumns(), []
    for cik, digest in batch.items():
        try:
            columns.extend(decode_facts(store.get(digest), cik, wanted_elements()).columns)
        except (DocumentError, CorruptError) as error:
            broken.append(_quarantined(cik, error, digest))
    decoded = pl.DataFrame(columns.as_dict(), schema_overrides=RAW_SCHEMA).select(RAW_SCHEMA.names())
    return {"facts": _with_dropped(lake, decoded)}, broken


def _with_dropped(lake: Lake, decoded: pl.DataFrame) -> pl.DataFrame:
    """The decoded facts together with earlier facts that EDGAR has removed since, because these were filed too."""
    if decoded.is_empty() or not lake.holds("facts"):
        return decoded
    before = lake.of_companies("facts", decoded["cik"].unique())
    return pl.concat([decoded, before.join(decoded, on=FACT, how="anti", nulls_equal=True)])


def _quarantined(cik: str, error: DocumentError | CorruptError, digest: str) -> Quarantined:
    reason, place = (error.reason, error.place) if isinstance(error, DocumentError) else (str(error), "raw zone")
    return cik, reason, place, digest


# --- Values -----------------------------------------------------------------------------------------------------


def update_values(
    lake: Lake, again: Iterable[str], observe: Observer = lambda *step: None, workers: Workers = ALONE
) -> dict[str, int]:
    """Standardize the companies whose facts, filings or rules changed: tables `replayed`, `periods`, `gaps` and so on.

    Args:
        lake: the tables.
        again: companies to standardize even if nothing is new.
        observe: called with each step of the rules, after each batch.
        workers: the processes that share the batches.

    Returns:
        counts: `standardized`.
    """
    facts, registrants = lake.inputs("facts"), lake.inputs("registrants")
    earlier = held_predecessors(lake)
    continued = {cik for chain in earlier.values() for cik in chain}
    wanted = {
        cik: _joined(digest, registrants.get(cik, ""), *(facts[each] for each in earlier.get(cik, ())), rules_digest())
        for cik, digest in facts.items()
        if cik not in continued
    }
    known = lake.inputs("profiles")
    chosen = set(again)
    to_do = {cik: digest for cik, digest in wanted.items() if known.get(cik) != digest or cik in chosen}
    if not to_do and known:
        return {"standardized": 0}
    batches = [(batch, {cik: earlier[cik] for cik in batch if cik in earlier}) for batch in in_batches(sorted(to_do))]
    with lake.gathering("values") as made:
        of_batches = made.fill(workers, partial(_standardized, lake), batches)
        for steps in _reported("values", [batch for batch, _ in batches], of_batches):
            for step in steps:
                observe(*step)
        for name in VALUE_TABLES:
            lake.replace_companies(name, made.of(name), to_do)
    return {"standardized": len(to_do)}


def _standardized(
    lake: Lake, given: tuple[Sequence[str], Mapping[str, Sequence[str]]]
) -> tuple[dict[str, pl.DataFrame], list[tuple[str, int, float]]]:
    """Standardize a batch of companies: the rows of each table, by name; and the steps with their rows and seconds."""
    batch, chain_of = given
    filers = [*batch, *(cik for chain in chain_of.values() for cik in chain)]
    accepted = lake.of_companies("acceptances", filers).select("accession", "accepted_at")
    codes = lake.of_companies("registrants", batch).select("cik", "sic")
    facts, of_predecessors = stitched(lake.of_companies("facts", filers), chain_of)
    steps: list[tuple[str, int, float]] = []
    made = standardize(facts, accepted, codes, lambda *step: steps.append(step))
    tables = {name: getattr(made, "versions" if name == REPLAYED else name) for name in VALUE_TABLES}
    return {**tables, "decisions": pl.concat([of_predecessors, tables["decisions"]])}, steps


def held_predecessors(lake: Lake) -> dict[str, list[str]]:
    """The possible predecessors of each listed company whose facts are stored, the nearest first."""
    held, listed = lake.inputs("facts"), lake.read("listings").filter("is_listed")["cik"]
    earlier = chains(listed, listed)
    return {cik: known for cik, chain in earlier.items() if (known := [each for each in chain if each in held])}


# --- Versions ---------------------------------------------------------------------------------------------------


def update_versions(
    lake: Lake, log: Path, segments: Sequence[str], sync_id: str, now: datetime, workers: Workers = ALONE
) -> tuple[str, ...]:
    """Append new versions to the version log: tables `versions` (all) and `appended` (new).

    Only companies whose values or logged versions changed are read and compared.

    Args:
        log: the folder of the log.
        segments: the segments that the pointer names.
        sync_id, now: id and time of this synchronization.
        workers: the processes that share the batches.

    Returns:
        the segments that a build from these tables has to commit.
    """
    segments = committed(log, segments)
    clear(log, segments)
    check(log, segments)
    logged_in, values = segments_of(log, segments), lake.inputs("profiles")
    wanted = {cik: _joined(*logged_in.get(cik, ()), values.get(cik, "")) for cik in sorted({*logged_in, *values})}
    known = lake.inputs(VERSIONS)
    to_do = {cik: digest for cik, digest in wanted.items() if known.get(cik) != digest}
    lake.remove_companies(VERSIONS, known.keys() - wanted.keys())
    if not to_do and lake.holds(APPENDED):
        if lake.height(APPENDED):
            lake.write(APPENDED, lake.read(APPENDED).clear())
        return segments
    batches = [(batch, _naming(segments, logged_in, batch)) for batch in in_batches(to_do)]
    with lake.gathering("versions") as made:
        for recorded_of in made.fill(workers, partial(_compared, lake, log, now), batches):
            for cik in recorded_of:
                to_do[cik] = _joined(*logged_in.get(cik, ()), segment_name(sync_id), values.get(cik, ""))
        if made.height(RECORDED):
            segments = (*segments, write(log, sync_id, made.scan(RECORDED)))
        lake.write(APPENDED, made.scan(APPENDED))
        # last, because its digests mark a company's versions as compared
        lake.replace_companies(VERSIONS, made.of(VERSIONS), to_do)
    return tuple(segments)


def _naming(segments: Sequence[str], logged_in: Mapping[str, Sequence[str]], batch: Iterable[str]) -> tuple[str, ...]:
    """The segments that have versions of some companies, in their order."""
    named = {name for cik in batch for name in logged_in.get(cik, ())}
    return tuple(name for name in segments if name in named)


def _compared(
    lake: Lake, log: Path, now: datetime, given: tuple[Sequence[str], Sequence[str]]
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """The versions of some companies: all, those to record, and those that are shown as changes, by table.

    The notes are the companies that have versions to record.
    """
    batch, segments = given
    logged = read(log, segments, batch)
    filings, replayed = lake.of_companies("filings", batch), lake.of_companies(REPLAYED, batch)
    known = on_basis_of_today(logged, filings.select("cik", "accession", "factor"), ITEM_SIGNS)
    order = filings.select("cik", "accession", "seq")
    currencies = lake.of_companies("profiles", batch).select("cik", "currency")
    facts = partial(_facts_filed, lake, batch)
    new = recorded(to_append(known, replayed, order, rules_digest(), currencies, facts), now, rules_digest())
    versions = numbered(pl.concat([known, new]))
    had_versions = known.select("cik").unique()
    changes = versions.with_columns(before=pl.col("value").shift().over(VERSION_OF)).tail(new.height)
    made = {
        RECORDED: new,
        VERSIONS: versions.sort(*VERSION_OF, "version"),
        APPENDED: changes.join(had_versions, on="cik", how="semi"),
    }
    return made, new["cik"].unique().to_list()


def _facts_filed(lake: Lake, ciks: Sequence[str]) -> pl.DataFrame:
    """Which facts the filings of some companies and of their predecessors have: columns of versions.FACT_OF."""
    earlier = held_predecessors(lake)
    filers = {filer for cik in ciks for filer in (cik, *earlier.get(cik, ()))}
    return lake.of_companies("facts", filers).select(
        pl.format("{}:{}", "taxonomy", "tag").alias("tag"), "unit", pl.col("start", "end").str.to_date(), "accession"
    )


# --- What has to be done ----------------------------------------------------------------------------------------


def _outdated(
    lake: Lake, table: str, documents: pl.DataFrame, column: str, again: Iterable[str], code: str = ""
) -> dict[str, str]:
    """The digest of the document of each company to process: its rows are not made from it, or `again` names it."""
    known, chosen = lake.inputs(table), set(again)
    held = documents.select("cik", column).drop_nulls().sort("cik").iter_rows()
    return {
        cik: digest
        for cik, digest in held
        if cik in chosen or known.get(cik) != (_joined(digest, code) if code else digest)
    }


def _reported(stage: str, batches: Sequence[Collection[str]], results: Iterable[Notes]) -> Iterator[Notes]:
    """The results of the batches, while the progress of the stage is reported."""
    done, total = 0, sum(map(len, batches))
    report(stage, 0, total)
    for batch, result in zip(batches, results, strict=True):
        yield result
        done += len(batch)
        report(stage, done, total)


def in_batches(ciks: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The companies in batches; without companies one that is empty, so that a table always gets its columns."""
    rest = iter(ciks)
    batch = tuple(islice(rest, BATCH))
    yield batch
    while batch := tuple(islice(rest, BATCH)):
        yield batch


def _joined(*digests: str) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


@cache
def elements_digest() -> str:
    """A digest of the elements that are read from the documents."""
    return _joined(*sorted(f"{taxonomy}:{tag}" for taxonomy, tags in wanted_elements().items() for tag in tags))


@cache
def rules_digest() -> str:
    """A digest of the code of the rules: when it changes, all values are computed again."""
    return digest_of(Path(normalize.__file__).parent)
