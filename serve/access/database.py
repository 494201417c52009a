"""The database of the accounts: a SQLite file in the home, or PostgreSQL.

Belongs here: connections, transactions, their errors, and all differences between the two systems. Does not: tables
(tables), reading and writing their rows (accounts, sign_ins, holders).

The file of SQLite is in WAL mode: a process that writes delays other writers, but no reader.
"""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    Engine,
    Table,
    TableValuedAlias,
    bindparam,
    create_engine,
    event,
    func,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from serve.access.tables import COUNT, EARLIER, MOVED, WATCHED, metadata
from serve.errors import CommandError
from warehouse.record import sqlite

WAIT = 5.0  # seconds to wait for another process to finish writing, or for a free connection
CONNECTIONS = 10  # to PostgreSQL, of one process
LONGEST = 3600.0  # seconds to wait for the other threads of this process
DRIVERS = ("postgresql", "postgresql+psycopg")
FORM = "postgresql+psycopg://USER:PASSWORD@HOST:PORT/DATABASE"
MISUNDERSTOOD = f"is not understood, expected {FORM}, with @ : / # ? % in the password as %40 %3A %2F %23 %3F %25"
DEADLINES = {"connect_timeout": 3, "tcp_user_timeout": 5000, "keepalives_idle": 10, "application_name": "fundamentals"}
"""Parameters of connections to PostgreSQL, in seconds and milliseconds; parameters in the address take precedence."""
IN_USE = "hashtext('a service uses the accounts of fundamentals')"
"""The advisory lock of PostgreSQL that running services share; a command that replaces files takes it alone."""
DAMAGED = "stop the service, and run `fundamentals restore PATH --accounts` with the path of a backup"
"""The advice for a damaged file."""
ERRORS = (SQLAlchemyError, *sqlite.ERRORS, OSError, UnicodeEncodeError)
"""Errors of a database; the last one: an argument of a command has bytes that are not UTF-8."""


class DatabaseError(CommandError):
    """The database cannot be read or written."""


class System(NamedTuple):
    """The SQL that differs between database systems.

    dialect: the module whose `insert` supports ON CONFLICT; it is imported when it is needed.
    begin: the first statement of a transaction that writes.
    snapshot: the first statement of a transaction that reads all tables in the state of one moment.
    alone: lets only one process at a time create tables.
    shared: takes the lock IN_USE for a service, if the system has it.
    names: lists the existing tables and triggers.
    triggers: create the triggers of WATCHED, unless they exist.
    elements: the function that returns the elements of a JSON list as rows.
    """

    dialect: str
    begin: str
    snapshot: str
    alone: str
    shared: str
    names: str
    triggers: Sequence[str]
    elements: Callable[..., Any]

    def insert(self, table: Table) -> Any:
        """An INSERT into a table that supports ON CONFLICT."""
        return import_module(self.dialect).insert(table)


SYSTEMS = {
    "sqlite": System(
        dialect="sqlalchemy.dialects.sqlite",
        begin="BEGIN IMMEDIATE",
        snapshot="BEGIN",
        alone="SELECT 1",  # BEGIN IMMEDIATE is enough
        shared="SELECT 1",  # a service locks a file of its home
        names="SELECT name FROM sqlite_master",
        triggers=[
            f"CREATE TRIGGER IF NOT EXISTS {name} AFTER {change} BEGIN {COUNT}; END" for name, change in WATCHED.items()
        ],
        elements=func.json_each,
    ),
    "postgresql": System(
        dialect="sqlalchemy.dialects.postgresql",
        begin=f"SET LOCAL statement_timeout = '{WAIT:.0f}s'",
        snapshot="SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        alone="SELECT pg_advisory_xact_lock(hashtext('accounts of fundamentals'))",
        shared=f"SELECT pg_try_advisory_lock_shared({IN_USE})",
        names="SELECT tablename FROM pg_tables WHERE schemaname = current_schema() UNION ALL "
        "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid "
        "JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = current_schema()",
        triggers=[
            "CREATE OR REPLACE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN {COUNT}; RETURN NULL; END $$",
            *[
                f"CREATE OR REPLACE TRIGGER {name} AFTER {change} EXECUTE FUNCTION count_change()"
                for name, change in WATCHED.items()
            ],
        ],
        elements=func.json_array_elements,
    ),
}


