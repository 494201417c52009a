"""The tables between the stages: Parquet files with the digests of their inputs.

Belongs here: reading and replacing a table atomically, as a whole or for given companies, with the digests of its
inputs. Does not: the meaning of the tables (normalize, warehouse.contract.schema).

A small table is one file, `NAME.parquet`. A table of companies is a folder, `NAME`, with parts and a manifest. Each
part has all rows of several companies, and the manifest names the part of each company. A part never changes. New rows
of companies are written to a new part; then the manifest is replaced, and names this part for them, so their rows in
older parts are not used any more. So a run writes only new rows, and a killed run changes nothing. Parts without used
rows are removed; parts with few used rows are merged.

A table stores, for each company, the digest of the inputs of its rows. A stage skips companies with a stored digest
that equals the digest of the present inputs.
"""

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TypeVar

import msgspec
import polars as pl

from pipelines.errors import PipelineError
from pipelines.storage import checksums
from pipelines.workers import Workers
from warehouse.files import sync

Input = TypeVar("Input")
Notes = TypeVar("Notes")

INPUTS = "fundamentals.inputs"
MANIFEST = "manifest.json"
ROW_GROUP = 50_000
"""The number of rows in a row group of a part, so that a single company can be read without the rest of its part."""
LEVEL = 1
"""Level of zstd compression: the default level takes 50 % longer for files that are 5 % smaller."""
PARTS = ".parts"
PART = 125
"""The most companies in a part that is merged from others."""
FULL = 1_000_000
"""Parts with this number of rows are not merged, even if they have few companies, because merging would fill the
memory."""
MOST_SPARE_PARTS = 4
"""The number of parts that a table may have in addition to twice the number that its companies fill."""
EACH = pl.lit(value=True)
DAMAGED = (
    OSError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,  # raised for some damaged files
    msgspec.MsgspecError,
    UnicodeDecodeError,
)
"""The exceptions for a damaged file or a full disk."""


def _are_here(_: Iterable[Path]) -> None:
    """Does nothing, because all files of a home are on its disk."""


class LakeError(PipelineError):
    """A table cannot be read or written; the message names the file and what to do."""


class CompanyEntry(msgspec.Struct, array_like=True, frozen=True):
    """The entry of a company in a manifest: the digest of the inputs of its rows, their part and their number."""

    digest: str
    part: str
    rows: int


