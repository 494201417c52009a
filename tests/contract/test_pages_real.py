"""The pages of real companies: small enough for a phone, and each figure leads to its filing at the SEC."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.sites import Read, published

COMPANIES = ("AAPL", "JPM", "GE", "TSM", "BBD", "VRT", "OSBK", "SNOW", "BRK-B")
LARGEST = 40_000  # bytes of a page, compressed
VALUE = re.compile(r"/companies/[^/]+/[a-z_]+/[0-9A-Z-]+")
FILING = "https://www.sec.gov/Archives/edgar/data/"


@pytest.fixture(scope="module")
def reader(synchronized_mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A signed-in client of a service over the whole mirror."""
    home = tmp_path_factory.mktemp("real-pages")
    shutil.copytree(synchronized_mirror / "published", home / "published", symlinks=True)
    with published(home) as site, site.signed_in() as client:
        yield client


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("symbol", COMPANIES)
def test_a_page_with_all_quarters_is_small(reader: httpx.Client, symbol: str, scale: str) -> None:
    """General Electric has 71 quarters, with restatements."""
    path = f"/companies/{symbol}?periods=ttm&years=all&scale={scale}"
    with reader.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as response:
        size = sum(map(len, response.iter_raw()))
    assert response.status_code == 200
    assert response.headers["content-encoding"] == "gzip"
    assert size < LARGEST


@pytest.mark.parametrize("path", ["/", "/companies", "/companies/JPM", "/companies/GE", "/compare?symbols=AAPL,BBD"])
def test_a_figure_leads_to_its_filing_in_two_steps(reader: httpx.Client, path: str) -> None:
    """To its page, and from there to the SEC; one figure of each item that the page shows."""
    of_items = {link.split("/")[3]: link for link in Read(reader.get(path).text).links if VALUE.fullmatch(link)}
    assert len(of_items) >= 5
    for link in of_items.values():
        page = reader.get(link)
        assert page.status_code == 200
        told = Read(page.text)
        assert any(each.startswith(FILING) for each in told.links) or "No value" in told.words, link
