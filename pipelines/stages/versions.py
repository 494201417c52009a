"""The versions of the values: tables `versions` and `appended`, and a segment of the version log.

Belongs here: which companies are compared with the log, and recording what is new. Does not: what a version is
(normalize.history), the files of the log (log).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path

import polars as pl

from pipelines.normalize.classes.series import with_classes
from pipelines.normalize.faces.facts import FILING, with_filed
from pipelines.normalize.history.late import in_force, told_anew
from pipelines.normalize.history.replay import is_same
from pipelines.normalize.history.versions import (
    AS_STATED,
    CAUSE_OF,
    CURRENCY_LEFT,
    FACTS_CHANGED,
    SOURCE,
    VERSION_OF,
    Reread,
    numbered,
    on_basis_of_today,
    recorded,
    to_append,
    with_class_member,
)
from pipelines.normalize.pipeline import ITEM_SIGNS
from pipelines.stages import batches, filed, held_back
from pipelines.stages.batches import DIGITS, Batch, MadeFrom, Plan, in_batches, joined, processed
from pipelines.stages.isolation import Fault, ciks_of
from pipelines.stages.schemas import APPENDED, RECORDED, REPLAYED, VERSIONS
from pipelines.stages.values import held_predecessors
from pipelines.storage.lake import Batches, Lake
from pipelines.storage.version_log import check, clear, committed, read, segment_name, segments_of, write
from pipelines.workers import ALONE, Workers

READ_EARLY = pl.duration(days=60)
"""Before the newest filing of a company: so late, a report that was read from its package comes into companyfacts."""


def update(
    lake: Lake,
    log: Path,
    segments: Sequence[str],
    sync_id: str,
    now: datetime,
    workers: Workers = ALONE,
    again: Iterable[str] = (),
    *,
    goes_on: bool = False,
) -> tuple[str, ...]:
    """Append new versions to the version log: tables `versions` (all) and `appended` (new).

    Only companies whose values or logged versions changed are read and compared.

    Args:
        log: the folder of the log.
        segments: the segments that the pointer names.
        sync_id, now: id and time of this synchronization.
        workers: the processes that share the batches.
        again: companies to compare even if nothing changed.
        goes_on: whether this synchronization has appended before: table `appended` keeps what is new since.

    Returns:
        the segments that a build from these tables has to commit.
    """
    planned = plan(lake, log, segments, again)
    with lake.gathering("versions") as output:
        notes, faults = processed("versions", planned, partial(work, lake, log, now), output, workers)
        earlier = lake.read(APPENDED) if goes_on else None
        segments = collect(lake, log, sync_id, planned, output, notes, faults)
        if earlier is not None:
            lake.write(APPENDED, _since(earlier, lake))
        return segments


@dataclass(frozen=True, slots=True)
class LogPlan(Plan):
    """What there is to compare.

    Attributes:
        segments: the committed segments of the log, in the order of recording.
        logged_in: those that have versions of a company, by company.
    """

    segments: tuple[str, ...]
    logged_in: Mapping[str, Sequence[str]]


def plan(lake: Lake, log: Path, segments: Sequence[str], again: Iterable[str] = ()) -> LogPlan:
    """The companies whose values or logged versions changed, and those in `again`.

    What a killed run left in the log is removed.

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
    before = {cik: MadeFrom.read(digest[DIGITS:]) for cik, digest in known.items() if cik in to_do}
    now = {cik: MadeFrom.read(values.get(cik, "")) for cik in before}
    reread = {cik for cik in before if now[cik].is_reread(before[cik])}
    same_documents = {cik for cik in reread if now[cik].documents == before[cik].documents}
    endings = tuple(filed.digests(lake)) if to_do else ()
    found = [
        Batch(
            ciks,
            segments=_naming(segments, logged_in, ciks),
            filed=endings,
            reread=tuple(cik for cik in ciks if cik in reread),
            same_documents=tuple(cik for cik in ciks if cik in same_documents),
        )
        for ciks in ciks_of
    ]
    return LogPlan(found, to_do, tuple(segments), logged_in)


def _compared(segments: Iterable[str], values: str) -> str:
    """The digest of the segments that have versions of a company, and then what its values are made from."""
    return joined(*segments) + values


