"""The watchlists of accounts: the companies that a reader follows.

Belongs here: reading and changing them. Does not: which companies there are (warehouse), the form and the pages
(site.watchlist).

A company is stored by its CIK, which stays when its symbol changes.
"""

from sqlalchemy import delete, func, select

from serve.access import tables
from serve.access.accounts import Accounts
from serve.clock import timestamp
from serve.errors import CommandError

MOST = 200
"""The largest number of companies on a watchlist."""


class WatchlistFull(CommandError):
    """The watchlist has the largest allowed number of companies."""


class Watchlists:
    """The watchlists in the accounts database, safe for threads and processes."""

    def __init__(self, accounts: Accounts) -> None:
        self._database = accounts.database
        self._insert = accounts.database.system.insert

    def of(self, email: str) -> frozenset[str]:
        """The CIKs on the watchlist of an account.

        Raises:
            DatabaseError: the database cannot be read.
        """
        own, of = tables.watched, tables.accounts
        wanted = select(own.c.cik).join(of, own.c.account_id == of.c.id).where(of.c.email == email.lower())
        with self._database.reading() as connection:
            return frozenset(connection.execute(wanted).scalars())

    def add(self, email: str, cik: str, now: float) -> None:
        """Put a company on the watchlist of an account; no change if it is already there.

        Args:
            email: e-mail address of the account.
            cik: the company's CIK.
            now: Unix time.

        Raises:
            WatchlistFull: the watchlist has MOST companies.
            DatabaseError: the database cannot be written.
        """
        own, of = tables.watched, tables.accounts
        with self._database.writing() as connection:
            # locked, so that two simultaneous requests do not exceed the limit together
            account = connection.execute(
                select(of.c.id).where(of.c.email == email.lower()).with_for_update()
            ).scalar_one()
            connection.execute(
                self._insert(own)
                .values(account_id=account, cik=cik, added_at=timestamp(now))
                .on_conflict_do_nothing(index_elements=[own.c.account_id, own.c.cik])
            )
            count = connection.execute(select(func.count()).where(own.c.account_id == account)).scalar_one()
            if count > MOST:
                raise WatchlistFull(f"the watchlist of account {email!r} has {MOST} companies and can have no more")

    def remove(self, email: str, cik: str) -> None:
        """Take a company off the watchlist of an account; no change if it is not there.

        Raises:
            DatabaseError: the database cannot be written.
        """
        own, of = tables.watched, tables.accounts
        account = select(of.c.id).where(of.c.email == email.lower()).scalar_subquery()
        with self._database.writing() as connection:
            connection.execute(delete(own).where(own.c.account_id == account, own.c.cik == cik))
