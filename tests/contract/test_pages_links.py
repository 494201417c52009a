"""The pages, followed from the front page: every link and anchor resolves, and every code is explained."""

import re
from collections.abc import Iterator
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import httpx
import pytest

from serve.api import description as openapi
from serve.api.endpoints import ENDPOINTS
from serve.errors import ERRORS
from serve.site.frame.pages import DISCLAIMER
from tests import builds
from tests.sites import PUBLIC, Read, Site, published

EVIL = '<script>alert("x")</script> [x](https://evil.example.org) & Söhne'
EVIL_SYMBOL = "E&V<L>'"
AT_THE_SEC = re.compile(r"https://(www\.sec\.gov|filings\.example\.org)/")


@pytest.fixture(scope="module")
def open_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The small build with a company whose name and symbol contain markup."""
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
    changed = {name: version[name] for name in ("cik", "period_kind", "period_end", "item")}
    rows["changes"] = [{**changed, "after": 7.0, "cause": "<u>"}]
    builds.publish_small(home / "published", rows=rows)
    with published(home) as running:
        yield running


OF_A_VALUE = re.compile(rf"{re.escape(PUBLIC)}/companies/[^/?]+(/[^/]+/[^/]+|[?].+)")
"""A page of a value, or of a company with other choices; there are many, and some are read."""

EACH_NTH_VALUE = 40


@pytest.fixture(scope="module")
def reader(open_site: Site) -> Iterator[httpx.Client]:
    """A signed-in client."""
    with open_site.signed_in() as client:
        yield client


@pytest.fixture(scope="module")
def pages(reader: httpx.Client) -> dict[str, httpx.Response]:
    """Every page that links from the front page lead to, by its address without a fragment; of values some."""
    found: dict[str, httpx.Response] = {}
    ahead, values = [f"{PUBLIC}/"], 0
    while ahead:
        address = ahead.pop()
        is_value = OF_A_VALUE.fullmatch(address) is not None
        values += is_value
        if address in found or (is_value and values % EACH_NTH_VALUE):
            continue
        found[address] = reader.get(address.removeprefix(PUBLIC))
        ahead += [whole for whole, _ in links(address, found[address]) if whole.startswith(f"{PUBLIC}/")]
    return found


def is_html(response: httpx.Response) -> bool:
    """Whether a response is an HTML page."""
    return response.headers["content-type"].startswith("text/html")


def links(address: str, response: httpx.Response) -> Iterator[tuple[str, str]]:
    """The links of a page or its Markdown: absolute address and fragment."""
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
    """The HTML pages, parsed."""
    return [(address, Read(page.text)) for address, page in pages.items() if is_html(page)]


def test_every_page_is_reachable_by_links(pages):
    """From the front page: the documents, the companies, the profile, and the Markdown of each document."""
    paths = {urlsplit(address).path for address in pages}
    documents = (
        "/reference",
        "/errors",
        "/changelog",
        "/dictionary",
        "/rules",
        "/companies",
        "/compare",
        "/changes",
        "/companies/LNTR",
        "/companies/FJRD",
    )
    twins = {f"{path}.md" for path in documents} | {"/index.md"}
    assert {"/", "/profile", "/llms.txt", *documents, *twins} <= paths


def test_every_link_and_anchor_resolves(pages):
    """Links within the site are requested; links to the SEC are only checked by their address."""
    ids = {address: set(page.ids) for address, page in html(pages)}
    for address, response in pages.items():
        assert response.status_code == 200, address
        for whole, fragment in links(address, response):
            if whole in pages:
                assert not fragment or fragment in ids[whole], f"{address} -> {whole}#{fragment}"
            elif not OF_A_VALUE.fullmatch(whole):
                assert AT_THE_SEC.match(whole), f"{address} -> {whole}"


def test_anchors_are_unique(pages):
    """A fragment has one target."""
    for address, page in html(pages):
        assert len(page.ids) == len(set(page.ids)), address


def test_every_page_has_the_disclaimer(pages):
    """The HTML pages and their Markdown."""
    for address, response in pages.items():
        if (
            not urlsplit(address).path.endswith((".csv", ".xlsx", ".parquet", ".duckdb", ".json", "/status"))
            and "/v1" not in address
            and "?v=" not in address
        ):
            assert DISCLAIMER in response.text, address


def test_pages_have_nothing_that_the_policy_forbids(pages):
    """No inline scripts or styles; all loaded files are of this site."""
    for address, page in html(pages):
        assert page.inline == [], address
        assert all(load.startswith("/") for load in page.loads), address
        policy = pages[address].headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_the_docs_link_of_every_error_resolves(pages, error):
    """As section 7 requires: the fragment is the code."""
    told = openapi.EXAMPLE_ERRORS[error].envelope(PUBLIC)["error"]["docs"]
    whole, fragment = urldefrag(told)
    assert fragment == error.code
    assert fragment in dict(html(pages))[whole].ids


def test_a_refused_request_links_to_its_explanation(open_site, reader):
    """The link that a client receives leads to the heading of the code."""
    docs = httpx.get(f"{open_site.address}/v1/companies").json()["error"]["docs"]
    page = reader.get(docs.removeprefix(PUBLIC)).raise_for_status().text
    assert re.search(rf'id="{urldefrag(docs)[1]}"[^>]*>.*?unauthenticated', page)


def test_the_reference_names_every_endpoint_and_parameter(pages):
    """By the text of the page, not its source."""
    text = dict(html(pages))[f"{PUBLIC}/reference"].words
    for endpoint in ENDPOINTS:
        assert f"GET {endpoint.path}" in text
        assert all(parameter.name in text for parameter in endpoint.parameters)


def test_pages_as_markdown_have_the_same_text(pages):
    """Every word of the Markdown's headings and tables is on the page."""
    for address, page in html(pages):
        twin = pages.get(f"{address}.md")
        if twin is None:
            continue
        shown = re.sub(r"\s+", "", page.text).replace("\N{MINUS SIGN}", "-")
        for line in re.sub(r"^> ?| \{#.*?\}(?=:?$)", "", twin.text, flags=re.MULTILINE).splitlines():
            if line.startswith(("#", "|", "- ")) and not line.startswith("| ---"):
                bare = re.sub(r"(?<!\\)\[((?:\\.|[^\]\\])*)\]\([^)]*\)", r"\1", line)
                for cell in re.split(r"(?<!\\)\|", bare.lstrip("#-")):
                    word = re.sub(r"\\(.)|`|\*\*?", r"\1", cell)
                    assert re.sub(r"\s+", "", word) in shown, (address, line)


