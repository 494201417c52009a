"""Sign-in links and sessions: links work once and for a limited time, and the database reveals neither."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from serve.access.accounts import Accounts
from serve.access.sign_ins import LINK_LIVES, SESSION_LIVES, Session, SignIns
from serve.errors import CommandError

NOW = 1_772_452_800.0  # 2026-03-02T12:00:00Z
EMAIL = "reader@example.org"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "accounts.sqlite"


@pytest.fixture
def accounts(path: Path) -> Iterator[Accounts]:
    with closing(Accounts(path)) as opened:
        yield opened


@pytest.fixture
def sign_ins(accounts: Accounts) -> SignIns:
    return SignIns(accounts)


def signed_in(sign_ins: SignIns, now: float = NOW) -> str:
    session_id = sign_ins.sign_in(sign_ins.invite(EMAIL, now), now)
    assert session_id
    return session_id


def test_a_link_signs_in_its_account_with_the_current_subscription(sign_ins: SignIns, accounts: Accounts) -> None:
    """An account created by the invitation has an inactive subscription; a change is visible at once."""
    session_id = signed_in(sign_ins)
    before = sign_ins.session(session_id, NOW)
    accounts.set_subscription(EMAIL, "active", NOW + 60)
    after = sign_ins.session(session_id, NOW + 60)
    assert before == Session(EMAIL, "inactive", "2026-03-02T12:00:00Z")
    assert after == Session(EMAIL, "active", "2026-03-02T12:01:00Z")
    assert (before.is_active, after.is_active) == (False, True)


def test_an_invitation_does_not_change_an_account(sign_ins: SignIns, accounts: Accounts) -> None:
    """Its subscription stays active; the case of the address does not matter."""
    accounts.create_key(EMAIL, NOW)
    accounts.set_subscription(EMAIL, "active", NOW)
    token = sign_ins.invite(EMAIL.upper(), NOW)
    assert sign_ins.invited(token, NOW) == EMAIL
    session = sign_ins.session(sign_ins.sign_in(token, NOW) or "", NOW)
    assert session
    assert session.is_active


def test_a_link_ends_after_half_an_hour(sign_ins: SignIns) -> None:
    token = sign_ins.invite(EMAIL, NOW)
    assert [sign_ins.invited(token, NOW + after) for after in (1799, 1800)] == [EMAIL, None]
    assert sign_ins.sign_in(token, NOW + LINK_LIVES) is None


def test_a_new_link_replaces_the_previous_one_of_this_account_only(sign_ins: SignIns) -> None:
    first, other = sign_ins.invite(EMAIL, NOW), sign_ins.invite("other@example.org", NOW)
    second = sign_ins.invite(EMAIL, NOW)
    assert [sign_ins.invited(token, NOW) for token in (first, second, other)] == [None, EMAIL, "other@example.org"]


def test_concurrent_uses_of_a_link_sign_in_once(sign_ins: SignIns, path: Path) -> None:
    """Across processes, too: each thread opens the database itself."""
    token = sign_ins.invite(EMAIL, NOW)
    with ExitStack() as held, ThreadPoolExecutor(8) as pool:
        opened = [SignIns(held.enter_context(closing(Accounts(path)))) for _ in range(8)]
        given = [*pool.map(lambda each: each.sign_in(token, NOW), opened)]
    assert len([session_id for session_id in given if session_id]) == 1


def test_a_session_lasts_two_weeks_and_not_longer_and_no_two_are_alike(sign_ins: SignIns) -> None:
    first, second = signed_in(sign_ins), signed_in(sign_ins)
    assert first != second
    held = [sign_ins.session(first, NOW + after) is not None for after in (SESSION_LIVES - 1, SESSION_LIVES)]
    assert held == [True, False]


def test_signing_out_ends_this_session_in_every_process_and_no_other(sign_ins: SignIns, path: Path) -> None:
    first, second = signed_in(sign_ins), signed_in(sign_ins)
    with closing(Accounts(path)) as worker:
        SignIns(worker).sign_out(first)
    assert sign_ins.session(first, NOW) is None
    assert sign_ins.session(second, NOW)


def test_ended_sessions_are_deleted_at_the_next_sign_in(sign_ins: SignIns, accounts: Accounts) -> None:
    signed_in(sign_ins)
    signed_in(sign_ins, NOW + SESSION_LIVES)
    with accounts.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM sessions").all() == [(1,)]


def test_the_database_has_nothing_that_signs_in(sign_ins: SignIns, tmp_path: Path) -> None:
    """It contains neither the token of a link nor the id of a session."""
    session_id, token = signed_in(sign_ins), sign_ins.invite(EMAIL, NOW)
    with closing(sqlite3.connect(tmp_path / "accounts.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint")
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert [text for text in (EMAIL, token, session_id) if text.encode() in held] == [EMAIL]


def test_the_secret_is_the_same_for_all_processes_and_after_a_restart(sign_ins: SignIns, path: Path) -> None:
    secret = sign_ins.secret()
    with closing(Accounts(path)) as other:
        assert SignIns(other).secret() == sign_ins.secret() == secret
    assert len(secret) == 32


def test_a_malformed_e_mail_address_is_not_invited(sign_ins: SignIns) -> None:
    with pytest.raises(CommandError, match="is not an e-mail address"):
        sign_ins.invite("reader", NOW)
