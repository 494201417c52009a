"""The pages of the served sample: read over HTTP, checked once in a real browser, and used by one person.

The browser checks every page once, wide and light, then narrow and dark: with axe, for cut-off content, and with the
keyboard. No page requests another host, violates its own policy or writes to the console. Screenshots are in the folder
named by FUNDAMENTALS_SCREENSHOTS.
"""

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.conftest import PROJECT
from tests.e2e.chromium import chromium
from tests.e2e.homes import PATIENCE, query
from tests.servers import active_key
from tests.sites import Main, Read, Site
from warehouse.contract.line_items import SERVED_NAMES

# read when the module is imported, because tests do not see these variables
SCREENSHOTS = os.environ.get("FUNDAMENTALS_SCREENSHOTS")
WIDTHS = {"narrow": {"width": 390, "height": 844}, "wide": {"width": 1280, "height": 900}}
A4 = {"width": 703, "height": 1032}  # within margins of 12 mm
LOOKS = (("wide", "light"), ("narrow", "dark"))
COMPANY = "/companies/XQCPF"  # has restated values, and an item without any value
PAGES = {
    "front": "/",
    "reference": "/reference",
    "errors": "/errors",
    "changelog": "/changelog",
    "dictionary": "/dictionary",
    "rules": "/rules",
    "rule": "/rules/revenue.us-gaap.total",
    "quality": "/quality",
    "filings": f"{COMPANY}/filings",
    "statements": f"{COMPANY}/statements",
    "companies": "/companies",
    "downloads": "/downloads",
    "changes": "/changes",
    "comparison": "/compare?symbols=XQCPF,XQORC,none",
    "company": COMPANY,
    "value": f"{COMPANY}/revenue/FY2018",
    "quarter": f"{COMPANY}/free_cash_flow/FY2024Q4",
    "profile": "/profile",
    "sign-in": "/sign-in",
    "refused-link": "/sign-in?token=forged",
    "missing": "/no-such-page",
    "not-covered": f"{COMPANY}.B",
}
EXPECTED = re.compile(r"Failed to load resource: the server responded with a status of (403|404)")


@pytest.fixture(scope="module")
def reader(sample_site: Site) -> Iterator[httpx.Client]:
    """A signed-in client, without a browser."""
    with sample_site.signed_in() as client:
        yield client


# --- Over HTTP --------------------------------------------------------------------------------------------------------


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
        "SELECT item, period, CAST(value AS DOUBLE), accession FROM versions "
        f"WHERE versions.cik = '{cik}' AND is_current AND value IS NOT NULL AND period_kind = 'annual'",
    )
    found = Read(reader.get("/companies", params={"search": "copper"}).text)
    assert COMPANY in found.links

    page = Read(reader.get(f"{COMPANY}?years=all").text)
    assert {f"{COMPANY}/{item}/{period}" for item, period, _, _ in held} <= set(page.links)
    assert [len(known["data-y"] or "") > 0 for tag, known in page.elements if known.get("class") == "point"].count(
        True
    ) == len([item for item, *_ in held if item in SERVED_NAMES])
    item, period, value, accession = next(row for row in held if row[0] == "revenue")
    assert f"/filings/{accession}" in Read(reader.get(f"{COMPANY}/{item}/{period}").text).links
    assert f"{value:,.0f}" in reader.get(f"/filings/{accession}").text
    [reason] = {link for link in page.links if link.endswith("#gap-no_tag")}
    address, _, anchor = reason.partition("#")
    assert anchor in Read(reader.get(address).text).ids

    answer = reader.get(next(link for link in page.links if link.endswith(".csv")))
    assert answer.headers["cache-control"].startswith("private")
    assert answer.headers["vary"] == "Cookie, X-Api-Key, Accept-Encoding"
    assert answer.headers["content-disposition"] == "attachment; filename=XQCPF.csv"
    rows = {row["period"]: row for row in csv.DictReader(answer.text.splitlines())}
    assert all(float(rows[period][item]) == value for item, period, value, _ in held)


