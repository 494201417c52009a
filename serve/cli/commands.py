"""The commands `fundamentals serve`, `explain`, `accounts`, `keys` and `subscriptions`.

Belongs here: the work of each command after its arguments are parsed. Does not: parsing arguments and printing errors
(fundamentals.py), the text of an explanation (explanation).
"""

import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from serve.access import copying
from serve.access.accounts import Accounts, Status
from serve.access.database import at, existing, opened
from serve.access.sign_ins import SignIns
from serve.cli import place
from serve.errors import CommandError
from serve.settings import HOST, Settings, from_environment
from warehouse.files import make_private
from warehouse.record import service_place

BACKLOG = 512
RECEIVED = 4 * 1024
"""Size in bytes of the system's receive buffer for a connection; the system doubles the number.

It is set at the listening socket, because the system receives data before connections are accepted.
"""


def serve(host: str, port: int, workers: int) -> None:
    """Serve the published build until SIGINT or SIGTERM.

    Raises:
        CommandError: the address is in use, the home is missing or not writable, `workers` is less than 1, or it is
            more than 1 without REDIS_URL, which several workers need for common rate limits.
    """
    if workers < 1:
        raise CommandError(f"--workers {workers}: at least 1 is needed")
    with listening(host, port, at_once=not os.environ.get("FUNDAMENTALS_STORE")) as listener:
        settings = from_environment(host, listener.getsockname()[1])
        if workers > 1 and settings.redis_url is None:
            raise CommandError(
                f"--workers {workers}: without Redis each worker counts the rate limits on its own, so that a key "
                "could exceed them; run one worker, or set REDIS_URL to a Redis server that all workers share"
            )
        if settings.store:
            _make_home(settings.home)  # the home of a replica is empty at first
        require_home(settings.home)
        run(settings, listener, workers, host)


def explain(symbol: str, item: str, period: str, as_json: bool, is_whole: bool = False) -> None:
    """Print the provenance of a value, as text or JSON; with `is_whole` the text includes the rules about the company.

    Raises:
        CommandError: nothing is published, or the symbol, item or period does not exist.
    """
    from serve import provenance
    from serve.cli import explanation
    from warehouse.errors import WarehouseError
    from warehouse.read.reader import Warehouse

    settings = from_environment()
    make_private(settings.home)
    warehouse = Warehouse(settings.published)
    try:
        with warehouse.build() as build:
            explained = provenance.find(build, symbol, item, period)
    except WarehouseError as error:
        raise CommandError(f"home {settings.home}: {error}") from error
    finally:
        warehouse.close()
    if as_json:
        print(json.dumps(msgspec.to_builtins(explained), indent=2))
    else:
        print(explanation.text(explained, shutil.get_terminal_size().columns, is_whole=is_whole), end="")


def create_key(email: str) -> None:
    """Create a key and print only the key."""
    with accounts_of(from_environment(), makes_home=True) as accounts:
        print(accounts.create_key(email, time.time()))


def invite(email: str) -> None:
    """Create a sign-in link to the pages and print only the link.

    It leads to the public address if one is set, otherwise to the service of this home, otherwise to the default port.
    """
    settings = from_environment()
    if listening_at := service_place.of_service(settings.home):
        settings = from_environment(*listening_at)
    with accounts_of(settings, makes_home=True) as accounts:
        print(sign_in_link(settings, accounts, email))


def copy_accounts(file: Path, *, is_source: bool) -> None:
    """Copy all accounts between a file of SQLite and the database that the service uses, and print the numbers of rows.

    Args:
        file: the file.
        is_source: True: copy from the file into the database of the service; False: from the database into the file.

    Raises:
        CommandError: the source is damaged or has no accounts, or the target is not empty or cannot be written.
    """
    settings = from_environment()
    if is_source and isinstance(settings.accounts, Path):
        _make_home(settings.home)
        require_home(settings.home)
    with closing(existing(file if is_source else settings.accounts)) as source:
        source.check()
        with closing(opened(settings.accounts if is_source else file)) as target:
            rows = copying.copy(source, target)
    counts = ", ".join(f"{table} {count:,}" for table, count in rows.items())
    print(f"copied from {source.name} to {target.name}: {counts}")


@contextmanager
def without_services() -> Iterator[None]:
    """Keep services of any machine from using the accounts in PostgreSQL until the block ends.

    No effect if the accounts are in a file.

    Raises:
        CommandError: a service uses them, or PostgreSQL does not answer.
    """
    settings = from_environment()
    if settings.accounts_url is None:
        yield
        return
    with closing(at(settings.accounts_url)) as database, database.unused():
        yield


def sign_in_link(settings: Settings, accounts: Accounts, email: str) -> str:
    """A link that signs in to the pages once."""
    return f"{settings.pages}/sign-in?token={SignIns(accounts).invite(email, time.time())}"


