"""The demonstration at the end of `make run`: prints a demo key and three example requests, then serves.

Belongs here: what a first-time user sees. Does not: serving, keys and subscriptions themselves (commands, access).
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from serve.access.accounts import Accounts, TooManyKeys
from serve.cli.commands import accounts_of, listening, run
from serve.http.errors import CommandError
from serve.settings import HOST, PORT, Settings, from_environment
from warehouse import queries, schema
from warehouse.errors import WarehouseError
from warehouse.files import OTHERS
from warehouse.publish import LINK
from warehouse.reader import OpenBuild, Warehouse

EMAIL = "demo@example.org"
AMONG = 100  # companies that are searched for one with annual values

WELCOME = """
A key for {email}, with an active subscription, shown only once:

  {key}

Paste into another terminal:

{requests}

The same data for DuckDB:

  {file}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Create a key, print example requests with it, and serve until SIGINT or SIGTERM.

    Args:
        arguments: command-line arguments; default: those of the process.

    Returns:
        The exit status: 0 on success; 1 on an error, with one line on standard error and without a new key. Wrong
        usage exits with 2.
    """
    parser = argparse.ArgumentParser(
        prog="python -m serve.cli.demo", description="Create a demo key and serve the published build."
    )
    parser.add_argument("--port", type=int, default=PORT, help="port to listen on (default: %(default)s)")
    try:
        _demonstrate(parser.parse_args(arguments).port)
    except (CommandError, WarehouseError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


def _demonstrate(port: int) -> None:
    """Create the key after everything that can fail, because a key can be shown only once."""
    with listening(HOST, port) as listener:
        port = listener.getsockname()[1]
        settings = from_environment(HOST, port)
        symbol = _covered_symbol(settings.published)
        with accounts_of(settings) as accounts:
            key = _active_key(accounts)
        print(_welcome(settings, port, key, symbol), flush=True)
        run(settings, listener)


def _covered_symbol(published: Path) -> str:
    """The first covered symbol with annual values; the first covered symbol if none has any.

    Raises:
        WarehouseError: no build is published, or it cannot be read.
        CommandError: the build covers no company.
    """
    warehouse = Warehouse(published)
    try:
        with warehouse.build() as build:
            listed, _ = queries.companies(build, search=None, exchange=None, limit=AMONG, offset=0)
            symbols = [company.symbol for company in listed]
            if not symbols:
                raise CommandError(f"the build in {published} covers no company; run `fundamentals sync`")
            return next((symbol for symbol in symbols if _has_annual_values(build, symbol)), symbols[0])
    finally:
        warehouse.close()


def _has_annual_values(build: OpenBuild, symbol: str) -> bool:
    return bool(queries.financials(build, symbol, "annual", schema.ITEM_NAMES, since=None, until=None, limit=1))


def _active_key(accounts: Accounts) -> str:
    """A new key; if the account has as many as it may have, the oldest one is revoked."""
    now = time.time()
    try:
        key = accounts.create_key(EMAIL, now)
    except TooManyKeys:
        accounts.revoke_key(next(key.id for key in accounts.keys_of(EMAIL) if not key.revoked_at), now)
        key = accounts.create_key(EMAIL, now)
    accounts.set_subscription(EMAIL, "active", now)
    return key


def _welcome(settings: Settings, port: int, key: str, symbol: str) -> str:
    """The text to print; its requests go to this machine, not to the public address."""
    company = f"/companies/{quote(symbol, safe='')}"
    paths = ("/companies?per_page=5", company, f"{company}/financials?period=annual&limit=3")
    # single quotes protect & and ? from the shell; neither a key nor a quoted symbol contains a single quote
    requests = [f"curl -H 'X-Api-Key: {key}' 'http://{HOST}:{port}/v1{path}'" for path in paths]
    file = (settings.published / LINK).absolute()
    return WELCOME.format(email=EMAIL, key=key, requests="\n".join(requests), file=file)


if __name__ == "__main__":
    os.umask(OTHERS)
    sys.exit(main())
