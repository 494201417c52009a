"""Attacks on the pages of a running service: links, sessions, forms, scripts, enumeration, frames.

Each test first shows that the legitimate request works, so that only the attack can be what fails.
"""

import itertools
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from serve.access.accounts import Accounts
from serve.access.sign_ins import LINK_LIVES, SignIns
from serve.settings import Settings
from tests import builds
from tests.browsers import Browser, Document
from tests.servers import Clock, in_process


@dataclass
class Site:
    """A running service with pages, and the actions of its operator."""

    address: str
    home: Path
    clock: Clock
    email: str = "reader@example.org"
    """Of the account that is meant if no other is named."""

    def invite(self, email: str = "", status: str = "active") -> str:
        """The path of a new link, for an account with this subscription."""
        email = email or self.email
        with closing(Accounts(self.home / "accounts.sqlite")) as accounts:
            token = SignIns(accounts).invite(email, self.clock.now)
            accounts.set_subscription(email, status, self.clock.now)  # type: ignore[arg-type]
        return f"/sign-in?token={token}"

    def keys(self, email: str = "") -> list[str]:
        """The ids of an account's active keys."""
        with closing(Accounts(self.home / "accounts.sqlite")) as accounts:
            return [key.id for key in accounts.keys_of(email or self.email) if not key.revoked_at]

    @property
    def cookie(self) -> str:
        """The name of the cookie, which a visitor gets with a link's page."""
        [name] = httpx.get(self.address + self.invite("visitor@example.org")).cookies
        return name

    def browser(self) -> Browser:
        """A new browser."""
        return Browser(self.address)


@pytest.fixture(scope="module")
def running(home: Path) -> Iterator[Site]:
    """Over plain http, where httpx sends the cookie; the effects of https are tested with the cookies."""
    clock = Clock()
    with in_process(Settings(home, "http://data.example.org/v1"), clock) as address:
        yield Site(address, home, clock)


numbers = itertools.count()


@pytest.fixture
def site(running: Site) -> Site:
    """That service, with a new reader, in a minute without attempts."""
    running.clock.now += 60
    return replace(running, email=f"reader{next(numbers)}@example.org")


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/profile").status_code == 200


@pytest.fixture
def reader(site: Site) -> Iterator[Browser]:
    """A browser in which the new reader has signed in."""
    with site.browser() as browser:
        browser.sign_in(site.invite())
        yield browser


# --- links


def test_a_used_link_does_not_sign_in(site: Site) -> None:
    """Neither a second press of the button nor another person who has seen the link can sign in."""
    link = site.invite()
    with site.browser() as reader, site.browser() as thief:
        page, stolen = reader.get(link), thief.get(link)
        assert reader.press(page).url.path == "/profile"
        assert thief.press(stolen).status_code == 403
        assert thief.get(link).status_code == 403
        assert not is_signed_in(thief)
        assert is_signed_in(reader)


def test_opening_a_link_does_not_use_it(site: Site) -> None:
    """Mail programs open links with GET and HEAD, and keep no cookies."""
    link = site.invite()
    for method in ("GET", "HEAD", "GET"):
        assert httpx.request(method, site.address + link).status_code == 200
    with site.browser() as reader:
        reader.sign_in(link)
        assert is_signed_in(reader)


@pytest.mark.parametrize("late", [False, True])
def test_a_forged_or_expired_link_does_not_sign_in(site: Site, late: bool) -> None:
    link = site.invite()
    if late:
        site.clock.now += LINK_LIVES
    else:
        link = link[:-1] + ("A" if link[-1] != "A" else "B")
    with site.browser() as browser:
        assert browser.get(link).status_code == 403
        honest = browser.get(site.invite("other@example.org"))
        form = Document(honest.text).form()
        assert browser.post("/sign-in", {**form.values, "token": link.partition("=")[2]}).status_code == 403
        assert not is_signed_in(browser)