def work(lake: Lake, log: Path, now: datetime, batch: Batch) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """The versions of some companies: all, those to record, and those that are shown as changes, by table.

    The notes are the companies that have versions to record.
    """
    ciks, rules = batch.ciks, batches.rules_digest()
    logged = read(log, batch.segments, ciks)
    filings, replayed = lake.of_companies("filings", ciks), with_class_member(lake.of_companies(REPLAYED, ciks))
    known = in_force(on_basis_of_today(logged, lake.of_companies("share_bases", ciks), ITEM_SIGNS))
    order = filings.select("cik", "accession", "seq")
    currencies = lake.of_companies("profiles", ciks).select("cik", "currency")
    facts = cache(partial(_facts_filed, lake, batch))
    reread = Reread(batch.reread, batch.same_documents, _in_companyfacts(logged, filings))
    told = told_anew(known, replayed, order, rules, batch.reread)
    known = in_force(pl.concat([known, told]))
    appended = recorded(to_append(known, replayed, order, rules, currencies, facts, reread), now, rules)
    new = pl.concat([told, appended])
    versions = numbered(pl.concat([known, appended]))
    had_versions = known.select("cik").unique()
    changes = versions.with_columns(before=pl.col("value").shift().over(VERSION_OF)).tail(appended.height)
    changes = changes.join(had_versions, on="cik", how="semi", maintain_order="left")
    tables = {
        RECORDED: new,
        VERSIONS: versions.sort("cik", "period_end", "item", "version", "class_member"),
        APPENDED: _without_read_later(changes, known, order, batch.reread),
    }
    return tables, new["cik"].unique().to_list()


def _in_companyfacts(logged: pl.DataFrame, filings: pl.DataFrame) -> list[str]:
    """The newest filings with facts that the log has from their packages, and that are in companyfacts now."""
    newest = logged.filter(pl.col("filed") >= pl.col("filed").max().over("cik") - READ_EARLY)
    legs = newest.select(pl.col("legs").explode()).drop_nulls().unnest("legs")
    read = legs.filter(pl.col("source") == FILING).select("accession").unique()
    return read.join(filings.filter("in_companyfacts"), on="accession", how="semi")["accession"].to_list()


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
        notes: the companies of each batch that have versions to record.
        faults: of companies that could not be compared; they keep their rows, and record nothing.

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


def _since(earlier: pl.DataFrame, lake: Lake) -> pl.DataFrame:
    """All changes of a synchronization: those that were appended first, with the values of now, and the later ones."""
    current = lake.of_companies(VERSIONS, earlier["cik"].unique(), pl.col("is_current")).select(
        *VERSION_OF, now="value"
    )
    first = earlier.filter("is_current").join(current, on=VERSION_OF, maintain_order="left")
    later = lake.read(APPENDED).join(first, on=VERSION_OF, how="anti")
    differing = first.filter(~is_same("now", "before")).with_columns(value="now")
    return pl.concat([differing.select(later.columns), later])


def add_since(lake: Lake, build_at: datetime, now: datetime) -> None:
    """Add what later builds had to table `appended`, if somebody went back to an earlier one: it is new again.

    Args:
        lake: the tables.
        build_at: when the synchronization began that made the published build.
        now: when this one began.
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
    """Leave some companies out of the segment that is not committed yet; the next synchronization compares them again.

    Args:
        segments: those that a build from the tables would have to commit.
        ciks: companies whose rows may not be published.

    Returns:
        the segments that a build has to commit now: without the new one, if these companies alone have rows in it.
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


def _naming(segments: Sequence[str], logged_in: Mapping[str, Sequence[str]], batch: Iterable[str]) -> tuple[str, ...]:
    """The segments that have versions of some companies, in their order."""
    named = {name for cik in batch for name in logged_in.get(cik, ())}
    return tuple(name for name in segments if name in named)


def _without_read_later(
    changes: pl.DataFrame, log: pl.DataFrame, order: pl.DataFrame, reread: Collection[str]
) -> pl.DataFrame:
    """The changes but those that follow from what was read later of filings that the log knew."""
    known = log.select("cik", "accession").join(order, on=["cik", "accession"])
    newest = known.group_by("cik").agg(newest=pl.col("seq").max())
    of_filing = changes.select("cik", "accession").join(
        order, on=["cik", "accession"], how="left", maintain_order="left"
    )
    is_known = of_filing.join(newest, on="cik", how="left", maintain_order="left").select(
        (pl.col("seq") <= pl.col("newest")).fill_null(value=False)
    )
    by_edgar = (pl.col("cause") == CAUSE_OF[FACTS_CHANGED.id]) | (pl.col("rule") == CURRENCY_LEFT.id)
    is_read_later = pl.col("cik").is_in([*reread]) & is_known.to_series() & ~by_edgar
    return changes.filter(~is_read_later, pl.col("cause") != SOURCE)


def _facts_filed(lake: Lake, batch: Batch) -> pl.DataFrame:
    """What the filings of some companies and of their predecessors state, in all sources: columns of AS_STATED."""
    earlier = held_predecessors(lake)
    filers = sorted({filer for cik in batch.ciks for filer in (cik, *earlier.get(cik, ()))})
    facts = lake.of_companies("facts", filers)
    stated, _, _, by_class = with_filed(facts, filed.read(lake, filers, batch.filed, facts, {}))
    stated = with_classes(stated, by_class).facts
    tag = pl.coalesce("filed_tag", pl.format("{}:{}", "taxonomy", "tag"))
    return stated.with_columns(tag.alias("tag"), pl.col("start", "end").str.to_date()).select(AS_STATED)
