"""The tables between the stages: Parquet files with the digests of their inputs.

Belongs here: reading and replacing a table atomically, as a whole or for some companies, with the digests of its
inputs. Does not: what the tables mean (normalize, warehouse.schema).

A table stores, for each company, the digest of the inputs of its rows. A stage has nothing to do for a company whose
stored digest equals that of the present inputs, whatever happened to earlier runs.
"""

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import polars as pl

from pipelines.errors import PipelineError
from pipelines.workers import Workers

Input = TypeVar("Input")
Notes = TypeVar("Notes")

INPUTS = "fundamentals.inputs"
ROW_GROUP = 250_000
LEVEL = 1
"""Level of zstd compression: the default level takes 50 % longer for files that are 5 % smaller."""
PARTS = ".parts"
EACH = pl.lit(value=True)


class LakeError(PipelineError):
    """A table cannot be read or written; the message names the file and what to do."""


@dataclass(frozen=True, slots=True)
class Lake:
    """The folder of tables."""

    folder: Path

    def path(self, name: str) -> Path:
        """The file of a table."""
        return self.folder / f"{name}.parquet"

    def holds(self, name: str) -> bool:
        """Whether a table exists."""
        return self.path(name).exists()

    def read(self, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """All rows of a table, with all columns or some."""
        with self._named_errors(name):
            return pl.read_parquet(self.path(name), memory_map=False, columns=list(columns) if columns else None)

    def height(self, name: str) -> int:
        """The number of rows of a table."""
        with self._named_errors(name):
            return int(pl.scan_parquet(self.path(name)).select(pl.len()).collect().item())

    def head(self, name: str, rows: int) -> pl.DataFrame:
        """The first rows of a table."""
        with self._named_errors(name):
            return pl.scan_parquet(self.path(name)).head(rows).collect()

    def digest(self, name: str) -> str:
        """The digest of the file of a table; empty if the table does not exist."""
        if not self.holds(name):
            return ""
        with self._named_errors(name), self.path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def of_companies(self, name: str, ciks: Iterable[str], where: pl.Expr = EACH) -> pl.DataFrame:
        """The rows of some companies, all or those that meet a condition."""
        with self._named_errors(name):
            return pl.scan_parquet(self.path(name)).filter(pl.col("cik").is_in(list(ciks)), where).collect()

    def only(self, ciks: Iterable[str]) -> "Part":
        """The tables, of which only the rows of some companies are read."""
        return Part(self, tuple(ciks))

    def inputs(self, name: str) -> dict[str, str]:
        """The digest of the inputs of each company's rows, by company; empty if the table does not exist."""
        if not self.holds(name):
            return {}
        with self._named_errors(name):
            digests: dict[str, str] = json.loads(pl.read_parquet_metadata(self.path(name)).get(INPUTS, "{}"))
        return digests

    def write(self, name: str, rows: pl.DataFrame | pl.LazyFrame, inputs: Mapping[str, str] | None = None) -> None:
        """Replace a whole table."""
        self._swap(name, rows.lazy(), inputs or {})

    @contextmanager
    def gathering(self, purpose: str) -> Iterator["Batches"]:
        """Collect rows of one or several tables, batch by batch, for `replace_companies`."""
        folder = self.folder / f"{PARTS}-{purpose}"
        shutil.rmtree(folder, ignore_errors=True)  # what a killed run left
        try:
            yield Batches(self, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def replace_companies(
        self, name: str, parts: Iterable[pl.DataFrame] | pl.LazyFrame, inputs: Mapping[str, str]
    ) -> None:
        """Replace the rows of the companies in `inputs` by those of the parts; other companies keep their rows.

        If the parts have other columns than the table, an older program wrote the table. Then none of its rows and
        digests are kept, so the next run makes the rows of the other companies again.

        Args:
            name: the table.
            parts: rows of those companies, collected or batch by batch; at least one batch, which may be empty, because
                it defines the columns.
            inputs: the digest of the inputs of the new rows, by company; read after the last part, because companies
                that cannot be processed are removed from it while the parts are made.
        """
        if not isinstance(parts, pl.LazyFrame):
            with self.gathering(name) as batches:
                for part in parts:
                    batches.add(name, part)
                self.replace_companies(name, batches.of(name), inputs)
            return
        kept, known = self._kept(name, parts.collect_schema(), inputs)
        if kept and not inputs:
            return  # the table has these columns already, and no company has new rows
        self._swap(name, pl.concat([*kept, parts]).sort("cik", maintain_order=True), {**known, **inputs})

    def _kept(
        self, name: str, schema: pl.Schema, replaced: Mapping[str, str]
    ) -> tuple[list[pl.LazyFrame], dict[str, str]]:
        """The table without the replaced companies, and its digests; both empty if it has other columns."""
        if not self.holds(name):
            return [], {}
        with self._named_errors(name):
            held = pl.scan_parquet(self.path(name))
            if held.collect_schema() != schema:
                return [], {}
        return [held.filter(~pl.col("cik").is_in(list(replaced)))], self.inputs(name)

    def _swap(self, name: str, rows: pl.LazyFrame, inputs: Mapping[str, str]) -> None:
        # always the same name, because only one run writes at a time; the file of a killed run is overwritten
        written = self.folder / f".{name}.tmp"
        digests = {INPUTS: json.dumps(dict(sorted(inputs.items())))}
        with self._named_errors(name):
            self.folder.mkdir(parents=True, exist_ok=True)
            rows.sink_parquet(
                written, compression="zstd", compression_level=LEVEL, row_group_size=ROW_GROUP, metadata=digests
            )
            with written.open("rb") as file:
                os.fsync(file.fileno())
            written.replace(self.path(name))

    @contextmanager
    def _named_errors(self, name: str) -> Iterator[None]:
        """Raise errors of the disk and damaged files as LakeError, with a message of one line."""
        try:
            yield
        except (OSError, pl.exceptions.ComputeError) as error:
            reason = str(error).partition("\n")[0]
            raise LakeError(
                f"{self.path(name)} cannot be read or written ({reason}); check the disk, or delete the folder "
                f"{self.folder}, which the next synchronization creates again from the raw zone"
            ) from error


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of some companies in the tables of a lake."""

    lake: Lake
    ciks: tuple[str, ...]

    def read(self, name: str) -> pl.DataFrame:
        """The rows of these companies in a table."""
        return self.lake.of_companies(name, self.ciks)


class Batches:
    """Rows of tables collected batch by batch. A single batch stays in memory; several are written to the disk."""

    def __init__(self, lake: Lake, folder: Path) -> None:
        self._lake = lake
        self._folder = folder
        self._first: dict[str, pl.DataFrame] = {}
        self._written: dict[str, int] = {}
        self._heights: Counter[str] = Counter()

    def add(self, name: str, rows: pl.DataFrame) -> None:
        """Add the next batch of a table."""
        self._heights[name] += rows.height
        if name not in self._written:
            self._first[name], self._written[name] = rows, 0
            return
        if name in self._first:
            self._write(name, self._first.pop(name))
        self._write(name, rows)

    def fill(
        self,
        workers: Workers,
        task: Callable[[Input], tuple[Mapping[str, pl.DataFrame], Notes]],
        inputs: Sequence[Input],
    ) -> Iterator[Notes]:
        """Add the rows that a function makes of each input, in their order; several inputs are shared by the workers.

        Args:
            workers: the processes.
            task: a picklable function: input to rows by table, and notes, which are passed on.
            inputs: one for each batch.

        Yields:
            the notes on each batch.
        """
        if workers.number == 1 or len(inputs) == 1:
            for each in inputs:
                rows, notes = task(each)
                for name, frame in rows.items():
                    self.add(name, frame)
                yield notes
            return
        for heights, notes in workers.map(partial(_to_files, task, self._folder), enumerate(inputs)):
            self._heights.update(heights)
            self._written.update(dict.fromkeys(heights, len(inputs)))
            yield notes

    def height(self, name: str) -> int:
        """The number of rows of a table that were added."""
        return self._heights[name]

    def of(self, name: str) -> pl.LazyFrame:
        """All rows of a table, in the order in which they were added."""
        if name not in self._first:
            return pl.scan_parquet(self._folder / name / "*.parquet")
        rows = self._first[name]
        # known to be sorted, rows of companies in order are not sorted again
        is_sorted = "cik" in rows.columns and rows["cik"].is_sorted()
        return (rows.set_sorted("cik") if is_sorted else rows).lazy()

    def _write(self, name: str, rows: pl.DataFrame) -> None:
        with self._lake._named_errors(name):
            _write_part(self._folder / name, self._written[name], rows)
        self._written[name] += 1


def _write_part(folder: Path, number: int, rows: pl.DataFrame) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows.write_parquet(folder / f"{number:05}.parquet", compression="lz4")


def _to_files(
    task: Callable[[Input], tuple[Mapping[str, pl.DataFrame], Notes]], folder: Path, numbered: tuple[int, Input]
) -> tuple[dict[str, int], Notes]:
    """Write the rows of a batch to files, and return their number by table, and the notes."""
    number, batch = numbered
    rows, notes = task(batch)
    for name, frame in rows.items():
        _write_part(folder / name, number, frame)
    return {name: frame.height for name, frame in rows.items()}, notes
