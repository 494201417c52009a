"""The commands of this side: serving, keys and subscriptions.

Belongs here: what `fundamentals serve`, `keys` and `subscriptions` do once their arguments are read.
Does not: reading arguments and telling errors (fundamentals.py).
"""

import json
import logging
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from serve.access.accounts import Accounts, Status
from serve.errors import CommandError
from serve.settings import Settings, from_environment

BACKLOG = 512


def serve(host: str, port: int, workers: int) -> None:
    """Serve what is published until told to stop.

    Raises:
        CommandError: the address is taken, the home is missing or cannot be written, more than one worker is wanted.
    """
    if workers != 1:
        raise CommandError(
            f"--workers {workers}: limits are counted in the process, and each worker would allow them anew; run one"
        )
    with _listening(host, port) as listener:
        settings = from_environment(host, listener.getsockname()[1])
        _require_home(settings.home)
        _run(settings, listener)


def create_key(email: str) -> None:
    """Print a new key, and only it."""
    settings = from_environment()
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"home {settings.home}: {error.strerror}; set FUNDAMENTALS_HOME to a folder") from error
    with _accounts(settings) as accounts:
        print(accounts.create_key(email, time.time()))


def list_keys(email: str, as_json: bool) -> None:
    """Print the keys of an account: a line each, or JSON."""
    with _accounts(from_environment()) as accounts:
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
    with _accounts(from_environment()) as accounts:
        accounts.revoke_key(key_id, time.time())


def set_subscription(email: str, status: Status) -> None:
    """Make a subscription active or inactive; the service knows within seconds."""
    with _accounts(from_environment()) as accounts:
        accounts.set_subscription(email, status, time.time())


@contextmanager
def _accounts(settings: Settings) -> Iterator[Accounts]:
    _require_home(settings.home)
    accounts = Accounts(settings.accounts)
    try:
        yield accounts
    finally:
        accounts.close()


def _require_home(home: Path) -> None:
    """A home that is not there is a wrong FUNDAMENTALS_HOME more often than a new one, so it is not made."""
    if not home.is_dir():
        raise CommandError(f"home {home} is no folder; set FUNDAMENTALS_HOME, or make it with `fundamentals sync`")
    if not os.access(home, os.W_OK | os.X_OK):
        raise CommandError(f"home {home} may not be written; set FUNDAMENTALS_HOME to a folder that may")


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
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


def _run(settings: Settings, listener: socket.socket) -> None:
    """Run the server; imported here, for the other commands need none of it."""
    from serve.app import create_app
    from serve.server import server
    from warehouse.errors import BuildUnreadable
    from warehouse.pointer import current

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    app = create_app(settings)
    try:
        pointer = current(settings.published)
        state = f"build {pointer.build}" if pointer else "nothing is published yet: run `fundamentals sync`"
    except BuildUnreadable as error:
        state = str(error)
    print(f"serving {settings.base_url} from {settings.home}: {state}", file=sys.stderr, flush=True)
    try:
        server(app).run(sockets=[listener])
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
