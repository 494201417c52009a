"""The look-up of keys: it never waits, changes take effect within seconds, and uses of keys are stored."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from serve.access import database, keys
from serve.access.accounts import Accounts
from serve.access.database import DatabaseError
from serve.access.holders import READ_EVERY, FileHolders, Holder, Holders
from serve.shared import server_holders
from serve.shared.server_holders import ServerHolders
from tests.servers import NOON, Clock, until
from warehouse.record.sqlite import copy

EMAIL = "reader@example.org"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "accounts.sqlite"


@pytest.fixture
def accounts(path: Path) -> Iterator[Accounts]:
    """The accounts of a service, with one key of an active subscription."""
    with closing(Accounts(path)) as opened:
        yield opened


@pytest.fixture
def command(path: Path, accounts: Accounts) -> Iterator[Accounts]:
    """The same accounts as another process opens them."""
    with closing(Accounts(path)) as opened:
        yield opened


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def holders(accounts: Accounts, clock: Clock) -> Iterator[Holders]:
    with closing(FileHolders(accounts, clock)) as made:
        yield made


@pytest.fixture
def key(accounts: Accounts) -> bytes:
    key = accounts.create_key(EMAIL, NOON).encode()
    accounts.set_subscription(EMAIL, "active", NOON)
    return key


def test_a_key_has_a_holder_whose_subscription_is_active_or_not(
    holders: Holders, accounts: Accounts, key: bytes
) -> None:
    other = accounts.create_key("other@example.org", NOON).encode()
    assert holders.find_by_key(key) == Holder(accounts.keys_of(EMAIL)[0].id, is_active=True)
    assert holders.find_by_key(other) == Holder(accounts.keys_of("other@example.org")[0].id, is_active=False)
    assert holders.find_by_key(keys.new_key().encode()) is None


def test_a_file_that_takes_the_place_of_the_accounts_is_read(
    holders: Holders, accounts: Accounts, key: bytes, clock: Clock, path: Path, tmp_path: Path
) -> None:
    """As after a restored backup: keys revoked since then have to be revoked by hand in the new file."""
    assert holders.find_by_key(key)
    restored = tmp_path / "restored"
    copy(path, restored)
    restored.rename(path)
    later = Accounts(path)
    later.revoke_key(accounts.keys_of(EMAIL)[0].id, NOON)
    other = later.create_key("other@example.org", NOON).encode()
    later.close()
    clock.now += READ_EVERY
    assert holders.find_by_key(key) is None
    assert holders.find_by_key(other)
    assert accounts.keys_of("other@example.org")
    assert not holders.outdated


def test_accounts_that_were_removed_are_noticed_and_not_made_anew(
    holders: Holders, key: bytes, clock: Clock, path: Path
) -> None:
    known = holders.find_by_key(key)
    path.rename(path.with_suffix(".away"))
    clock.now += READ_EVERY
    assert holders.find_by_key(key) == known
    assert holders.outdated
    assert not path.exists()
    path.with_suffix(".away").rename(path)
    clock.now += READ_EVERY
    assert holders.find_by_key(key)
    assert not holders.outdated


def test_a_known_key_is_found_and_a_malformed_one_refused_without_the_database(holders: Holders, key: bytes) -> None:
    known = holders.find_by_key(key)
    holders.close()
    assert holders.find_by_key(key) is known
    for malformed in (b"", key[:-1], key + b"\n", key.swapcase(), b"\xff" * 49):
        assert holders.find_by_key(malformed) is None
    with pytest.raises(DatabaseError):
        holders.find_by_key(keys.new_key().encode())


def test_changes_of_another_process_take_effect_within_seconds(
    holders: Holders, command: Accounts, clock: Clock, key: bytes
) -> None:
    """A contract of five seconds; and at once for a key that is new."""
    assert READ_EVERY < 5
    assert holders.find_by_key(key)
    assert holders.find_by_key(command.create_key(EMAIL, NOON).encode())
    command.set_subscription(EMAIL, "inactive", NOON)
    clock.now += READ_EVERY
    assert holders.find_by_key(key) == Holder(command.keys_of(EMAIL)[0].id, is_active=False)
    command.revoke_key(command.keys_of(EMAIL)[0].id, NOON)
    clock.now -= READ_EVERY / 2
    assert holders.find_by_key(key) is None, "a clock that goes back ends what is known, too"


def test_a_change_of_the_same_process_takes_effect_at_once(holders: Holders, accounts: Accounts, key: bytes) -> None:
    """Changes that end no key leave known keys known."""
    known = holders.find_by_key(key)
    accounts.create_key(EMAIL, NOON)
    accounts.add_day_counts(0, {"key_1": 1})
    assert known
    assert holders.find_by_key(key) is known
    accounts.revoke_key(accounts.keys_of(EMAIL)[0].id, NOON)
    assert holders.find_by_key(key) is None


def test_keys_stay_known_while_the_database_cannot_be_read(
    holders: Holders, path: Path, clock: Clock, key: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    assert holders.find_by_key(key)
    with sqlite3.connect(path) as broken:
        broken.execute("ALTER TABLE changes RENAME TO gone")
        for _ in range(3):
            clock.now += READ_EVERY
            assert holders.find_by_key(key)
            assert holders.outdated
        broken.execute("ALTER TABLE gone RENAME TO changes")
    broken.close()
    clock.now += READ_EVERY
    assert holders.find_by_key(key)
    assert not holders.outdated
    assert caplog.text.count("no such table: changes") == 1


def test_the_last_use_is_stored_about_once_a_minute(
    holders: Holders, accounts: Accounts, clock: Clock, key: bytes
) -> None:
    """By a task in the background, and at the end."""
    uses = {0: "12:00:00", 30: "12:00:00", 61: "12:01:01", 200: "12:03:20"}

    def last_use() -> str | None:
        return accounts.keys_of(EMAIL)[0].last_used_at

    async def run() -> None:
        async with holders.running():
            for seconds, stored in uses.items():
                clock.now = NOON + seconds
                assert holders.find_by_key(key)
                await until(lambda stored=stored: last_use() == f"2026-03-02T{stored}Z")
            clock.now = NOON + 300
            assert holders.find_by_key(key)
        assert last_use() == "2026-03-02T12:05:00Z"

    asyncio.run(run())


def test_the_uses_of_many_keys_are_stored_little_by_little(
    holders: Holders, accounts: Accounts, key: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serve.access.holders.STORED_EVERY", 0)
    monkeypatch.setattr("serve.access.holders.STORED_AT_ONCE", 2)
    written: list[int] = []
    write = holders._write
    monkeypatch.setattr(holders, "_write", lambda used: (written.append(len(used)), write(used)))
    others = [accounts.create_key(EMAIL, NOON).encode() for _ in range(4)]

    async def run() -> None:
        async with holders.running():
            assert all(map(holders.find_by_key, [key, *others]))
            await until(lambda: sum(written) == 5)

    asyncio.run(run())
    assert written == [2, 2, 1]
    assert all(each.last_used_at for each in accounts.keys_of(EMAIL))


def test_a_use_that_cannot_be_stored_is_stored_later(
    path: Path, clock: Clock, key: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(database, "WAIT", 0.0)
    service = Accounts(path)
    blocker = sqlite3.connect(path, isolation_level=None)

    async def run() -> None:
        holders = FileHolders(service, clock)
        async with holders.running():
            blocker.execute("BEGIN EXCLUSIVE")
            assert holders.find_by_key(key)
            await until(lambda: "last_used_at of 1 keys was not stored" in caplog.text)
            blocker.execute("ROLLBACK")
        holders.close()

    asyncio.run(run())
    assert service.keys_of(EMAIL)[0].last_used_at == "2026-03-02T12:00:00Z"
    blocker.close()
    service.close()


def test_keys_that_there_are_when_the_service_starts_are_not_looked_up(
    holders: Holders, accounts: Accounts, key: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with holders.running():
            monkeypatch.setattr(holders, "_look_up", "no SQL")
            found = holders.find_by_key(key)
            assert found
            assert found.is_active
            with pytest.raises(DatabaseError):
                holders.find_by_key(keys.new_key().encode())

    asyncio.run(run())


def test_keys_stay_known_while_no_thread_can_be_started_and_changes_apply_later(
    accounts: Accounts, clock: Clock, key: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task that reads the changes of a server does not end with the error."""
    [held] = accounts.keys_of(EMAIL)

    class NoMore:
        def __init__(self, **_: object) -> None: ...
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    async def act() -> None:
        holders = ServerHolders(accounts, clock)
        async with holders.running():
            with monkeypatch.context() as patched:
                patched.setattr(server_holders.threading, "Thread", NoMore)
                await until(lambda: holders.outdated)
                assert holders.find_by_key(key) == Holder(held.id, is_active=True)
                with pytest.raises(DatabaseError, match="can't start new thread"):
                    await holders.look_up(keys.new_key().encode())
            await until(lambda: not holders.outdated)
            await asyncio.to_thread(accounts.revoke_key, held.id, NOON)
            await until(lambda: holders.find_by_key(key) is None)

    asyncio.run(act())