def test_all_invalid_links_get_the_same_page(site: Site) -> None:
    """The page does not reveal whether a link was forged, used or expired, or whether an account exists."""
    used, old = site.invite(), site.invite("other@example.org")
    with site.browser() as browser:
        browser.sign_in(used)
    site.clock.now += LINK_LIVES
    told = {httpx.get(site.address + link).text for link in (used, old, "/sign-in?token=x", "/sign-in?token=")}
    assert len(told) == 1
    assert "does not sign you in" in told.pop()


def test_no_page_asks_for_an_e_mail_address(site: Site) -> None:
    site.invite()
    page = httpx.get(f"{site.address}/sign-in", headers={"Accept": "text/html"})
    assert not Document(page.text).forms
    assert httpx.get(f"{site.address}/sign-in?email={site.email}").text == page.text


def test_existing_and_unknown_companies_look_alike_without_access(site: Site) -> None:
    """Signed out, or without a subscription, an existing company gets the same page as an unknown one."""
    with site.browser() as stranger, site.browser() as inactive:
        inactive.sign_in(site.invite(status="inactive"))
        for browser in (stranger, inactive):
            answers = [browser.get(f"/companies/{symbol}") for symbol in ("LNTR", "NOPE")]
            assert {answer.status_code for answer in answers} == {403}
            assert answers[0].text == answers[1].text


def test_a_link_is_never_in_a_referer(site: Site) -> None:
    """The page with the token in its address sends only its origin, which the check of forms needs."""
    assert httpx.get(site.address + site.invite()).headers["referrer-policy"] == "strict-origin"


# --- sessions


def test_a_planted_id_is_not_signed_in(site: Site) -> None:
    """Session fixation: an attacker puts a visitor's cookie of the service into the victim's browser."""
    with site.browser() as attacker, site.browser() as reader:
        attacker.get(site.invite("attacker@example.org"))
        planted = attacker.client.cookies[site.cookie]
        reader.client.cookies.set(site.cookie, planted)
        reader.sign_in(site.invite())
        assert is_signed_in(reader)
        assert reader.client.cookies.get(site.cookie, domain="127.0.0.1") != planted
        assert attacker.client.cookies[site.cookie] == planted
        assert not is_signed_in(attacker)


def test_an_attackers_planted_session_ends_when_the_victim_signs_in(site: Site) -> None:
    with site.browser() as attacker, site.browser() as reader:
        attacker.sign_in(site.invite("attacker@example.org"))
        reader.client.cookies.set(site.cookie, attacker.client.cookies[site.cookie], domain="127.0.0.1", path="/")
        reader.sign_in(site.invite())
        assert site.email in reader.get("/profile").text
        assert not is_signed_in(attacker)


def test_signing_out_ends_the_session_of_a_copied_cookie(site: Site) -> None:
    with site.browser() as reader, site.browser() as thief:
        profile = reader.sign_in(site.invite())
        thief.client.cookies.set(site.cookie, reader.client.cookies[site.cookie])
        assert is_signed_in(thief)
        assert reader.press(profile).url.path == "/"
        assert site.cookie not in reader.client.cookies
        assert not is_signed_in(thief)


def test_signing_in_elsewhere_on_the_host_ends_no_session(site: Site, tmp_path: Path) -> None:
    """Browsers send cookies to all ports of a host: two homes, each with its own accounts, at the same time."""
    builds.small(tmp_path / "published")
    with in_process(Settings(tmp_path, "http://data.example.org:8001/v1"), site.clock) as address:
        other = Site(address, tmp_path, site.clock)
        with site.browser() as reader, other.browser() as elsewhere:
            reader.sign_in(site.invite())
            elsewhere.client.cookies = reader.client.cookies
            elsewhere.sign_in(other.invite())
            assert is_signed_in(elsewhere)
            reader.client.cookies = elsewhere.client.cookies
            assert is_signed_in(reader)


def test_an_invented_session_is_not_signed_in(site: Site, reader: Browser) -> None:
    with site.browser() as attacker:
        honest, signature = reader.client.cookies[site.cookie].rsplit(".", 1)
        for value in ("x", f"x.{signature}", honest, f"{honest}.", f"{honest}.{signature[::-1]}"):
            attacker.client.cookies.set(site.cookie, value)
            assert not is_signed_in(attacker), value


# --- forms


