"""Publishing: a new build if a row has changed, otherwise only the times of the synchronization.

Belongs here: the last step before readers see new rows. Does not: writing a build (warehouse.build.publish), the
conditions for publishing (gates).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from pipelines.edgar.decode import listing_checks
from pipelines.release import RELEASE
from pipelines.run import newest_filings
from pipelines.run.result import Markdown, Shown, StepResult
from pipelines.run.synchronization import Log, Synchronization
from pipelines.storage import version_log
from pipelines.storage.lake import Lake
from pipelines.tables import stored
from warehouse.build import publish, runs


def warehouse(synchronization: Synchronization, _: Log) -> StepResult:
    """Publishes a new build, a verified DuckDB file; if no row has changed, the current build stays."""
    result = _published(synchronization)
    newest_filings.note_served(synchronization.lake)
    return result


def _published(synchronization: Synchronization) -> StepResult:
    lake, published = synchronization.lake, synchronization.home.published
    rows = lake.read("documents").drop_nulls("synchronized_at")
    times: dict[str, Any] = {
        "synchronization": {
            "sync_id": synchronization.sync_id,
            "started_at": synchronization.started_at.isoformat(),
            "finished_at": datetime.now(UTC).isoformat(),
            "source": synchronization.source_name,
        },
        "is_scheduled": synchronization.is_scheduled,
        "release": RELEASE,
        "quarantined": lake.read("quarantine")["cik"].n_unique(),
        "updated": {cik: at.isoformat() for cik, at in rows.select("cik", "synchronized_at").iter_rows()},
    }
    lake.write("covered", lake.read(stored.assembled("companies"), ["cik"]).unique().sort("cik"))
    lake.write(listing_checks.TABLE, listing_checks.settled(lake.read(listing_checks.TABLE)))
    before, inputs = synchronization.before, stored.inputs(lake)
    is_mended = before is None and publish.readable(published) is not None
    is_full = synchronization.full and synchronization.first is None
    if before and before.inputs == inputs and not is_full:
        return _kept(synchronization, before, inputs, times)
    renewed = None if is_full else _renewal(lake, before)
    synchronization.workers.end()  # they have no more work, and writing a build needs their memory
    build = publish.build(published, stored.files(lake), synchronization.sync_id, renewed)
    is_same = before is not None and before.inputs == inputs and _has_rows(before, build)
    if before and (is_same or before.content_hash == build.content_hash):
        return _kept(synchronization, before, inputs, times)
    segments = tuple(lake.read(stored.SEGMENTS)["segment"])
    publish.point(published, build, inputs=inputs, log=segments, is_mended=is_mended, **times)
    stored.remember_built(lake, build.build_id)
    version_log.committed(synchronization.home.log, segments)
    synchronization.result = runs.PUBLISHED
    of_tables = {name: (held.rows, str(held).replace(" ", "-")) for name, held in build.sums.items()}
    return replace(
        _result(build.build_id, build.content_hash, build.rows, is_new=True, is_mended=is_mended), tables=of_tables
    )


def _has_rows(before: publish.Pointer, build: publish.Build) -> bool:
    """Whether a build that was made again has the same rows of companies as the build before.

    Other tables are not compared: table `changes` lists changes since the build before, so it is empty in a build
    without changes.
    """
    return all(before.sums.get(name) == str(build.sums[name]) for name in stored.OF_COMPANIES)


def _renewal(lake: Lake, before: publish.Pointer | None) -> publish.Renewal | None:
    """The rows of changed companies, which replace their rows of the build before; None if all rows are written."""
    changed = stored.changed_since(lake, before.build) if before else None
    if before is None or changed is None:
        return None
    files = stored.files(lake, changed)
    return publish.Renewal(before, frozenset(changed), {name: files[name] for name in stored.OF_COMPANIES})


def _kept(
    synchronization: Synchronization, build: publish.Pointer, inputs: str, times: Mapping[str, Any]
) -> StepResult:
    """Keep the current build, because no row has changed; only the times are recorded."""
    if stored.changed_since(synchronization.lake, build.build) is None:  # other code made the same rows
        stored.remember_built(synchronization.lake, build.build)
    if synchronization.first is None or build.inputs != inputs:
        publish.record(synchronization.home.published, inputs=inputs, **times)
    synchronization.result = runs.UNCHANGED
    if synchronization.first:
        synchronization.use_first_build(synchronization.first)
        return synchronization.first
    return _result(build.build, build.content_hash, build.rows, is_new=False)


def _result(
    build: str, content_hash: str, rows: Mapping[str, int], *, is_new: bool, is_mended: bool = False
) -> StepResult:
    sizes = pl.DataFrame({"table": list(rows), "rows": list(rows.values())})
    shown: dict[str, Shown] = {
        "build": build,
        "content_hash": content_hash,
        "tables": Markdown.of(sizes),
        "published": int(is_new),
        "mended": int(is_mended),
        "row_count": sum(rows.values()),
    }
    return StepResult(shown, content_hash)
