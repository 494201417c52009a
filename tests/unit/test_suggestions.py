"""Suggestions instead of a symbol that is not covered."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from serve.api.suggestions import misspelled, suggestion
from tests import builds
from warehouse.read.reader import OpenBuild, Warehouse

SECURITIES = [
    {"symbol": "LNTR-PA", "cik": "9990000001", "name": "Lantern", "exchange": "NYSE", "kind": "preferred"},
    {"symbol": "GONEW", "cik": "9990000005", "name": "Gone", "exchange": "NYSE", "kind": "warrant"},
    {"symbol": "FJRDF", "cik": "9990000003", "name": "Fjord", "exchange": "OTC", "kind": "other"},
]
ADVICE = {
    "lntr.b": "Ask for LNTR-B.",
    "lntr/b": "Ask for LNTR-B.",
    "LNTR.PA": "LNTR-PA is a preferred share, and only common stock is covered: ask for LNTR.",
    "GONEW": "GONEW is a warrant, and only common stock is covered: its issuer is not covered.",
    "FJRDF": "FJRDF is no common stock, and only common stock is covered: ask for FJRD.",
    "LNRT": "Did you mean LNTR?",
    "LNTRB": "Did you mean LNTR-B or LNTR?",
    "LNTR,FJRD": "A request is for one symbol: send one request for each.",
    "NOPE": "GET /companies?search=NAME finds companies by name.",
    "ſ": "GET /companies?search=NAME finds companies by name.",
    "LNTR" * 3: "GET /companies?search=NAME finds companies by name.",
    "": "GET /companies?search=NAME finds companies by name.",
}


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBuild]:
    """The small build with other securities."""
    folder: Path = tmp_path_factory.mktemp("home") / "published"
    builds.publish_small(folder, rows={**builds.tables(), "securities": SECURITIES})
    warehouse = Warehouse(folder)
    with warehouse.build() as opened:
        yield opened
    warehouse.close()


@pytest.mark.parametrize(("symbol", "advice"), ADVICE.items())
def test_a_symbol_that_is_not_covered_leads_to_one_that_is(build, symbol, advice):
    assert suggestion(build, symbol) == advice


def test_a_misspelling_differs_by_one_letter():
    """Or by the order of two."""
    found = set(misspelled("AAP"))
    assert {"AAPL", "APA", "AP", "AAR", "A-AP"} <= found
    assert not {"AAPLE", "A", "PAA"} & found
