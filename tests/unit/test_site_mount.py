"""All pages: headers, methods, failures, access control, and static files."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from markupsafe import Markup

from serve.access.accounts import Accounts
from serve.access.sign_ins import SignIns
from serve.settings import Settings
from serve.site import home as home_module
from serve.site import mount
from serve.site.frame.pages import DISCLAIMER, NAVIGATION, moment
from tests import builds
from tests.browsers import Browser, Document
from tests.servers import Clock, in_process

PUBLIC = ["/", "/sign-in", "/sign-in?token=x", "/nothing"]
PEOPLE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    builds.small(folder / "published")
    return folder


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with in_process(Settings(home, "http://data.example.org/v1"), Clock()) as address:
        yield address


REPORT = """<!doctype html><html lang="en"><head><title>Quality</title><link rel="icon" href="data:,">
<style>p {}</style></head>
<body>
<main>
<p>All checks passed.</p></main></body></html>"""


def link_for(home: Path, email: str = "reader@example.org") -> str:
    accounts = Accounts(home / "accounts.sqlite")
    token = SignIns(accounts).invite(email, Clock().now)
    accounts.close()
    return f"/sign-in?token={token}"


def test_parameters_that_a_form_left_empty_are_not_in_the_address(address: str) -> None:
    response = httpx.get(f"{address}/rules?search=cash+x&subject=&action=&decided=")
    assert (response.status_code, response.headers["location"]) == (303, "/rules?search=cash+x")


@pytest.mark.parametrize("path", PUBLIC)
def test_every_page_has_the_disclaimer_and_links_to_the_others(address: str, path: str) -> None:
    """And has one heading, a language, a skip link, and no inline scripts or styles."""
    page = httpx.get(address + path, headers=PEOPLE)
    document = Document(page.text)
    links = {attributes.get("href") for tag, attributes in document.elements if tag == "a"}
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert DISCLAIMER in document.text
    assert {section.address for section in NAVIGATION} | {"/", "#main"} <= links
    assert [tag for tag, attributes in document.elements if attributes.get("name") == "text"] == ["input"]
    assert [tag for tag, _ in document.elements].count("h1") == 1
    assert ("html", {"lang": "en"}) in document.elements
    assert not [tag for tag, attributes in document.elements if tag == "style" or "style" in attributes]


def test_the_navigation_marks_the_current_page(address: str, home: Path) -> None:
    with Browser(address) as browser:
        profile = Document(browser.sign_in(link_for(home)).text)
    current = [attributes["href"] for _, attributes in profile.elements if "aria-current" in attributes]
    assert current == ["/profile"]


MARKED = {
    "/": ["/"],
    "/reference": ["/reference", "/reference"],
    "/rules/revenue.total": ["/reference", "/rules"],
    "/companies/LNTR": ["/companies"],
    "/compare?symbols=LNTR": ["/compare"],
    "/changes": ["/companies"],
    "/quality": ["/quality"],
    "/sign-in": ["/profile"],
}


def test_every_page_marks_where_it_is(address: str, home: Path) -> None:
    """The quality report too, which has its own styles; the pages of the documentation in a second row."""
    link = link_for(home, "subscriber@example.org")
    accounts = Accounts(home / "accounts.sqlite")
    accounts.set_subscription("subscriber@example.org", "active", Clock().now)
    accounts.close()
    report = home / "published" / "quality-b1.html"
    report.write_text(REPORT, encoding="utf-8")
    with Browser(address) as browser:
        browser.sign_in(link)
        pages = {path: browser.get(path) for path in MARKED}
    report.unlink()
    assert {page.status_code for page in pages.values()} == {200}
    read = {path: Document(page.text).elements for path, page in pages.items()}
    marked = {
        path: [attributes["href"] for _, attributes in elements if "aria-current" in attributes]
        for path, elements in read.items()
    }
    assert marked == MARKED
    for elements in read.values():
        assert [tag for tag, attributes in elements if attributes.get("id") == "main"] == ["main"]


def test_the_front_page_offers_a_key_only_to_visitors(address: str, home: Path) -> None:
    """A cache may keep the page of visitors, for visitors only."""
    with Browser(address) as browser:
        before = browser.get("/")
        browser.sign_in(link_for(home))
        after = browser.get("/")
    assert "Get a key" in before.text
    assert before.headers["cache-control"].startswith("public")
    assert "Get a key" not in after.text
    assert "Your keys" in after.text
    assert after.headers["cache-control"] == "no-store"
    assert {page.headers["vary"] for page in (before, after)} == {"Accept-Encoding, Cookie"}


@pytest.mark.parametrize(
    "path", ["/nothing", "/profile/keys", "/v2/companies", "/profile%0A", "/sign-in/", "//v1/status"]
)
def test_browsers_get_a_404_page(address: str, path: str) -> None:
    page = httpx.get(address + path, headers=PEOPLE)
    assert page.status_code == 404
    assert "<h1>Not Found</h1>" in page.text


@pytest.mark.parametrize("path", ["/nothing", "/v2/companies"])
def test_programs_get_a_404_envelope(address: str, path: str) -> None:
    answer = httpx.get(address + path, headers={"Accept": "*/*"})
    assert answer.status_code == 404
    assert answer.json()["error"]["docs"] == "http://data.example.org/errors#not_found"


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/companies/NOPE/x", "/v1/style.css"])
def test_below_the_version_segment_errors_are_always_envelopes(address: str, path: str) -> None:
    """Errors of the interface are JSON, never HTML (section 7)."""
    answer = httpx.get(address + path, headers=PEOPLE)
    assert answer.json()["error"]["code"] == "not_found"
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/", "GET"),
        ("DELETE", "/profile", "GET, POST"),
        ("GET", "/sign-out", "POST"),
        ("PUT", "/style.css", "GET"),
        ("OPTIONS", "/sign-in", "GET, POST"),
    ],
)
def test_another_method_is_405(address: str, method: str, path: str, allowed: str) -> None:
    page = httpx.request(method, address + path)
    assert page.status_code == 405
    assert page.headers["allow"] == allowed


def test_head_is_get_without_a_body(address: str) -> None:
    head, get = httpx.head(f"{address}/sign-in"), httpx.get(f"{address}/sign-in")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == get.headers["content-length"]


def test_a_page_for_people_with_an_account_asks_to_sign_in(address: str) -> None:
    page = httpx.get(f"{address}/profile")
    assert page.status_code == 403
    assert "Sign in to see this page" in page.text
    assert 'href="/sign-in"' in page.text


def test_a_page_for_subscribers_says_so_without_a_subscription(address: str, home: Path) -> None:
    with Browser(address) as browser:
        browser.sign_in(link_for(home))
        page = browser.get("/companies")
    assert page.status_code == 403
    assert "This page needs a subscription" in page.text
    assert 'href="/profile"' in page.text


def test_an_unexpected_failure_is_a_page_that_reveals_no_internals(
    address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("secret place")

    monkeypatch.setattr(home_module, "document", fail)
    with caplog.at_level(logging.ERROR):
        page = httpx.get(f"{address}/")
    assert page.status_code == 500
    assert "<h1>Internal Server Error</h1>" in page.text
    assert "secret" not in page.text
    assert "secret place" in caplog.text


def test_static_files_are_cached_and_linked_with_their_fingerprint(address: str) -> None:
    """So that a browser fetches a changed file at once."""
    document = Document(httpx.get(f"{address}/").text)
    named = [
        value
        for tag, attributes in document.elements
        for name, value in attributes.items()
        if (tag, name) in (("link", "href"), ("script", "src")) and value and "?v=" in value
    ]
    style, script = "text/css; charset=utf-8", "text/javascript; charset=utf-8"
    kinds = {
        "/style.css": style,
        "/frame.css": style,
        "/icon.svg": "image/svg+xml",
        "/complete.js": script,
        "/copy.js": script,
        "/ages.js": script,
    }
    assert [re.sub("[?].*", "", path) for path in named] == list(kinds)
    for path, kind in zip(named, kinds.values(), strict=True):
        answer = httpx.get(address + path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == kind
        assert answer.headers["cache-control"] == "public, max-age=86400"


def test_every_class_of_a_page_is_in_the_style_sheet() -> None:
    """Every class in a template, of rendered Markdown and of a chart is defined in a style sheet."""
    folder = Path(mount.__file__).parent
    named = {
        name
        for source in [*folder.glob("templates/*.html"), *folder.glob("text/*.py")]
        for value in re.findall(r'class(?:="|": "|", ")([^"{]+)"', source.read_text())
        for name in value.split()
    }
    assert {"card", "unseen", "tabs", "restated"} <= named
    sheets = "".join(sheet.read_text() for sheet in (folder / "static").glob("*.css"))
    known = set(re.findall(r"\.([a-z][a-z-]*)", sheets))
    assert named <= known, named - known


def test_behind_a_proxy_every_link_has_the_path_prefix(home: Path) -> None:
    with in_process(Settings(home, "http://data.example.org/fundamentals/v1"), Clock()) as address:
        document = Document(httpx.get(f"{address}/").text)
        with Browser(address) as browser:
            form = Document(browser.get(link_for(home)).text).form()
            assert form.action == "/fundamentals/sign-in"
            assert browser.post("/sign-in", form.values).headers["location"] == "/fundamentals/profile"
    paths = {
        attributes.get(name) or ""
        for _, attributes in document.elements
        for name in ("href", "src")
        if name in attributes
    }
    assert {path for path in paths if not path.startswith("/fundamentals/")} == {"#main"}


# --- the front page


def test_the_front_page_shows_the_freshness_of_the_status(address: str) -> None:
    status = httpx.get(f"{address}/v1/status").json()["data"]
    page = httpx.get(f"{address}/").text
    assert f'<dd><span class="whole">{status["newest_filing"]}</span></dd>' in page
    assert f'<time datetime="{status["last_synchronized_at"]}">' in page
    assert f'<time datetime="{status["next_synchronization_at"]}">' in page
    assert "Status: up" in page


def test_before_anything_is_published_the_front_page_says_so(tmp_path: Path) -> None:
    with in_process(Settings(tmp_path, "http://data.example.org/v1"), Clock()) as address:
        for path in ("/", "/index.md"):
            page = httpx.get(address + path)
            assert page.status_code == 200
            assert "No data has been published yet." in page.text


def test_only_the_sample_is_called_fictional(tmp_path: Path) -> None:
    for source, is_said in (("sample", True), ("live", False)):
        builds.small(tmp_path / source / "published", source=source)
        with in_process(Settings(tmp_path / source), Clock()) as address:
            for path in ("/", "/index.md"):
                assert ("built-in sample" in httpx.get(address + path).text) == is_said


def test_the_front_page_shows_a_degraded_status(tmp_path: Path) -> None:
    builds.small(tmp_path / "published")
    with in_process(Settings(tmp_path), Clock()) as address:
        httpx.get(address)
        (tmp_path / "published" / "CURRENT.json").write_text("nothing of the kind")
        assert "Status: degraded" in httpx.get(address).text


def test_the_front_page_as_markdown_has_the_same_text(address: str) -> None:
    alternate = httpx.get(f"{address}/index.md")
    assert alternate.headers["content-type"] == "text/markdown; charset=utf-8"
    assert alternate.text.startswith("# Company financials, traceable to the filing\n")
    assert DISCLAIMER in alternate.text
    text = " ".join(Document(httpx.get(f"{address}/").text).text.split())
    items = re.findall(r"^(?:-|\d\.) [*`]+([^*`]+)[*`]+:? ((?!\d{4}-).*)", alternate.text, re.MULTILINE)
    assert len(items) == 1 + 3 + 11 + 3
    for term, meaning in items:
        assert term in text
        assert meaning in text
    assert 'rel="alternate" type="text/markdown"' in httpx.get(address).text


def test_a_time_element_is_escaped() -> None:
    assert moment("2026-03-02T06:05:00Z") == Markup('<time datetime="2026-03-02T06:05:00Z">2026-03-02 06:05 UTC</time>')
    assert "<script>" not in moment("<script>alert(1)</script>")
