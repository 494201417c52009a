"""Filings and data sets in a home as if they were fetched, for tests of their decoding.

Belongs here: storing documents in the raw zone, and tables `data_sets` and `packages`, from a mirror or from bytes.
Does not: the documents (data_sets, filing_packages).
"""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import polars as pl

from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.stages.batch.schemas import DATA_SETS, PACKAGES
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake

FOLDERS = "www.sec.gov/Archives/edgar/data"
QUARTERS = "www.sec.gov/files/dera/data/financial-statement-data-sets"


def fetched(
    home: Home,
    packages: Mapping[tuple[str, str], Mapping[str, bytes]] | None = None,
    data_sets: Mapping[str, bytes] | None = None,
) -> None:
    """Store documents: the files of filings by CIK and accession, and zip files of quarters by name."""
    store, lake = RawStore(home.root), Lake(home.tables)
    rows = [
        (cik, accession, "10-K", date(2025, 2, 1), name, store.put(content), None)
        for (cik, accession), files in (packages or {}).items()
        for name, content in files.items()
    ]
    lake.write("packages", pl.DataFrame(rows, schema=PACKAGES, orient="row"))
    quarters = [
        (name, f"https://www.sec.gov/{name}.zip", store.put(raw), None) for name, raw in (data_sets or {}).items()
    ]
    lake.write("data_sets", pl.DataFrame(quarters, schema=DATA_SETS, orient="row"))


def fetched_from(mirror: Path, home: Home) -> dict[tuple[str, str], dict[str, bytes]]:
    """Store all filings and data sets of a mirror: the zip file of a filing, and the instance of an inline report."""
    packages = {}
    for folder in sorted((mirror / FOLDERS).glob("*/*")):
        accession = f"{folder.name[:10]}-{folder.name[10:12]}-{folder.name[12:]}"
        paths = [*folder.glob("*-xbrl.zip"), *folder.glob("*_htm.xml"), *folder.glob("MetaLinks.json")]
        packages[f"{int(folder.parent.name):010d}", accession] = {path.name: path.read_bytes() for path in paths}
    quarters = {path.stem: path.read_bytes() for path in sorted((mirror / QUARTERS).glob("*.zip"))}
    fetched(home, packages, quarters)
    return packages
