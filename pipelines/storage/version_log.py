"""The version log of a home: immutable segments, one for each synchronization that changed something.

Belongs here: the list of committed segments, reading and writing segments. Does not: the meaning of a version
(normalize.history).

The pointer to the current build names the segments that are committed with it, so a killed run leaves neither a build
nor a segment. A segment is never changed. Restoring an older build changes the pointer, but not the log: a file in the
folder of segments lists all segments that a pointer ever named.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import polars as pl

from pipelines.errors import PipelineError
from pipelines.normalize.faces.sources import COMPANYFACTS
from pipelines.normalize.history.log import LOG, TWELVE_MONTHS
from pipelines.storage import checksums
from warehouse.files import sync

SEGMENT = "versions-{}.parquet"
COMMITTED = "committed.json"
IN_ORDER = "in_order"
INITIAL = "initial"  # the cause of the first version of a value
ROW_GROUP = 5_000
"""The number of rows in a row group: about ten companies. With ten times as many, reading a few companies takes four
times as long, and the file is a quarter smaller."""
ADVICE = "run `fundamentals doctor --repair`, which restores the segment from the published build"
SOURCE = "source"
VALUE = ["cik", "period_end", "item"]
"""The key of a version in the first segments, which have no series of classes."""
LATER = {"rule": None, "starts_anew": None, "class_member": "", "n": TWELVE_MONTHS}
"""The columns of LOG that the first segments lack, with their values. A segment that lacks another column is
damaged."""


class LogError(PipelineError):
    """A committed segment cannot be read. The synchronization stops, because the history would be incomplete."""


def committed(folder: Path, pointed: Sequence[str]) -> tuple[str, ...]:
    """All segments that a pointer names or ever named, in the order of recording; adds `pointed` to the list.

    The names do not show the order, because the clock may have been set back. An earlier release sorted the list by
    name; its list is sorted once again, by the filings in the segments.

    Raises:
        LogError: the list cannot be read; or it has to be sorted, and a segment is missing or damaged.
    """
    remembered = _remembered(folder)
    segments = listed(folder, pointed)
    if isinstance(remembered, list):
        segments = tuple(_in_order_of_filings(folder, sorted(segments)))
    if remembered != {IN_ORDER: [*segments]}:
        remember(folder, segments)
    return segments


def listed(folder: Path, pointed: Sequence[str]) -> tuple[str, ...]:
    """The segments of `committed`, in the order of the list, without changing the list.

    Raises:
        LogError: the list cannot be read.
    """
    remembered = _remembered(folder)
    try:
        known = remembered if isinstance(remembered, list) else remembered[IN_ORDER]
        return tuple(dict.fromkeys([*map(str, known), *pointed]))
    except (LookupError, TypeError) as error:
        raise _unreadable(folder, error) from error


def _remembered(folder: Path) -> Any:
    """The contents of the list of segments."""
    path = folder / COMMITTED
    try:
        if path.exists() and checksums.damaged(folder, [path]):
            raise ValueError("does not have its digest")
        return json.loads(path.read_text()) if path.exists() else {IN_ORDER: []}
    except (OSError, ValueError) as error:
        raise _unreadable(folder, error) from error


def _unreadable(folder: Path, error: Exception) -> LogError:
    advice = "run `fundamentals doctor --repair`, which writes the list again"
    return LogError(f"{folder / COMMITTED}: {error!r}; {advice}")


def remember(folder: Path, segments: Sequence[str]) -> None:
    """Write the list of the committed segments in the order of recording."""
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f".{COMMITTED}.tmp"
    written.write_text(json.dumps({IN_ORDER: list(segments)}))
    checksums.replace(folder, written, folder / COMMITTED)


def check(folder: Path, segments: Sequence[str]) -> None:
    """Compare the committed segments with their digests; store digests for segments that an earlier release wrote.

    Raises:
        LogError: a segment is missing or damaged.
    """
    paths = [folder / name for name in segments]
    for path in checksums.damaged(folder, paths):
        raise LogError(f"{path}: {'damaged' if path.exists() else 'missing'}; {ADVICE}")
    if new := checksums.unnoted(folder, paths):
        checksums.note(folder, {path: path for path in new})


def _in_order_of_filings(folder: Path, segments: Sequence[str]) -> list[str]:
    """Sort segments in the order of recording: of two segments with the same value, the later one has it from a later
    filing, or not as its initial version.

    Segments without a common value are sorted by name. If the filings contradict each other, all segments are sorted by
    name.
    """
    frames = []
    for number, name in enumerate(segments):
        with _named_errors(folder / name):
            versions = pl.scan_parquet(folder / name).group_by(VALUE)
            last = versions.agg(pl.col("filed").max(), is_later=(pl.col("cause") != INITIAL).all())
            frames.append(last.with_columns(segment=pl.lit(number)).collect())
    if len(frames) < 2:
        return list(segments)
    rows = pl.concat(frames).sort(*VALUE, "filed", "is_later", "segment")
    before = pl.col("segment", "filed", "is_later").shift().over(VALUE).name.suffix("_before")
    is_after = (pl.col("filed") > pl.col("filed_before")) | (pl.col("is_later") > pl.col("is_later_before"))
    follows = rows.with_columns(before).filter(is_after).group_by("segment_before", "segment").agg(pl.len())
    net: Counter[tuple[int, int]] = Counter()
    for earlier, later, count in follows.iter_rows():
        net[earlier, later] += count
        net[later, earlier] -= count
    order = TopologicalSorter(dict.fromkeys(range(len(segments)), ()))
    for (earlier, later), count in net.items():
        if count > 0:
            order.add(later, earlier)
    try:
        order.prepare()
    except CycleError:
        return list(segments)
    placed: list[str] = []
    ready: list[int] = []
    while order.is_active():
        for number in order.get_ready():
            heappush(ready, number)
        number = heappop(ready)
        placed.append(segments[number])
        order.done(number)
    return placed


def segments_of(folder: Path, segments: Sequence[str]) -> dict[str, list[str]]:
    """The committed segments with versions of a company, by company, in the order of recording.

    Raises:
        LogError: a segment is missing or damaged.
    """
    found: dict[str, list[str]] = {}
    for name in segments:
        with _named_errors(folder / name):
            for cik in pl.scan_parquet(folder / name).select(pl.col("cik").unique()).collect()["cik"]:
                found.setdefault(cik, []).append(name)
    return found


def read(folder: Path, segments: Sequence[str], ciks: Iterable[str] | None = None) -> pl.DataFrame:
    """The versions in the given segments, of the given or all companies, in the order of recording: columns of LOG.

    Raises:
        LogError: a segment is missing or damaged.
    """
    wanted = pl.lit(value=True) if ciks is None else _of(sorted(ciks))
    frames = [pl.DataFrame(schema=LOG)]
    for name in segments:
        with _named_errors(folder / name):
            frames.append(_in_present_columns(pl.scan_parquet(folder / name).filter(wanted).collect()))
    return pl.concat(frames)


def _of(ciks: Sequence[str]) -> pl.Expr:
    """A filter for the rows of companies; its bounds let row groups of a sorted segment be skipped."""
    cik = pl.col("cik")
    return cik.is_between(pl.lit(min(ciks, default="")), pl.lit(max(ciks, default=""))) & cik.is_in(ciks)


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Convert errors of the disk and of damaged files to LogError, with a message of one line."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise LogError(f"{path}: {reason}; {ADVICE}") from error


def _in_present_columns(segment: pl.DataFrame) -> pl.DataFrame:
    """A segment with the columns of LOG; columns and fields of legs that an older program did not record are null.

    The source of legs without a source is companyfacts, because older programs had no other.
    """
    added = [pl.lit(held).alias(name) for name, held in LATER.items() if name not in segment.columns]
    if SOURCE not in segment["legs"].head(0).explode().struct.fields:
        of_companyfacts = pl.element().struct.with_fields(pl.lit(COMPANYFACTS).alias(SOURCE))
        added.append(pl.col("legs").list.eval(of_companyfacts))
    return segment.with_columns(added).select(pl.col(name).cast(dtype) for name, dtype in LOG.items())


def write(folder: Path, sync_id: str, rows: pl.DataFrame | pl.LazyFrame) -> str:
    """Write a segment, and return its name; the segment is committed when a pointer names it."""
    name = segment_name(sync_id)
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f".{name}.tmp"
    in_groups = rows.lazy().select(LOG.names()).map_batches(_in_groups, streamable=True)
    in_groups.sink_parquet(written, compression="zstd", row_group_size=ROW_GROUP)
    with written.open("rb") as file:
        os.fsync(file.fileno())
    checksums.replace(folder, written, folder / name)
    sync(folder / checksums.NOTES)
    return name


def _in_groups(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows, with separate legs for each row group: for a group that is a slice of a long column of lists,
    Polars encodes the whole column."""
    separate = pl.col("legs").gather(pl.int_range(pl.len()))
    groups = [group.with_columns(separate) for group in rows.iter_slices(ROW_GROUP)]
    return pl.concat(groups) if groups else rows


def segment_name(sync_id: str) -> str:
    """The name of the segment that a synchronization writes."""
    return SEGMENT.format(sync_id)


def sync_id_of(segment: str) -> str:
    """The id of the synchronization that wrote a segment."""
    before, after = SEGMENT.split("{}")
    return segment.removeprefix(before).removesuffix(after)


def clear(folder: Path, segments: Sequence[str]) -> None:
    """Remove files of killed runs: segments newer than the last committed one, and unfinished files."""
    last = max(segments, default="")
    left = [path for path in folder.glob(SEGMENT.format("*")) if path.name > last]
    checksums.forget(folder, left)
    for path in (*left, *folder.glob(".*.tmp")):
        path.unlink()