FORMS = ("create", "revoke", "sign out", "sign in")


def honest_form(site: Site, browser: Browser, name: str) -> tuple[str, dict[str, str]]:
    """The values that a page of the service would send."""
    if name == "sign in":
        form = Document(browser.get(site.invite("other@example.org")).text).form()
    else:
        page = Document(browser.get("/profile").text)
        form = page.forms[0] if name == "sign out" else page.form(action=name)
    return form.action, form.values


def state(site: Site, browser: Browser) -> tuple[bool, list[str]]:
    return site.email in browser.get("/profile").text, site.keys()


@pytest.mark.parametrize("name", FORMS)
def test_a_form_of_another_site_is_refused(site: Site, name: str) -> None:
    """Without the token of this session, with another one's, from another origin, or without one; then it works."""
    with site.browser() as reader, site.browser() as attacker:
        reader.press(reader.sign_in(site.invite()), action="create")
        attacker.sign_in(site.invite("attacker@example.org"))
        token = Document(attacker.get("/profile").text).forms[0].values["form_token"]
        action, values = honest_form(site, reader, name)
        before = state(site, reader)
        without = {name: value for name, value in values.items() if name != "form_token"} | {"other": "field"}
        for sent, origin in [
            (without, ""),
            ({**values, "form_token": token}, ""),
            ({**values, "form_token": ""}, ""),
            (values, "https://evil.example"),
            (values, "null"),
            (values, None),
        ]:
            assert reader.post(action, sent, origin).status_code == 403
            assert state(site, reader) == before
        assert reader.post(action, values).status_code in (200, 303)
        assert state(site, reader) != before


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
def test_other_media_types_than_forms_are_refused(site: Site, reader: Browser, kind: str) -> None:
    headers = {"Content-Type": kind, "Origin": site.address}
    assert reader.client.post("/profile", content=b"action=create", headers=headers).status_code == 415
    assert not site.keys()


def test_a_too_long_form_is_refused(reader: Browser) -> None:
    assert reader.post("/profile", {"action": "x" * 9000}).status_code == 413


def test_a_get_changes_nothing(site: Site, reader: Browser) -> None:
    """GET only shows pages, whatever the query."""
    reader.press(reader.get("/profile"), action="create")
    before = state(site, reader)
    _, values = honest_form(site, reader, "revoke")
    reader.client.get("/profile", params=values)
    assert reader.client.get("/sign-out").status_code == 405
    assert state(site, reader) == before


def test_a_key_of_another_account_cannot_be_revoked(site: Site, reader: Browser) -> None:
    reader.press(reader.get("/profile"), action="create")
    with site.browser() as attacker:
        attacker.press(attacker.sign_in(site.invite("attacker@example.org")), action="create")
        form = Document(attacker.get("/profile").text).form(action="revoke")
        [theirs] = site.keys()
        assert attacker.post("/profile", {**form.values, "key_id": theirs}).status_code == 404
        assert site.keys() == [theirs]
        assert attacker.press(attacker.get("/profile"), action="revoke").status_code == 200
        assert not site.keys("attacker@example.org")


def test_without_a_subscription_no_key_is_created(site: Site, reader: Browser) -> None:
    """The page has no form then, and an older form is refused. Revoking is still possible."""
    profile = reader.press(reader.get("/profile"), action="create")
    form = Document(profile.text).form(action="create")
    site.invite(status="inactive")
    page = reader.get("/profile")
    assert "Create API key" not in page.text
    assert reader.post("/profile", form.values).status_code == 403
    assert len(site.keys()) == 1
    reader.press(page, action="revoke")
    assert not site.keys()


@pytest.mark.parametrize("values", [{}, {"key_id": "key_1'; --"}, {"key_id": "key_" + "0" * 16, "action": "delete"}])
def test_a_form_with_unknown_values_is_refused(reader: Browser, values: dict[str, str]) -> None:
    token = Document(reader.get("/profile").text).forms[0].values["form_token"]
    assert reader.post("/profile", {**values, "form_token": token}).status_code == 422


# --- scripts and frames


SCRIPT = "<script>alert(1)</script>"


