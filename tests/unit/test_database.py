"""The database of the accounts: files of earlier releases, and addresses that are not valid."""

import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

from serve.access import database
from serve.access.accounts import Accounts
from serve.access.database import DatabaseError
from serve.access.tables import WATCHED, metadata
from serve.cli import health
from serve.errors import CommandError
from serve.settings import Settings, from_environment
from warehouse.contract.findings import DAMAGE

NOW = 1_772_452_800.0  # 2026-03-02T12:00:00Z
EMAIL = "reader@example.org"
EARLIER = """
PRAGMA journal_mode = WAL;
CREATE TABLE accounts (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL) STRICT;
CREATE TABLE subscriptions (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
  status TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
  changed_at TEXT NOT NULL
) STRICT;
CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  sha256 BLOB NOT NULL UNIQUE,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  created_at TEXT NOT NULL,
  last_used_at TEXT,
  revoked_at TEXT
) STRICT;
CREATE TABLE day_counts (key_id TEXT PRIMARY KEY, day INTEGER NOT NULL, requests INTEGER NOT NULL) STRICT;
INSERT INTO accounts VALUES (7, 'reader@example.org', '2025-01-01T00:00:00Z');
INSERT INTO subscriptions VALUES (7, 'active', '2025-01-01T00:00:00Z');
INSERT INTO keys VALUES ('key_1', 7, x'00', 'fds_live_', 'abcd', '2025-01-01T00:00:00Z', NULL, NULL);
INSERT INTO day_counts VALUES ('key_1', 1772409600, 41);
"""


def definitions(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """The columns of each table, with types, conditions on null and place in the key; and the indexes."""
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: [
                *[row[1:3] + row[5:] for row in connection.execute(f"PRAGMA table_info({name})")],
                *sorted(row[2:4] for row in connection.execute(f"PRAGMA index_list({name})")),
                *[row[2:5] for row in connection.execute(f"PRAGMA foreign_key_list({name})")],
                *[row[5:] for row in connection.execute(f"PRAGMA table_list({name})")],
            ]
            for name in names
        }


def test_a_file_of_an_earlier_release_keeps_its_content_and_gets_what_it_lacks(tmp_path: Path) -> None:
    """It has the same tables as a new file."""
    earlier, new = tmp_path / "earlier.sqlite", tmp_path / "new.sqlite"
    with closing(sqlite3.connect(earlier)) as connection:
        connection.executescript(EARLIER)
    with closing(Accounts(new)), closing(Accounts(earlier)) as accounts:
        accounts.check()
        assert accounts.database.missing() == set()
        assert accounts.day_counts(int(NOW - 43_200)) == {"key_1": 41}
        accounts.revoke_key("key_1", NOW)
        key = accounts.create_key(EMAIL, NOW)
        assert [each.last_four for each in accounts.keys_of(EMAIL)] == ["abcd", key[-4:]]
        with accounts.database.reading() as connection:
            assert connection.exec_driver_sql("SELECT number FROM changes").all() == [(1,)]
    assert definitions(earlier) == definitions(new)
    assert {*metadata.tables} == {*definitions(new)}


def test_a_file_that_is_complete_is_opened_while_another_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT", 0.0)
    Accounts(tmp_path / "accounts.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "accounts.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with closing(Accounts(tmp_path / "accounts.sqlite")) as accounts:
            assert accounts.day_counts(0) == {}
            with pytest.raises(DatabaseError, match="database is locked"):
                accounts.create_key(EMAIL, NOW)
        writer.execute("ROLLBACK")


def test_a_file_may_be_made_by_several_at_once(tmp_path: Path) -> None:
    """For example a service and a command that start in a new home: each waits for the other."""
    for number in range(5):
        path, together = tmp_path / f"{number}.sqlite", Barrier(6)

        def key(email: str, path: Path = path, together: Barrier = together) -> str:
            together.wait()
            with closing(Accounts(path)) as accounts:
                return accounts.create_key(email, NOW)

        with ThreadPoolExecutor(6) as threads:
            assert len({*threads.map(key, [f"{place}@example.org" for place in range(6)])}) == 6


@pytest.mark.parametrize("name", WATCHED)
def test_a_trigger_that_is_gone_is_made_again(tmp_path: Path, name: str) -> None:
    """Without it, no service would notice a revocation."""
    Accounts(tmp_path / "accounts.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "accounts.sqlite")) as connection:
        connection.execute(f"DROP TRIGGER {name}")
    with closing(Accounts(tmp_path / "accounts.sqlite")) as accounts:
        assert accounts.database.missing() == set()


SECRET = "hidden"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (SECRET, "is not understood, expected postgresql+psycopg://USER:PASSWORD@HOST:PORT/DATABASE"),
        (f"postgresql://user:{SECRET}@127.0.0.1:{SECRET}/accounts", "is not understood"),
        (f"postgresql+psycopg://user:p@{SECRET}@127.0.0.1/accounts", "with @ : / # ? % in the password as %40"),
        (f"mysql://user:{SECRET}@127.0.0.1/accounts", "is of the kind 'mysql', expected postgresql+psycopg://"),
        (f"postgresql+asyncpg://user:{SECRET}@127.0.0.1/accounts", "is of the kind 'postgresql+asyncpg'"),
        ("sqlite:///accounts.sqlite", "is of the kind 'sqlite'"),
    ],
)
def test_an_address_that_is_none_is_said_without_what_may_be_a_password(
    address: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandError) as raised:
        Accounts(address)
    assert str(raised.value).startswith("FUNDAMENTALS_ACCOUNTS_URL ")
    assert said in str(raised.value)
    assert SECRET not in str(raised.value)
    monkeypatch.setenv("FUNDAMENTALS_ACCOUNTS_URL", address)
    [finding] = health.accounts()
    assert (finding.state, finding.text) == (DAMAGE, str(raised.value))


def test_a_missing_driver_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CommandError, match="package psycopg, which is not installed; run `make scale`"):
        Accounts(f"postgresql+psycopg://user:{SECRET}@127.0.0.1/accounts")


def test_the_address_is_a_setting_that_is_not_shown() -> None:
    address = f"postgresql+psycopg://user:{SECRET}@127.0.0.1/accounts"
    settings = from_environment(environment={"FUNDAMENTALS_ACCOUNTS_URL": address})
    assert settings.accounts == address
    assert SECRET not in repr(settings)
    assert from_environment(environment={"FUNDAMENTALS_ACCOUNTS_URL": ""}).accounts == Settings().accounts
