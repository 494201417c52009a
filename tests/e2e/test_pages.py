"""The pages in a real browser: a person signs in, makes a key, uses it, revokes it; reads, looks, follows links.

On a narrow and a wide window, light and dark, with axe. No page asks another host, breaks its own policy or says
anything to the console. Screenshots lie in the folder that FUNDAMENTALS_SCREENSHOTS names.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.conftest import PROJECT
from tests.e2e.homes import PATIENCE, query
from tests.sites import Site

# read when the module is: no test sees these names in the environment
SCREENSHOTS = os.environ.get("FUNDAMENTALS_SCREENSHOTS")
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = {"narrow": {"width": 390, "height": 844}, "wide": {"width": 1280, "height": 900}}
COMPANY = "/companies/XQCPF"  # has restated values, and an item without any
PAGES = {
    "front": "/",
    "reference": "/reference",
    "errors": "/errors",
    "settings": "/settings",
    "changelog": "/changelog",
    "dictionary": "/dictionary",
    "companies": "/companies",
    "company": COMPANY,
    "profile": "/profile",
    "sign-in": "/sign-in",
    "refused-link": "/sign-in?token=forged",
    "missing": "/no-such-page",
}
EXPECTED = re.compile(r"Failed to load resource: the server responded with a status of (403|404)")
each_width = pytest.mark.parametrize("width", WIDTHS)
each_scheme = pytest.mark.parametrize("scheme", ["light", "dark"])
each_page = pytest.mark.parametrize("name", PAGES)

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser(program: Callable[[str, str], str]) -> Iterator[Browser]:
    """Debian's Chromium."""
    executable = program("chromium", "chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def cookies(browser: Browser, sample_site: Site) -> list[Any]:
    """Those of somebody who has signed in."""
    context = browser.new_context()
    page = context.new_page()
    sign_in(page, sample_site.link())
    kept = context.cookies()
    context.close()
    return kept


@pytest.fixture(scope="module")
def axe(request: pytest.FixtureRequest) -> str:
    """The program axe-core."""
    file = PROJECT / "node_modules" / "axe-core" / "axe.min.js"
    if not file.is_file():
        missing = "axe-core is missing: run `make linters` (Node.js and npm: the Debian packages nodejs and npm)"
        (pytest.fail if request.config.getoption("--strict-skips") else pytest.skip)(missing)
    return file.read_text(encoding="utf-8")


def sign_in(page: Page, link: str) -> None:
    """Follow a link, and press the button."""
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Profile", level=1)).to_be_visible()


@pytest.fixture
def window(browser: Browser, sample_site: Site) -> Callable[..., Any]:
    """Open a window; when it is closed, it has asked nobody else, and nothing was wrong in it."""

    @contextmanager
    def open_window(width: str = "wide", cookies: list[Any] | None = None, **options: Any) -> Iterator[Page]:
        asked: set[str] = set()
        said: list[str] = []
        context: BrowserContext = browser.new_context(viewport=WIDTHS[width], base_url=sample_site.address, **options)
        context.add_cookies(cookies or [])
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.on("request", lambda request: asked.add(request.url.split("/")[2]))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page
        context.close()
        assert asked <= {sample_site.address.removeprefix("http://")}
        assert [text for text in said if not EXPECTED.match(text)] == []

    return open_window


def shoot(page: Page, name: str) -> None:
    """Take a picture of the whole page, where pictures are wanted."""
    if SCREENSHOTS:
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)


# --- Every page -----------------------------------------------------------------------------------------------------


@each_scheme
@each_width
@each_page
def test_axe_finds_no_fault(window, cookies, axe, name, width, scheme):
    """All rules of axe, its best practices too; what is folded is opened, so that it is looked at."""
    with window(width, cookies, color_scheme=scheme) as page:
        page.goto(PAGES[name])
        shoot(page, f"{name}-{width}-{scheme}")
        page.evaluate(axe)  # not by a script element, which the policy forbids
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        found = page.evaluate("axe.run({resultTypes: ['violations']})")
        told = [(rule["id"], [node["target"] for node in rule["nodes"]][:5]) for rule in found["violations"]]
        assert told == []


@each_width
@each_page
def test_nothing_is_cut_off(window, cookies, name, width):
    """The page is as wide as the window: what is wider scrolls in its own box, which the keyboard can reach."""
    with window(width, cookies) as page:
        page.goto(PAGES[name])
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        boxes = page.locator(".scroll, pre")
        assert boxes.evaluate_all("found => found.every(each => each.tabIndex === 0 && each.ariaLabel)")


@each_page
def test_without_script_everything_is_there(window, cookies, name):
    """The same words; only the buttons that copy are missing."""
    texts = []
    for enabled in (True, False):
        with window(cookies=cookies, java_script_enabled=enabled) as page:
            page.goto(PAGES[name])
            texts.append(page.locator("main").text_content())
            copiers = page.locator("button[data-copy]:visible")
            assert enabled or copiers.count() == 0
    # a form for a new key names it, another each time; neither is shown
    assert texts[0] == texts[1]


