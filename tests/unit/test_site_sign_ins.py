"""Links and sessions: used once, for a while, by one; nothing in the file that could be used."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from serve.access.accounts import Accounts
from serve.access.sign_ins import LINK_LIVES, SESSION_LIVES, Session, SignIns
from serve.errors import CommandError

NOW = 1_772_452_800.0  # 2026-03-02T12:00:00Z
EMAIL = "reader@example.org"


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Accounts]:
    opened = Accounts(tmp_path / "accounts.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def sign_ins(accounts: Accounts) -> SignIns:
    return SignIns(accounts)


def signed_in(sign_ins: SignIns, now: float = NOW) -> str:
    session_id = sign_ins.sign_in(sign_ins.invite(EMAIL, now), now)
    assert session_id
    return session_id


def test_a_link_signs_in_whom_it_was_made_for_with_the_subscription_as_it_is(
    sign_ins: SignIns, accounts: Accounts
) -> None:
    """An account that the invitation made has an inactive subscription; a change is seen at once."""
    session_id = signed_in(sign_ins)
    session = sign_ins.session(session_id, NOW)
    assert session == Session(EMAIL, "inactive", "2026-03-02T12:00:00Z")
    assert not session.is_active
    accounts.set_subscription(EMAIL, "active", NOW + 60)
    session = sign_ins.session(session_id, NOW + 60)
    assert session == Session(EMAIL, "active", "2026-03-02T12:01:00Z")
    assert session.is_active


def test_an_invitation_leaves_an_account_as_it_is(sign_ins: SignIns, accounts: Accounts) -> None:
    """Its subscription stays active, whatever the case of the letters."""
    accounts.create_key(EMAIL, NOW)
    accounts.set_subscription(EMAIL, "active", NOW)
    token = sign_ins.invite(EMAIL.upper(), NOW)
    assert sign_ins.invited(token, NOW) == EMAIL
    session = sign_ins.session(sign_ins.sign_in(token, NOW) or "", NOW)
    assert session
    assert session.is_active


def test_a_link_works_once_and_looking_at_it_does_not_use_it_up(sign_ins: SignIns) -> None:
    token = sign_ins.invite(EMAIL, NOW)
    assert [sign_ins.invited(token, NOW) for _ in range(3)] == [EMAIL] * 3
    assert sign_ins.sign_in(token, NOW)
    assert sign_ins.invited(token, NOW) is None
    assert sign_ins.sign_in(token, NOW) is None


def test_a_link_ends_after_half_an_hour(sign_ins: SignIns) -> None:
    assert LINK_LIVES == 1800
    token = sign_ins.invite(EMAIL, NOW)
    assert sign_ins.invited(token, NOW + LINK_LIVES - 1) == EMAIL
    assert sign_ins.invited(token, NOW + LINK_LIVES) is None
    assert sign_ins.sign_in(token, NOW + LINK_LIVES) is None


def test_a_new_link_ends_the_one_before_of_this_account_only(sign_ins: SignIns) -> None:
    first, other = sign_ins.invite(EMAIL, NOW), sign_ins.invite("other@example.org", NOW)
    second = sign_ins.invite(EMAIL, NOW)
    assert [sign_ins.invited(token, NOW) for token in (first, second, other)] == [None, EMAIL, "other@example.org"]


def test_of_many_that_use_one_link_at_once_one_is_signed_in(sign_ins: SignIns, tmp_path: Path) -> None:
    """In several processes, too: each thread has the file open for itself."""
    token, given = sign_ins.invite(EMAIL, NOW), []
    opened = [Accounts(tmp_path / "accounts.sqlite") for _ in range(8)]
    threads = [threading.Thread(target=lambda a=each: given.append(SignIns(a).sign_in(token, NOW))) for each in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in opened:
        each.close()
    assert len(given) == 8
    assert len([session_id for session_id in given if session_id]) == 1


def test_a_session_lasts_two_weeks_and_not_longer_and_no_two_are_alike(sign_ins: SignIns) -> None:
    first, second = signed_in(sign_ins), signed_in(sign_ins)
    assert first != second
    assert sign_ins.session(first, NOW + SESSION_LIVES - 1)
    assert sign_ins.session(first, NOW + SESSION_LIVES) is None


def test_signing_out_ends_this_session_in_every_process_and_no_other(sign_ins: SignIns, tmp_path: Path) -> None:
    first, second = signed_in(sign_ins), signed_in(sign_ins)
    worker = Accounts(tmp_path / "accounts.sqlite")
    SignIns(worker).sign_out(first)
    worker.close()
    assert sign_ins.session(first, NOW) is None
    assert sign_ins.session(second, NOW)


def test_sessions_that_have_ended_are_forgotten_when_somebody_signs_in(sign_ins: SignIns, accounts: Accounts) -> None:
    signed_in(sign_ins)
    signed_in(sign_ins, NOW + SESSION_LIVES)
    with accounts.reading() as connection:
        assert connection.execute("SELECT count(*) FROM sessions").fetchall() == [(1,)]


def test_nothing_in_the_file_can_be_used_to_sign_in(sign_ins: SignIns, tmp_path: Path) -> None:
    """Neither the token of a link nor the id of a session is in it."""
    session_id, token = signed_in(sign_ins), sign_ins.invite(EMAIL, NOW)
    with sqlite3.connect(tmp_path / "accounts.sqlite") as connection:
        connection.execute("PRAGMA wal_checkpoint")
    connection.close()
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert EMAIL.encode() in held
    assert token.encode() not in held
    assert session_id.encode() not in held


def test_the_secret_is_the_same_for_all_processes_and_after_a_restart(sign_ins: SignIns, tmp_path: Path) -> None:
    other = Accounts(tmp_path / "accounts.sqlite")
    assert SignIns(other).secret() == sign_ins.secret()
    other.close()
    assert len(sign_ins.secret()) == 32


def test_what_is_no_e_mail_address_is_not_invited(sign_ins: SignIns) -> None:
    with pytest.raises(CommandError, match="is not an e-mail address"):
        sign_ins.invite("reader", NOW)
