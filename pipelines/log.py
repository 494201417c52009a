"""The version log of a home: immutable segments, one for each synchronization that changed something.

Belongs here: which segments are committed, reading them, writing one. Does not: what a version is (normalize.history).

The pointer to the current build names the segments that are committed with it, so a killed run leaves neither a build
nor a segment. A segment is never changed. Going back to an older build moves the pointer and not the log: all segments
that a pointer ever named are listed in a file in the folder of the segments.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from pipelines.errors import PipelineError
from pipelines.normalize.history.versions import LOG

SEGMENT = "versions-{}.parquet"
COMMITTED = "committed.json"
ROW_GROUP = 5_000
"""Rows that are read together: those of about ten companies. Ten times as many take four times as long for a few
companies, in a file that is a quarter smaller."""
LATER = ("rule",)
"""Columns of LOG that the first segments lack. A segment that lacks another column is damaged."""


class LogError(PipelineError):
    """A committed segment cannot be read. The synchronization stops, because the history would be incomplete."""


def committed(folder: Path, pointed: Sequence[str]) -> tuple[str, ...]:
    """All segments that a pointer names or ever named, in the order of recording; `pointed` are added to the list."""
    path = folder / COMMITTED
    remembered = json.loads(path.read_text()) if path.exists() else []
    segments = sorted({*remembered, *pointed})
    if segments != remembered:
        folder.mkdir(parents=True, exist_ok=True)
        written = folder / f".{COMMITTED}.tmp"
        written.write_text(json.dumps(segments))
        written.replace(path)
    return tuple(segments)


def segments_of(folder: Path, segments: Sequence[str]) -> dict[str, list[str]]:
    """The committed segments that have versions of each company, by company, in the order of recording.

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
    """The versions of the committed segments, of some companies or of all, in the order of recording: columns of LOG.

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
    """The rows of some companies; by the bounds, row groups of a segment are left out, because it is sorted."""
    cik = pl.col("cik")
    return cik.is_between(pl.lit(min(ciks, default="")), pl.lit(max(ciks, default=""))) & cik.is_in(ciks)


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Raise errors of the disk and damaged files as LogError, with a message of one line."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise LogError(
            f"{path}: {reason}; restore the segment from a copy, because the log cannot be created again"
        ) from error


def _in_present_columns(segment: pl.DataFrame) -> pl.DataFrame:
    """A segment with the columns of LOG; columns and fields of legs that an older program did not record are null."""
    added = [pl.lit(None).alias(name) for name in LATER if name in LOG and name not in segment.columns]
    return segment.with_columns(added).select(pl.col(name).cast(dtype) for name, dtype in LOG.items())


def write(folder: Path, sync_id: str, rows: pl.DataFrame | pl.LazyFrame) -> str:
    """Write a segment, and return its name; it is committed once a pointer names it."""
    name = segment_name(sync_id)
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f".{name}.tmp"
    rows.lazy().select(LOG.names()).sink_parquet(written, compression="zstd", row_group_size=ROW_GROUP)
    with written.open("rb") as file:
        os.fsync(file.fileno())
    written.replace(folder / name)
    return name


def segment_name(sync_id: str) -> str:
    """The name of the segment that a synchronization writes."""
    return SEGMENT.format(sync_id)


def clear(folder: Path, segments: Sequence[str]) -> None:
    """Remove files of killed runs: segments newer than the last committed one, and unfinished files."""
    last = max(segments, default="")
    left = [path for path in folder.glob(SEGMENT.format("*")) if path.name > last]
    for path in (*left, *folder.glob(".*.tmp")):
        path.unlink()
