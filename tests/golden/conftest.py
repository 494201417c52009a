"""Documents of real filings and companies that several golden tests read."""

import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl
import pytest

from pipelines.edgar.decode.documents import FactColumns, decode_facts, decode_tickers
from pipelines.edgar.filing.package import Package
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.facts.raw import RAW_SCHEMA
from tests.golden.test_packages_of_real_filings import read_all
from tests.once import made_once


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Package]:
    """All filings that have an instance, by the names of their folders; read once per run."""
    return pickle.loads(made_once(tmp_path_factory, "packages", write_packages).read_bytes())


@pytest.fixture(scope="session")
def company_numbers(mirror: Path) -> dict[str, str]:
    """CIK by symbol."""
    listings, _ = decode_tickers((mirror / "www.sec.gov/files/company_tickers_exchange.json").read_bytes())
    return {listing.symbol: listing.cik for listing in listings}


def facts_of(companies: Path, ciks: Iterable[str], wanted: Mapping[str, frozenset[str]] | None = None) -> pl.DataFrame:
    """The facts of some companies in a mirror, as decoded; of some elements, or of all that the rules read."""
    columns = FactColumns()
    for cik in ciks:
        document = companies / f"data.sec.gov/api/xbrl/companyfacts/CIK{cik}.json"
        columns.extend(decode_facts(document.read_bytes(), cik, wanted or wanted_elements()).columns)
    return pl.DataFrame(columns.as_dict(), schema_overrides=RAW_SCHEMA).select(RAW_SCHEMA.names())


def write_packages(file: Path) -> None:
    file.write_bytes(pickle.dumps(dict(read_all())))
