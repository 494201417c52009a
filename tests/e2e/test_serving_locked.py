"""A process that writes to the accounts delays no request that only reads them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from serve.access import database
from serve.access.accounts import Accounts
from serve.access.keys import new_key
from serve.access.sign_ins import SignIns
from serve.settings import Settings
from tests import builds
from tests.browsers import Browser
from tests.servers import NOON, Clock, active_key, in_process, wait_until

EMAIL = "reader@example.org"


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Hold the lock of a writer, as a command that was stopped in the middle of a transaction."""
    with closing(sqlite3.connect(home / "accounts.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        yield
        writer.execute("ROLLBACK")


def last_use(accounts: Accounts) -> str | None:
    return max((key.last_used_at or "" for key in accounts.keys_of(EMAIL)), default=None)


def test_requests_are_answered_while_the_accounts_are_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a known key, a valid key that was never seen, a wrong key, and a session; the uses are stored afterwards.

    A request that waited for the lock would wait for an hour.
    """
    monkeypatch.setattr(database, "WAIT", 3600.0)
    builds.small(tmp_path / "published")
    known, unseen = active_key(tmp_path), active_key(tmp_path)
    clock = Clock()
    with in_process(Settings(tmp_path, "http://data.example.org/v1"), clock) as address, Browser(address) as browser:
        accounts = Accounts(tmp_path / "accounts.sqlite")
        browser.sign_in(f"/sign-in?token={SignIns(accounts).invite(EMAIL, NOON)}")

        def status(key: str) -> int:
            return httpx.get(f"{address}/v1/companies", headers={"X-Api-Key": key}, timeout=30).status_code

        assert status(known) == 200
        with locked(tmp_path):
            clock.now += 120
            assert [status(key) for key in (known, unseen, new_key())] == [200, 200, 401]
            assert httpx.get(f"{address}/v1/status").json()["data"]["status"] == "up"
            assert "API keys" in browser.get("/profile").text
        wait_until(lambda: last_use(accounts) == "2026-03-02T12:02:00Z")
        accounts.close()