# --- In a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(program: Callable[[str, str], str]) -> Iterator[Browser]:
    """Debian's Chromium."""
    with chromium(program("chromium", "chromium")) as browser:
        yield browser


@pytest.fixture(scope="module")
def axe(request: pytest.FixtureRequest) -> str:
    """The script axe-core."""
    file = PROJECT / "node_modules" / "axe-core" / "axe.min.js"
    if not file.is_file():
        missing = "axe-core is missing: run `make linters` (Node.js and npm: the Debian packages nodejs and npm)"
        (pytest.fail if request.config.getoption("--strict-skips") else pytest.skip)(missing)
    return file.read_text(encoding="utf-8")


@contextmanager
def window(
    browser: Browser, site: Site, cookies: httpx.Cookies | None = None, width: str = "wide", **options: Any
) -> Iterator[Page]:
    """Open a window; when it is closed, it has requested no other host, and had no error."""
    asked: set[str] = set()
    said: list[str] = []
    context: BrowserContext = browser.new_context(base_url=site.address, viewport=WIDTHS[width], **options)
    known: Iterable[Any] = cookies.jar if cookies else ()
    context.add_cookies([{"name": each.name, "value": each.value, "url": site.address} for each in known])
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    page.on("request", lambda request: asked.add(request.url.split("/")[2]))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert asked <= {site.address.removeprefix("http://")}
    assert [text for text in said if not EXPECTED.match(text)] == []


Visit = Callable[..., AbstractContextManager[Page]]


@pytest.fixture
def visit(browser: Browser, sample_site: Site, reader: httpx.Client) -> Visit:
    """Opens a page of the signed-in reader in a window; options as for `window`."""

    @contextmanager
    def visit(path: str, **options: Any) -> Iterator[Page]:
        with window(browser, sample_site, reader.cookies, **options) as page:
            page.goto(path)
            yield page

    return visit


@pytest.fixture(scope="module", params=PAGES)
def opened(request: pytest.FixtureRequest, browser: Browser, sample_site: Site, reader: httpx.Client) -> Iterator[Page]:
    """A page in its own window, loaded once for all checks."""
    with window(browser, sample_site, reader.cookies) as page:
        page.goto(PAGES[request.param])
        yield page


@pytest.fixture
def name(opened: Page, request: pytest.FixtureRequest) -> str:
    """The name of the page."""
    return request.node.callspec.params["opened"]


def look(page: Page, width: str, scheme: str) -> None:
    """Resize the window, and set light or dark colours."""
    page.set_viewport_size(WIDTHS[width])
    page.emulate_media(color_scheme=scheme)


def shoot(page: Page, name: str) -> None:
    """Take a screenshot of the whole page, if screenshots are wanted."""
    if SCREENSHOTS:
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)


WITH_TIMES = """main => {
    const copy = main.cloneNode(true);
    for (const time of copy.querySelectorAll("time[title]")) time.textContent = time.title;
    return copy.textContent;
}"""
"""The text of the page with the times in place of their ages."""


def test_without_script_only_copy_buttons_and_ages_are_missing(opened, name, reader):
    """A browser shows the text that is read over HTTP; only the copy buttons and the ages of times need a script."""
    html = reader.get(PAGES[name]).text
    # the form for a new key has another identifier each time; neither is shown
    assert Main(html).words == " ".join(opened.locator("main").evaluate(WITH_TIMES).split())
    assert all("hidden" in known for tag, known in Read(html).elements if tag == "button" and "data-copy" in known)


def test_the_keyboard_skips_to_the_content(opened):
    """The first press of Tab reaches the skip link, and the focus is visible."""
    look(opened, "narrow", "light")
    opened.keyboard.press("Tab")
    skip = opened.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    opened.keyboard.press("Enter")
    expect(opened.locator("main")).to_be_focused()


