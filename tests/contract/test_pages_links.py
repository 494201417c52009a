"""The pages, read from the front page on: every link and anchor resolves, every code is explained, all is one site."""

import re
from collections.abc import Iterator
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import httpx
import pytest

from serve import openapi
from serve.endpoints import ENDPOINTS
from serve.errors import ERRORS
from serve.site.pages import DISCLAIMER
from tests import builds
from tests.sites import PUBLIC, Read, Site, published

EVIL = '<script>alert("x")</script> [x](https://evil.example.org) & Söhne'
EVIL_SYMBOL = "E&V<L>'"
AT_THE_SEC = re.compile(r"https://(www\.sec\.gov|filings\.example\.org)/")


@pytest.fixture(scope="module")
def open_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The small build with a company whose name and symbol are made to break pages."""
    home = tmp_path_factory.mktemp("home")
    rows = builds.tables()
    evil = builds.company(EVIL_SYMBOL, 7, name=EVIL, exchange="<b>", sic_description="<i>")
    who = {"symbol": EVIL_SYMBOL, "cik": evil["cik"]}
    year = builds.period(who, "annual", builds.YEAR_END, 4, revenue=7.0)
    rows["companies"].append(evil)
    rows["financials"].append(year)
    [version] = [builds.version(year, "revenue", 1, *builds.history(year, "revenue")[0], True)]
    rows["versions"].append({**version, "cause": "<u>", "form": "<s>"})
    rows["gaps"] = [
        {"cik": evil["cik"], "period_kind": "annual", "period_end": builds.YEAR_END, "item": "roic", "reason": "<q>"}
    ]
    builds.publish_small(home / "published", rows=rows)
    with published(home) as running:
        yield running


@pytest.fixture(scope="module")
def reader(open_site: Site) -> Iterator[httpx.Client]:
    """Somebody who is signed in."""
    with open_site.signed_in() as client:
        yield client


@pytest.fixture(scope="module")
def pages(reader: httpx.Client) -> dict[str, httpx.Response]:
    """Every page that can be reached from the front page by links, by its address without a fragment."""
    found: dict[str, httpx.Response] = {}
    ahead = [f"{PUBLIC}/"]
    while ahead:
        address = ahead.pop()
        if address in found:
            continue
        found[address] = reader.get(address.removeprefix(PUBLIC))
        ahead += [whole for whole, _ in links(address, found[address]) if whole.startswith(f"{PUBLIC}/")]
    return found


def is_html(response: httpx.Response) -> bool:
    """Whether this is a page for people."""
    return response.headers["content-type"].startswith("text/html")


def links(address: str, response: httpx.Response) -> Iterator[tuple[str, str]]:
    """The links of a page or a twin: whole address and fragment."""
    kind = response.headers["content-type"]
    if is_html(response):
        parsed = Read(response.text)
        found = [*parsed.links, *parsed.loads]
    elif kind.startswith(("text/markdown", "text/plain")):
        found = re.findall(r"(?<!\\)\]\(([^)]+)\)", response.text)
    else:
        found = []
    for link in found:
        whole, fragment = urldefrag(urljoin(address, link))
        yield whole, unquote(fragment)


def html(pages: dict[str, httpx.Response]) -> list[tuple[str, Read]]:
    """The pages for people, read."""
    return [(address, Read(page.text)) for address, page in pages.items() if is_html(page)]


def test_every_page_is_reached_by_links(pages):
    """From the front page: the documents, the companies, the profile, and a twin of each document."""
    paths = {urlsplit(address).path for address in pages}
    documents = (
        "/reference",
        "/errors",
        "/settings",
        "/changelog",
        "/dictionary",
        "/rules",
        "/companies",
        "/companies/LNTR",
        "/companies/FJRD",
    )
    twins = {f"{path}.md" for path in documents} | {"/index.md"}
    assert {"/", "/profile", "/llms.txt", *documents, *twins} <= paths


def test_every_link_and_anchor_resolves(pages):
    """Within the site by asking; to the SEC by the address alone, for nothing here asks another host."""
    ids = {address: set(page.ids) for address, page in html(pages)}
    for address, response in pages.items():
        assert response.status_code == 200, address
        for whole, fragment in links(address, response):
            if whole in pages:
                assert not fragment or fragment in ids[whole], f"{address} -> {whole}#{fragment}"
            else:
                assert AT_THE_SEC.match(whole), f"{address} -> {whole}"


def test_anchors_are_unique(pages):
    """A fragment leads to one place."""
    for address, page in html(pages):
        assert len(page.ids) == len(set(page.ids)), address


def test_every_page_says_that_the_data_is_provided_as_is(pages):
    """The pages for people and their twins."""
    for address, response in pages.items():
        if not address.endswith((".json", "/status")) and "/v1" not in address and "?v=" not in address:
            assert DISCLAIMER in response.text, address


def test_pages_hold_nothing_that_the_policy_forbids(pages):
    """Neither scripts nor styles within the page; whatever is loaded is from here."""
    for address, page in html(pages):
        assert page.inline == [], address
        assert all(load.startswith("/") for load in page.loads), address
        policy = pages[address].headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_the_docs_link_of_every_error_resolves(pages, error):
    """As section 7 promises: the fragment is the code."""
    told = openapi.TOLD[error].envelope(PUBLIC)["error"]["docs"]
    whole, fragment = urldefrag(told)
    assert fragment == error.code
    assert fragment in dict(html(pages))[whole].ids


def test_a_refused_request_leads_to_its_explanation(open_site, reader):
    """The link as a client gets it."""
    docs = httpx.get(f"{open_site.address}/v1/companies").json()["error"]["docs"]
    page = reader.get(docs.removeprefix(PUBLIC))
    assert page.status_code == 200
    assert urldefrag(docs)[1] in Read(page.text).ids


def test_the_reference_names_every_endpoint_and_parameter(pages):
    """By reading the page, not its source."""
    text = dict(html(pages))[f"{PUBLIC}/reference"].words
    for endpoint in ENDPOINTS:
        assert f"GET {endpoint.path}" in text
        assert all(parameter.name in text for parameter in endpoint.parameters)


def test_twins_say_what_the_pages_say(pages):
    """Every word of a twin's headings and tables is on the page."""
    for address, page in html(pages):
        twin = pages.get(f"{address}.md")
        if twin is None:
            continue
        shown = re.sub(r"\s+", "", page.text)
        for line in twin.text.splitlines():
            if line.startswith(("#", "|", "- ")) and not line.startswith("| ---"):
                bare = re.sub(r"\[((?:\\.|[^\]\\])*)\]\([^)]*\)", r"\1", line)
                for cell in re.split(r"(?<!\\)\|", bare.lstrip("#-")):
                    word = re.sub(r"\\(.)|`|\*\*", r"\1", cell)
                    assert re.sub(r"\s+", "", word) in shown, (address, line)


