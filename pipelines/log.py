"""The version log of a home: immutable segments, one a synchronization that changed something.

Belongs here: which segments count, reading them, writing one. Does not: what is a version (normalize.versions).

The pointer to the current build names the segments that are committed with it, so that a killed run leaves neither a
build nor a segment. A segment is never written again; going back moves the pointer, never the log.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipelines.normalize.versions import LOG

SEGMENT = "versions-{}.parquet"


def read(folder: Path, segments: Sequence[str]) -> pl.DataFrame:
    """The versions of the committed segments, in the order of recording: columns of LOG."""
    frames = [pl.read_parquet(folder / name, memory_map=False).select(LOG.names()) for name in segments]
    return pl.concat([pl.DataFrame(schema=LOG), *frames])


def write(folder: Path, sync_id: str, rows: pl.DataFrame) -> str:
    """Write a segment, and return its name; it counts once a pointer names it."""
    name = SEGMENT.format(sync_id)
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f".{name}.tmp"
    rows.select(LOG.names()).write_parquet(written, compression="zstd")
    with written.open("rb") as file:
        os.fsync(file.fileno())
    written.replace(folder / name)
    return name


def clear(folder: Path, segments: Sequence[str]) -> None:
    """Remove what killed runs left: segments newer than the last committed one that no pointer names."""
    if not folder.is_dir():
        return
    last = max(segments, default="")
    for path in (*folder.glob(SEGMENT.format("*")), *folder.glob(".*.tmp")):
        if path.name not in segments and (path.name > last or path.name.startswith(".")):
            path.unlink()
