"""Who is signed in to the pages: one-time links, sessions and the secret that signs cookies, in the file of accounts.

Belongs here: making a link, using it up, beginning and ending sessions; what is kept, a look into the file does not
suffice to use. Does not: cookies and forms (site.sessions), accounts and keys themselves (accounts).
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
LINK_LIVES = 30 * 60  # seconds from the command that prints a link to its end
SESSION_LIVES = 14 * 86_400  # seconds from signing in to the end of a session, used or not
RANDOM = 32  # bytes of a token: nothing can be guessed, so a plain hash at rest is enough


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in; `since` is when the subscription became what it is, ISO 8601 in UTC."""

    email: str
    status: Status
    since: str

    @property
    def is_active(self) -> bool:
        """Whether the subscription is."""
        return self.status == "active"


class SignIns:
    """The links and sessions of accounts; threads and processes may share them."""

    def __init__(self, accounts: Accounts) -> None:
        """Make room for them in the file.

        Raises:
            CommandError: it cannot be written.
        """
        self._accounts = accounts
        with accounts.transaction() as connection:
            for table in SCHEMA:
                connection.execute(table)

    def invite(self, email: str, now: float) -> str:
        """Make a link's token for an account, and the account, with an inactive subscription, where there is none.

        A link that was made before and not used ends: one account has one link at most.

        Returns:
            The token: the only time that it is seen.

        Raises:
            CommandError: `email` is none, or the file cannot be written.
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
        """Whom a link signs in, by e-mail, without using it up; None where it is forged, used or too old."""
        with self._accounts.reading() as connection:
            found = connection.execute(
                "SELECT email FROM sign_in_links JOIN accounts ON accounts.id = account_id "
                "WHERE sha256 = ? AND expires_at > ?",
                (_digest(token), now),
            ).fetchone()
        return found[0] if found else None

    def sign_in(self, token: str, now: float) -> str | None:
        """Use a link up and begin a session; of two that use one link at once, one is signed in.

        Returns:
            The id of a session, which nobody has known before; None where the link is forged, used or too old.
        """
        if self.invited(token, now) is None:
            return None  # whoever guesses keeps nobody else from writing
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
        """Who is signed in by a session, as the subscription is now; None where it has ended."""
        with self._accounts.reading() as connection:
            found = connection.execute(
                "SELECT email, status, changed_at FROM sessions JOIN accounts ON accounts.id = account_id "
                "JOIN subscriptions USING (account_id) WHERE sha256 = ? AND expires_at > ?",
                (_digest(session_id), now),
            ).fetchone()
        return Session(*found) if found else None

    def sign_out(self, session_id: str) -> None:
        """End a session, wherever its cookie has got to."""
        with self._accounts.transaction() as connection:
            connection.execute("DELETE FROM sessions WHERE sha256 = ?", (_digest(session_id),))

    def secret(self) -> bytes:
        """What cookies and forms are signed with: made once, the same for all processes, kept over restarts."""
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
