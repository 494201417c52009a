"""The demonstration that `make run` ends with: a key, three requests to paste, and the service that answers them.

Belongs here: what a newcomer is shown. Does not: serving, keys, subscriptions themselves (commands, access).
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from serve.access.accounts import Accounts
from serve.commands import accounts_of, listening, run
from serve.errors import CommandError
from serve.settings import HOST, PORT, Settings, from_environment
from warehouse import queries, schema
from warehouse.errors import WarehouseError
from warehouse.publish import LINK
from warehouse.reader import OpenBuild, Warehouse

EMAIL = "demo@example.org"
AMONG = 100  # companies that are looked at for one with annual values

WELCOME = """
A key for {email}, with an active subscription, shown this once:

  {key}

Paste into another terminal:

{requests}

The same data for DuckDB:

  {file}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make a key, print what can be asked with it, and serve until told to stop.

    Args:
        arguments: of the command line; the process's own where they are not given.

    Returns:
        The exit status: 0 done, 1 not done, with one line on standard error and without a key. Wrong usage exits
        with 2.
    """
    parser = argparse.ArgumentParser(prog="python -m serve.demo", description="Serve what is published, with a key.")
    parser.add_argument("--port", type=int, default=PORT, help="port to listen on (default: %(default)s)")
    try:
        _demonstrate(parser.parse_args(arguments).port)
    except (CommandError, WarehouseError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


def _demonstrate(port: int) -> None:
    """The key is made last, when nothing else can fail: it cannot be shown again."""
    with listening(HOST, port) as listener:
        port = listener.getsockname()[1]
        settings = from_environment(HOST, port)
        symbol = _covered_symbol(settings.published)
        with accounts_of(settings) as accounts:
            key = _active_key(accounts)
        print(_welcome(settings, port, key, symbol), flush=True)
        run(settings, listener)


def _covered_symbol(published: Path) -> str:
    """The first covered symbol that has annual values, or the first one where none has.

    Raises:
        WarehouseError: nothing is published, or it cannot be read.
        CommandError: it covers no company.
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
    now = time.time()
    key = accounts.create_key(EMAIL, now)
    accounts.set_subscription(EMAIL, "active", now)
    return key


def _welcome(settings: Settings, port: int, key: str, symbol: str) -> str:
    """What is printed; the requests go to this machine, whatever the public address is."""
    company = f"/companies/{quote(symbol, safe='')}"
    paths = ("/companies?per_page=5", company, f"{company}/financials?period=annual&limit=3")
    # single quotes keep a shell away from & and ?; neither a key nor a quoted symbol holds one
    requests = [f"curl -H 'X-Api-Key: {key}' 'http://{HOST}:{port}/v1{path}'" for path in paths]
    file = (settings.published / LINK).absolute()
    return WELCOME.format(email=EMAIL, key=key, requests="\n".join(requests), file=file)


if __name__ == "__main__":
    sys.exit(main())
