"""The page of changes: new, restated and withdrawn values of the newest build, each with its filing."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from serve.site.lists import changes_page
from serve.site.lists.changes_page import Changes
from serve.site.text import rendering
from tests import builds
from tests.published import opened
from tests.sites import Read, Site, published
from warehouse.queries import change_queries
from warehouse.queries.change_queries import Change, Counts

YEAR, LANTERN, GONE = builds.YEAR_END, "9990000001", "9990000005"


def changed(cik: str, kind: str, end: date, item: str, *values: float | None, cause: str) -> dict[str, Any]:
    """A row of table `changes`."""
    row = {"cik": cik, "period_kind": kind, "period_end": end, "item": item}
    return row | dict(zip(("before", "after"), values, strict=True)) | {"cause": cause}


CHANGES = [
    changed(LANTERN, "annual", YEAR, "revenue", 4100.0, 4000.0, cause="method"),
    changed(LANTERN, "ttm", YEAR, "eps_basic", None, 1.25, cause="precision"),
    changed(LANTERN, "annual", date(2023, 12, 31), "roic", 0.2, None, cause="method"),
    changed(GONE, "ttm", builds.QUARTER_ENDS[0], "revenue", None, 5.0, cause="initial"),
]
"""A restated, a new and a withdrawn value; and a value of a company that is no longer listed."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    builds.publish_small(home / "published", rows=builds.tables() | {"changes": CHANGES})
    with published(home) as running:
        yield running


def test_changes_are_listed_with_values_cause_and_filing_newest_filing_first(reader: httpx.Client) -> None:
    text = reader.get("/changes.md").text
    rows = [line for line in text.splitlines() if line.startswith("| [")]
    site = "http://data.example.org"
    assert rows == [
        f"| [LNTR]({site}/companies/LNTR) | FY2024 | Revenue | 4.100K | "
        f"[4.000K]({site}/companies/LNTR/revenue/FY2024) | method | "
        f"[10-Q of 2025-05-15]({site}/filings/9990000001-25-000002) |",
        f"| [LNTR]({site}/companies/LNTR) | 2024Q4 | Earnings per share, basic | – | "
        f"[1.25]({site}/companies/LNTR/eps_basic/2024Q4) | precision | "
        f"[10-K of 2025-02-15]({site}/filings/9990000001-25-000001) |",
        f"| [LNTR]({site}/companies/LNTR) | FY2023 | Return on invested capital | 20.0% | "
        f"[–]({site}/companies/LNTR/roic/FY2023) | method | 10-K of 2024-02-15 |",
    ]
    assert "3 values of 1 company differ from the build before: 1 new, 1 restated, 1 withdrawn." in text
    assert f"[method]({site}/dictionary#cause-method): The rules of this service changed." in text


def test_every_link_of_a_change_leads_to_a_page(reader: httpx.Client) -> None:
    links = [link for link in Read(reader.get("/changes").text).links if link.startswith(("/companies/", "/filings/"))]
    assert len(links) == 8
    assert {reader.get(link).status_code for link in links} == {200}


def test_a_build_without_changes_says_so(tmp_path: Path) -> None:
    builds.small(tmp_path / "published")
    with published(tmp_path) as site, site.signed_in() as client:
        page = client.get("/changes")
    assert page.status_code == 200
    assert "The newest build has no value that differs from a build before it." in Read(page.text).words


def test_changes_are_for_subscribers(site: Site) -> None:
    """As for the pages of companies: without a session no form of the page shows a value."""
    for path in ("/changes", "/changes.md"):
        answers = [httpx.get(f"{site.address}{each}") for each in (path, path.replace("changes", "companies"))]
        assert answers[0].status_code == answers[1].status_code == 403
        assert "LNTR" not in answers[0].text


@pytest.mark.parametrize("page", ["0", "x", "1.5"])
def test_pages_are_numbered_from_one(reader: httpx.Client, page: str) -> None:
    assert reader.get("/changes", params={"page": page}).status_code == 404


def test_a_long_list_has_pages_and_an_end() -> None:
    """The text says that the list is not complete only where it is not."""
    one = Change("ALFA", "FY2024", "revenue", None, 7.0, "initial", "10-K", "2025-02-15", None)
    counts = Counts(new=5_000, restated=0, withdrawn=0, companies=1)
    pages = [
        changes_page.document(Changes([one] * 250, counts, []), "2026-03-02T06:05:00Z", number) for number in (1, 2, 3)
    ]
    assert [page.text.count("| [ALFA]") for page in pages] == [100, 100, 50]
    assert pages[1].turns == (("Previous page", "/changes?page=1"), ("Next page", "/changes?page=3"))
    assert "page 2 of 3" in pages[1].text
    assert "ends after 250 values" in pages[0].text
    whole = changes_page.document(Changes([one], Counts(1, 0, 0, 1), []), "2026-03-02T06:05:00Z", 1)
    assert "ends after" not in whole.text
    assert "page" not in rendering.page(whole).summary


def test_the_newest_filings_are_listed_if_there_are_too_many(site: Site) -> None:
    with opened(site.home / "published") as build:
        found = change_queries.newest(build, 2)
        assert [each.filed for each in found] == ["2025-05-15", "2025-02-15"]
        assert change_queries.counts(build) == Counts(new=1, restated=1, withdrawn=1, companies=1)