@each_page
def test_the_keyboard_skips_to_the_content(window, cookies, name):
    """The first stop of the Tab key leads over the navigation, and focus is seen."""
    with window("narrow", cookies) as page:
        page.goto(PAGES[name])
        page.keyboard.press("Tab")
        skip = page.get_by_role("link", name="Skip to the content")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()


# --- A person's way -------------------------------------------------------------------------------------------------


@each_width
def test_a_person_makes_uses_and_revokes_a_key(window, sample_site, width):
    """Sign in, create, copy, use against the interface, see the count rise, revoke, see it refused, sign out."""
    with window(width, permissions=["clipboard-read", "clipboard-write"]) as page:
        sign_in(page, sample_site.link(f"{width}@example.org"))
        page.get_by_role("button", name="Create API key").click()
        page.locator("button[data-copy='#new-key']").click()
        key = page.evaluate("navigator.clipboard.readText()")
        assert key == page.locator("#new-key").text_content()
        shoot(page, f"new-key-{width}")

        used = httpx.get(f"{sample_site.address}/v1/companies?per_page=1", headers={"X-Api-Key": key})
        assert used.status_code == 200

        page.goto("/profile")
        expect(page.locator("body")).not_to_contain_text(key)
        card = page.locator(".key", has_text=key[-4:])
        expect(card.locator("div", has_text="Requests today").locator("dd")).to_have_text("1")

        card.locator("summary").click()
        card.get_by_role("button", name="Revoke for good").click()
        expect(page.get_by_text("Revoked keys (1)")).to_be_visible()
        for _ in range(PATIENCE):
            refused = httpx.get(f"{sample_site.address}/v1/companies", headers={"X-Api-Key": key})
            if refused.status_code == 401:
                break
            page.wait_for_timeout(200)
        assert refused.json()["error"]["code"] == "unauthenticated"

        page.get_by_role("button", name="Sign out").click()
        page.goto("/profile")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Sign in")


@each_width
def test_an_error_leads_to_its_explanation(window, sample_site, width):
    """The docs link of a refused request opens the page at the code's heading."""
    docs = httpx.get(f"{sample_site.address}/v1/companies").json()["error"]["docs"]
    with window(width) as page:
        page.goto(docs)
        heading = page.locator(":target")
        expect(heading).to_contain_text("unauthenticated")
        expect(heading).to_be_in_viewport()


@each_width
def test_the_reference_is_read_from_its_contents(window, width):
    """From the list of contents to an endpoint, to an example in another language, to an error."""
    with window(width) as page:
        page.goto("/")
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Reference").click()
        page.get_by_role("navigation", name="On this page").get_by_role(
            "link", name="List a company's financials"
        ).click()
        expect(page.locator("#listFinancials")).to_be_in_viewport()
        example = page.locator("details", has=page.locator("#listFinancials-python"))
        expect(example.locator("pre")).to_be_hidden()
        example.locator("summary").click()
        expect(example.locator("pre")).to_contain_text("urlopen")
        page.locator("table", has_text="Errors of /companies/{symbol}/financials").first.get_by_role(
            "link", name="rate_limited"
        ).click()
        expect(page.locator("#rate_limited")).to_be_in_viewport()


@each_width
def test_a_company_is_looked_at(window, cookies, sample_site, width):
    """From the list by a search to its charts; each value of the tables leads to the filing of its newest version."""
    [(cik,)] = query(sample_site.home, "SELECT cik FROM companies WHERE symbol = 'XQCPF'")
    held = dict(
        query(
            sample_site.home,
            "SELECT item || ' ' || period_kind || ' ' || period_end, url FROM versions JOIN filings USING (accession) "
            f"WHERE versions.cik = '{cik}' AND is_current AND value IS NOT NULL",
        )
    )
    with window(width, cookies) as page:
        page.goto("/companies")
        page.get_by_label("Symbol or name").fill("copper")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="XQCPF").click()

        charts = page.locator(".charts > section")
        expect(charts).to_have_count(11)
        for number in range(11):
            expect(charts.nth(number)).to_be_visible()
        revenue = page.locator("section", has=page.locator("#revenue"))
        assert revenue.locator("svg .restated").count() > 0
        revenue.locator("summary").click()
        for kind, caption in (("ttm", "trailing twelve months"), ("annual", "fiscal year")):
            rows = revenue.locator("table", has_text=f"Revenue, {caption}").locator("tbody tr")
            assert rows.count() > 10
            for end, address in rows.evaluate_all(
                "rows => rows.map(row => [row.cells[2].textContent, row.querySelector('a').href])"
            ):
                assert address == held[f"revenue {kind} {end}"]
        assert revenue.get_by_text("◆ was").count() == revenue.locator("svg .restated").count()
        dividends = page.locator("section", has=page.locator("#dividends_per_share"))
        dividends.get_by_role("link", name="no_tag").click()
        expect(page.locator(":target")).to_be_in_viewport()