@pytest.mark.parametrize(
    ("path", "twin", "time"),
    [
        ("/", "/index.md", builds.SYNCHRONIZATION["finished_at"]),
        ("/companies/LNTR", "/companies/LNTR.md", builds.UPDATED["9990000001"]),
    ],
)
def test_pages_say_when_the_data_was_synchronized(pages, path, twin, time):
    """With the time as text, which a script of the site replaces by its age; programs read the time."""
    page = pages[f"{PUBLIC}{path}"].text
    assert f'<time datetime="{time}">{time[:10]} {time[11:16]} UTC</time>' in page
    assert re.search(r'<script src="/ages\.js\?v=\w+" defer>', page)
    assert re.search(rf"(Last synchronization\*\*:|Synchronized) {time}", pages[f"{PUBLIC}{twin}"].text)


def test_names_and_symbols_are_escaped(reader):
    """A filer's name never becomes an element, a link or a mark, on any page that shows it."""
    company = reader.get("/companies/E%26V%3CL%3E'")
    listing = reader.get("/companies", params={"search": "<script>"})
    comparison = reader.get("/compare", params={"symbols": EVIL_SYMBOL})
    changes = reader.get("/changes")
    twin = reader.get("/companies/E%26V%3CL%3E'.md")

    for page in (company, listing, comparison):
        assert page.status_code == 200
        assert EVIL in Read(page.text).words
        assert "<script>alert" not in page.text
        assert not {"https://evil.example.org"} & set(Read(page.text).links)
        assert not re.search(r"<(b|i|u|s|q)>", page.text)
    assert EVIL_SYMBOL in Read(changes.text).words
    assert not re.search(r"<(b|i|u|s|q)>", changes.text)
    assert twin.status_code == 200
    assert not re.search(r"(?<!\\)\[x(?<!\\)\]\(", twin.text)
    assert not re.search(r"(?<!\\)<", twin.text)


def test_companies_are_for_subscribers(open_site):
    """Others see neither the pages nor their Markdown, nor which companies are covered."""
    with httpx.Client(base_url=open_site.address, headers={"Accept": "text/html"}) as stranger:
        answers = [
            stranger.get(path)
            for path in (
                "/companies",
                "/companies.md",
                "/companies/LNTR",
                "/companies/NONE.md",
                "/compare?symbols=LNTR",
                "/compare.md?symbols=LNTR",
                "/changes",
                "/changes.md",
                "/companies/LNTR/revenue/FY2022",
                "/companies/LNTR/revenue/FY2022.md",
                "/companies/LNTR?years=all",
                "/companies/LNTR/financials.csv",
                "/companies/NONE/financials.csv",
            )
        ]
        assert {answer.status_code for answer in answers} == {403}
        assert "Lantern" not in "".join(answer.text for answer in answers)


@pytest.mark.parametrize(
    "path",
    [
        *("/companies/NONE", "/companies/NONE/revenue/FY2022", "/companies/LNTR/x/FY2022", "/companies/LNTR/revenue/x"),
        *("/companies/NONE/financials.csv", "/companies/LNTR?years=7", "/companies/LNTR?scale=<b>"),
        *("/companies?page=0", "/companies?page=x", "/companies?sort=x"),
        *(f"/compare?symbols={'x' * 201}", f"/companies?search={'x' * 101}"),
    ],
)
def test_a_missing_page_is_an_error_page(reader, path):
    """With the HTTP status of the error."""
    answer = reader.get(path)
    assert answer.status_code == 404
    assert is_html(answer)


def test_without_a_build_the_pages_say_so(tmp_path):
    """The documents exist without a build; companies do not."""
    with published(tmp_path) as empty, empty.signed_in() as client:
        for path in ("/", "/reference", "/errors", "/changelog", "/dictionary", "/rules", "/llms.txt"):
            assert client.get(path).status_code == 200, path
        answer = client.get("/companies")
        assert answer.status_code == 500
        assert "No data has been published yet" in answer.text