def test_the_reference_sends_requests_with_the_keyboard_alone(browser, sample_site):
    """From the fold to the answer; the key is the same in all forms, and in no address or storage."""
    key = active_key(sample_site.home, "keyboard@example.org")
    with window(browser, sample_site) as page:
        page.goto("/reference")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        form, other = page.locator("form.trial").nth(2), page.locator("form.trial").nth(1)
        form.locator("summary").press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.insert_text(key)
        page.keyboard.press("Enter")
        expect(form.get_by_role("status")).to_have_text(
            re.compile("^200 OK after .*: GET /v1/companies/XQORC/financials")
        )
        answer = httpx.get(asked[-1], headers={"X-Api-Key": key})
        assert json.loads(form.locator("pre").inner_text()) == answer.json()
        assert "X-RateLimit-Remaining\n59" in form.locator("dl").inner_text()

        other.locator("summary").press("Enter")
        other.get_by_label("symbol", exact=True).fill("NO SUCH")
        other.get_by_role("button").press("Space")
        expect(other.get_by_role("status")).to_have_text(
            re.compile("^404 Not Found after .*: GET /v1/companies/NO%20SUCH$")
        )
        assert "not_found" in other.locator("pre").inner_text()
        assert not any(key in address for address in [*asked, page.url])
        assert key not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")


def test_nothing_is_cut_off(opened, name):
    """The page is as wide as the window: wider content scrolls in its own box, which the keyboard can reach. On paper
    each table is as wide as the sheet.
    """
    for width, scheme in LOOKS:
        look(opened, width, scheme)
        shoot(opened, f"{name}-{width}-{scheme}")
    opened.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    for width in WIDTHS:
        look(opened, width, "light")
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        boxes = opened.locator(".scroll, pre")
        assert boxes.evaluate_all("found => found.every(each => each.tabIndex === 0 && each.ariaLabel)")
    if name == "quality":
        return  # has matrices wider than a sheet
    opened.set_viewport_size(A4)
    opened.emulate_media(media="print")
    cut = "found => found.filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.textContent)"
    assert opened.locator(".scroll").evaluate_all(cut) == []
    broken = "found => found.filter(each => getComputedStyle(each).breakInside !== 'auto').length"
    assert opened.locator(".scroll").evaluate_all(broken) == 0  # a long table begins on the page of its heading
    opened.emulate_media(media="screen")


def test_axe_finds_no_fault(opened, axe):
    """All rules of axe, including best practices; folded parts are opened first."""
    opened.evaluate(axe)  # not by a script element, which the policy forbids
    opened.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    for width, scheme in LOOKS:
        look(opened, width, scheme)
        found = opened.evaluate("axe.run({resultTypes: ['violations']})")
        told = [(rule["id"], [node["target"] for node in rule["nodes"]][:5]) for rule in found["violations"]]
        assert told == [], (width, scheme)


SCROLLED = """async box => {
    box.scrollLeft = 95;
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const edge = cell => cell.getBoundingClientRect();
    const [head, ...heads] = box.querySelectorAll("thead th"), first = box.querySelector("tbody th");
    return {
        scrolled: box.scrollLeft, left: edge(box).left + box.clientLeft, right: edge(first).right,
        firsts: [edge(head).left, edge(first).left], shadow: getComputedStyle(first).boxShadow,
        cut: heads.filter(each => edge(each).left < edge(first).right - 1 && edge(each).right > edge(first).right + 1)
            .map(each => each.textContent),
    };
}"""


@pytest.mark.parametrize("path", [COMPANY, "/companies", "/compare?symbols=XQCPF,XQORC,XQPRB,XQALD"])
def test_the_first_column_of_a_scrolled_table_stays_on_a_phone(visit, path):
    """Also in the header row, with a divider; no neighbouring cell is cut."""
    with visit(path, width="narrow") as page:
        found = page.locator("main > .scroll").first.evaluate(SCROLLED)
    assert found["scrolled"] > 0
    assert found["firsts"] == pytest.approx([found["left"]] * 2, abs=1)
    assert (found["shadow"] != "none", found["cut"]) == (True, [])


