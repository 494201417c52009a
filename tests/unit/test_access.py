"""Keys, accounts and rate limits: stored data, how soon changes take effect, and which requests count."""

import asyncio
import hashlib
import re
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve.access import database, keys
from serve.access import limits as limits_module
from serve.access.accounts import Accounts, TooManyKeys
from serve.access.holders import ALL, NUMBER
from serve.access.limits import (
    GIVE_BACK,
    LIMITS,
    LOOK_UP,
    TAKE,
    UNCHANGED,
    Allowance,
    Counters,
    LocalLimits,
    refusal,
)
from serve.access.watchlists import MOST, WatchlistFull, Watchlists
from serve.errors import CommandError, RateLimited
from tests.servers import NOON, Clock
from warehouse.record import sqlite

NOW, DAY = NOON, int(NOON - 43_200)
EMAIL = "reader@example.org"


# --- the format of a key


def test_a_key_is_the_prefix_and_forty_characters_and_no_two_are_alike() -> None:
    made = {keys.new_key() for _ in range(100)}
    assert len(made) == 100
    assert all(re.fullmatch(r"fds_live_[0-9A-Za-z]{40}", key) for key in made)
    assert all(keys.is_well_formed(key.encode()) for key in made)


@given(position=st.integers(9, 48), letter=st.sampled_from(keys.ALPHABET))
def test_one_wrong_letter_is_refused_without_a_look_up(position: int, letter: str) -> None:
    key = "fds_live_" + "0123456789" * 3 + "abcd"
    key += keys._checksum(key.removeprefix("fds_live_").encode())
    assert keys.is_well_formed(key.encode())
    changed = key[:position] + letter + key[position + 1 :]
    assert keys.is_well_formed(changed.encode()) == (changed == key)


@given(sent=st.binary())
def test_any_other_bytes_are_refused(sent: bytes) -> None:
    assert not keys.is_well_formed(sent)
    assert not keys.is_well_formed(b"fds_live_" + sent)


# --- accounts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "accounts.sqlite"


@pytest.fixture
def accounts(path: Path) -> Iterator[Accounts]:
    with closing(Accounts(path)) as opened:
        yield opened


def test_of_a_key_only_hash_prefix_and_last_four_are_stored(accounts: Accounts, path: Path) -> None:
    key = accounts.create_key(EMAIL, NOW)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint")
        stored = connection.execute("SELECT sha256, prefix, last_four FROM keys").fetchall()
    assert stored == [(hashlib.sha256(key.encode()).digest(), "fds_live_", key[-4:])]
    assert all(key[9:43].encode() not in file.read_bytes() for file in path.parent.iterdir())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_new_account_may_have_several_keys(accounts: Accounts) -> None:
    first, second = accounts.create_key(EMAIL, NOW), accounts.create_key(EMAIL.upper(), NOW + 1)
    listed = accounts.keys_of(EMAIL)
    assert [key.last_four for key in listed] == [first[-4:], second[-4:]]
    assert listed[0].as_dict() == {
        "id": listed[0].id,
        "prefix": "fds_live_",
        "last_four": first[-4:],
        "created_at": "2026-03-02T12:00:00Z",
        "last_used_at": None,
        "revoked_at": None,
    }


def test_an_account_has_at_most_ten_active_keys(accounts: Accounts) -> None:
    """A revoked key leaves its place to another one, and other accounts have their own."""
    for _ in range(10):
        accounts.create_key(EMAIL, NOW)
    with pytest.raises(TooManyKeys, match=f"has 10 active keys and can have no more; revoke one first.*{EMAIL}"):
        accounts.create_key(EMAIL, NOW)
    accounts.create_key("other@example.org", NOW)
    accounts.revoke_key(accounts.keys_of(EMAIL)[0].id, NOW)
    accounts.create_key(EMAIL, NOW)
    assert len(accounts.keys_of(EMAIL)) == 11


