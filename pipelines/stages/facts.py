"""The facts of the documents: tables `facts`, `registrants`, `acceptances`, `reports`, `quarantine`.

Belongs here: which documents are decoded again, and which cannot be used. Does not: the format of a document
(edgar.documents), fetching them (documents).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl

from pipelines.edgar.documents import FactColumns, decode_facts, decode_page, decode_submissions
from pipelines.edgar.errors import CorruptError, DocumentError
from pipelines.edgar.filing_list import Report, decode_reports
from pipelines.edgar.raw_store import Documents, RawStore
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.facts.reports import PERIODIC_FORMS, RAW_SCHEMA, usable
from pipelines.normalize.facts.unread import LISTED_REPORTS
from pipelines.normalize.periods.predecessors import NOTICES
from pipelines.stages import batches, held_back, quarantine
from pipelines.stages.batches import Batch, Plan, in_batches, joined, outdated, processed
from pipelines.stages.held_back import Quarantined
from pipelines.stages.isolation import Fault, ciks_of, isolated
from pipelines.stages.schemas import ACCEPTANCES, REGISTRANTS
from pipelines.storage.lake import Batches, Lake
from pipelines.workers import ALONE, Workers

Profile = tuple[str, str, str | None, date | None]
"""A row of REGISTRANTS."""

Notes = tuple[list[Quarantined], dict[str, int]]
"""What a batch reports: the documents that cannot be used, and how many are suspicious (quarantine.suspicions)."""


def update(store: RawStore, lake: Lake, again: Iterable[str], workers: Workers = ALONE) -> dict[str, int]:
    """Decode new documents of the raw zone into the tables `facts`, `registrants`, `acceptances`, `reports` and
    `quarantine`.

    If a document cannot be used, or lacks facts that were read before, its company is quarantined and keeps its rows.

    Args:
        store: the raw zone.
        lake: the tables.
        again: companies to decode even if nothing is new.
        workers: the processes that share the batches.

    Returns:
        counts: `decoded`, `quarantined`, and those of quarantine.suspicions and quarantine.unlisted.
    """
    named = list(again)
    planned = plan(lake, named)
    with lake.gathering("facts") as output:
        notes, faults = processed("facts", planned, partial(work, store.home, lake), output, workers)
        return collect(store, lake, named, planned, output, notes, faults)


def plan(lake: Lake, again: Iterable[str]) -> Plan:
    """The companies whose document is new, and those in `again`."""
    code = batches.elements_digest()
    to_do = outdated(lake, "facts", lake.read("documents"), "facts_digest", again, code=code)
    accepted = quarantine.accepted(lake)
    return Plan(
        [
            Batch(
                ciks,
                documents={cik: to_do[cik] for cik in ciks},
                accepted=tuple(cik for cik in ciks if to_do[cik] in accepted),
            )
            for ciks in in_batches(sorted(to_do))
        ],
        {cik: joined(digest, code) for cik, digest in to_do.items()},
    )


def work(home: Path, lake: Lake, batch: Batch) -> tuple[dict[str, pl.DataFrame], Notes]:
    """The facts of the documents of some companies; documents that cannot be used, and counts of suspicious ones."""
    store, columns, broken = Documents(home), FactColumns(), []
    store.bring(batch.documents.values())
    for cik, digest in batch.documents.items():
        try:
            columns.extend(decode_facts(store.get(digest), cik, wanted_elements()).columns)
        except (DocumentError, CorruptError) as error:
            broken.append(_quarantined(cik, error, digest))
    decoded = pl.DataFrame(columns.as_dict(), schema_overrides=RAW_SCHEMA).select(RAW_SCHEMA.names())
    held = lake.of_companies("facts", sorted({*batch.documents})) if lake.holds("facts") else decoded.clear()
    before = held.filter(~pl.col("cik").is_in([*batch.accepted, *(row[0] for row in broken)]))
    count_before, count = (usable(frame) if before.height else frame.clear() for frame in (before, decoded))
    refused = quarantine.losses(count, count_before)
    broken += [
        (cik, reason, f"companyfacts of CIK {cik}", batch.documents[cik]) for cik, reason in sorted(refused.items())
    ]
    kept = decoded.filter(~pl.col("cik").is_in(list(refused)))
    # together with earlier facts that EDGAR has removed or made unusable since, because these were filed too
    same_fact = partial(pl.DataFrame.join, on=quarantine.FACT, nulls_equal=True)
    dropped = same_fact(before.join(kept, on="cik", how="semi"), kept, how="anti")
    as_filed = count_before.join(count, on=quarantine.AS_FILED, how="anti", nulls_equal=True)
    spoiled = same_fact(as_filed, kept, how="semi")
    suspicions = quarantine.suspicions(kept, before, datetime.now(UTC).date())
    return {"facts": pl.concat([same_fact(kept, spoiled, how="anti"), dropped, spoiled])}, (broken, suspicions)


def collect(
    store: RawStore,
    lake: Lake,
    again: Iterable[str],
    planned: Plan,
    output: Batches,
    notes: Iterable[Notes],
    faults: Sequence[Fault],
) -> dict[str, int]:
    """Put the facts of all batches into their table, and decode the submissions of companies where these are new.

    Args:
        notes: those of each batch.
        faults: of companies that could not be processed.

    Returns:
        counts: `decoded`, `quarantined`, and those of quarantine.suspicions and quarantine.unlisted.
    """
    refusals: list[Quarantined] = []
    suspicious: Counter[str] = Counter()
    for broken, counted in notes:
        refusals += broken
        suspicious.update(counted)
    left_out = {row[0] for row in refusals} | ciks_of(faults)
    done = {cik: digest for cik, digest in planned.to_do.items() if cik not in left_out}
    lake.replace_companies("facts", output.of("facts"), done, left_out)
    columns = joined(*REGISTRANTS, *LISTED_REPORTS)  # of a table with other columns, every company is decoded again
    registrants = outdated(lake, "registrants", lake.read("documents"), "submissions_digest", again, code=columns)
    profiles, acceptances, reports = [], [], []
    store.bring(digest for digests in registrants.values() for digest in digests.split())
    for ciks in in_batches(registrants):
        batch = Batch(ciks, documents={cik: registrants[cik] for cik in ciks})
        tables, (unusable, found) = isolated("stage facts", partial(_registrants, store), batch)
        profiles.append(tables["registrants"])
        acceptances.append(tables["acceptances"])
        reports.append(tables["reports"])
        refusals += chain(*unusable)
        faults = [*faults, *found]
    refused = {row[0] for row in refusals} | ciks_of(faults)
    kept = {cik: joined(digest, columns) for cik, digest in registrants.items() if cik not in refused}
    lake.replace_companies("acceptances", acceptances, kept)
    lake.replace_companies("reports", reports, kept)
    if done:
        suspicious.update(quarantine.unlisted(lake.scan("facts", done), lake.scan("acceptances")))
    # last, because its digests mark a company's submissions as finished
    lake.replace_companies("registrants", profiles, kept)
    held_back.write(lake, [*refusals, *held_back.withdrawing(lake)])
    held_back.add(lake, faults)
    return {"decoded": len(done), "quarantined": len(refused), **suspicious}


def _registrants(store: Documents, batch: Batch) -> tuple[dict[str, pl.DataFrame], list[Quarantined]]:
    """Tables `registrants`, `acceptances` and `reports` of some companies, and documents that cannot be used."""
    profiles: list[Profile] = []
    accepted: list[tuple[str, str, str]] = []
    reports: list[Report] = []
    broken: list[Quarantined] = []
    for cik in batch.ciks:
        digests = batch.documents[cik].split()
        try:
            profile, times = _registrant(store, cik, digests)
            listed = decode_reports(store.get(digests[0]), cik, PERIODIC_FORMS)
        except (DocumentError, CorruptError) as error:
            broken.append(_quarantined(cik, error, digests[0]))
            continue
        profiles.append(profile)
        reports += listed
        accepted += [(cik, *filing) for filing in times.items()]
    registrants = pl.DataFrame(profiles, schema=REGISTRANTS, orient="row")
    tables = {"registrants": registrants, "acceptances": _acceptances(accepted), "reports": _reports(reports)}
    return tables, broken


def _registrant(store: Documents, cik: str, digests: Sequence[str]) -> tuple[Profile, dict[str, str]]:
    """Name, industry and succession of a company, and when its filings were accepted, by accession number.

    Args:
        digests: of the submissions document, then of its pages of older filings.
    """
    submissions = decode_submissions(store.get(digests[0]), cik)
    pages = [decode_page(store.get(digest), cik) for digest in digests[1:]]
    filings = [*chain(*pages), *submissions.filings]
    times = {filing.accession: filing.accepted_at for filing in filings if filing.accepted_at}
    notices = [date.fromisoformat(filing.filed) for filing in filings if filing.form in NOTICES]
    return (cik, submissions.name, submissions.sic, min(notices, default=None)), times


def _acceptances(rows: Sequence[tuple[str, str, str]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema={**ACCEPTANCES, "accepted_at": pl.String}, orient="row")
    return frame.with_columns(pl.col("accepted_at").str.to_datetime(time_unit="us", time_zone="UTC", strict=False))


def _reports(rows: Sequence[Report]) -> pl.DataFrame:
    text = pl.DataFrame(rows, schema=dict.fromkeys(LISTED_REPORTS, pl.String), orient="row")
    return text.with_columns(pl.col("filed").str.to_date(), pl.col("report_date").str.to_date(strict=False))


def _quarantined(cik: str, error: DocumentError | CorruptError, digest: str) -> Quarantined:
    reason, place = (error.reason, error.place) if isinstance(error, DocumentError) else (str(error), "raw zone")
    return cik, reason, place, digest