def test_the_head_of_a_comparison_stays_on_a_phone(visit):
    """Each column is named by its symbol, however far the table is scrolled down."""
    with visit("/compare?symbols=XQCPF,XQORC,XQPRB,XQALD", width="narrow") as page:
        places = page.locator("main > .scroll").first.evaluate(
            """box => {
                box.scrollIntoView({behavior: "instant"});
                box.scrollTop = 200;
                const edge = each => each.getBoundingClientRect().top;
                return [box.scrollTop, edge(box) + box.clientTop, ...[...box.querySelectorAll("thead th")].map(edge)];
            }"""
        )
    assert places[0] > 0
    assert places[2:] == pytest.approx([places[1]] * 5, abs=1)


def test_codes_of_errors_are_in_one_line_on_a_phone(browser, sample_site):
    """Below them is a border in place of the underline, which hides underscores."""
    with window(browser, sample_site, width="narrow") as page:
        page.goto("/errors")
        shown = "found => found.map(each => [each.getClientRects().length, getComputedStyle(each).display])"
        assert set(map(tuple, page.locator("td a > code").evaluate_all(shown))) == {(1, "inline-block")}
        heights = page.locator("td a > code").evaluate_all("found => found.map(each => each.offsetHeight)")
        assert len(set(heights)) == 1


def test_a_comparison_uses_its_width(visit):
    """The columns of companies are of one width, though some have long notes, and charts fill their cards."""
    with visit("/compare?symbols=XQCPF,XQORC,XQPRB,XQALD") as page:
        width = "found => found.map(each => each.getBoundingClientRect().width)"
        columns = page.locator("main > .scroll thead th").evaluate_all(width)[1:]
        assert columns == pytest.approx([columns[0]] * len(columns), abs=1)
        drawn, within = (page.locator(f".chart > {each}").evaluate_all(width) for each in ("svg", ".scroll"))
        assert drawn == pytest.approx(within[: len(drawn)], abs=1)


@pytest.mark.parametrize("path", ["/", COMPANY, "/changes"])
def test_the_age_of_the_data_is_shown_by_the_clock_of_the_reader(visit, path):
    """Also of a page that a cache kept; a clock that is behind, and a browser without scripts, show the time itself."""
    with visit(path, java_script_enabled=False) as page:
        told = page.locator("main time").first.text_content()
    ages = {
        "minutes": ("7 minutes", 7),
        "hours": ("3 hours", 3),
        "days": ("2 days", 2),
        "seconds": ("less than a minute", 9),
    }
    with visit(path) as page:
        page.clock.install()
        time = page.locator("main time").first
        moment = datetime.fromisoformat(time.get_attribute("datetime"))
        for unit, (age, number) in ages.items():
            page.clock.set_fixed_time(moment + timedelta(**{unit: number}))
            page.goto(path)
            expect(time).to_have_text(f"{age} ago")
            expect(time).to_have_attribute("title", told)
        page.clock.set_fixed_time(moment - timedelta(minutes=7))
        page.goto(path)
        expect(time).to_have_text(told)


@pytest.mark.parametrize("has_scripts", [False, True])
def test_the_language_of_an_example_is_chosen_with_the_keyboard(browser, sample_site, has_scripts):
    """For one example; with the script for all, also after the page is loaded again."""
    with window(browser, sample_site, java_script_enabled=has_scripts) as page:
        page.goto("/reference")
        page.locator("#getCompany-curl-tab").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#getCompany-python")).to_be_visible()
        expect(page.locator("#getCompany-curl")).to_be_hidden()
        expect(page.locator("#getStatus-python")).to_be_visible(visible=has_scripts)
        page.reload()
        expect(page.locator("#getStatus-python")).to_be_visible(visible=has_scripts)