@dataclass
class Database:
    """The connections of a process to the database; safe for threads, and other processes may use it too.

    Attributes:
        name: its name in messages; without a password.
        system: the SQL of its database system.
        path: the file; None for PostgreSQL.
        transactions: number of transactions of this object that wrote.
        is_away: true while the service knows that PostgreSQL does not answer; then other requests do not wait for it.
    """

    name: str
    system: System
    path: Path | None
    _reading: Engine
    _writing: Engine
    _advice: str
    _password: str = field(default="", repr=False)
    transactions: int = field(default=0, init=False)
    is_away: bool = field(default=False, init=False)
    _inode: tuple[int, int] = field(default=(0, 0), init=False)

    def missing(self) -> set[str]:
        """The missing tables and triggers.

        Raises:
            DatabaseError: the database cannot be read.
        """
        with self.reading() as connection:
            return {*metadata.tables, *WATCHED} - self._names(connection)

    def prepare(self) -> None:
        """Create the missing tables and triggers.

        Raises:
            DatabaseError: they cannot be read or created.
        """
        if not self.missing():
            return  # without a transaction, because another process may be writing
        with self.writing() as connection:
            connection.exec_driver_sql(self.system.alone)
            metadata.create_all(connection)
            for statement in (*self.system.triggers, *(MOVED if EARLIER.name in self._names(connection) else ())):
                connection.exec_driver_sql(statement)

    def check(self) -> None:
        """Check the whole database if it is a file; a database server checks its own files.

        Raises:
            DatabaseError: it is damaged.
        """
        with self.errors():
            said = sqlite.damage(self.path, refers=True) if self.path else ""
        if said:
            raise DatabaseError(f"{self.path}: {said}; the file is damaged: {DAMAGED}")

    @contextmanager
    def reading(self, *, again: bool = False) -> Iterator[Connection]:
        """A connection for reading statements, which do not wait for processes that write.

        Args:
            again: connect although the database is known to be away.

        Raises:
            DatabaseError: the database cannot be read; raised at once while it is away.
        """
        if self.is_away and not again:
            raise self._away()
        with self.errors(), self._reading.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection in a transaction, which is rolled back on an exception.

        Raises:
            DatabaseError: the database cannot be read or written; raised at once while it is away.
        """
        if self.is_away:
            raise self._away()
        with self.errors(), self._writing.begin() as connection:
            connection.exec_driver_sql(self.system.begin)
            yield connection
        self.transactions += 1

    def in_use(self) -> Connection:
        """A lasting connection to PostgreSQL that marks the accounts as used by a service, until it is invalidated.

        Raises:
            DatabaseError: the server does not answer, or a backup is being restored.
        """
        with self.errors():
            connection = self._reading.connect().execution_options(isolation_level="AUTOCOMMIT")
            if connection.scalar(text(self.system.shared)):
                return connection
            connection.invalidate()
        raise DatabaseError(f"{self.name}: a backup is being restored; the service goes on when that has ended")

    @contextmanager
    def unused(self) -> Iterator[None]:
        """Keep services from using the accounts in PostgreSQL until the block ends.

        Raises:
            DatabaseError: the server does not answer, or a service on any machine uses them.
        """
        with self.errors(), self._reading.connect() as connection:
            if not connection.scalar(text(f"SELECT pg_try_advisory_xact_lock({IN_USE})")):
                raise DatabaseError(f"{self.name} is used by a service; stop all services, and restore then")
            yield

    def is_replaced(self) -> bool:
        """Whether the file was replaced since the last call; if so, the connections of this object are renewed.

        Raises:
            DatabaseError: the file does not exist any more.
        """
        with self.errors():
            status = self.path.stat() if self.path else None
        inode = (status.st_dev, status.st_ino) if status else (0, 0)
        if inode == self._inode:
            return False
        self._inode = inode
        self.close()
        return True

    def file(self, wait: float = 0) -> sqlite3.Connection:
        """A new connection to the file; a missing file is not created.

        Args:
            wait: seconds to wait for other processes; 0 for the event loop.

        Raises:
            sqlite3.Error: the file cannot be opened.
        """
        return sqlite3.connect(_address(self.path), wait, isolation_level=None, check_same_thread=False, uri=True)

    def close(self) -> None:
        """Close all connections."""
        self._reading.dispose()
        self._writing.dispose()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise the errors of the database as DatabaseError, in one line with advice.

        Raises:
            DatabaseError: the database cannot be used.
        """
        try:
            yield
        except ERRORS as error:
            cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
            said = sqlite.in_one_line(cause)
            if self._password:
                said = said.replace(self._password, "***")
            damaged = getattr(cause, "sqlite_errorcode", None) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
            is_damaged = damaged or isinstance(cause, UnicodeDecodeError)
            advice = f"the file is damaged: {DAMAGED}" if is_damaged else self._advice
            raise DatabaseError(f"{self.name}: {said}; {advice}") from error

    def _names(self, connection: Connection) -> set[str]:
        """The existing tables and triggers."""
        return set(connection.exec_driver_sql(self.system.names).scalars())

    def _away(self) -> DatabaseError:
        return DatabaseError(f"{self.name} does not answer; {self._advice}")


