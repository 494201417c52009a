"""Stage facts: decodes documents into tables `facts`, `registrants`, `acceptances`, `reports` and `quarantine`.

Belongs here: choosing the documents to decode, and putting rows into the tables. Does not: the format of a document
(edgar.decode.documents), fetching documents (documents).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl

from pipelines.edgar.decode.documents import decode_page, decode_submissions
from pipelines.edgar.decode.filing_list import Report, decode_reports
from pipelines.edgar.errors import CorruptError, DocumentError
from pipelines.edgar.fetch.raw_store import Documents, RawStore
from pipelines.loading import loading
from pipelines.normalize.facts.raw import RAW_SCHEMA
from pipelines.normalize.facts.unread import LISTED_REPORTS
from pipelines.normalize.forms import NOTICES, PERIODIC_FORMS
from pipelines.stages.batch import batches, held_back, quarantine
from pipelines.stages.batch.batches import Batch, Plan, digests_of_outdated, in_batches, joined, processed
from pipelines.stages.batch.held_back import DocumentNotes, Quarantined
from pipelines.stages.batch.isolation import Fault, ciks_of, isolated
from pipelines.stages.batch.quarantine import quarantined
from pipelines.stages.batch.schemas import ACCEPTANCES, REGISTRANTS
from pipelines.storage.lake import Batches, Lake
from pipelines.workers import ALONE, Workers

Profile = tuple[str, str, str | None, date | None]
"""A row of REGISTRANTS."""


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
        counts: `decoded`, `quarantined`, and the counts of quarantine.suspicions and quarantine.unlisted.
    """
    named = list(again)
    planned = plan(lake, named)
    with lake.gathering("facts") as output:
        notes, faults = processed("facts", planned, partial(work, store.home, lake), output, workers)
        return collect(store, lake, named, planned, output, notes, faults)


def plan(lake: Lake, again: Iterable[str]) -> Plan:
    """Plan the companies with a new document, and the companies in `again`."""
    code = batches.elements_digest()
    to_do = digests_of_outdated(lake, "facts", lake.read("documents"), "facts_digest", again, code=code)
    accepted = quarantine.accepted(lake)
    is_done = not to_do and lake.holds("facts") and lake.scan("facts").collect_schema() == RAW_SCHEMA
    return Plan(
        [
            Batch(
                ciks,
                documents={cik: to_do[cik] for cik in ciks},
                accepted=tuple(cik for cik in ciks if to_do[cik] in accepted),
            )
            for ciks in (() if is_done else in_batches(sorted(to_do)))
        ],
        {cik: joined(digest, code) for cik, digest in to_do.items()},
    )


def work(home: Path, lake: Lake, batch: Batch) -> tuple[dict[str, pl.DataFrame], DocumentNotes]:
    """The facts of the documents of a batch of companies (facts_of_batch)."""
    with loading():
        from pipelines.stages import facts_of_batch
    return facts_of_batch.work(home, lake, batch)


def collect(
    store: RawStore,
    lake: Lake,
    again: Iterable[str],
    planned: Plan,
    output: Batches,
    notes: Iterable[DocumentNotes],
    faults: Sequence[Fault],
) -> dict[str, int]:
    """Put the facts of all batches into their table, and decode new submissions.

    Args:
        notes: the notes on each batch.
        faults: the faults of companies that could not be processed.

    Returns:
        counts: `decoded`, `quarantined`, and the counts of quarantine.suspicions and quarantine.unlisted.
    """
    refusals: list[Quarantined] = []
    suspicious: Counter[str] = Counter()
    for broken, counted in notes:
        refusals += broken
        suspicious.update(counted)
    left_out = {row[0] for row in refusals} | ciks_of(faults)
    done = {cik: digest for cik, digest in planned.to_do.items() if cik not in left_out}
    if planned.batches:
        lake.replace_companies("facts", output.of("facts"), done, left_out)
    columns = joined(*REGISTRANTS, *LISTED_REPORTS)  # if the columns change, all companies are decoded again
    registrants = digests_of_outdated(
        lake, "registrants", lake.read("documents"), "submissions_digest", again, code=columns
    )
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
    """The rows of tables `registrants`, `acceptances` and `reports` for a batch, and the documents that cannot be
    used."""
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
            broken.append(quarantined(cik, error, digests[0]))
            continue
        profiles.append(profile)
        reports += listed
        accepted += [(cik, *filing) for filing in times.items()]
    registrants = pl.DataFrame(profiles, schema=REGISTRANTS, orient="row")
    tables = {"registrants": registrants, "acceptances": _acceptances(accepted), "reports": _reports(reports)}
    return tables, broken


def _registrant(store: Documents, cik: str, digests: Sequence[str]) -> tuple[Profile, dict[str, str]]:
    """Name, industry and succession of a company, and the times of acceptance of its filings, by accession number.

    Args:
        digests: the digests of the submissions document, then of its pages of older filings.
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
