"""The files of several companies: the list as it is filtered, and a comparison, as CSV."""

import csv
import re

import httpx
import pytest

from serve.site.company.company_csv import as_text
from tests.sites import Read, Site


def rows(response: httpx.Response) -> list[dict[str, str]]:
    assert (response.status_code, response.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    assert response.headers["cache-control"].startswith("private")
    return list(csv.DictReader(response.text.splitlines()))


def test_the_list_is_downloaded_as_it_is_filtered_and_sorted(reader: httpx.Client) -> None:
    """With every digit; the page links to the file of the same query."""
    asked = {"sort": "-revenue", "search": "l"}
    page = Read(reader.get("/companies", params=asked).text)
    [path] = [link for link in page.links if link.startswith("/companies.csv")]
    told = rows(reader.get(path))
    assert [f"/companies/{row['symbol']}" for row in told] == [
        link for link in dict.fromkeys(page.links) if re.fullmatch("/companies/[^/]+", link)
    ]
    held = {row["symbol"]: row for row in rows(reader.get("/companies.csv"))}
    assert float(held["LNTR"]["revenue"]) == 4000.0
    assert len(held) > len(told)
    assert reader.get("/companies.csv?sort=x").status_code == 404


def test_files_are_compressed(reader: httpx.Client) -> None:
    """Copies in caches are told apart by the reader, the key and the coding."""
    for path in ("/companies.csv", "/companies/LNTR/financials.csv"):
        of = reader.get(path, headers={"Accept-Encoding": "gzip"}).headers
        assert (of["content-encoding"], of["vary"]) == ("gzip", "Cookie, X-Api-Key, Accept-Encoding")


def test_a_comparison_is_downloaded(reader: httpx.Client) -> None:
    page = Read(reader.get("/compare?symbols=LNTR,FJRD").text)
    [path] = [link for link in page.links if link.startswith("/compare.csv")]
    told = rows(reader.get(path))
    assert {row["symbol"] for row in told} == {"LNTR", "FJRD"}
    assert {row["currency"] for row in told if row["symbol"] == "FJRD"} == {"EUR"}
    [year] = [row for row in told if (row["symbol"], row["period"]) == ("LNTR", "FY2024")]
    assert float(year["revenue"]) == 4000.0


@pytest.mark.parametrize("path", ["/companies.csv", "/compare.csv?symbols=LNTR"])
def test_only_subscribers_download(site: Site, path: str) -> None:
    assert httpx.get(site.address + path).status_code == 403


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@A1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert as_text(text) == f"'{text}"
