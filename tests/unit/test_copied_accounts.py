"""`fundamentals accounts copy`: into the database in use, and back into a file. Keys and sign-ins work with the copy.

Here both are files of SQLite; tests/scale runs the same tests with PostgreSQL as the database in use.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

import fundamentals
from serve.access import copying, tables
from serve.access.accounts import Accounts
from serve.access.sign_ins import SignIns
from serve.access.watchlists import Watchlists
from serve.settings import Settings
from tests import builds
from tests.browsers import Browser
from tests.servers import NOON, Clock, in_process
from tests.unit.test_database import EARLIER

EMAIL, OTHER = "reader@example.org", "other@example.org"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The database in use, which is empty."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home" / "accounts.sqlite"


@pytest.fixture
def in_use(path: Path | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands use it."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FUNDAMENTALS_ACCOUNTS_URL", "" if isinstance(path, Path) else path)


@pytest.fixture
def file(tmp_path: Path, in_use: None) -> Path:
    """A file with accounts; their numbers have a gap, and their keys have another order than their ids."""
    file = tmp_path / "before.sqlite"
    with closing(Accounts(file)) as accounts:
        sign_ins = SignIns(accounts)
        accounts.create_key("gone@example.org", NOON, "key_0")
        for number in (9, 1, 5):
            accounts.create_key(OTHER, NOON + number, f"key_{number}")
        accounts.create_key(EMAIL, NOON, "key_7")
        accounts.set_subscription(EMAIL, "active", NOON)
        accounts.revoke_key("key_1", NOON + 60)
        accounts.add_day_counts(0, {"key_9": 41, "key_7": 2**40})
        accounts.note_uses({"key_9": NOON + 1}, 60)
        sign_ins.sign_in(sign_ins.invite(EMAIL, NOON), NOON)
        sign_ins.invite(OTHER, NOON)
        sign_ins.secret()
        Watchlists(accounts).add(OTHER, "0000320193", NOON)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript("""
            DELETE FROM keys WHERE id = 'key_0';
            DELETE FROM subscriptions WHERE account_id = 1;
            DELETE FROM accounts WHERE id = 1;
        """)
    return file


@pytest.fixture
def used(path: Path | str, in_use: None) -> Iterator[Accounts]:
    """The accounts of the database in use, for a look after the command."""
    with closing(Accounts(path)) as accounts:
        yield accounts


def content(accounts: Accounts) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables that are copied, with the address in place of an account's number; keys in their order."""
    found, own = {}, tables.accounts.c
    with accounts.database.reading() as connection:
        emails: dict[int, str] = dict(map(tuple, connection.execute(select(own.id, own.email))))
        for table in copying.COPIED:
            order = tables.keys.c.rowid if table is tables.keys else list(table.columns)[-1]
            rows = [dict(row) for row in connection.execute(select(table).order_by(order)).mappings()]
            numbers = {"rowid"} | ({"id"} if table is tables.accounts else set())
            found[table.name] = [
                {name: emails[value] if name == "account_id" else value for name, value in row.items()}
                for row in [{name: value for name, value in row.items() if name not in numbers} for row in rows]
            ]
    return found


def content_of(place: Path | str) -> dict[str, list[dict[str, Any]]]:
    with closing(Accounts(place)) as accounts:
        return content(accounts)