def test_a_person_finds_companies_with_the_keyboard_and_compares_them(visit):
    """The completions of the search lead to a company, its years are downloaded, and one is traced to its filing; the
    completions of the comparison complete the list of symbols.
    """
    with visit("/companies") as page:
        field = page.get_by_role("combobox", name="Find a company")
        field.fill("exam")
        expect(field).to_have_attribute("aria-expanded", "true")
        options = page.locator(".completions:not([hidden]) > [role=option]")
        count = options.count()
        assert count > 1
        expect(page.locator(".find").get_by_role("status")).to_have_text(f"{count} companies")
        for key, chosen in (("ArrowUp", count - 1), ("ArrowDown", None), ("ArrowDown", 0)):
            field.press(key)
            active = field.get_attribute("aria-activedescendant")
            assert active == (None if chosen is None else options.nth(chosen).get_attribute("id"))
        expect(options.nth(0)).to_have_attribute("aria-selected", "true")
        field.press("Escape")
        expect(page.get_by_role("listbox")).to_be_hidden()
        expect(field).to_have_value("exam")
        field.fill("copper")
        expect(options.nth(0)).to_contain_text(COMPANY.rpartition("/")[2])
        field.press("ArrowDown")
        field.press("Enter")
        page.wait_for_url(f"**{COMPANY}")

        revenues = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Revenue", exact=True))
        years = revenues.get_by_role("link").all_text_contents()
        with page.expect_download() as downloading:
            page.get_by_role("link", name="CSV", exact=True).click()
        rows = csv.DictReader(downloading.value.path().read_text().splitlines())
        annual = [float(row["revenue"]) for row in rows if row["period"].startswith("FY") and row["revenue"]]
        assert f"{max(annual) / 1e6:,.0f}" in years
        revenues.get_by_role("link").last.click()
        page.wait_for_url(f"**{COMPANY}/revenue/FY*")
        page.locator("a[href^='/filings/']").first.click()
        expect(page.get_by_text("Fictional filing")).to_be_visible()
        page.go_back()
        page.go_back()

        page.locator("main").get_by_role("link", name="Compare", exact=True).click()
        page.wait_for_url("**/compare?symbols=XQCPF")
        field = page.get_by_role("combobox", name="Symbols, separated by commas")
        field.press("End")
        for text, symbol in ((", orchard", "XQORC"), ("xqa", None)):
            field.press_sequentially(text)
            expect(options.nth(0)).to_contain_text(symbol or "XQA")
            field.press("ArrowDown")
            field.press("Enter")
        symbols = field.input_value().removesuffix(", ").split(", ")
        assert symbols[:2] == ["XQCPF", "XQORC"]
        field.press("Enter")
        page.wait_for_url(f"**/compare?symbols={','.join(symbols)}")
        expect(page.locator(".legend li")).to_have_count(3)
        shoot(page, "comparison-of-three")


@pytest.mark.parametrize("query", ["", "?net_margin_min=-1000"])
def test_on_a_phone_the_list_begins_on_the_first_screen(visit, query):
    """With two figures of a company, also where the fields for figures are open."""
    with visit(f"/companies{query}", width="narrow") as page:
        boxes = [page.locator("main tbody td.num").nth(place).bounding_box() for place in range(2)]
        for box in filter(None, boxes):
            assert box["x"] + box["width"] <= WIDTHS["narrow"]["width"]
            assert box["y"] + box["height"] <= WIDTHS["narrow"]["height"]
        assert all(boxes)