def test_a_watchlist_has_an_end(accounts: Accounts) -> None:
    """A company beyond the limit is refused; a company that is on the list may be added again."""
    accounts.create_key("reader@example.org", 0)
    watchlists = Watchlists(accounts)
    for number in range(MOST):
        watchlists.add("reader@example.org", f"{number:010}", 0)
    with pytest.raises(WatchlistFull, match=f"has {MOST} companies"):
        watchlists.add("reader@example.org", f"{MOST:010}", 0)
    watchlists.add("reader@example.org", f"{0:010}", 0)
    watchlists.remove("reader@example.org", f"{1:010}")
    assert len(watchlists.of("Reader@example.org")) == MOST - 1
    assert watchlists.of("other@example.org") == frozenset()


def test_a_key_that_is_revoked_again_keeps_its_time(accounts: Accounts) -> None:
    accounts.create_key(EMAIL, NOW)
    for at in (NOW, NOW + 60):
        accounts.revoke_key(accounts.keys_of(EMAIL)[0].id, at)
    assert accounts.keys_of(EMAIL)[0].revoked_at == "2026-03-02T12:00:00Z"


def test_readers_do_not_wait_for_a_writer(accounts: Accounts, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They wait neither for another process that writes nor for a thread of this process that waits for it."""
    monkeypatch.setattr(database, "WAIT", 3600.0)
    accounts.create_key(EMAIL, NOW)
    service = Accounts(path)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    waiting = threading.Thread(target=service.create_key, args=(EMAIL, NOW))
    waiting.start()
    while not service.database._writing.pool.checkedout():
        time.sleep(0.001)
    assert len(service.keys_of(EMAIL)) == 1
    assert service.day_counts(0) == {}
    blocker.execute("ROLLBACK")
    blocker.close()
    waiting.join()
    assert len(service.keys_of(EMAIL)) == 2
    service.close()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda accounts: accounts.keys_of("nobody@example.org"), r"there is no account 'nobody@example\.org'"),
        (lambda accounts: accounts.set_subscription("nobody@example.org", "active", NOW), "there is no account"),
        (lambda accounts: accounts.revoke_key("key_0", NOW), "no key has the id 'key_0'"),
        (lambda accounts: accounts.revoke_key("key_\udcff", NOW), "surrogates not allowed"),
        *(
            (lambda accounts, email=email: accounts.create_key(email, NOW), "is not an e-mail address")
            for email in ("", "reader", "@", "a b@example.org", "reader@example.org\n", "a@b@c", "a\udcff@b")
        ),
    ],
)
def test_unknown_and_malformed_accounts_and_keys_are_errors(
    accounts: Accounts, ask: Callable[[Accounts], object], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        ask(accounts)


def test_a_file_that_is_not_a_database_is_an_error(path: Path) -> None:
    path.write_text("this is no database, though it is long enough to be mistaken for one" * 20)
    with pytest.raises(CommandError, match=r"accounts\.sqlite: file is not a database"):
        Accounts(path)


@pytest.mark.parametrize(
    ("statement", "counts"),
    [
        ("UPDATE keys SET revoked_at = '2026-03-02T12:00:00Z'", True),
        ("DELETE FROM keys", True),
        ("UPDATE subscriptions SET status = 'active'", True),
        ("UPDATE keys SET last_used_at = '2026-03-02T12:00:00Z'", False),
        ("UPDATE accounts SET email = 'other@example.org'", False),
    ],
)
def test_what_ends_a_key_counts_as_a_change_whoever_writes_it(accounts: Accounts, statement: str, counts: bool) -> None:
    accounts.create_key(EMAIL, NOW)
    with accounts.database.writing() as connection:
        before = connection.scalar(NUMBER) or 0
        connection.exec_driver_sql(statement)
        assert ((connection.scalar(NUMBER) or 0) > before) == counts


def test_the_keys_that_were_used_last_are_the_first_to_be_read(accounts: Accounts) -> None:
    """A service with more keys than it reads at its start reads these; keys that were never used come last."""
    for key_id in ("key_never", "key_before", "key_last", "key_new"):
        accounts.create_key(EMAIL, NOW, key_id)
    accounts.note_uses({"key_before": NOW, "key_last": NOW + 61}, 60)
    with accounts.database.reading() as connection:
        assert [key_id for _, key_id, _ in connection.execute(ALL.limit(2))] == ["key_last", "key_before"]


def test_threads_and_processes_may_create_keys_at_once(path: Path) -> None:
    with closing(Accounts(path)) as one, closing(Accounts(path)) as other, ThreadPoolExecutor(10) as threads:
        made = threads.map(lambda each: each.create_key(EMAIL, NOW), [one, other] * 5)
        assert len({*made}) == len(one.keys_of(EMAIL)) == 10


# --- limits


def take(counters: Counters, now: float, key: str = "key") -> Allowance:
    used, refused = counters.add(key, now, TAKE)
    if refused:
        raise refusal(used, now)
    return Allowance(used, now)


def taken(counters: Counters, times: int, now: float, key: str = "key") -> None:
    for _ in range(times):
        take(counters, now, key)


def told(allowance: Allowance) -> tuple[int, int, int]:
    """Limit, remaining, reset: the headers of section 8."""
    headers = allowance.headers
    return tuple(int(headers[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset"))  # type: ignore[return-value]


def test_limits_are_those_of_the_specification() -> None:
    assert [(limit.requests, limit.window, limit.seconds) for limit in LIMITS] == [
        (60, "minute", 60),
        (10_000, "day", 86_400),
    ]


def test_sixty_requests_per_minute() -> None:
    counters = Counters()
    assert told(take(counters, NOW + 59.9)) == (60, 59, NOW + 60)
    taken(counters, 59, NOW + 59.9)
    with pytest.raises(RateLimited, match="60 requests per minute") as raised:
        take(counters, NOW + 59.9)
    assert raised.value.headers
    assert raised.value.headers["Retry-After"] == "1"
    assert told(take(counters, NOW + 60)) == (60, 59, NOW + 120)


def test_ten_thousand_requests_per_day() -> None:
    """The headers show the day's window once it has fewer requests left; refused requests do not count."""
    counters, midnight = Counters(), NOW - 43_200
    for minute in range(166):
        taken(counters, 60, midnight + 60 * minute)
        with pytest.raises(RateLimited, match="per minute"):
            take(counters, midnight + 60 * minute)
    assert told(take(counters, midnight + 60 * 166)) == (10_000, 39, midnight + 86_400)
    taken(counters, 39, midnight + 60 * 166)
    with pytest.raises(RateLimited, match="10000 requests per day") as raised:
        take(counters, midnight + 60 * 167)
    assert raised.value.headers
    assert raised.value.headers["Retry-After"] == str(86_400 - 60 * 167)
    assert told(take(counters, midnight + 86_400))[1] == 59


def test_if_both_windows_are_used_up_the_wait_is_for_the_day() -> None:
    with pytest.raises(RateLimited, match="per day"):
        raise refusal((60, 10_000), NOW)


def test_the_ietf_headers_show_every_window() -> None:
    """draft-ietf-httpapi-ratelimit-headers: a policy has quota and window, a limit its remainder and reset."""
    counters = Counters()
    taken(counters, 2, NOW + 30)
    headers = take(counters, NOW + 30).headers
    assert headers["RateLimit-Policy"] == '"minute";q=60;w=60, "day";q=10000;w=86400'
    assert headers["RateLimit"] == '"minute";r=57;t=30, "day";r=9997;t=43170'
    taken(counters, 57, NOW + 30)
    with pytest.raises(RateLimited) as raised:
        take(counters, NOW + 30)
    assert raised.value.headers
    assert raised.value.headers["RateLimit"] == '"minute";r=0;t=30, "day";r=9940;t=43170'


def test_a_request_that_is_given_back_counts_in_the_minute_only() -> None:
    """Each key has its own limits."""
    counters = Counters()
    taken(counters, 60, NOW, "another")
    taken(counters, 3, NOW)
    assert counters.add("key", NOW, GIVE_BACK) == ((3, 2), False)
    assert take(counters, NOW + 60).used == (1, 3)
    assert counters.add("key", NOW + 60, UNCHANGED) == ((2, 3), False)


def test_a_304_is_refused_too_when_the_day_is_used_up() -> None:
    counters = Counters()
    counters.set("key", NOW, (0, 10_000))
    assert counters.add("key", NOW, UNCHANGED) == ((0, 10_000), True)
    assert counters.add("key", NOW, LOOK_UP) == ((0, 10_000), False)


def take_in_one_run(path: Path, clock: Clock, times: int, *, killed: bool = False) -> list[tuple[int, ...]]:
    """The responses of a process to a number of requests; a killed process has stored its counts a moment before."""

    async def run() -> list[tuple[int, ...]]:
        accounts = Accounts(path)
        limits = LocalLimits(accounts, clock)
        running = limits.running()
        await running.__aenter__()
        used = [(await limits.take("key_1", clock.now)).used for _ in range(times)]
        if killed:
            while not accounts.day_counts(DAY):
                await asyncio.sleep(0.01)
        else:
            await limits.take("key_1", clock.now, GIVE_BACK)
            await running.__aexit__(None, None, None)
        accounts.close()
        return used

    return asyncio.run(run())


def test_the_days_count_survives_a_restart_and_ends_with_the_day(path: Path) -> None:
    clock = Clock()
    assert take_in_one_run(path, clock, 3) == [(1, 1), (2, 2), (3, 3)]
    assert take_in_one_run(path, clock, 1) == [(1, 3)]
    clock.now += 86_400
    assert take_in_one_run(path, clock, 1) == [(1, 1)]


def test_the_days_count_survives_a_killed_process(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "KEPT_EVERY", 0.01)
    take_in_one_run(path, Clock(), 5, killed=True)
    assert take_in_one_run(path, Clock(), 1) == [(1, 6)]


def test_the_counts_of_many_keys_are_stored_little_by_little(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys that wait longest come first; all are stored at the end."""
    monkeypatch.setattr(limits_module, "KEPT_EVERY", 3600)

    async def run() -> None:
        limits = LocalLimits(accounts, Clock())
        async with limits.running():
            for key in ("a", "b", "c", "a"):
                await limits.take(key, NOW)
            await limits._keep(2)
            assert accounts.day_counts(DAY) == {"a": 2, "b": 1}
            await limits.take("b", NOW)
            await limits._keep(1)
            assert accounts.day_counts(DAY) == {"a": 2, "b": 1, "c": 1}
            for key in ("a", "c"):
                await limits.take(key, NOW)
        assert accounts.day_counts(DAY) == {"a": 3, "b": 2, "c": 2}

    asyncio.run(run())


def test_counts_that_are_being_stored_at_the_end_do_not_replace_newer_ones(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process was asked to end while a slow write of older counts ran."""
    monkeypatch.setattr(limits_module, "KEPT_EVERY", 0)
    begun, store = threading.Event(), accounts.add_day_counts

    def slowly(day: int, counts: Mapping[str, int]) -> None:
        if not begun.is_set():
            begun.set()
            time.sleep(0.2)
        store(day, counts)

    async def run() -> None:
        limits = LocalLimits(accounts, Clock())
        async with limits.running():
            await limits.take("key_1", NOW)
            await asyncio.to_thread(begun.wait)
            await limits.take("key_1", NOW)

    monkeypatch.setattr(accounts, "add_day_counts", slowly)
    asyncio.run(run())  # ends with the last thread
    assert accounts.day_counts(DAY) == {"key_1": 2}


def test_the_counts_of_two_processes_are_added_up(accounts: Accounts) -> None:
    """Neither process replaces the count of the other; returned requests are subtracted; each day begins anew."""
    clock = Clock()

    async def run() -> None:
        one, other = LocalLimits(accounts, clock), LocalLimits(accounts, clock)
        async with one.running(), other.running():
            for limits, times in ((one, 5), (other, 3), (one, 1)):
                for _ in range(times):
                    await limits.take("key_1", NOW)
                await limits._keep()
            assert accounts.day_counts(DAY) == {"key_1": 9}
            await one.take("key_1", NOW, GIVE_BACK)
            await one._keep()
            assert accounts.day_counts(DAY) == {"key_1": 8}
            clock.now += 86_400
            await one.take("key_1", clock.now)
            await one._keep()
            await other.take("key_1", clock.now)
        assert accounts.day_counts(DAY) == {"key_1": 8}
        assert accounts.day_counts(DAY + 86_400) == {"key_1": 2}

    asyncio.run(run())


@pytest.mark.parametrize("days", [1, 400, -1, -400])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_clock_that_was_wrong_for_a_while_loses_no_count(path: Path, days: int, restarts: bool) -> None:
    """Whether the service runs on or is started again with either clock; requests counted meanwhile belong to
    another day.
    """
    clock = Clock()
    moments = (NOW, NOW + days * 86_400, NOW)

    async def run(moments: tuple[float, ...]) -> None:
        with closing(Accounts(path)) as accounts:
            clock.now = moments[0]
            limits = LocalLimits(accounts, clock)
            async with limits.running():
                for moment in moments:
                    clock.now = moment
                    await limits.take("key_1", moment)
                    await limits.take("key_2", NOW)
                    await limits._keep()
                used.append(await limits.used_today("key_1", clock.now))

    used: list[int] = []
    for each in [(moment,) for moment in moments] if restarts else [moments]:
        asyncio.run(run(each))
    with closing(Accounts(path)) as accounts:
        assert accounts.day_counts(DAY) == {"key_1": 2, "key_2": 3}
        assert accounts.day_counts(DAY + days * 86_400) == {"key_1": 1}
    assert used[-1] == 2


def test_the_days_before_go(accounts: Accounts) -> None:
    """Except the last two, and any days that a clock in the future has left."""
    clock = Clock()

    async def run() -> None:
        for number in (0, 400, 399, 1, 2, 3):
            clock.now = NOW + number * 86_400
            async with LocalLimits(accounts, clock).running() as _:
                accounts.add_day_counts(int(clock.now - 43_200), {"key_1": number + 1})

    asyncio.run(run())
    assert [number for number in range(401) if accounts.day_counts(DAY + number * 86_400)] == [3, 399, 400]


def test_counts_that_cannot_be_stored_fail_no_request_and_are_stored_later(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        limits = LocalLimits(accounts, Clock())
        with monkeypatch.context() as patched:
            patched.setattr(accounts, "add_day_counts", Mock(side_effect=CommandError("disk is full")))
            await limits.take("key_1", NOW)
            await limits._keep()
        await limits._keep()
        await limits._keep()

    asyncio.run(run())
    assert "the day's counts were not stored: disk is full" in caplog.text
    assert accounts.day_counts(DAY) == {"key_1": 1}


def test_a_changed_state_of_a_subscription_is_damage(accounts: Accounts, tmp_path: Path) -> None:
    """SQLite leaves out the conditions of tables when it opens a file to read only."""
    accounts.create_key(EMAIL, NOW)
    accounts.set_subscription(EMAIL, "active", NOW)
    sqlite.copy(tmp_path / "accounts.sqlite", tmp_path / "copy.sqlite")
    content = (tmp_path / "copy.sqlite").read_bytes()
    assert content.count(b"active2") == 1
    (tmp_path / "copy.sqlite").write_bytes(content.replace(b"active2", b"actiVe2"))
    with closing(Accounts(tmp_path / "copy.sqlite")) as damaged, pytest.raises(CommandError, match="CHECK constraint"):
        damaged.check()
