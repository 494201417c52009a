"""A published build of many companies: copies of the companies of another build, under other CIKs and symbols.

Belongs here: the rows of the copies, and two builds of them that differ in a value. Does not: the load (load).
"""

import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import msgspec

from warehouse.build import overlay, publish
from warehouse.build.opening import open_read_only
from warehouse.build.pointer import Pointer, current
from warehouse.build.rows import Rows
from warehouse.contract import schema
from warehouse.contract.served import COVERED
from warehouse.contract.table import Table
from warehouse.files import quoted

# 26 x 26 endings of symbols: all have two letters, so that two symbols never become one
COPIED = {
    "cik": "printf('%03d', number) || substr(original.cik, 4)",
    "accession": "printf('%03d', number) || substr(original.accession, 4)",
    "symbol": "original.symbol || chr((65 + number // 26)::INTEGER) || chr((65 + number % 26)::INTEGER)",
}
QUOTED, ORIGINAL = '"{}"', 'original."{}"'
MOST = 26 * 26
"""How often a company can be copied."""


class Copies:
    """The published copies of the companies of a build: a home with two builds, of which one is current."""

    def __init__(self, home: Path, base: Path, companies: int) -> None:
        """Publish the copies in a home; if it has them from an earlier run, they are used again.

        Args:
            home: the home to publish in; only this program writes in it.
            base: the folder of builds whose current build is copied.
            companies: how many companies to make.

        Raises:
            SystemExit: nothing is published in `base`, or it has too few companies.
        """
        self.home, self.published = home, home / "published"
        pointer = current(base)
        if pointer is None:
            raise SystemExit(f"nothing is published in {base}; synchronize first")
        made_of = f"{companies} companies of build {pointer.content_hash}"
        note = home / "made-of.json"
        self._builds = _kept(note, made_of)
        if not self._builds:
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            self._make(home, base / pointer.file, companies)
            note.write_bytes(msgspec.json.encode((made_of, self._builds)))

    @property
    def file(self) -> Path:
        """The DuckDB file of the current build."""
        return self.published / self._pointer.file

    def publish_other(self) -> str:
        """Make the other build the current one; return its id."""
        other = next(build for build in self._builds if build.build_id != self._pointer.build)
        self._point(other)
        return other.build_id

    def publish_update(self, company: int) -> None:
        """Publish the build in which the revenue of one company is another, as after a filing."""
        before = self._pointer
        if self.file.stat().st_size < overlay.MIN_FILE_SIZE:
            raise SystemExit("the build of the copies is too small for an overlay")
        with tempfile.TemporaryDirectory() as folder, duckdb.connect(":memory:") as connection:
            connection.execute(f"ATTACH {quoted(self.file)} AS base (READ_ONLY)")
            ciks = connection.execute("SELECT DISTINCT cik FROM base.companies ORDER BY cik").fetchall()
            cik = ciks[company % len(ciks)][0]

            def written(table: Table, of: str) -> Rows:
                path = Path(folder) / f"{len(list(Path(folder).iterdir()))}.parquet"
                revenue = f"CASE cik WHEN '{cik}' THEN revenue + 1 ELSE revenue END AS revenue"
                changed = f"REPLACE ({revenue})" if "revenue" in table.names else ""
                selected = f'SELECT * {changed} FROM base."{table.name}" WHERE {of}'
                connection.execute(f"COPY ({selected}) TO {quoted(path)} (FORMAT parquet)")
                return Rows([(path, None)])

            of_companies = [table for table in schema.TABLES if "cik" in table.names]
            renewed = {table.name: written(table, f"cik = '{cik}'") for table in of_companies}
            renewal = publish.Renewal(before, {cik}, renewed)
            rows = {table.name: written(table, "true") for table in schema.TABLES if table not in of_companies}
            if not renewal.is_worth_it(self.published):
                rows |= {table.name: written(table, "true") for table in of_companies}
            made = publish.build(self.published, rows, f"{before.base}-{company}", renewal)
        self._point(made)

    @property
    def _pointer(self) -> Pointer:
        pointer = current(self.published)
        assert pointer
        return pointer

    def _make(self, home: Path, base: Path, companies: int) -> None:
        for number in range(2):
            rows = copied_rows(base, home / "tables", companies, revenue=number)
            self._builds.append(publish.build(self.published, rows, f"copies-{number}"))
            self._point(self._builds[-1])  # what nothing points to would be removed by the next publication
        shutil.rmtree(home / "tables")

    def _point(self, build: publish.Build) -> None:
        now = datetime.now(UTC)
        moment, name = now.isoformat(), f"{now:%Y%m%dT%H%M%S%f}Z"
        synchronization = {"sync_id": name, "started_at": moment, "finished_at": moment, "source": "copies"}
        with open_read_only(self.published / build.file) as connection:
            ciks = connection.execute("SELECT DISTINCT cik FROM companies").fetchall()
        updated = {cik: moment for (cik,) in ciks}
        publish.point(self.published, build, inputs="copies", synchronization=synchronization, updated=updated)


def _kept(note: Path, made_of: str) -> list[publish.Build]:
    """The builds of an earlier run; none if they are of another build or another version of this project, or gone."""
    try:
        kept, builds = msgspec.json.decode(note.read_bytes(), type=tuple[str, list[publish.Build]])
    except (OSError, msgspec.MsgspecError):
        return []
    are_there = all((note.parent / "published" / build.file).exists() for build in builds)
    return builds if kept == made_of and are_there else []


def copied_rows(base: Path, folder: Path, companies: int, revenue: float = 0.0) -> Mapping[str, Rows]:
    """The rows of a build with its covered companies copied, as one Parquet file for each table.

    Args:
        base: the DuckDB file whose companies are copied; it keeps its other rows.
        folder: where to write the files.
        companies: how many companies to make.
        revenue: added to all revenues, so that another build differs.

    Raises:
        SystemExit: the build has too few companies.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            f"SET temp_directory = {quoted(folder / 'spill')}; ATTACH {quoted(base)} AS base (READ_ONLY)"
        )
        connection.execute(
            "CREATE TABLE copies AS SELECT number, cik FROM range(1, $most) AS numbers(number), "
            f"(SELECT cik FROM base.companies WHERE {COVERED} AND is_primary) ORDER BY number, cik LIMIT $companies",
            {"most": MOST, "companies": companies},
        )
        [(made,)] = connection.execute("SELECT count(*) FROM copies").fetchall()
        if made < companies:
            raise SystemExit(
                f"{base}: {made} companies can be made of it, and {companies} are wanted; synchronize more"
            )
        return {table.name: _written(connection, table, folder, revenue) for table in schema.TABLES}


def _written(connection: duckdb.DuckDBPyConnection, table: Table, folder: Path, revenue: float) -> Rows:
    """The rows of a table, in which the rows of companies are copied."""
    path, source, values = folder / f"{table.name}.parquet", f'base."{table.name}" AS original', {}
    if "cik" in table.names:
        source, values = f"{source} JOIN copies USING (cik)", {**COPIED, "revenue": f"original.revenue + {revenue}"}
    columns = [f"{values.get(name, ORIGINAL.format(name))} AS {QUOTED.format(name)}" for name in table.names]
    order = [QUOTED.format(name) for name in table.order]
    connection.execute(
        f"COPY (SELECT {', '.join(columns)} FROM {source} ORDER BY {', '.join(order)}) "
        f"TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)"
    )
    return Rows([(path, None)])