def elements(system: System, name: str) -> TableValuedAlias:
    """SQL: the elements of a JSON list in parameter `name`, as rows with the column `value`."""
    listed = system.elements(bindparam(name, type_=JSON))
    return listed.table_valued(Column("value", JSON), name="listed")  # type: ignore[no-any-return]


def opened(place: Path | str) -> Database:
    """Open the database in a file, which is created if it does not exist, or at an address; create missing tables.

    Raises:
        DatabaseError: it cannot be opened, or its tables cannot be created.
        CommandError: the address is not one of PostgreSQL, or its driver is not installed.
    """
    database = _in_file(place) if isinstance(place, Path) else at(place)
    with contextlib.ExitStack() as until_here:
        until_here.callback(database.close)
        database.prepare()
        until_here.pop_all()
    return database


def existing(place: Path | str) -> Database:
    """Open the database in an existing file, or at an address, without creating anything.

    Raises:
        CommandError: there is no such file, the address is not one of PostgreSQL, or its driver is not installed.
    """
    if not isinstance(place, Path):
        return at(place)
    if not place.is_file():
        raise CommandError(f"there is no file {place}; name the accounts.sqlite of a home or of a backup")
    return _of_file(place)


def _of_file(path: Path) -> Database:
    advice = "check that FUNDAMENTALS_HOME is right and the file writable"
    return Database(str(path), SYSTEMS["sqlite"], path, _file_engine(path), _file_engine(path), advice)


def _in_file(path: Path) -> Database:
    database = _of_file(path)
    with database.errors():
        if not path.exists():
            _make(path)
        with closing(database.file(WAIT)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # a file made elsewhere may have another mode
    return database


def _make(path: Path) -> None:
    """Make an empty file in WAL mode, unless another process or thread makes it first.

    The file gets its name only when it is complete. Otherwise processes that change its mode at the same time would get
    an error from SQLite without waiting, and opening and closing the file directly would release all locks of the
    process on it.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        new = Path(folder, path.name)
        new.touch(mode=0o600)
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        with contextlib.suppress(FileExistsError):
            os.link(new, path)


def _address(path: Path | None) -> str:
    """The URI that SQLite opens: only an existing file, so that no empty file replaces lost accounts."""
    return f"{path.absolute().as_uri()}?mode=rw" if path else ""


def _file_engine(path: Path) -> Engine:
    # only `writing` starts transactions, all other statements are committed by themselves; threads take turns, so that
    # no thread gets an error because another one wrote first
    engine = create_engine(
        URL.create("sqlite", database=_address(path), query={"uri": "true"}),
        connect_args={"timeout": WAIT, "isolation_level": None, "check_same_thread": False},
        pool_size=1,
        max_overflow=0,
        pool_timeout=LONGEST,
        hide_parameters=True,
    )
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA foreign_keys = ON"))
    return engine


def at(address: str) -> Database:
    """The database at an address; no connection is opened yet.

    Raises:
        CommandError: the address is not one of PostgreSQL, or its driver is not installed.
    """
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # the message may contain the password
        raise CommandError(f"FUNDAMENTALS_ACCOUNTS_URL {MISUNDERSTOOD}") from None
    if url.drivername not in DRIVERS:
        raise CommandError(f"FUNDAMENTALS_ACCOUNTS_URL is of the kind {url.drivername!r}, expected {FORM}")
    if "@" in (url.host or ""):
        raise CommandError(f"FUNDAMENTALS_ACCOUNTS_URL {MISUNDERSTOOD}")
    try:
        engine = create_engine(
            url,
            connect_args={name: value for name, value in DEADLINES.items() if name not in url.query},
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=WAIT,
            pool_pre_ping=True,  # else the first statements after a restart of PostgreSQL fail
            hide_parameters=True,
        )
    except ImportError as error:
        raise CommandError(
            "FUNDAMENTALS_ACCOUNTS_URL needs the Python package psycopg, which is not installed; run `make scale`"
        ) from error
    name = url.set(query={}).render_as_string()
    advice = "check FUNDAMENTALS_ACCOUNTS_URL, and that PostgreSQL runs and lets this user create and write tables"
    return Database(name, SYSTEMS["postgresql"], None, engine, engine, advice, str(url.password or ""))
