"""The version log of a home: immutable segments, one for each synchronization that changed something.

Belongs here: which segments are committed, reading them, writing one. Does not: what a version is (normalize.history).

The pointer to the current build names the segments that are committed with it, so a killed run leaves neither a build
nor a segment. A segment is never changed. Going back to an older build moves the pointer and not the log: all segments
that a pointer ever named are listed in a file in the folder of the segments.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipelines.errors import PipelineError
from pipelines.normalize.history.versions import LOG

SEGMENT = "versions-{}.parquet"
COMMITTED = "committed.json"
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


def read(folder: Path, segments: Sequence[str]) -> pl.DataFrame:
    """The versions of the committed segments, in the order of recording: columns of LOG.

    Raises:
        LogError: a segment is missing or damaged.
    """
    frames = [pl.DataFrame(schema=LOG)]
    for name in segments:
        try:
            frames.append(_in_present_columns(pl.read_parquet(folder / name, memory_map=False)))
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = str(error).partition("\n")[0]
            raise LogError(
                f"{folder / name}: {reason}; restore the segment from a copy, because the log cannot be created again"
            ) from error
    return pl.concat(frames)


def _in_present_columns(segment: pl.DataFrame) -> pl.DataFrame:
    """A segment with the columns of LOG; columns and fields of legs that an older program did not record are null."""
    added = [pl.lit(None).alias(name) for name in LATER if name in LOG and name not in segment.columns]
    return segment.with_columns(added).select(pl.col(name).cast(dtype) for name, dtype in LOG.items())


def write(folder: Path, sync_id: str, rows: pl.DataFrame) -> str:
    """Write a segment, and return its name; it is committed once a pointer names it."""
    name = SEGMENT.format(sync_id)
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f".{name}.tmp"
    rows.select(LOG.names()).write_parquet(written, compression="zstd")
    with written.open("rb") as file:
        os.fsync(file.fileno())
    written.replace(folder / name)
    return name


def clear(folder: Path, segments: Sequence[str]) -> None:
    """Remove files of killed runs: segments newer than the last committed one, and unfinished files."""
    last = max(segments, default="")
    left = [path for path in folder.glob(SEGMENT.format("*")) if path.name > last]
    for path in (*left, *folder.glob(".*.tmp")):
        path.unlink()