class Manifest(msgspec.Struct, frozen=True, dict=True):
    """The manifest of a table: its companies, sorted, and the number of rows of each part, used or not."""

    companies: dict[str, CompanyEntry] = {}
    parts: dict[str, int] = {}

    def by_part(self, ciks: Iterable[str] | None = None) -> dict[str, list[str]]:
        """The companies with used rows in each part, all or only the given ones; parts and companies in their order."""
        if ciks is None:
            return self._all_by_part
        return self._by_part({cik: self.companies[cik] for cik in sorted({*ciks} & self.companies.keys())})

    @cached_property  # a table of all companies is read about ten times in a run
    def _all_by_part(self) -> dict[str, list[str]]:
        return self._by_part(self.companies)

    def _by_part(self, companies: Mapping[str, CompanyEntry]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {part: [] for part in self.parts}
        for cik, held in companies.items():
            if held.rows:
                found[held.part].append(cik)
        return {part: of_part for part, of_part in found.items() if of_part}

    def is_whole(self, part: str, ciks: Iterable[str]) -> bool:
        """Whether all rows of a part belong to these companies."""
        return self.rows(ciks) == self.parts[part]

    def rows(self, ciks: Iterable[str]) -> int:
        """The number of rows of the given companies."""
        return sum(self.companies[cik].rows for cik in ciks)


@dataclass(frozen=True, slots=True)
class Written:
    """A part that is not in a table yet: its file, and the number of rows by company."""

    path: Path
    rows: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Lake:
    """The folder of tables.

    bring: called with the files before they are read; on a worker of a cluster it fetches them.
    """

    folder: Path
    bring: Callable[[Iterable[Path]], object] = _are_here

    def path(self, name: str) -> Path:
        """The file of a small table."""
        return self.folder / f"{name}.parquet"

    def holds(self, name: str) -> bool:
        """Whether a table exists."""
        self.bring([self._manifest_path(name), self.path(name)])
        return self._manifest_path(name).exists() or self.path(name).exists()

    def scan(self, name: str, ciks: Iterable[str] | None = None) -> pl.LazyFrame:
        """The rows of a table, of all or of the given companies; the rows of a company are together."""
        wanted = None if ciks is None else list(ciks)
        if not self._is_by_company(name):
            rows = pl.scan_parquet(self.path(name))
            return rows if wanted is None else rows.filter(pl.col("cik").is_in(wanted))
        files = self.files(name, wanted)
        if not files:
            return pl.scan_parquet(self._first_part(name)).head(0)
        scans = [
            scan if some is None else scan.filter(pl.col("cik").is_in(list(some)))
            for scan, some in ((pl.scan_parquet(path), some) for path, some in files)
        ]
        return pl.concat(scans)

    def in_order(self, name: str, ciks: Iterable[str] | None = None) -> pl.LazyFrame:
        """The rows of a table, of all or of the given companies; a table of companies is sorted by company."""
        wanted = None if ciks is None else list(ciks)
        rows = self.scan(name, wanted)
        return rows if self.is_in_order(name, wanted) else rows.sort("cik", maintain_order=True)

    def is_in_order(self, name: str, ciks: Iterable[str] | None = None) -> bool:
        """Whether the companies are in the order of their CIKs when the parts of a table are read one after the
        other."""
        held = [cik for ciks_of in self.manifest(name).by_part(ciks).values() for cik in ciks_of]
        return held == sorted(held)

    def files(self, name: str, ciks: Iterable[str] | None = None) -> list[tuple[Path, tuple[str, ...] | None]]:
        """The files of a table, each with the companies whose rows are used; None: all rows are used."""
        if not self._is_by_company(name):
            return [(self.path(name), None)]
        manifest = self.manifest(name)
        parts = manifest.by_part(ciks)
        self.bring([self.folder / name / part for part in parts])
        return [
            (self.folder / name / part, None if manifest.is_whole(part, some) else tuple(some))
            for part, some in parts.items()
        ]

    def read(self, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """All rows of a table, with all columns or the given ones."""
        with self._named_errors(name):
            if not self._is_by_company(name):
                return pl.read_parquet(self.path(name), memory_map=False, columns=list(columns) if columns else None)
            rows = self.in_order(name)
            return (rows.select(columns) if columns else rows).collect()

    def of_companies(self, name: str, ciks: Iterable[str], where: pl.Expr = EACH) -> pl.DataFrame:
        """The rows of the given companies that meet a condition."""
        with self._named_errors(name):
            rows = self.in_order(name, ciks)
            return (rows if where is EACH else rows.filter(where)).collect()

    def height(self, name: str) -> int:
        """The number of rows of a table."""
        with self._named_errors(name):
            if self._is_by_company(name):
                return sum(held.rows for held in self.manifest(name).companies.values())
            return int(pl.scan_parquet(self.path(name)).select(pl.len()).collect().item())

    def rows_by_company(self, name: str) -> dict[str, int]:
        """The number of rows of each company in a table of companies."""
        return {cik: held.rows for cik, held in self.manifest(name).companies.items()}

    def head(self, name: str, rows: int, without: Sequence[str] = ()) -> pl.DataFrame:
        """The first rows of the first part of a table, without the given columns."""
        with self._named_errors(name):
            first = next(iter(self.manifest(name).by_part().values()), None)
            return self.scan(name, first and first[:rows]).drop(without).head(rows).collect()

    def companies(self, name: str) -> int:
        """The number of companies with rows in a table."""
        with self._named_errors(name):
            if self._is_by_company(name):
                return sum(held.rows > 0 for held in self.manifest(name).companies.values())
            return int(pl.scan_parquet(self.path(name)).select(pl.col("cik").n_unique()).collect().item())

    def digest(self, name: str) -> str:
        """The digest of the file of a small table; empty if the table does not exist."""
        if not self.holds(name):
            return ""
        with self._named_errors(name), self.path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def limited_to(self, ciks: Iterable[str]) -> "LimitedLake":
        """The tables, limited to the rows of the given companies."""
        return LimitedLake(self, tuple(ciks))

    def inputs(self, name: str) -> dict[str, str]:
        """The digest of the inputs of each company's rows, by company; empty if the table does not exist."""
        if not self.holds(name):
            return {}
        with self._named_errors(name):
            if self._is_by_company(name):
                return {cik: held.digest for cik, held in self.manifest(name).companies.items()}
            made_from: dict[str, str] = json.loads(pl.read_parquet_metadata(self.path(name)).get(INPUTS, "{}"))
        return made_from

    def write(self, name: str, rows: pl.DataFrame | pl.LazyFrame, inputs: Mapping[str, str] | None = None) -> None:
        """Replace a whole small table."""
        # always the same name, because only one run writes at a time; the file of a killed run is overwritten
        written = self.folder / f".{name}.tmp"
        said = {INPUTS: json.dumps(dict(sorted((inputs or {}).items())))}
        with self._named_errors(name):
            self.folder.mkdir(parents=True, exist_ok=True)
            rows.lazy().sink_parquet(written, compression="zstd", compression_level=LEVEL, metadata=said)
            sync(written)
            checksums.replace(self.folder, written, self.path(name))

    @contextmanager
    def gathering(self, purpose: str) -> Iterator["Batches"]:
        """Collect rows of tables, batch by batch, for `replace_companies`."""
        folder = self.folder / f"{PARTS}-{purpose}"
        shutil.rmtree(folder, ignore_errors=True)  # left by a killed run
        try:
            yield Batches(self, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def replace_companies(
        self,
        name: str,
        parts: Iterable["pl.DataFrame | Written"],
        inputs: Mapping[str, str],
        held_back: Collection[str] = (),
    ) -> None:
        """Replace the rows of the companies in `inputs` by the rows of the parts; other companies keep their rows.

        If the parts and the table have different columns, an older program wrote the table. Then its rows and digests
        are dropped, so the next run makes the rows of the other companies again. Only companies that are held back keep
        their rows, with null in the new columns.

        Args:
            name: the table.
            parts: the new rows; at least one part, which may be empty, because it defines the columns. All rows of a
                company are in one part.
            inputs: the digest of the inputs of the new rows, by company; rows of other companies are ignored.
            held_back: companies whose new rows cannot be used.
        """
        new = list(parts)
        with self._named_errors(name):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            schema = _schema_of(new[0])
            before, earlier = self._kept(name, schema), self.manifest(name).companies
            if not before.parts and (kept := {cik: earlier[cik].digest for cik in held_back if cik in earlier}):
                new.append(_in_columns(self.of_companies(name, kept), schema))
                inputs = {**inputs, **{cik: digest for cik, digest in kept.items() if earlier[cik].rows}}
            if before.parts and not inputs:
                return  # the table has these columns already, and no company has new rows
            after = self._added(name, before, new, inputs)
            full = sum(after.rows(ciks) >= FULL for ciks in after.by_part().values())
            if len(after.parts) - full > 2 * (len(after.companies) / PART) + MOST_SPARE_PARTS:
                after = self._merged(name, after)
            self._point(name, after)

    def remove_companies(self, name: str, ciks: Collection[str]) -> None:
        """Remove the rows and digests of the given companies from a table."""
        with self._named_errors(name):
            manifest = self.manifest(name)
            if not manifest.companies.keys().isdisjoint(ciks):
                kept = {cik: held for cik, held in manifest.companies.items() if cik not in ciks}
                self._point(name, _without_idle_parts(Manifest(kept, manifest.parts)))

    def tidy(self) -> None:
        """Remove files that a killed run left: a run replaces the manifest first, and removes the old files last.

        Tables with a damaged manifest are not changed.
        """
        for path in self.folder.glob(f"*/{MANIFEST}"):
            with suppress(*DAMAGED):
                self._tidy(path.parent.name, self.manifest(path.parent.name))

    def manifest(self, name: str) -> Manifest:
        """The manifest of a table of companies; empty if the table does not exist."""
        path = self._manifest_path(name)
        self.bring([path])
        try:
            stamp = path.stat()
        except FileNotFoundError:
            return Manifest()
        return _manifest(path, stamp.st_mtime_ns, stamp.st_ino, stamp.st_size)

    def _manifest_path(self, name: str) -> Path:
        return self.folder / name / MANIFEST

    def _is_by_company(self, name: str) -> bool:
        """Whether a table is a table of companies."""
        self.bring([self._manifest_path(name), self.path(name)])
        return self._manifest_path(name).exists()

    def _first_part(self, name: str) -> Path:
        part = self.folder / name / next(iter(self.manifest(name).parts))
        self.bring([part])
        return part

    def _kept(self, name: str, schema: pl.Schema) -> Manifest:
        """The manifest of the table, including a file of an older program as a part; empty if the columns have
        changed."""
        manifest = self.manifest(name)
        if not manifest.parts and self.path(name).exists():
            manifest = self._adopted(name)
        if manifest.parts and pl.scan_parquet(self._first_part(name)).collect_schema() != schema:
            return Manifest()
        return manifest

    def _adopted(self, name: str) -> Manifest:
        """The manifest of a table of companies that an older program wrote as one file; the file becomes the first
        part."""
        path, part = self.path(name), _part_name(1)
        made_from = self.inputs(name)
        counted = pl.scan_parquet(path).group_by("cik").len().sort("cik").collect()
        companies = {cik: CompanyEntry(made_from.get(cik, ""), part, rows) for cik, rows in counted.iter_rows()}
        manifest = Manifest(companies, {part: int(counted["len"].sum())})
        (self.folder / name / part).unlink(missing_ok=True)
        os.link(path, self.folder / name / part)
        checksums.note(self.folder, {self.folder / name / part: path})
        checksums.forget(self.folder, [path])
        self._point(name, manifest)
        path.unlink()
        return manifest

    def _added(
        self, name: str, before: Manifest, new: Sequence["pl.DataFrame | Written"], inputs: Mapping[str, str]
    ) -> Manifest:
        """Move new parts into the folder of the table, and return the manifest with them."""
        companies = {cik: held for cik, held in before.companies.items() if cik not in inputs}
        companies |= {cik: CompanyEntry(digest, "", 0) for cik, digest in inputs.items()}
        parts, paths = dict(before.parts), {}
        held = [*(self.folder / name).glob("*.parquet"), *map(Path, parts)]  # a part may be only in the store
        last = max((int(path.stem) for path in held), default=0)
        for number, each in enumerate(new, last + 1):
            part = _part_name(number)
            path = self.folder / name / part
            written = each if isinstance(each, Written) else write_part(path, each)
            if written.path != path:
                written.path.replace(path)
            parts[part] = sum(written.rows.values())
            paths[path] = path
            companies |= {
                cik: CompanyEntry(inputs[cik], part, rows) for cik, rows in written.rows.items() if cik in inputs
            }
        checksums.note(self.folder, paths)
        return _without_idle_parts(Manifest(dict(sorted(companies.items())), parts))

    def _merged(self, name: str, manifest: Manifest) -> Manifest:
        """Merge parts with few used rows, by company, and return the new manifest."""
        little = [ciks for ciks in manifest.by_part().values() if len(ciks) < PART / 2 and manifest.rows(ciks) < FULL]
        together = sorted(cik for ciks in little for cik in ciks)
        made_from = {cik: manifest.companies[cik].digest for cik in together}
        groups: list[list[str]] = []
        for cik in together:
            if not groups or len(groups[-1]) == PART or manifest.rows([*groups[-1], cik]) > FULL:
                groups.append([])
            groups[-1].append(cik)
        self._point(name, manifest, tidy=False)  # because the rows are read with it
        return self._added(name, manifest, [self.of_companies(name, group) for group in groups], made_from)

    def _point(self, name: str, manifest: Manifest, *, tidy: bool = True) -> None:
        """Make a manifest the current manifest, and remove the files that it does not name."""
        path = self._manifest_path(name)
        written = path.with_suffix(".tmp")
        written.write_bytes(msgspec.json.encode(manifest))
        sync(written)
        checksums.replace(self.folder, written, path)
        sync(path.parent)  # before files are removed that only the earlier manifest names
        if tidy:
            self._tidy(name, manifest)

    def _tidy(self, name: str, manifest: Manifest) -> None:
        """Remove the files in the folder of a table that its manifest does not name."""
        folder = self._manifest_path(name).parent
        if idle := [each for each in folder.iterdir() if each.name not in (MANIFEST, *manifest.parts)]:
            checksums.forget(self.folder, idle)
            for each in idle:
                each.unlink()

    @contextmanager
    def _named_errors(self, name: str) -> Iterator[None]:
        """Convert errors of the disk and of damaged files to LakeError, with a message of one line."""
        try:
            yield
        except DAMAGED as error:
            in_one = self.path(name).exists() or not (self.folder / name).exists()
            place = self.path(name) if in_one else self.folder / name
            reason = str(error).partition("\n")[0]
            raise LakeError(
                f"{place} cannot be read or written ({reason}); check the disk, or run `fundamentals doctor --repair`, "
                "after which the next synchronization makes the table again"
            ) from error


@dataclass(frozen=True, slots=True)
class LimitedLake:
    """The tables of a lake, limited to the rows of the given companies."""

    lake: Lake
    ciks: tuple[str, ...]

    def of(self, ciks: tuple[str, ...]) -> "LimitedLake":
        """Limit the tables further to these companies."""
        return LimitedLake(self.lake, ciks)

    def read(self, name: str, where: pl.Expr = EACH) -> pl.DataFrame:
        """The rows of these companies in a table that meet a condition."""
        return self.lake.of_companies(name, self.ciks, where)


class Batches:
    """Collects rows of tables batch by batch. A single batch stays in memory; several batches are written to the
    disk."""

    def __init__(self, lake: Lake, folder: Path) -> None:
        self._lake = lake
        self._folder = folder
        self._of: dict[str, list[pl.DataFrame | Written]] = {}

    def add(self, name: str, rows: pl.DataFrame) -> None:
        """Add the next batch of a table."""
        held = self._of.setdefault(name, [])
        if held and isinstance(held[0], pl.DataFrame):
            held[0] = self._written(name, 0, held[0])
        held.append(self._written(name, len(held), rows) if held else rows)

    def fill(
        self,
        workers: Workers,
        task: Callable[[Input], tuple[Mapping[str, pl.DataFrame], Notes]],
        inputs: Sequence[Input],
    ) -> Iterator[Notes]:
        """Add the rows that a task makes from each input, in their order; the workers share several inputs.

        Args:
            workers: the processes.
            task: a picklable function that makes rows by table, and notes, from an input.
            inputs: one for each batch.

        Yields:
            the notes on each batch.
        """
        if len(inputs) <= 1:
            for each in inputs:
                rows, notes = task(each)
                for name, frame in rows.items():
                    self.add(name, frame)
                yield notes
            return
        work = partial(to_files, task, self._folder)
        done = map(work, enumerate(inputs)) if workers.number == 1 else workers.map(work, enumerate(inputs))
        for written, notes in done:
            self.take(written)
            yield notes

    def place(self, name: str, number: int) -> Path:
        """The file for the part of a table from the batch with this number."""
        return self._folder / name / _part_name(number)

    def take(self, written: Mapping[str, Written]) -> None:
        """Add the next batch, with its rows in files at `place`, by table."""
        for name, part in written.items():
            self._of.setdefault(name, []).append(part)

    def of(self, name: str) -> list[pl.DataFrame | Written]:
        """The batches of a table, in the order in which they were added, for `replace_companies`."""
        return self._of[name]

    def taken(self, name: str) -> list[pl.DataFrame | Written]:
        """The batches of a table that were added since the last call; `of` does not return them any more."""
        return self._of.pop(name, [])

    def height(self, name: str) -> int:
        """The number of added rows of a table."""
        return sum(
            sum(each.rows.values()) if isinstance(each, Written) else each.height for each in self._of.get(name, ())
        )

    def scan(self, name: str) -> pl.LazyFrame:
        """All added rows of a table, in their order."""
        return pl.concat(map(rows_of, self._of[name]))

    def _written(self, name: str, number: int, rows: pl.DataFrame) -> Written:
        with self._lake._named_errors(name):
            return write_part(self._folder / name / _part_name(number), rows)


def rows_of(part: pl.DataFrame | Written) -> pl.LazyFrame:
    """The rows of a part that is not in a table yet."""
    return pl.scan_parquet(part.path) if isinstance(part, Written) else part.lazy()


def write_part(path: Path, rows: pl.DataFrame) -> Written:
    """Write rows of whole companies to a file, sorted by company."""
    path.parent.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    if "cik" in rows.columns:
        ordered = rows if rows["cik"].is_sorted() else rows.sort("cik", maintain_order=True)
        counts.update(dict(ordered["cik"].rle().struct.unnest().select("value", "len").iter_rows()))
    else:
        ordered, counts[""] = rows, rows.height
    ordered.write_parquet(path, compression="zstd", compression_level=LEVEL, row_group_size=ROW_GROUP)
    sync(path)
    return Written(path, counts)


def to_files(
    task: Callable[[Input], tuple[Mapping[str, pl.DataFrame], Notes]],
    folder: Path,
    numbered: tuple[int, Input],
) -> tuple[dict[str, Written], Notes]:
    """Write the rows of a batch to files, and return the files and the notes."""
    number, batch = numbered
    rows, notes = task(batch)
    written = {name: write_part(folder / name / _part_name(number), frame) for name, frame in rows.items()}
    return written, notes


def _part_name(number: int) -> str:
    return f"{number:06}.parquet"


def _schema_of(part: pl.DataFrame | Written) -> pl.Schema:
    return part.schema if isinstance(part, pl.DataFrame) else pl.scan_parquet(part.path).collect_schema()


def _in_columns(rows: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """The rows with the columns of a schema; missing columns are null."""
    added = [pl.lit(None).alias(name) for name in schema if name not in rows.columns]
    return rows.with_columns(added).select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def _without_idle_parts(manifest: Manifest) -> Manifest:
    """The manifest without parts that have no used rows; one part stays, because it has the columns."""
    needed = {held.part for held in manifest.companies.values() if held.rows} or {*list(manifest.parts)[-1:]}
    return Manifest(manifest.companies, {part: rows for part, rows in manifest.parts.items() if part in needed})


@lru_cache(maxsize=64)
def _manifest(path: Path, *_: int) -> Manifest:
    """Decode the manifest in a file, once for each state of the file."""
    return msgspec.json.decode(path.read_bytes(), type=Manifest)