def test_names_and_symbols_are_text(reader):
    """Whatever a filer calls itself: no element, no link and no mark comes of it, on any page that shows it."""
    company = reader.get("/companies/E%26V%3CL%3E'")
    listing = reader.get("/companies", params={"search": "<script>"})
    twin = reader.get("/companies/E%26V%3CL%3E'.md")

    for page in (company, listing):
        assert page.status_code == 200
        assert EVIL in Read(page.text).words
        assert "<script>alert" not in page.text
        assert not {"https://evil.example.org"} & set(Read(page.text).links)
        assert not re.search(r"<(b|i|u|s|q)>", page.text)
    assert twin.status_code == 200
    assert not re.search(r"(?<!\\)\[x(?<!\\)\]\(", twin.text)
    assert not re.search(r"(?<!\\)<", twin.text)


def test_companies_are_for_subscribers(open_site):
    """Nobody else sees a page of theirs or its twin, nor learns which companies are covered."""
    with httpx.Client(base_url=open_site.address, headers={"Accept": "text/html"}) as stranger:
        answers = [
            stranger.get(path) for path in ("/companies", "/companies.md", "/companies/LNTR", "/companies/NONE.md")
        ]
        assert {answer.status_code for answer in answers} == {403}
        assert "Lantern" not in "".join(answer.text for answer in answers)


@pytest.mark.parametrize(
    "path", ["/companies/NONE", "/companies?page=0", "/companies?page=x", f"/companies?search={'x' * 101}"]
)
def test_what_is_not_there_is_told_on_a_page(reader, path):
    """With a status that says so."""
    answer = reader.get(path)
    assert answer.status_code == 404
    assert is_html(answer)


def test_before_anything_is_published_the_pages_say_so(tmp_path):
    """The documents are there without a build; companies are not."""
    with published(tmp_path) as empty, empty.signed_in() as client:
        for path in ("/", "/reference", "/errors", "/changelog", "/dictionary", "/rules", "/settings", "/llms.txt"):
            assert client.get(path).status_code == 200, path
        answer = client.get("/companies")
        assert answer.status_code == 500
        assert "No data has been published yet" in answer.text
