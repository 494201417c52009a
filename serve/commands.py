"""The commands of this side: serving, explaining, accounts, keys and subscriptions.

Belongs here: what `fundamentals serve`, `explain`, `accounts`, `keys` and `subscriptions` do once their arguments are
read. Does not: reading arguments and telling errors (fundamentals.py), how an explanation reads (explanation).
"""

import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from serve.access.accounts import Accounts, Status
from serve.access.sign_ins import SignIns
from serve.errors import CommandError
from serve.settings import HOST, Settings, from_environment

BACKLOG = 512


def serve(host: str, port: int, workers: int) -> None:
    """Serve what is published until told to stop.

    Raises:
        CommandError: the address is taken, the home is missing or cannot be written, there is no such number of
            workers, or it is more than one and nothing to count the limits of all.
    """
    if workers < 1:
        raise CommandError(f"--workers {workers}: one at least is needed")
    with listening(host, port) as listener:
        settings = from_environment(host, listener.getsockname()[1])
        if workers > 1 and settings.redis_url is None:
            raise CommandError(
                f"--workers {workers}: limits are counted in the process, and each worker would allow them anew; "
                "run one, or set REDIS_URL to a Redis server that counts for all"
            )
        require_home(settings.home)
        run(settings, listener, workers, host)


def explain(symbol: str, item: str, period: str, as_json: bool) -> None:
    """Print where a value comes from: lines to read, or JSON.

    Raises:
        CommandError: nothing is published, or there is no such symbol, item or period.
    """
    from serve import explanation
    from warehouse.errors import WarehouseError
    from warehouse.reader import Warehouse

    settings = from_environment()
    warehouse = Warehouse(settings.published)
    try:
        with warehouse.build() as build:
            told = explanation.find(build, symbol, item, period)
    except WarehouseError as error:
        raise CommandError(f"home {settings.home}: {error}") from error
    finally:
        warehouse.close()
    if as_json:
        print(json.dumps(msgspec.to_builtins(told), indent=2))
    else:
        print(explanation.text(told, shutil.get_terminal_size().columns), end="")


def create_key(email: str) -> None:
    """Print a new key, and only it."""
    settings = from_environment()
    _make_home(settings.home)
    with accounts_of(settings) as accounts:
        print(accounts.create_key(email, time.time()))


def invite(email: str) -> None:
    """Print a link that signs in to the pages, and only it."""
    settings = from_environment()
    _make_home(settings.home)
    with accounts_of(settings) as accounts:
        print(f"{settings.pages}/sign-in?token={SignIns(accounts).invite(email, time.time())}")


def list_keys(email: str, as_json: bool) -> None:
    """Print the keys of an account: a line each, or JSON."""
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
    """End a key; the service knows within seconds."""
    with accounts_of(from_environment()) as accounts:
        accounts.revoke_key(key_id, time.time())


def set_subscription(email: str, status: Status) -> None:
    """Make a subscription active or inactive; the service knows within seconds."""
    with accounts_of(from_environment()) as accounts:
        accounts.set_subscription(email, status, time.time())


@contextmanager
def accounts_of(settings: Settings) -> Iterator[Accounts]:
    """The accounts of a home, open until the block ends."""
    require_home(settings.home)
    accounts = Accounts(settings.accounts)
    try:
        yield accounts
    finally:
        accounts.close()


def _make_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"home {home}: {error.strerror}; set FUNDAMENTALS_HOME to a folder") from error


def require_home(home: Path) -> None:
    """A home that is not there is a wrong FUNDAMENTALS_HOME more often than a new one, so it is not made."""
    if not home.is_dir():
        raise CommandError(f"home {home} is no folder; set FUNDAMENTALS_HOME, or make it with `fundamentals sync`")
    if not os.access(home, os.W_OK | os.X_OK):
        raise CommandError(f"home {home} may not be written; set FUNDAMENTALS_HOME to a folder that may")


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket on the address, bound before anything else is done, so that a port in use is told in one line."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (")[0]
        raise CommandError(
            f"cannot listen on {host} port {port}: {reason}; choose others with --host and --port"
        ) from error
    with listener:
        yield listener


def run(settings: Settings, listener: socket.socket, workers: int = 1, host: str = HOST) -> None:
    """Answer on a socket until told to stop; what it takes is imported here, for the other commands need none of it.

    Raises:
        CommandError: the accounts cannot be opened, or the address of Redis is none.
    """
    from serve.workers import supervise, work
    from warehouse.errors import BuildUnreadable
    from warehouse.pointer import current

    try:
        pointer = current(settings.published)
        state = f"build {pointer.build}" if pointer else "nothing is published yet: run `fundamentals sync`"
    except BuildUnreadable as error:
        state = str(error)
    _try(settings)
    print(f"serving {settings.base_url} from {settings.home}: {state}", file=sys.stderr, flush=True)
    if workers == 1:
        work(settings, listener)
    else:
        supervise(workers, host, listener)
    print("stopped", file=sys.stderr)


def _try(settings: Settings) -> None:
    """Open what can be wrong, here, where it is told in one line."""
    with accounts_of(settings):
        if settings.redis_url:
            from serve.access.shared_limits import SharedLimits

            SharedLimits(settings.redis_url)
