"""The profile page of a running service: keys are created, shown once, counted and revoked."""

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

import fundamentals
from serve.access import limits as limits_module
from serve.access.accounts import Accounts, KeyExists
from serve.access.limits import Limit
from serve.access.sign_ins import SignIns
from serve.settings import Settings
from tests import builds
from tests.browsers import Browser, Document
from tests.servers import NOON, Clock, in_process, redis_server, wait_until
from tests.texts import lacking

EMAIL = "reader@example.org"
PUBLIC = "http://data.example.org/v1"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builds.small(tmp_path / "published")
    return tmp_path


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def address(home: Path, clock: Clock) -> Iterator[str]:
    with in_process(Settings(home, PUBLIC), clock) as address:
        yield address


def accounts(home: Path) -> closing[Accounts]:
    """The accounts of a home, as a command opens them."""
    return closing(Accounts(home / "accounts.sqlite"))


@pytest.fixture
def browser(home: Path, address: str) -> Iterator[Browser]:
    """The browser of a signed-in subscriber."""
    with Browser(address) as browser:
        sign_in(browser, home)
        yield browser


def sign_in(browser: Browser, home: Path) -> httpx.Response:
    with accounts(home) as opened:
        token = SignIns(opened).invite(EMAIL, NOON)
        opened.set_subscription(EMAIL, "active", NOON)
    return browser.sign_in(f"/sign-in?token={token}")


def shown(page: httpx.Response) -> list[str]:
    return re.findall(r"fds_live_\w{40}", page.text)


def told(page: httpx.Response) -> list[dict[str, str]]:
    """The details of each key on the page, by label."""
    cards = re.findall(r'<li class="card key.*?</li>', page.text, re.DOTALL)
    words = [re.findall(r"<(dt|dd|code)>(.*?)</\1>", card, re.DOTALL) for card in cards]
    texts = [[Document(text).text for _, text in card] for card in words]
    return [{"Key": key, **dict(zip(rest[::2], rest[1::2], strict=True))} for key, *rest in texts]


def requests_today(browser: Browser) -> str:
    """What the page says of the first key."""
    return told(browser.get("/profile"))[0]["Requests today"]


def ask(address: str, key: str, **headers: str) -> httpx.Response:
    return httpx.get(f"{address}/v1/companies", headers={"X-Api-Key": key, **headers})


def test_a_new_key_works_at_once_is_counted_and_revoked(address: str, browser: Browser, clock: Clock) -> None:
    """The page shows the exact count of the rate limits, including the rule for 304 responses."""
    [key] = shown(browser.press(browser.get("/profile"), action="create"))
    answer = ask(address, key)
    assert answer.status_code == 200
    wait_until(lambda: told(browser.get("/profile"))[0]["Last used"] != "never")
    assert told(browser.get("/profile")) == [
        {
            "Key": f"fds_live_…{key[-4:]}",
            "Created": "2026-03-02 12:00 UTC",
            "Last used": "2026-03-02 12:00 UTC",
            "Requests today": "1",
        }
    ]
    assert ask(address, key, **{"If-None-Match": answer.headers["etag"]}).status_code == 304
    answers = [ask(address, key) for _ in range(4)]
    assert [each.status_code for each in answers] == [200] * 4
    assert re.findall(r'"day";r=(\d+)', answers[-1].headers["ratelimit"])[0] == str(10_000 - 5)
    assert requests_today(browser) == "5"

    clock.now += 43_200
    assert requests_today(browser) == "0"
    assert ask(address, key).status_code == 200
    revoked = browser.press(browser.get("/profile"), action="revoke")
    assert told(revoked)[0]["Revoked"] == "2026-03-03 00:00 UTC"
    assert ask(address, key).status_code == 401, "at once, in the process that it was revoked in"


def test_a_key_is_shown_once(browser: Browser) -> None:
    """Not on a later visit, not after a reload that sends the form again, and never in a URL."""
    form = Document(browser.get("/profile").text).form(action="create")
    made = browser.post(form.action, form.values)
    assert (made.status_code, made.url.path, len(shown(made))) == (200, "/profile", 1)
    again = browser.post(form.action, form.values)
    assert (again.status_code, again.headers["location"], shown(again)) == (303, "/profile", [])
    later = browser.get("/profile")
    assert (shown(later), len(told(later))) == ([], 1)


def test_keys_created_by_the_command_are_on_the_page_newest_first(home: Path, browser: Browser) -> None:
    with accounts(home) as opened:
        made = [opened.create_key(EMAIL, NOON + seconds) for seconds in (0, 60)]
    listed = [(key["Key"][-4:], key["Last used"]) for key in told(browser.get("/profile"))]
    assert listed == [(key[-4:], "never") for key in reversed(made)]