def fails(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Check that copying fails with one line; return it."""
    assert fundamentals.main(["accounts", "copy", *map(str, arguments)]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    return printed.err


@pytest.mark.usefixtures("in_use")
def test_keys_cookies_and_counts_are_valid_in_the_copy(path: Path | str, tmp_path: Path) -> None:
    """A session that began before stays valid; unused links work; a revoked key stays revoked."""
    (tmp_path / "before").mkdir()
    for home in ("before", "home"):
        builds.small(tmp_path / home / "published")
    public = "http://data.example.org/v1"
    file, clock = tmp_path / "before" / "accounts.sqlite", Clock()
    with closing(Accounts(file)) as accounts:
        keys = [accounts.create_key(EMAIL, NOON, name) for name in ("key_1", "key_2")]
        accounts.set_subscription(EMAIL, "active", NOON)
        accounts.revoke_key("key_2", NOON)
        link = SignIns(accounts).invite(EMAIL, NOON)

    def ask(address: str) -> list[httpx.Response]:
        return [httpx.get(f"{address}/v1/companies", headers={"X-Api-Key": key}) for key in keys]

    with in_process(Settings(tmp_path / "before", public), clock) as address, Browser(address) as browser:
        assert [response.status_code for response in ask(address)] == [200, 401]
        browser.sign_in(f"/sign-in?token={link}")
        with closing(Accounts(file)) as accounts:
            link = SignIns(accounts).invite(OTHER, NOON)
        cookies = dict(browser.client.cookies)
    assert fundamentals.main(["accounts", "copy", "--from", str(file)]) == 0
    settings = Settings(tmp_path / "home", public, accounts_url=None if isinstance(path, Path) else path)
    clock.now += 61
    with in_process(settings, clock) as address, Browser(address) as browser, Browser(address) as other:
        assert [response.status_code for response in ask(address)] == [200, 401]
        browser.client.cookies.update(cookies)
        profile = browser.get("/profile")
        assert profile.status_code == 200
        assert EMAIL in profile.text
        assert "<dt>Requests today</dt><dd>2</dd>" in profile.text
        assert OTHER in other.sign_in(f"/sign-in?token={link}").text


def test_every_row_of_every_table_is_copied_and_counted(
    file: Path, used: Accounts, capsys: pytest.CaptureFixture[str]
) -> None:
    before = content_of(file)
    assert all(before.values()), "no table is empty"
    assert fundamentals.main(["accounts", "copy", "--from", str(file)]) == 0
    assert content(used) == before == content_of(file)
    assert [key.id for key in used.keys_of(OTHER)] == ["key_9", "key_1", "key_5"]
    said = "accounts 2, daily_requests 2, secrets 1, keys 4, sessions 1, sign_in_links 1, subscriptions 2, watched 1"
    assert capsys.readouterr().out == f"copied from {file} to {used.database.name}: {said}\n"


def test_the_copy_numbers_new_accounts_and_keys_by_itself(file: Path, used: Accounts) -> None:
    assert fundamentals.main(["accounts", "copy", "--from", str(file)]) == 0
    for email in ("a@example.org", "b@example.org", OTHER):
        used.create_key(email, NOON, f"key_of_{email}")
    assert [key.id for key in used.keys_of(OTHER)][-1] == f"key_of_{OTHER}"
    with used.database.reading() as connection:
        assert len({*connection.execute(select(tables.accounts.c.id)).scalars()}) == 4


@pytest.mark.parametrize("rows", [1, 2, 3, copying.AT_ONCE])
def test_rows_are_copied_in_parts_and_back_into_a_new_file(
    file: Path, used: Accounts, tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "AT_ONCE", rows)
    back = tmp_path / "back.sqlite"
    for way in (("--from", file), ("--to", back)):
        assert fundamentals.main(["accounts", "copy", *map(str, way)]) == 0
    assert content_of(back) == content(used) == content_of(file)
    assert back.stat().st_mode & 0o077 == 0


def test_a_database_that_is_not_empty_is_refused_and_stays(
    file: Path, used: Accounts, capsys: pytest.CaptureFixture[str]
) -> None:
    """A service that has started has made a secret, which it goes on to use."""
    SignIns(used).secret()
    before = content(used)
    assert "is not empty (secrets 1), and nothing was copied" in fails(capsys, "--from", file)
    used.create_key(EMAIL, NOON)
    assert "is not empty (accounts 1, secrets 1, keys 1, subscriptions 1)" in fails(capsys, "--from", file)
    assert content(used) == before | {name: content(used)[name] for name in ("accounts", "keys", "subscriptions")}
    assert "before.sqlite is not empty" in fails(capsys, "--to", file)


def test_what_fails_midway_leaves_the_target_empty(
    file: Path, used: Accounts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last table has a row too much here."""
    rows_of = copying._rows

    def twice(connection: Any, table: Any, numbers: dict[int, int]) -> Iterator[list[dict[str, Any]]]:
        for rows in rows_of(connection, table, numbers):
            yield rows * 2 if table is copying.COPIED[-1] else rows

    monkeypatch.setattr(copying, "_rows", twice)
    assert used.database.name in fails(capsys, "--from", file)
    assert not any(content(used).values())


def test_the_copy_is_of_one_moment(file: Path, used: Accounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are written to the source meanwhile are not in it."""
    assert fundamentals.main(["accounts", "copy", "--from", str(file)]) == 0
    before, numbers = content(used), copying._numbers

    def meanwhile(*connections: Any) -> dict[int, int]:
        used.create_key("late@example.org", NOON)
        return numbers(*connections)

    monkeypatch.setattr(copying, "_numbers", meanwhile)
    assert fundamentals.main(["accounts", "copy", "--to", str(tmp_path / "back.sqlite")]) == 0
    assert content_of(tmp_path / "back.sqlite") == before
    assert len(content(used)["accounts"]) == 3


def test_a_file_of_an_earlier_release_is_copied_and_not_changed(tmp_path: Path, used: Accounts) -> None:
    earlier = tmp_path / "earlier.sqlite"
    with closing(sqlite3.connect(earlier)) as connection:
        connection.executescript(EARLIER)
    before = earlier.read_bytes()
    assert fundamentals.main(["accounts", "copy", "--from", str(earlier)]) == 0
    assert earlier.read_bytes() == before
    assert [key.last_four for key in used.keys_of(EMAIL)] == ["abcd"]
    assert used.day_counts(1_772_409_600) == {"key_1": 41}


def test_a_source_that_has_no_accounts_is_refused_and_not_changed(
    tmp_path: Path, used: Accounts, capsys: pytest.CaptureFixture[str]
) -> None:
    missing, text, other = (tmp_path / name for name in ("missing", "text", "other.sqlite"))
    text.write_text("no database of SQLite" * 99)
    with closing(sqlite3.connect(other)) as connection:
        connection.executescript("CREATE TABLE runs (id INTEGER)")
    before = other.read_bytes()
    assert f"there is no file {missing}" in fails(capsys, "--from", missing)
    assert "file is not a database" in fails(capsys, "--from", text)
    assert "is not a database of accounts: it has no table accounts" in fails(capsys, "--from", other)
    assert (missing.exists(), other.read_bytes()) == (False, before)
    assert not any(content(used).values())


def test_damaged_accounts_are_not_copied(file: Path, used: Accounts, capsys: pytest.CaptureFixture[str]) -> None:
    """A key that was revoked could be valid in the copy."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM accounts WHERE email = ?", (EMAIL,))
        connection.commit()
    assert "refers to a missing row of table accounts; the file is damaged" in fails(capsys, "--from", file)
    assert not any(content(used).values())