@pytest.mark.parametrize("path", ["/", "/companies", COMPANY, "/compare?symbols=XQCPF,XQORC"])
def test_the_filing_behind_a_figure_is_two_taps_away_on_a_phone(visit, path):
    """The first tap leads to the value's page, where the filing stands next to the fact, without scrolling sideways."""
    with visit(path, width="narrow", has_touch=True) as page:
        figures = page.locator("main :is(td, dd) a[href^='/companies/']").filter(has_text=re.compile(r"\d"))
        assert figures.count() > 4
        figures.first.tap()
        page.wait_for_url(re.compile(r"/companies/\w+/\w+/\w+$"))
        filing = page.locator("main a[href^='/filings/']").first
        box = filing.bounding_box()
        assert box
        assert box["x"] + box["width"] <= WIDTHS["narrow"]["width"]
        filing.tap()
        expect(page.get_by_text("Fictional filing")).to_be_visible()


def test_a_person_makes_uses_and_revokes_a_key(browser, sample_site):
    """Sign in, create and copy a key, use it, see the count rise, revoke it, see it refused, sign out."""
    with window(browser, sample_site, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(sample_site.link("person@example.org"))
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Profile", level=1)).to_be_visible()
        page.get_by_role("button", name="Create API key").click()
        page.locator("button[data-copy='#new-key']").click()
        key = page.evaluate("navigator.clipboard.readText()")
        assert key == page.locator("#new-key").text_content()
        shoot(page, "new-key")

        used = httpx.get(f"{sample_site.address}/v1/companies?per_page=1", headers={"X-Api-Key": key})
        assert used.status_code == 200

        page.goto("/profile")
        expect(page.locator("body")).not_to_contain_text(key)
        card = page.locator(".key", has_text=key[-4:])
        expect(card.locator("div", has_text="Requests today").locator("dd")).to_have_text("1")

        card.locator("summary").click()
        card.get_by_role("button", name="Revoke permanently").click()
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


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_does_not_move_under_the_mouse(visit, width):
    """Where a period has no value, its reason may be long, and there is no dot."""
    with visit(f"{COMPANY}?periods=ttm&years=all", width=width) as page:
        found = page.evaluate("""() => {
          const told = [];
          for (const plot of document.querySelectorAll("svg.plot")) {
            const box = plot.getBoundingClientRect(), scale = box.width / plot.viewBox.baseVal.width;
            for (const point of plot.querySelectorAll("a.point")) {
              plot.querySelector(".handle").dispatchEvent(new PointerEvent("pointermove", {
                clientX: box.left + point.dataset.x * scale, clientY: box.top + 40, pointerType: "mouse" }));
              const dot = getComputedStyle(plot.querySelector(".cross circle"));
              const shown = dot.display !== "none" && dot.visibility === "visible";
              told.push([document.documentElement.scrollHeight, point.dataset.y !== "", shown]);
            }
          }
          return told;
        }""")
        assert len({height for height, _, _ in found}) == 1
        assert {has_value for _, has_value, _ in found} == {True, False}
        assert all(has_value == is_shown for _, has_value, is_shown in found)


def test_the_crosshair_reads_all_charts_by_key_mouse_and_finger(visit):
    """In all charts at once; Escape shows the newest value again; Enter, or a touch of the value, opens its page."""
    with visit(COMPANY, has_touch=True) as page:
        revenue = page.get_by_role("slider", name="Revenue", exact=True)
        shown = page.locator("section", has=page.get_by_role("heading", name="Revenue", exact=True)).locator("p").first
        newest = shown.text_content()
        revenue.focus()
        page.keyboard.press("ArrowLeft")
        before = shown.text_content()
        assert before != newest
        assert revenue.get_attribute("aria-valuetext") == before
        assert page.locator(".cross.on").count() == page.locator(".plot").count()
        page.keyboard.press("Escape")
        expect(shown).to_have_text(newest)

        revenue.hover(position={"x": 60, "y": 40})
        expect(shown).not_to_have_text(newest)
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(rf"{COMPANY}/revenue/FY\d+$"))

        page.goto(COMPANY)
        revenue.tap(position={"x": 60, "y": 40})
        expect(shown).not_to_have_text(newest)
        to = shown.get_by_role("link").get_attribute("href")
        shown.get_by_role("link").tap()
        page.wait_for_url(re.compile(rf"{to}$"))
