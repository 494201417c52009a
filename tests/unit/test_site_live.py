"""The examples of the pages: requests for a company of the served build, with the answers that it gives."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from serve.api.endpoints import ENDPOINTS
from serve.site import home
from serve.site.reference.live import live
from tests import builds
from tests.published import opened
from tests.servers import PROJECT, active_key
from tests.sites import PUBLIC, Read, Site, published
from tests.texts import anchors, lacking, programs, section, tables
from warehouse.contract import schema
from warehouse.read.reader import OpenBuild


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The small build of real companies, served."""
    home = tmp_path_factory.mktemp("site")
    builds.small(home / "published", source="live")
    with published(home) as running:
        yield running


@pytest.fixture(scope="module")
def text(site: Site) -> str:
    """The reference as Markdown."""
    return httpx.get(f"{site.address}/reference.md").text


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_the_response_of_an_example_is_what_the_service_answers(site, text, endpoint):
    """Except the times, which are the times of the last synchronization."""
    told = section(text, endpoint.name)
    [curl], [printed] = programs(told, "sh"), map(json.loads, programs(told, "json"))
    address = curl.rpartition('"http')[2].rstrip('"')
    key = active_key(site.home)
    response = httpx.get(site.address + f"http{address}".removeprefix(PUBLIC), headers={"X-Api-Key": key})
    assert response.status_code == 200, f"{endpoint.name}: {response.text}"
    answer: Any = response.json()
    assert printed["meta"].pop("generated_at") == builds.SYNCHRONIZATION["finished_at"]
    del answer["meta"]["generated_at"]
    for each in (answer, printed):
        if endpoint.name == "getStatus":
            del each["data"]["age_seconds"], each["data"]["next_synchronization_at"]
    assert printed == answer
    # of listFinancials the example asks for fiscal years, which ABCX does not have
    has_data = printed["data"] or endpoint.name == "listFinancials"
    assert has_data, (
        f"{endpoint.name}: its example asks for ABCX, and the answer is empty; add rows of CIK 9990000002 to the "
        "table that it reads, in tests/builds.py"
    )


def test_the_pages_name_the_company_of_the_examples(site, text):
    """The sentence of the description about its own examples is left out."""
    assert "for 100% Maple\\_Syrup Co (ABCX), and show what this service answers" in text
    assert "fictional" not in text
    assert not lacking(
        httpx.get(f"{site.address}/index.md").text,
        "One request for 100% Maple\\_Syrup Co, and the `data` of its response:",
        "/v1/companies/ABCX/financials?period=annual&items=revenue,free_cash_flow&limit=2",
    )


def test_the_reference_says_that_bulk_users_take_the_files(text):
    assert "take the files, not this interface" in section(text, "bulk")


def test_only_pages_with_examples_load_the_script_of_the_tabs(site):
    for path, has_tabs in (("/reference", True), ("/errors", False), ("/", False)):
        page = Read(httpx.get(site.address + path).text)
        assert any("/tabs.js" in load for load in page.loads) == has_tabs, path


def test_a_company_that_readers_know_is_preferred(tmp_path):
    """Otherwise the first company; without companies, or without their values, there are no examples."""
    apple = builds.company("AAPL", 2, name="Apple Inc.")
    year = builds.period(apple, "annual", builds.YEAR_END, 4, revenue=1.0)
    year = {name: value for name, value in year.items() if name in {"is_primary", *schema.BY_NAME["financials"].names}}
    tables = builds.tables()
    for symbol, changed in (
        ("AAPL", {"companies": [apple, *builds.companies()], "financials": [year, *tables["financials"]]}),
        ("ABCX", {}),
        (None, {"companies": []}),
        (None, {"valuations": []}),
    ):
        folder: Path = tmp_path / str(len(list(tmp_path.iterdir()))) / "published"
        builds.publish_small(folder, rows={**tables, **changed})
        with opened(folder) as build:
            found = live(build, PUBLIC)
        assert (found and found.company.symbol) == symbol


def test_the_front_page_shows_the_company_and_traces_a_value(tmp_path: Path) -> None:
    """Its fiscal years as served, and the filed facts behind a free cash flow."""
    listed = [row for row in builds.companies() if row["symbol"] not in ("ABCX", "FJRD")]
    builds.publish_small(tmp_path / "published", rows=builds.tables() | {"companies": listed})
    with published(tmp_path) as lantern:
        front = httpx.get(f"{lantern.address}/index.md").text
    shown = section(front, "company")
    years, facts = tables(shown)
    assert [row[:2] for row in years] == [
        (f"FY{year}", f"[4.00K](http://data.example.org/companies/LNTR/revenue/FY{year})")
        for year in (2024, 2023, 2022)
    ]
    traced = (
        "[Free cash flow of FY2024](http://data.example.org/companies/LNTR/free_cash_flow/FY2024), -50.5, comes from"
    )
    assert traced in shown
    assert anchors(front)[:4] == ["company", "right", "begin", "fresh"]
    assert len(facts) == 2
    assert all(row[1] == "-50.5" and "us-gaap/Revenues" in row[3] for row in facts)


def test_the_front_page_asks_a_build_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some ten questions for each visitor took 15 ms of processor time."""
    builds.small(tmp_path / "published")
    asked: list[OpenBuild] = []
    read = home.live
    monkeypatch.setattr(home, "live", lambda build, base_url: asked.append(build) or read(build, base_url))
    with published(tmp_path) as site:
        pages = [httpx.get(site.address).text for _ in range(4)]
    assert len(asked) == 1
    assert pages == pages[:1] * 4


def test_the_front_page_states_the_agreement_of_the_readme(site: Site) -> None:
    front = httpx.get(f"{site.address}/index.md").text
    readme = " ".join((PROJECT / "README.md").read_text(encoding="utf-8").split())
    agreement = (
        f"f {home.COMPARED:,} values of a vendor to which filed facts are known to lead, {home.AGREEING:,} agree",
        "agree within half a per cent",
    )
    assert [lacking(text, *agreement) for text in (readme, front)] == [[], []]