def test_with_ten_active_keys_the_page_says_why_none_is_created(home: Path, browser: Browser) -> None:
    """Also when the form was loaded before; and a revoked key leaves its place."""
    form = Document(browser.get("/profile").text).form(action="create")
    with accounts(home) as opened:
        for _ in range(10):
            opened.create_key(EMAIL, NOON)
    page = browser.get("/profile")
    assert "You have 10 active keys, and an account can have no more." in page.text
    assert 'value="create"' not in page.text
    refused = browser.post(form.action, form.values)
    assert refused.status_code == 422
    assert "Your account has 10 active keys and can have no more. Revoke one first." in refused.text
    assert 'value="create"' in browser.press(page, action="revoke").text


def test_an_identifier_creates_one_key(home: Path) -> None:
    with accounts(home) as opened:
        opened.create_key(EMAIL, NOON, "key_0123456789abcdef")
        with pytest.raises(KeyExists):
            opened.create_key("other@example.org", NOON, "key_0123456789abcdef")
        assert [key.id for key in opened.keys_of(EMAIL)] == ["key_0123456789abcdef"]


def test_the_subscription_and_the_limits_are_shown(home: Path, browser: Browser) -> None:
    def words() -> str:
        return " ".join(Document(browser.get("/profile").text).text.split())

    parts = ("active since 2026-03-02 12:00 UTC", "60 requests a minute, 10,000 requests a day")
    assert not lacking(words(), f"Premium subscription {parts[0]}", parts[1])
    with accounts(home) as opened:
        opened.set_subscription(EMAIL, "inactive", NOON + 3600)
    assert "Premium subscription inactive since 2026-03-02 13:00 UTC" in words()


def test_a_session_survives_a_restart(home: Path, clock: Clock) -> None:
    """And works in every worker, because secret and session are in the database."""
    settings = Settings(home, PUBLIC)
    with in_process(settings, clock) as first, in_process(settings, clock) as second, Browser(first) as browser:
        sign_in(browser, home)
        cookies = dict(browser.client.cookies)
        assert httpx.get(f"{second}/profile", cookies=cookies).status_code == 200
    with in_process(settings, clock) as third:
        assert httpx.get(f"{third}/profile", cookies=cookies).status_code == 200


def test_with_redis_the_page_counts_the_requests_of_all_workers(
    home: Path, clock: Clock, program: Callable[[str, str], str]
) -> None:
    """And while Redis is unavailable, the requests known to the process."""
    executable = program("redis-server", "redis-server")
    with tempfile.TemporaryDirectory() as folder, redis_server(executable, Path(folder)) as (url, process):
        settings = Settings(home, PUBLIC, url)
        with in_process(settings, clock) as first, in_process(settings, clock) as second, Browser(first) as browser:
            sign_in(browser, home)
            [key] = shown(browser.press(browser.get("/profile"), action="create"))
            assert [ask(address, key).status_code for address in (first, second, second)] == [200] * 3
            assert requests_today(browser) == "3"
            assert ask(first, key).status_code == 200
            process.kill()
            process.wait()
            assert requests_today(browser) == "4"


def test_refused_requests_are_not_counted(address: str, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused request counts in no window, and not on the page."""
    monkeypatch.setattr(limits_module, "LIMITS", (limits_module.LIMITS[0], Limit(2, "day", 86_400)))
    [key] = shown(browser.press(browser.get("/profile"), action="create"))
    assert [ask(address, key).status_code for _ in range(4)] == [200, 200, 429, 429]
    assert requests_today(browser) == "2"


# --- the command


def test_an_invitation_prints_only_a_link_to_the_public_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command creates home and account if they do not exist, and the link signs in."""
    home = tmp_path / "new"
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(home))
    monkeypatch.setenv("FUNDAMENTALS_BASE_URL", "https://data.example.org/fundamentals/v1")
    assert fundamentals.main(["accounts", "invite", EMAIL]) == 0
    address = re.escape("https://data.example.org/fundamentals/sign-in?token=")
    link = re.fullmatch(rf"{address}([\w-]{{43}})\n", capsys.readouterr().out)
    assert link
    with accounts(home) as opened:
        assert SignIns(opened).invited(link[1], NOON) == EMAIL


def test_a_malformed_e_mail_address_is_not_invited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path))
    assert fundamentals.main(["accounts", "invite", "reader"]) == 1
    printed = capsys.readouterr()
    assert (printed.out, "is not an e-mail address" in printed.err) == ("", True)