def assert_is_text(page: httpx.Response, *, is_shown: bool) -> None:
    """Check that a page has no script except its own, and shows submitted input only as escaped text."""
    document = Document(page.text)
    scripts = [attributes for tag, attributes in document.elements if tag == "script"]
    assert [script["src"] for script in scripts] == [script["src"] for script in scripts if script["src"]]
    assert all(
        re.fullmatch(r"/(ages|charts|complete|copy)\.js\?v=[0-9a-f]{12}", script["src"] or "") for script in scripts
    )
    assert not [name for _, attributes in document.elements for name in attributes if name.startswith("on")]
    assert SCRIPT not in page.text
    assert (SCRIPT in document.text) == is_shown


def test_script_in_an_e_mail_address_is_escaped(site: Site) -> None:
    email = f'"{SCRIPT}"onmouseover=x@example.org'
    with site.browser() as reader:
        page = reader.get(site.invite(email))
        assert_is_text(page, is_shown=True)
        profile = reader.press(page)
        assert_is_text(profile, is_shown=True)
        assert_is_text(reader.press(profile, action="create"), is_shown=True)


@pytest.mark.parametrize(
    "path",
    [
        *(f"/{SCRIPT}", f"/sign-in?token={SCRIPT}", f"/?x={SCRIPT}", f"/errors/{SCRIPT}"),
        f"/companies?sort={SCRIPT}",
        *(f"/companies/{path}" for path in (SCRIPT, f"{SCRIPT}/revenue/FY2022", f"LNTR/revenue/{SCRIPT}")),
        *(f"/companies/{path}" for path in (f"LNTR?years={SCRIPT}", f"LNTR?x={SCRIPT}", f"{SCRIPT}/financials.csv")),
    ],
)
def test_script_in_an_address_is_not_shown(site: Site, reader: Browser, path: str) -> None:
    with site.browser() as stranger:
        for browser in (stranger, reader):
            assert_is_text(browser.get(path), is_shown=False)


@pytest.mark.parametrize("path", ["/companies?search=", "/compare?symbols=", "/search?text="])
def test_script_in_a_search_is_escaped(reader: Browser, path: str) -> None:
    """The search text is shown as text, and is nowhere part of a script."""
    page = reader.get(path + SCRIPT)
    assert_is_text(reader.get(page.headers["location"]) if page.is_redirect else page, is_shown=True)
    completions = reader.get(f"/search/completions?text={SCRIPT}")
    assert (completions.headers["content-type"], completions.text) == ("application/json", "[]")
    assert completions.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/", "/sign-in", "/profile", "/nothing", "/reference", "/style.css", "/companies", "/compare"]
)
def test_no_page_may_be_framed_or_run_foreign_code(site: Site, reader: Browser, path: str) -> None:
    """Clickjacking: no site may show a page in a frame, signed in or not."""
    with site.browser() as stranger:
        for browser in (stranger, reader):
            headers = browser.get(path).headers
            policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
            assert policy == {
                "default-src": "'none'",
                "style-src": "'self'",
                "script-src": "'self'",
                "img-src": "'self'",
                "connect-src": "'self'",
                "form-action": "'self'",
                "base-uri": "'none'",
                "frame-ancestors": "'none'",
            }
            origin = {"referrer-policy": "same-origin", "cross-origin-opener-policy": "same-origin"}
            assert headers.items() >= (origin | {"x-content-type-options": "nosniff"}).items()


def test_pages_of_a_signed_in_browser_are_not_cached(reader: Browser) -> None:
    profile = reader.get("/profile")
    for page in (profile, reader.press(profile, action="create"), reader.get("/companies/LNTR")):
        assert page.headers["cache-control"] == "no-store"


def test_the_log_has_no_tokens_keys_or_accounts(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    link = site.invite()
    with site.browser() as reader:
        made = reader.press(reader.sign_in(link), action="create")
        reader.get("/companies/LNTR")
    [key] = re.findall(r"fds_live_\w{40}", made.text)
    assert '"path":"/sign-in"' in caplog.text
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("serve"))
    assert link.partition("=")[2] not in ours
    assert key not in ours
    assert "LNTR" not in ours
