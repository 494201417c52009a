"""Stage versions: compares values with the version log; tables `versions` and `appended`, and a segment of the log.

Belongs here: choosing the companies to compare with the log, and recording new versions. Does not: the rules of
versions (normalize.history), the files of the log (storage.version_log).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import polars as pl

from pipelines.loading import loading
from pipelines.normalize.history.log import SOURCE, VERSION_OF
from pipelines.stages.batch import held_back
from pipelines.stages.batch.batches import DIGITS, Batch, InputDigests, Plan, in_batches, joined, processed
from pipelines.stages.batch.isolation import Fault, ciks_of
from pipelines.stages.batch.schemas import APPENDED, RECORDED, VERSIONS
from pipelines.stages.filed import filed_digests
from pipelines.storage.lake import Batches, Lake
from pipelines.storage.version_log import check, clear, committed, read, segment_name, segments_of, write
from pipelines.workers import ALONE, Workers


def update(
    lake: Lake,
    log: Path,
    segments: Sequence[str],
    sync_id: str,
    now: datetime,
    workers: Workers = ALONE,
    again: Iterable[str] = (),
    *,
    appended_before: bool = False,
) -> tuple[str, ...]:
    """Append new versions to the version log: tables `versions` (all) and `appended` (new).

    Only companies whose values or logged versions changed are read and compared.

    Args:
        log: the folder of the log.
        segments: the segments that the pointer names.
        sync_id, now: id and time of this synchronization.
        workers: the processes that share the batches.
        again: companies to compare even if nothing changed.
        appended_before: whether this synchronization has appended before; then table `appended` keeps its earlier
            rows, too.

    Returns:
        the segments that a build from these tables has to commit.
    """
    planned = plan(lake, log, segments, again)
    with lake.gathering("versions") as output:
        notes, faults = processed("versions", planned, partial(work, lake, log, now), output, workers)
        earlier = lake.read(APPENDED) if appended_before else None
        segments = collect(lake, log, sync_id, planned, output, notes, faults)
        if earlier is not None:
            lake.write(APPENDED, _changes_of_synchronization(earlier, lake))
        return segments


@dataclass(frozen=True, slots=True)
class LogPlan(Plan):
    """The companies to compare, and the segments of the log.

    Attributes:
        segments: the committed segments of the log, in the order of recording.
        logged_in: the segments with versions of a company, by company.
    """

    segments: tuple[str, ...]
    logged_in: Mapping[str, Sequence[str]]


def plan(lake: Lake, log: Path, segments: Sequence[str], again: Iterable[str] = ()) -> LogPlan:
    """Plan the companies whose values or logged versions changed, and the companies in `again`.

    Uncommitted segments of a killed run are removed from the log.

    Raises:
        LogError: a segment is missing or damaged.
    """
    segments = committed(log, segments)
    clear(log, segments)
    check(log, segments)
    logged_in, values = segments_of(log, segments), lake.inputs("profiles")
    wanted = {cik: _compared(logged_in.get(cik, ()), values.get(cik, "")) for cik in sorted({*logged_in, *values})}
    known, named = lake.inputs(VERSIONS), set(again)
    to_do = {cik: digest for cik, digest in wanted.items() if known.get(cik) != digest or cik in named}
    lake.remove_companies(VERSIONS, known.keys() - wanted.keys())
    is_done = not to_do and lake.holds(APPENDED)
    ciks_of = () if is_done else in_batches(to_do)
    before = {cik: InputDigests.read(digest[DIGITS:]) for cik, digest in known.items() if cik in to_do}
    now = {cik: InputDigests.read(values.get(cik, "")) for cik in before}
    reread = {cik for cik in before if now[cik].is_reread(before[cik])}
    same_documents = {cik for cik in reread if now[cik].documents == before[cik].documents}
    endings = tuple(filed_digests.digests(lake)) if to_do else ()
    found = [
        Batch(
            ciks,
            segments=_segments_of(segments, logged_in, ciks),
            table_endings=endings,
            reread=tuple(cik for cik in ciks if cik in reread),
            same_documents=tuple(cik for cik in ciks if cik in same_documents),
        )
        for ciks in ciks_of
    ]
    return LogPlan(found, to_do, tuple(segments), logged_in)


def _compared(segments: Iterable[str], values: str) -> str:
    """The digest of the segments with versions of a company, followed by the digests of the inputs of its values."""
    return joined(*segments) + values


def work(lake: Lake, log: Path, now: datetime, batch: Batch) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """The versions of a batch of companies, by table, and the companies with versions to record (versions_of_batch)."""
    with loading():
        from pipelines.stages import versions_of_batch
    return versions_of_batch.work(lake, log, now, batch)


def collect(
    lake: Lake,
    log: Path,
    sync_id: str,
    planned: LogPlan,
    output: Batches,
    notes: Iterable[Iterable[str]],
    faults: Sequence[Fault] = (),
) -> tuple[str, ...]:
    """Write the new versions of all batches as a segment, and put all versions into their tables.

    Args:
        notes: the companies of each batch with versions to record.
        faults: the faults of companies that could not be compared; they keep their rows, and no version is recorded.

    Returns:
        the segments that a build from these tables has to commit.
    """
    segments = planned.segments
    if not planned.batches:
        if lake.height(APPENDED):
            lake.write(APPENDED, lake.read(APPENDED).clear())
        return segments
    values, left_out = lake.inputs("profiles"), ciks_of(faults)
    done = {cik: digest for cik, digest in planned.to_do.items() if cik not in left_out}
    for cik in (cik for recorded_of in notes for cik in recorded_of):
        done[cik] = _compared((*planned.logged_in.get(cik, ()), segment_name(sync_id)), values.get(cik, ""))
    if output.height(RECORDED):
        segments = (*segments, write(log, sync_id, output.scan(RECORDED)))
    lake.write(APPENDED, output.scan(APPENDED))
    held_back.add(lake, faults)
    # last, because its digests mark a company's versions as compared
    lake.replace_companies(VERSIONS, output.of(VERSIONS), done, left_out)
    return segments


def _changes_of_synchronization(earlier: pl.DataFrame, lake: Lake) -> pl.DataFrame:
    """All changes of a synchronization: its earlier changes, with the present values, and the later changes."""
    current = lake.of_companies(VERSIONS, earlier["cik"].unique(), pl.col("is_current")).select(
        *VERSION_OF, now="value"
    )
    with loading():
        from pipelines.normalize.history.replay import is_same
    first = earlier.filter("is_current").join(current, on=VERSION_OF, maintain_order="left")
    later = lake.read(APPENDED).join(first, on=VERSION_OF, how="anti")
    differing = first.filter(~is_same("now", "before")).with_columns(value="now")
    return pl.concat([differing.select(later.columns), later])


def add_since(lake: Lake, build_at: datetime, now: datetime) -> None:
    """Add the changes of later builds to table `appended` after somebody restored an earlier build: they are new again.

    Args:
        lake: the tables.
        build_at: the beginning of the synchronization that made the published build.
        now: the beginning of this synchronization.
    """
    at = pl.col("recorded_at")
    later = lake.scan(VERSIONS).filter(at > build_at, at < now).select("cik").unique().collect()
    if not later.height:
        return
    versions = lake.of_companies(VERSIONS, later["cik"]).sort("version", maintain_order=True)
    was = (
        versions.filter((at <= build_at).fill_null(value=True)).group_by(VERSION_OF).agg(before=pl.col("value").last())
    )
    new = versions.filter(at > build_at, at < now, pl.col("is_current"), pl.col("cause") != SOURCE)
    held = lake.read(APPENDED)
    again = new.join(was, on=VERSION_OF, how="left", maintain_order="left", nulls_equal=True)
    again = again.filter(pl.col("cik").is_in(was["cik"].unique())).join(
        held, on=VERSION_OF, how="anti", nulls_equal=True
    )
    lake.write(APPENDED, pl.concat([held, again.select(held.columns)]))


def take_back(lake: Lake, log: Path, sync_id: str, segments: Sequence[str], ciks: Collection[str]) -> tuple[str, ...]:
    """Remove companies from the uncommitted segment; the next synchronization compares them again.

    Args:
        segments: the segments that a build from the tables would have to commit.
        ciks: companies whose rows may not be published.

    Returns:
        the segments that a build has to commit now; without the new segment if it has rows of these companies only.
    """
    lake.remove_companies(VERSIONS, ciks)
    lake.write(APPENDED, lake.read(APPENDED).filter(~pl.col("cik").is_in([*ciks])))
    written = segment_name(sync_id)
    if written not in segments:
        return tuple(segments)
    kept = read(log, [written]).filter(~pl.col("cik").is_in([*ciks]))
    if kept.height:
        write(log, sync_id, kept)
        return tuple(segments)
    before = tuple(name for name in segments if name != written)
    clear(log, before)
    return before


def _segments_of(
    segments: Sequence[str], logged_in: Mapping[str, Sequence[str]], batch: Iterable[str]
) -> tuple[str, ...]:
    """The segments with versions of a batch of companies, in their order."""
    named = {name for cik in batch for name in logged_in.get(cik, ())}
    return tuple(name for name in segments if name in named)
