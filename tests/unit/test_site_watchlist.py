"""The watchlist: stars on the page of a company and in the list, which filter both lists; stored with the account."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests import builds
from tests.browsers import Browser, Form
from tests.sites import Read, Site, published


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    builds.small(tmp_path / "published")
    with published(tmp_path) as running:
        yield running


@pytest.fixture
def reader(site: Site) -> Iterator[Browser]:
    with Browser(site.address) as browser:
        browser.sign_in(site.link()).raise_for_status()
        yield browser


def form_of(reader: Browser) -> Form:
    """The form of the list, which puts companies on the watchlist."""
    return next(form for form in Read(reader.get("/companies").text).forms if form.action == "/watchlist")


def listed(page: httpx.Response) -> set[str]:
    """The symbols in the table of a page."""
    return {link.rpartition("/")[2] for link in Read(page.text).links if re.fullmatch("/companies/[A-Z-]+", link)}


def test_a_star_puts_a_company_on_the_list_and_takes_it_off(site: Site, reader: Browser) -> None:
    """On the page of the company; both symbols of a company have its star. The lists show only watched companies."""
    back = reader.press(reader.get("/companies/LNTR?years=5"), add="LNTR")
    assert str(back.url).endswith("/companies/LNTR?years=5")
    assert "Stop watching LNTR" in Read(back.text).words
    for symbol, words in (("LNTR-B", "Stop watching LNTR-B"), ("ABCX", "Watch ABCX")):
        assert words in Read(reader.get(f"/companies/{symbol}").text).words
    assert listed(reader.get("/companies?watched=yes")) == {"LNTR", "LNTR-B"}
    assert listed(reader.get("/changes?watched=yes")) <= {"LNTR", "LNTR-B"}
    rows = csv.DictReader(reader.get("/companies.csv?watched=yes").text.splitlines())
    assert {row["symbol"] for row in rows} == {"LNTR", "LNTR-B"}
    assert "Watch" not in reader.get("/companies.md?watched=yes").text

    reader.press(reader.get("/companies/LNTR-B"), remove="LNTR-B")
    assert listed(reader.get("/companies?watched=yes")) == set()
    assert "No company of your watchlist fits" in reader.get("/companies?watched=yes").text
    assert reader.get("/companies?watched=no").status_code == 404


def test_the_button_of_a_row_belongs_to_the_form_of_the_page(reader: Browser) -> None:
    """Without a script: the button names the company, the form has the token; then the star of the row is full."""
    document = Read(reader.get("/companies?search=LNTR").text)
    stars = [known for tag, known in document.elements if tag == "button" and known.get("class") == "star"]
    assert ("watch", "add", "LNTR", "Watch LNTR") in [
        (star["form"], star["name"], star["value"], star["aria-label"]) for star in stars
    ]
    form = next(form for form in document.forms if form.action == "/watchlist")
    after = reader.post(form.action, {**form.values, "add": "LNTR"})
    assert after.headers["location"] == "/companies?search=LNTR"
    assert 'name="remove" value="LNTR"' in reader.get("/companies?search=LNTR").text


def test_a_form_leads_back_to_this_site_only_and_names_a_company(reader: Browser) -> None:
    form = form_of(reader)
    for to in ("//evil.example", "https://evil.example", "/companies\\@evil.example", "/profile", ""):
        assert reader.post(form.action, {**form.values, "to": to, "add": "LNTR"}).headers["location"] == "/companies"
    assert reader.post(form.action, {**form.values, "add": "NONE"}).status_code == 404
    assert reader.post(form.action, form.values).status_code == 422


def test_a_form_without_its_token_or_sign_in_changes_nothing(site: Site, reader: Browser) -> None:
    form = form_of(reader)
    assert reader.post(form.action, {**form.values, "form_token": "00", "add": "LNTR"}).status_code == 403
    with Browser(site.address) as visitor:
        refused = visitor.post(form.action, {**form.values, "add": "LNTR"})
        assert refused.status_code == 403
        assert "/sign-in" in Read(refused.text).links
    assert listed(reader.get("/companies?watched=yes")) == set()


def test_tokens_of_two_pages_differ_and_both_count(reader: Browser) -> None:
    """A compressed page does not reveal the token by its length: it has another one in each response."""
    first, second = (form_of(reader).values for _ in range(2))
    assert first["form_token"] != second["form_token"]
    for values in (first, second):
        assert reader.post("/watchlist", {**values, "add": "LNTR"}).status_code == 303
