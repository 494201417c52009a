"""Sign-in links, sessions and the secret that signs cookies, in the accounts database.

Belongs here: creating and using one-time links, starting and ending sessions. Only hashes of links and session ids are
stored, so that the file does not reveal them. Does not: cookies and forms (site.sessions), accounts (accounts).
"""

import hashlib
import secrets
import sqlite3
from dataclasses import dataclass

from serve.access.accounts import Accounts, Status

SCHEMA = (
    """
    CREATE TABLE IF NOT EXISTS sign_in_links (
      account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
      sha256 BLOB NOT NULL UNIQUE,
      expires_at REAL NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS sessions (
      sha256 BLOB PRIMARY KEY,
      account_id INTEGER NOT NULL REFERENCES accounts (id),
      expires_at REAL NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE IF NOT EXISTS secrets (
      name TEXT PRIMARY KEY,
      value BLOB NOT NULL
    ) STRICT
    """,
)
LINK_LIVES = 30 * 60  # seconds that a link is valid
SESSION_LIVES = 14 * 86_400  # seconds from sign-in to the end of a session, which use does not extend
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
        """Create the tables if they do not exist.

        Raises:
            CommandError: the file cannot be written.
        """
        self._accounts = accounts
        with accounts.transaction() as connection:
            for table in SCHEMA:
                connection.execute(table)

    def invite(self, email: str, now: float) -> str:
        """Create the token of a sign-in link; create the account, with an inactive subscription, if it does not exist.

        An account has at most one valid link: a new one replaces an unused one.

        Returns:
            The token. It is not stored and cannot be returned again.

        Raises:
            CommandError: `email` is not an e-mail address, or the file cannot be written.
        """
        token = secrets.token_urlsafe(RANDOM)
        with self._accounts.transaction() as connection:
            account = self._accounts.made(email, now)
            connection.execute(
                "INSERT OR REPLACE INTO sign_in_links (account_id, sha256, expires_at) VALUES (?, ?, ?)",
                (account, _digest(token), now + LINK_LIVES),
            )
        return token

    def invited(self, token: str, now: float) -> str | None:
        """The e-mail address that a link signs in, without using the link; None if it is forged, used or expired."""
        with self._accounts.reading() as connection:
            found = connection.execute(
                "SELECT email FROM sign_in_links JOIN accounts ON accounts.id = account_id "
                "WHERE sha256 = ? AND expires_at > ?",
                (_digest(token), now),
            ).fetchone()
        return found[0] if found else None

    def sign_in(self, token: str, now: float) -> str | None:
        """Use a link and start a session; if two requests use a link at the same time, only one succeeds.

        Returns:
            A new session id; None if the link is forged, used or expired.
        """
        if self.invited(token, now) is None:
            return None  # without a write transaction, so that guesses do not block other writers
        with self._accounts.transaction() as connection:
            link = connection.execute(
                "DELETE FROM sign_in_links WHERE sha256 = ? RETURNING account_id", (_digest(token),)
            ).fetchone()
            if link is None:
                return None
            session_id = secrets.token_urlsafe(RANDOM)
            connection.execute("DELETE FROM sessions WHERE expires_at <= ?", (now,))
            connection.execute(
                "INSERT INTO sessions (sha256, account_id, expires_at) VALUES (?, ?, ?)",
                (_digest(session_id), link[0], now + SESSION_LIVES),
            )
        return session_id

    def session(self, session_id: str, now: float) -> Session | None:
        """The account of a session, with the current status of its subscription; None if the session has ended."""
        with self._accounts.reading() as connection:
            found = connection.execute(
                "SELECT email, status, changed_at FROM sessions JOIN accounts ON accounts.id = account_id "
                "JOIN subscriptions USING (account_id) WHERE sha256 = ? AND expires_at > ?",
                (_digest(session_id), now),
            ).fetchone()
        return Session(*found) if found else None

    def sign_out(self, session_id: str) -> None:
        """End a session on the server, so that copies of its cookie stop working too."""
        with self._accounts.transaction() as connection:
            connection.execute("DELETE FROM sessions WHERE sha256 = ?", (_digest(session_id),))

    def secret(self) -> bytes:
        """The secret that signs cookies and forms: created once, shared by all processes, kept across restarts."""
        with self._accounts.transaction() as connection:
            connection.execute(
                "INSERT INTO secrets (name, value) VALUES ('pages', ?) ON CONFLICT DO NOTHING",
                (secrets.token_bytes(RANDOM),),
            )
            return _only(connection.execute("SELECT value FROM secrets WHERE name = 'pages'"))


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _only(cursor: sqlite3.Cursor) -> bytes:
    [(value,)] = cursor.fetchall()
    return bytes(value)