def list_keys(email: str, as_json: bool) -> None:
    """Print the keys of an account, one line per key or as JSON."""
    with accounts_of(from_environment()) as accounts:
        keys = [key.as_dict() for key in accounts.keys_of(email)]
    if as_json:
        print(json.dumps(keys, indent=2))
        return
    for key in keys:
        used, revoked = key["last_used_at"] or "never", key["revoked_at"] or "no"
        print(
            f"{key['id']}  {key['prefix']}…{key['last_four']}  "
            f"created {key['created_at']}  last used {used}  revoked {revoked}"
        )


def revoke_key(key_id: str) -> None:
    """Revoke a key; running servers apply it within seconds."""
    with accounts_of(from_environment()) as accounts:
        accounts.revoke_key(key_id, time.time())


def set_subscription(email: str, status: Status) -> None:
    """Make a subscription active or inactive; running servers apply it within seconds."""
    with accounts_of(from_environment()) as accounts:
        accounts.set_subscription(email, status, time.time())


@contextmanager
def accounts_of(settings: Settings, *, makes_home: bool = False) -> Iterator[Accounts]:
    """Open the accounts of a home, or in the database that FUNDAMENTALS_ACCOUNTS_URL names, until the block ends.

    Args:
        settings: the settings.
        makes_home: whether a missing home is created.

    Raises:
        CommandError: the home is missing or not writable, or the accounts cannot be opened.
    """
    if isinstance(settings.accounts, Path):
        if makes_home:
            _make_home(settings.home)
        require_home(settings.home)
    accounts = Accounts(settings.accounts)
    try:
        yield accounts
    finally:
        accounts.close()


def _make_home(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"home {home}: {error.strerror}; set FUNDAMENTALS_HOME to a folder") from error


def require_home(home: Path) -> None:
    """Check that the home exists and is writable, and let only its owner read it.

    A missing home is not created, because it usually means that FUNDAMENTALS_HOME is wrong.

    Raises:
        CommandError: the home is missing or not writable.
    """
    if not home.is_dir():
        raise CommandError(f"home {home} is not a folder; set FUNDAMENTALS_HOME, or create it with `fundamentals sync`")
    if not os.access(home, os.W_OK | os.X_OK):
        raise CommandError(f"home {home} is not writable; set FUNDAMENTALS_HOME to a writable folder")
    make_private(home)


@contextmanager
def listening(host: str, port: int, *, at_once: bool = True) -> Iterator[socket.socket]:
    """A listening socket, bound before anything else starts, so that a port in use is reported in one line.

    Without `at_once` it listens only when `run` is ready: until then connections are refused, so that a proxy uses
    another replica.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        with _reported(host, port):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((host, port))
            if at_once:
                listener.listen(BACKLOG)
        yield listener


@contextmanager
def _reported(host: str, port: int) -> Iterator[None]:
    """Report in one line if an address cannot be used."""
    try:
        yield
    except (OSError, OverflowError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (")[0]
        raise CommandError(
            f"cannot listen on {host} port {port}: {reason}; choose others with --host and --port"
        ) from error


def run(settings: Settings, listener: socket.socket, workers: int = 1, host: str = HOST) -> None:
    """Serve on a listening socket until SIGINT or SIGTERM.

    Raises:
        CommandError: the accounts cannot be opened, or REDIS_URL is not the address of a Redis server.
        StoreError: FUNDAMENTALS_STORE is not an address, or a package is missing.
    """
    # imported here, because the other commands do not need the server
    from serve.app import PATHS
    from serve.cli.workers import exposed, supervise, work
    from serve.metrics.counts import Counts
    from warehouse.build.pointer import current
    from warehouse.errors import BuildUnreadable

    _try(settings)
    with _following(settings), place.announced(settings.home, host, listener.getsockname()[1]):
        try:
            pointer = current(settings.published)
            state = f"build {pointer.build}" if pointer else "nothing is published yet: run `fundamentals sync`"
        except BuildUnreadable as error:
            state = str(error)
        with _reported(*listener.getsockname()[:2]):
            listener.listen(BACKLOG)
        print(f"serving {settings.base_url} from {settings.home}: {state}", file=sys.stderr, flush=True)
        if workers == 1:
            counts = Counts(PATHS)
            with exposed(settings, [counts]):
                work(settings, listener, counts)
        else:
            supervise(settings, workers, host, listener)
    print("stopped", file=sys.stderr)


@contextmanager
def _following(settings: Settings) -> Iterator[None]:
    """Follow the store until the block ends; a home without builds gets the newest one first.

    No effect without a store.

    Raises:
        StoreError: FUNDAMENTALS_STORE is not an address, or a package is missing.
    """
    if settings.store is None:
        yield
        return
    from serve.shared.following import follower
    from warehouse.build.publish import readable

    following = follower(settings.home, settings.store)
    if readable(settings.published) is None:
        following.look()
    with following.running():
        yield


def _try(settings: Settings) -> None:
    """Open the accounts and the Redis client once, so that a wrong setting is reported in one line before serving.

    Damaged accounts are not served: a revoked key could be valid again.
    """
    with accounts_of(settings) as accounts:
        accounts.check()
        if settings.redis_url:
            from serve.shared.shared_limits import SharedLimits

            SharedLimits(settings.redis_url)
