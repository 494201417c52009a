"""Checks the tables between the stages: their files are unchanged since they were written.

Belongs here: the table that marks the companies of each stage as finished, and removing damaged rows so that the next
synchronization makes them again. Does not: making rows (stages, tables).

Of a table of companies, only companies with rows in a damaged part are removed, from the table and from the table that
marks their stage as finished. Three tables have rows that no stage can make again: companies that left the SEC's list,
and earlier synchronizations. These rows are restored from the published build and from the results of the requests.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec
import polars as pl

from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.health.published import rows_of
from pipelines.stages.batch.schemas import DOCUMENTS, LISTINGS, UNREAD_REPORTS, VALUE_TABLES, VERSIONS
from pipelines.storage import checksums
from pipelines.storage.home import Home
from pipelines.storage.lake import MANIFEST, Lake
from pipelines.tables.stored import AGES, CONTENTS, COUNTED, LAST, OF_COMPANIES, SYMBOLS, assembled
from warehouse.build.pointer import synchronized
from warehouse.build.publish import readable
from warehouse.build.verify import is_whole
from warehouse.contract.findings import DAMAGE, WARNING, WELL, Finding
from warehouse.errors import BuildUnreadable

STAGES = {
    "documents": ("documents",),
    "facts": ("facts",),
    "registrants": ("registrants", "acceptances", "reports"),
    "profiles": VALUE_TABLES,
    VERSIONS: (VERSIONS,),
    CONTENTS: (CONTENTS, SYMBOLS, COUNTED, AGES, *map(assembled, OF_COMPANIES)),
}
"""The tables of companies of each stage, by the table whose digests mark the companies as finished."""
ADDED = frozenset(
    {
        *("decisions", "proofs", "balance_sheet_lines", "share_bases", "classes", "reports", UNREAD_REPORTS),
        *map(assembled, ("balance_sheet_lines", "projections")),
    }
)
"""Tables that homes of earlier versions lack; the next synchronization makes them with all tables of the stage, because
the code of the stage has changed."""

SHOWN = 5
"""The number of damaged tables that a finding names."""
MARKED_BY = {table: marker for marker, tables in STAGES.items() for table in tables}


def check(home: Home, *, quick: bool) -> Iterator[Finding]:
    """Check the files of each table; with `quick`, only whether they exist."""
    lake = Lake(home.tables)
    listed = names(lake)
    with ThreadPoolExecutor() as pool:  # a digest is computed without Python's lock
        found_in = pool.map(partial(_damaged, lake, quick=quick), listed)
        damaged = {name: found for name, found in zip(listed, found_in, strict=True) if found}
    if damaged:
        files = [str(path) for found in damaged.values() for path in found]
        shown = ", ".join([*damaged][:SHOWN]) + (" and others" if len(damaged) > SHOWN else "")
        text = f"{len(files)} files of the tables {shown} are damaged or missing, such as {files[0]}"
        advice = f"delete {lake.folder}; the next synchronization makes the tables again"
        yield Finding("tables", DAMAGE, text, advice, partial(_forget, home, damaged))
    elif removed := [marker for marker in STAGES if listed and not lake.holds(marker)]:
        text = f"the tables of {', '.join(removed)} were removed, and are not made again yet"
        yield Finding("tables", WARNING, text, "run `fundamentals sync`")
    else:
        yield Finding("tables", WELL, f"{len(listed)} tables{', not read' if quick else ''}")


def mend(home: Home) -> Iterator[str]:
    """Remove damaged rows, so that a synchronization makes them again; yields lines about the removed rows.

    Polars reads one flipped bit of ten without an error, so the digests of all files are compared: a gigabyte takes
    half a second.
    """
    for finding in check(home, quick=False):
        if finding.repair:
            yield finding.repair()


def names(lake: Lake) -> list[str]:
    """The existing tables, and the missing tables: their digest is stored, or their stage is marked as finished."""
    noted = checksums.noted(lake.folder)
    listed = [*lake.folder.glob("[!.]*"), *noted]
    found = {
        path.stem for path in listed if path.parent == lake.folder and (path.is_dir() or path.suffix == ".parquet")
    }
    written = {path.parent.name for path in noted}
    wanted = found.union(*(tables for marker, tables in STAGES.items() if marker in found))
    return sorted(wanted - (ADDED - found - written))


def _is_small(lake: Lake, name: str) -> bool:
    """Whether a table is one file."""
    return lake.path(name).exists() or lake.path(name) in checksums.noted(lake.folder)


def _damaged(lake: Lake, name: str, *, quick: bool) -> list[Path]:
    """The damaged or missing files of a table."""
    manifest = lake.folder / name / MANIFEST
    try:
        parts = [manifest.with_name(part) for part in lake.manifest(name).parts]
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return [manifest]
    paths = [lake.path(name)] if _is_small(lake, name) else [manifest, *parts]
    return [path for path in paths if not path.exists()] if quick else checksums.damaged(lake.folder, paths)


def _forget(home: Home, damaged: Mapping[str, list[Path]]) -> str:
    """Remove damaged rows, so that the next synchronization makes them again."""
    lake = Lake(home.tables)
    for name, paths in damaged.items():
        if _is_small(lake, name):
            _forget_small(home, lake, name)
        else:
            _forget_companies(lake, {name, MARKED_BY.get(name, name)}, name, paths)
    if "documents" in damaged:
        _list_documents(home, lake)
    return f"removed what was damaged of {', '.join(damaged)}; the next synchronization makes it again"


def _forget_companies(lake: Lake, tables: set[str], name: str, paths: list[Path]) -> None:
    """Remove the companies with rows in damaged parts; all companies if the manifest or every part is damaged."""
    parts = {path.name for path in paths}
    try:
        manifest = lake.manifest(name)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        manifest = None
    is_rest = manifest is not None and MANIFEST not in parts and manifest.parts.keys() - parts
    lost = {cik for cik, held in manifest.companies.items() if held.part in parts} if manifest else set()
    for each in tables:
        if is_rest and not _is_gone(lake, each):
            lake.remove_companies(each, lost)
        else:
            _remove(lake, each)
    if is_rest and any((lake.folder / name / part).exists() for part in lake.manifest(name).parts if part in parts):
        _remove(lake, name)


def _list_documents(home: Home, lake: Lake) -> None:
    """Write table `documents` from the results of requests, because companies that left the SEC's list are not
    requested again."""
    pointer, store = readable(home.published), RawStore(home.root)
    times: dict[str, str] = {}
    with suppress(BuildUnreadable):  # damaged, too: then the next answers of the source give the times
        times = synchronized(home.published, pointer) if pointer else {}
    rows = []
    for seen in store.all_seen():
        if seen.kind == "companyfacts":
            submissions, at = store.seen(seen.cik, "submissions"), times.get(seen.cik)
            digest = " ".join(submissions.digests) if submissions and submissions.digest else None
            when = datetime.fromisoformat(at) if at else None
            rows.append((seen.cik, "unchanged" if seen.digest else seen.status, seen.digest, digest, None, when))
    _remove(lake, "documents")
    found = pl.DataFrame(rows, schema=DOCUMENTS, orient="row")
    lake.replace_companies("documents", [found], dict.fromkeys(found["cik"], ""))


def _is_gone(lake: Lake, name: str) -> bool:
    """Whether the manifest of a table is missing or damaged."""
    try:
        return not lake.manifest(name).parts
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return True


def _remove(lake: Lake, name: str) -> None:
    folder = lake.folder / name
    if folder.exists():
        checksums.forget(lake.folder, folder.iterdir())
        shutil.rmtree(folder)


def _forget_small(home: Home, lake: Lake, name: str) -> None:
    """Remove a small table, or replace it by its rows in the published build.

    The table that is written last loses its digest, so that the published tables are made again.
    """
    checksums.forget(lake.folder, [lake.path(name)])
    lake.path(name).unlink(missing_ok=True)
    for table, of_build in FROM_BUILD.items():
        if table == name or (table == assembled(LAST) and name.startswith(assembled(""))):
            rows = _published(home, of_build)
            if rows is None:
                lake.path(table).unlink(missing_ok=True)
            else:
                lake.write(table, rows)


def _published(home: Home, of_build: Callable[[Path], pl.DataFrame]) -> pl.DataFrame | None:
    """Rows of the published build; None without an undamaged build."""
    pointer = readable(home.published)
    if pointer is None or not is_whole(home.published, pointer):
        return None
    return of_build(home.published / pointer.file)


def _delisted(build: Path) -> pl.DataFrame:
    """The companies that left the SEC's list, so that no source has them any more."""
    gone = rows_of(build, "companies").filter(~pl.col("is_listed"))
    more = {"position": pl.int_range(pl.len(), dtype=pl.Int32), "kind": pl.lit("common")}
    return gone.with_columns(**more).select(LISTINGS.names())


def _syncs(build: Path) -> pl.DataFrame:
    return rows_of(build, LAST)


FROM_BUILD: dict[str, Callable[[Path], pl.DataFrame]] = {"listings": _delisted, assembled(LAST): _syncs}
"""The tables with rows that no stage can make again, with the function that reads them from the file of a build."""
