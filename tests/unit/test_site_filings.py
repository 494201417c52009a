"""The pages of filings: of fictional companies here, of real ones at the SEC; every link leads to a filing."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.published import opened
from tests.sites import Read, Site, published
from tests.texts import lacking
from warehouse.contract.fictional import is_fictional
from warehouse.queries import filing_queries

SYMBOL = "XQORC"


@pytest.fixture(scope="module")
def site(synchronized_sample: Path) -> Iterator[Site]:
    with published(synchronized_sample) as running:
        yield running


@pytest.mark.parametrize(
    "path",
    [
        "/companies",
        f"/companies/{SYMBOL}",
        f"/companies/{SYMBOL}.md",
        f"/companies/{SYMBOL}/filings",
        f"/companies/{SYMBOL}/free_cash_flow/FY2024",
        f"/compare?symbols={SYMBOL}",
    ],
)
def test_a_page_of_a_fictional_company_says_so_and_has_no_link_to_the_sec(reader: httpx.Client, path: str) -> None:
    page = reader.get(path).text
    assert "fictional" in page
    assert "sec.gov" not in page


def test_two_clicks_lead_from_a_figure_to_the_filing_that_states_its_facts(reader: httpx.Client) -> None:
    """Each link of a value's calculation, with the fact in the filing's page as the value's page has it."""
    value = reader.get(f"/companies/{SYMBOL}/revenue/FY2024").text
    paths = sorted({link for link in Read(value).links if link.startswith("/filings/")})
    assert paths
    for path in paths:
        filing = reader.get(path)
        assert filing.status_code == 200
        assert not lacking(filing.text, "Fictional filing", "<caption>Facts as filed</caption>")
    assert "6,215,000,000" in value
    assert any("6,215,000,000" in reader.get(path).text for path in paths)
    listed = Read(reader.get(f"/companies/{SYMBOL}/filings").text).links
    assert set(paths) <= set(listed)
    assert reader.get("/filings/0000000000-00-000000").status_code == 404


def test_filings_of_a_real_company_are_at_the_sec(synchronized_mirror: Path) -> None:
    with opened(synchronized_mirror / "published") as build:
        [cik] = {cik for (cik,) in build.rows("SELECT min(cik) FROM filings")}
        assert not is_fictional(cik)
        found = filing_queries.filings(build, cik)
        assert found
        assert all((each.url or "").startswith("https://www.sec.gov/Archives/edgar/data/") for each in found)
        assert filing_queries.filing(build, found[0].accession) == found[0]
        assert [fact for each in found for fact in filing_queries.facts(build, each)]


def test_the_numbers_of_the_sample_are_fictional() -> None:
    assert all(map(is_fictional, ("9990000001", "9990009999")))
    assert not any(map(is_fictional, ("0000320193", "9989999999")))
