"""The search of the pages: the target of the form, its completions, and pages of companies that do not exist."""

import httpx
import pytest

from tests.browsers import Document
from tests.sites import Read


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("lntr", "/companies/LNTR"),
        ("LNTR.B", "/companies/LNTR-B"),
        ("maple", "/companies/ABCX"),
        ("cik 9990000003", "/companies/FJRD"),
        ("lantern", "/companies?search=lantern"),
        ("no such & thing", "/companies?search=no+such+%26+thing"),
        ("  ", "/companies"),
    ],
)
def test_the_form_leads_to_the_only_company_or_to_the_list(reader, text, address):
    response = reader.get("/search", params={"text": text}, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, address)


def test_completions_are_the_best_matches(reader):
    """At most eight, with the address of their pages; similar companies if nothing matches."""
    found = reader.get("/search/completions", params={"text": "lnt"})
    assert (found.headers["content-type"], found.headers["cache-control"]) == ("application/json", "no-store")
    lantern = {"name": "Lantern Harbor Works, Inc.", "exchange": "Nasdaq"}
    assert found.json() == [
        {"symbol": symbol, **lantern, "address": f"/companies/{symbol}"} for symbol in ("LNTR", "LNTR-B")
    ]
    assert reader.get("/search/completions", params={"text": "lanturn"}).json() == found.json()
    assert reader.get("/search/completions", params={"text": "qqqq"}).json() == []
    assert reader.get("/search/completions").json() == []


@pytest.mark.parametrize("path", ["/search", "/search/completions"])
def test_only_subscribers_search(site, reader, path):
    assert httpx.get(f"{site.address}{path}?text=lntr").status_code == 403
    assert reader.get(path, params={"text": "x" * 101}).status_code == 404


def test_every_page_has_the_search_and_public_pages_are_the_same_for_all(site, reader):
    """With its script; a visitor is asked to sign in when the form is sent."""
    for page in (reader.get("/companies"), httpx.get(f"{site.address}/")):
        assert '<form class="find"' in page.text
        assert any("/complete.js" in load for load in Read(page.text).loads)
    assert httpx.get(f"{site.address}/search?text=x", headers={"Accept": "text/html"}).status_code == 403
    for path in ("/reference", "/rules", "/changelog"):
        page = reader.get(path)
        assert page.text == httpx.get(site.address + path).text


@pytest.mark.parametrize(("symbol", "near"), [("LNTR.B", "LNTR-B"), ("lanturn", "LNTR"), ("maple", "ABCX")])
def test_a_company_that_is_not_found_leads_to_close_matches(reader, symbol, near):
    """With the search field, filled in."""
    page = reader.get(f"/companies/{symbol}")
    assert page.status_code == 404
    assert f"/companies/{near}" in Read(page.text).links
    [form] = [form for form in Document(page.text).searches if form.values.get("text") == symbol]
    assert form.action == "/search"


def test_the_errors_of_the_list_say_what_it_accepts(reader):
    assert "The list can be sorted by one of -debt_to_fcf, " in reader.get("/companies?sort=x").text
    assert "The pages of the list are numbered from 1." in reader.get("/companies?page=0").text
