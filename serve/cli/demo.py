"""The demonstration at the end of `make run`: prints addresses, a sign-in link and a demo key, then serves.

Belongs here: the text for a first-time user. Does not: serving, keys and subscriptions themselves (commands, access).
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from serve import names
from serve.access.accounts import Accounts, TooManyKeys
from serve.cli.commands import accounts_of, listening, run, sign_in_link
from serve.errors import CommandError
from serve.settings import HOST, PORT, Settings, from_environment
from warehouse.build.publish import LINK
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import COVERED
from warehouse.errors import WarehouseError
from warehouse.files import OTHERS
from warehouse.read.reader import Warehouse

EMAIL = "demo@example.org"
AMONG = 100  # number of companies from which the shown one is chosen
SHOWN = f"""
SELECT symbol, any_value(name), any_value(symbols)
FROM (SELECT symbol, name, count(*) OVER () AS symbols FROM companies WHERE {COVERED} ORDER BY symbol LIMIT {AMONG})
  LEFT JOIN (SELECT symbol, period_end, {" + ".join(f"CAST({item} IS NOT NULL AS INTEGER)" for item in SERVED_NAMES)}
    AS items FROM financials WHERE period_kind = 'annual') AS years USING (symbol)
GROUP BY symbol ORDER BY coalesce(arg_max(items, period_end) FILTER (items > 0), 0) DESC, symbol LIMIT 1
"""
"""SQL: the covered company with most items in its newest fiscal year, and the number of all covered symbols."""

WELCOME = """
The fundamentals of {companies:,} companies, with {symbols:,} symbols, are served until you press Ctrl-C.

In a browser, after signing in as {email} with this link, which works once, within half an hour:

  {link}

{places}

In a program: a key with an active subscription, shown only once
  {key}

Paste into another terminal:

{requests}

In DuckDB, or in the notebook examples/analyst.ipynb
  {file}
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Create a key, print example requests with it, and serve until SIGINT or SIGTERM.

    Args:
        arguments: command-line arguments; default: the arguments of the process.

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
    """Create the key after all steps that can fail, because a key can be shown only once."""
    with listening(HOST, port) as listener:
        port = listener.getsockname()[1]
        settings = from_environment(HOST, port)
        covered = _covered(settings.published)
        with accounts_of(settings) as accounts:
            key, link = _active_key(accounts), sign_in_link(settings, accounts, EMAIL)
        print(_welcome(settings, port, key, link, covered), flush=True)
        run(settings, listener)


class Covered(NamedTuple):
    """The company that is shown, and the numbers of covered symbols and companies."""

    symbol: str
    name: str
    symbols: int
    companies: int


def _covered(published: Path) -> Covered:
    """The company to show.

    Raises:
        WarehouseError: no build is published, or it cannot be read.
        CommandError: the build covers no company.
    """
    warehouse = Warehouse(published)
    try:
        with warehouse.build() as build:
            for symbol, name, symbols in build.rows(SHOWN):
                return Covered(symbol, names.shown(name or symbol), symbols, build.pointer.companies)
        raise CommandError(f"the build in {published} covers no company; run `fundamentals sync`")
    finally:
        warehouse.close()


def _active_key(accounts: Accounts) -> str:
    """A new key; if the account has the largest allowed number, its oldest key is revoked."""
    now = time.time()
    try:
        key = accounts.create_key(EMAIL, now)
    except TooManyKeys:
        accounts.revoke_key(next(key.id for key in accounts.keys_of(EMAIL) if not key.revoked_at), now)
        key = accounts.create_key(EMAIL, now)
    accounts.set_subscription(EMAIL, "active", now)
    return key


def _welcome(settings: Settings, port: int, key: str, link: str, covered: Covered) -> str:
    """The text to print; its requests go to this machine, not to the public address."""
    address = f"/companies/{quote(covered.symbol, safe='')}"
    paths = ("/companies?per_page=5", address, f"{address}/financials?period=annual&limit=3")
    # single quotes protect & and ? from the shell; neither a key nor a quoted symbol contains a single quote
    requests = [f"curl -H 'X-Api-Key: {key}' 'http://{HOST}:{port}/v1{path}'" for path in paths]
    places = {
        "/": "how fresh the data is",
        "/companies": "all companies",
        address: f"{covered.name}, and where each value comes from",
        "/compare": "companies side by side",
        "/reference": "how programs ask, with examples",
        "/profile": "your keys",
    }
    width = max(map(len, places))
    return WELCOME.format(
        symbols=covered.symbols,
        companies=covered.companies,
        email=EMAIL,
        link=link,
        places="\n".join(f"  {settings.pages}{path:<{width}}  {what}" for path, what in places.items()),
        key=key,
        requests="\n".join(requests),
        file=(settings.published / LINK).absolute(),
    )


if __name__ == "__main__":
    os.umask(OTHERS)
    sys.exit(main())
