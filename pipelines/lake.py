"""The tables between the stages, as Parquet files, and what each was made from.

Belongs here: reading and replacing a table whole or for some companies, atomically, with the digests of its inputs.
Does not: what the tables mean (normalize, warehouse.schema).

A table carries, for each company, the digest of the inputs that its rows were made from: a stage is done for a
company where that digest is the one at hand, whatever happened to earlier runs.
"""

import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

INPUTS = "fundamentals.inputs"
ROW_GROUP = 250_000
PARTS = ".parts"


@dataclass(frozen=True, slots=True)
class Lake:
    """The folder of tables."""

    folder: Path

    def path(self, name: str) -> Path:
        """Where a table lies."""
        return self.folder / f"{name}.parquet"

    def holds(self, name: str) -> bool:
        """Whether a table was ever written."""
        return self.path(name).exists()

    def read(self, name: str) -> pl.DataFrame:
        """A table, whole."""
        return pl.read_parquet(self.path(name), memory_map=False)

    def of_companies(self, name: str, ciks: Iterable[str]) -> pl.DataFrame:
        """The rows of some companies."""
        return pl.scan_parquet(self.path(name)).filter(pl.col("cik").is_in(list(ciks))).collect()

    def inputs(self, name: str) -> dict[str, str]:
        """Company to the digest that its rows were made from; empty where the table was never written."""
        if not self.holds(name):
            return {}
        told: dict[str, str] = json.loads(pl.read_parquet_metadata(self.path(name)).get(INPUTS, "{}"))
        return told

    def write(self, name: str, rows: pl.DataFrame, inputs: Mapping[str, str] | None = None) -> None:
        """Replace a table, whole."""
        self._swap(name, rows.lazy(), inputs or {})

    def replace_companies(self, name: str, parts: Iterable[pl.DataFrame], inputs: Mapping[str, str]) -> None:
        """Replace the rows of the companies in `inputs` by those of the parts; the others keep theirs.

        Args:
            name: the table.
            parts: rows of those companies, batch by batch; at least one, which may be empty, to give the columns.
            inputs: company to the digest of what its new rows are made from; read when the parts are through, for
                making them shows which companies cannot be done.
        """
        folder = self.folder / f"{PARTS}-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            for number, part in enumerate(parts):
                part.write_parquet(folder / f"{number:05}.parquet")
            sources = [pl.scan_parquet(folder / "*.parquet")]
            known = self.inputs(name)
            if self.holds(name):
                kept = pl.scan_parquet(self.path(name)).filter(~pl.col("cik").is_in(list(inputs)))
                sources.insert(0, kept)
            merged = pl.concat(sources, how="vertical").sort("cik", maintain_order=True)
            self._swap(name, merged, {**known, **inputs})
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _swap(self, name: str, rows: pl.LazyFrame, inputs: Mapping[str, str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        written = self.folder / f".{name}-{uuid.uuid4().hex}.tmp"
        try:
            told = {INPUTS: json.dumps(dict(sorted(inputs.items())))}
            rows.sink_parquet(written, compression="zstd", row_group_size=ROW_GROUP, metadata=told)
            with written.open("rb") as file:
                os.fsync(file.fileno())
            written.replace(self.path(name))
        finally:
            written.unlink(missing_ok=True)
