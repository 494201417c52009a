"""Sign-in links, sessions and the secret that signs cookies, in the accounts database.

Belongs here: creating and using one-time links, starting and ending sessions. Only hashes of links and session ids are
stored, so that the database does not reveal them. Does not: cookies and forms (site.sessions), accounts (accounts).
"""

import hashlib
import secrets
from dataclasses import dataclass

from sqlalchemy import delete, select

from serve.access import tables
from serve.access.accounts import Accounts, Status

LINK_LIVES = 30 * 60  # seconds that a link is valid
SESSION_LIVES = 14 * 86_400  # seconds from sign-in to the end of a session, however often it is used
RANDOM = 32  # bytes of a token; it cannot be guessed, so a plain hash is sufficient


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in account and its subscription; `since` is when its status last changed, ISO 8601 in UTC."""

    email: str
    status: Status
    since: str

    @property
    def is_active(self) -> bool:
        """Whether the subscription is active."""
        return self.status == "active"


class SignIns:
    """The sign-in links and sessions of accounts, safe for threads and processes."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._database = accounts.database
        self._insert = accounts.database.system.insert

    def invite(self, email: str, now: float) -> str:
        """Create the token of a sign-in link; create the account, with an inactive subscription, if it does not exist.

        An account has at most one valid link: a new one replaces an unused one.

        Returns:
            The token. It is not stored and cannot be returned again.

        Raises:
            DatabaseError: the database cannot be written.
            CommandError: `email` is not an e-mail address.
        """
        token = secrets.token_urlsafe(RANDOM)
        with self._database.writing() as connection:
            account = self._accounts.found_or_created(connection, email, now)
            link = {"sha256": _digest(token), "expires_at": now + LINK_LIVES}
            connection.execute(
                self._insert(tables.sign_in_links)
                .values(account_id=account, **link)
                .on_conflict_do_update(index_elements=[tables.sign_in_links.c.account_id], set_=link)
            )
        return token

    def invited(self, token: str, now: float) -> str | None:
        """The e-mail address of a link's account, without using the link; None if it is forged, used or expired."""
        links = tables.sign_in_links
        wanted = (
            select(tables.accounts.c.email)
            .join(links, links.c.account_id == tables.accounts.c.id)
            .where(links.c.sha256 == _digest(token), links.c.expires_at > now)
        )
        with self._database.reading() as connection:
            return connection.scalar(wanted)

    def sign_in(self, token: str, now: float) -> str | None:
        """Use a link and start a session; if two requests use a link at the same time, only one succeeds.

        Returns:
            A new session id; None if the link is forged, used or expired.
        """
        if self.invited(token, now) is None:
            return None  # without a write transaction, so that guesses do not block other writers
        links, sessions = tables.sign_in_links, tables.sessions
        with self._database.writing() as connection:
            account = connection.scalar(
                delete(links).where(links.c.sha256 == _digest(token)).returning(links.c.account_id)
            )
            if account is None:
                return None
            session_id = secrets.token_urlsafe(RANDOM)
            connection.execute(delete(sessions).where(sessions.c.expires_at <= now))
            connection.execute(
                self._insert(sessions).values(
                    sha256=_digest(session_id), account_id=account, expires_at=now + SESSION_LIVES
                )
            )
        return session_id

    def session(self, session_id: str, now: float) -> Session | None:
        """The account of a session, with the current status of its subscription; None if the session has ended."""
        accounts, sessions, subscriptions = tables.accounts, tables.sessions, tables.subscriptions
        wanted = (
            select(accounts.c.email, subscriptions.c.status, subscriptions.c.changed_at)
            .join(sessions, sessions.c.account_id == accounts.c.id)
            .join(subscriptions, subscriptions.c.account_id == accounts.c.id)
            .where(sessions.c.sha256 == _digest(session_id), sessions.c.expires_at > now)
        )
        with self._database.reading() as connection:
            found = connection.execute(wanted).one_or_none()
        return Session(*found) if found else None

    def sign_out(self, session_id: str) -> None:
        """End a session on the server, so that copies of its cookie stop working too."""
        with self._database.writing() as connection:
            connection.execute(delete(tables.sessions).where(tables.sessions.c.sha256 == _digest(session_id)))

    def secret(self) -> bytes:
        """The secret that signs cookies and forms: created once, shared by all processes, kept across restarts."""
        own = tables.secrets
        with self._database.writing() as connection:
            connection.execute(
                self._insert(own).values(name="pages", value=secrets.token_bytes(RANDOM)).on_conflict_do_nothing()
            )
            return bytes(connection.execute(select(own.c.value).where(own.c.name == "pages")).scalar_one())


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
