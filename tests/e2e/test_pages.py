"""The pages of the served sample, read over HTTP; tests/browser checks them in a real browser."""

import csv
import re
from collections.abc import Iterator

import httpx
import pytest

from tests.e2e.homes import query
from tests.sites import Read, Site

COMPANY = "/companies/XQCPF"  # has restated values, and an item without any value


@pytest.fixture(scope="module")
def reader(sample_site: Site) -> Iterator[httpx.Client]:
    """A signed-in client."""
    with sample_site.signed_in() as client:
        yield client


def test_an_error_links_to_its_explanation(sample_site, reader):
    """The docs link of a refused request leads to the page's heading of the code."""
    docs = httpx.get(f"{sample_site.address}/v1/companies").json()["error"]["docs"]
    page = reader.get(docs).text
    assert re.search(rf'id="{docs.partition("#")[2]}"[^>]*>.*?unauthenticated', page)


def test_the_reference_can_be_navigated(reader):
    """From the table of contents to an endpoint, to an example in another language, to an error."""
    page = reader.get(next(link for link in Read(reader.get("/").text).links if link.endswith("/reference"))).text
    read = Read(page)
    [contents] = re.findall(r'<nav class="contents".*?</nav>', page, re.DOTALL)
    assert '<a href="#listFinancials">List a company&#39;s financials</a>' in contents
    assert "listFinancials" in read.ids
    [example] = re.findall(
        r'<fieldset class="tabs">(?:(?!</fieldset>).)*id="listFinancials-python".*?</fieldset>', page, re.DOTALL
    )
    assert '<label for="listFinancials-python-tab">Python</label>' in example
    assert "urlopen" in example
    errors = page.partition("Errors of /companies/{symbol}/financials")[2].partition("</table>")[0]
    [error] = re.findall(r'href="([^"]*#rate_limited)"', errors)
    address, _, anchor = error.partition("#")
    assert anchor in Read(reader.get(address).text if address else page).ids


def test_a_company_is_found_and_its_values_are_traced_and_downloaded(reader, sample_site):
    """From the list by a search to the table; each value leads to its page, and that to its filing."""
    [(cik,)] = query(sample_site.home, "SELECT cik FROM companies WHERE symbol = 'XQCPF'")
    held = query(
        sample_site.home,
        "SELECT item, period, CAST(value AS DOUBLE), url FROM versions JOIN filings USING (accession) "
        f"WHERE versions.cik = '{cik}' AND is_current AND value IS NOT NULL AND period_kind = 'annual'",
    )
    found = Read(reader.get("/companies", params={"search": "copper"}).text)
    assert COMPANY in found.links

    page = Read(reader.get(f"{COMPANY}?years=all").text)
    assert {f"{COMPANY}/{item}/{period}" for item, period, _, _ in held} <= set(page.links)
    assert [len(known["data-y"] or "") > 0 for tag, known in page.elements if known.get("class") == "point"].count(
        True
    ) == len(held)
    item, period, _, url = next(row for row in held if row[0] == "revenue")
    assert url in reader.get(f"{COMPANY}/{item}/{period}").text
    [reason] = {link for link in page.links if link.endswith("#gap-no_tag")}
    address, _, anchor = reason.partition("#")
    assert anchor in Read(reader.get(address).text).ids

    answer = reader.get(next(link for link in page.links if link.endswith(".csv")))
    assert answer.headers["cache-control"].startswith("private")
    assert answer.headers["vary"] == "Cookie"
    assert answer.headers["content-disposition"] == "attachment; filename=XQCPF.csv"
    rows = {row["period"]: row for row in csv.DictReader(answer.text.splitlines())}
    assert all(float(rows[period][item]) == value for item, period, value, _ in held)
