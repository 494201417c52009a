"""The requests of the load, as files for wrk, and the keys that they are sent with.

Belongs here: paths of the interface, entity tags, keys. Does not: sending them (load).
"""

import http.client
import itertools
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, urlsplit

from serve.access import keys, tables
from serve.access.accounts import Accounts
from serve.clock import timestamp
from warehouse.build.opening import open_read_only
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import COVERED

KEYS = 30_000
"""At 60 requests a minute each, they last for 30,000 requests a second."""
KEYS_OF_ACCOUNT = 10
PER_PAGE = 50
READERS = 4
PERIODS = 20  # of trailing twelve months in an answer
COUNT_PERIODS = "SELECT symbol, count(*) FROM financials WHERE period_kind = 'ttm' GROUP BY symbol"
FEWEST_ITEMS = 9
LIMITS = (24, 25, 23, 26, 22, 27, 21, 28, 20)
"""Items and limits of the questions that are never asked twice; on average the answers are as large as the others."""


class Requests:
    """The files of requests for the companies of a build.

    symbols: companies with PERIODS periods or more; their financials are requested, so that all answers have one size.
    """

    def __init__(self, folder: Path, build: Path) -> None:
        """Write the files.

        Args:
            folder: where to write them.
            build: the DuckDB file of the build.
        """
        self._folder = folder
        with open_read_only(build) as connection:
            found = connection.execute(f"SELECT symbol, name FROM companies WHERE {COVERED}").fetchall()
            counted = connection.execute(COUNT_PERIODS).fetchall()
        symbols = sorted(symbol for symbol, _ in found)
        names = sorted({word for _, name in found for word in (name or "").split()} | {s[:2] for s in symbols})
        self.symbols = sorted({*symbols} & {symbol for symbol, periods in counted if periods >= PERIODS})
        self.financials = self._write("financials", map(_financials, self.symbols))
        self.revisions = self._write("revisions", (f"{_financials(symbol)}/revisions" for symbol in symbols))
        self.valuations = self._write("valuations", (f"{_company(symbol)}/valuation" for symbol in symbols))
        pages = range(1, len(symbols) // PER_PAGE + 1)
        self.companies = self._write(
            "companies",
            [f"/v1/companies?page={page}" for page in pages]
            + [f"/v1/companies?search={quote(name)}" for name in names],
        )

    def different(self, number: int) -> Iterator[Path]:
        """Files with at most this number of requests each; no two requests in all files are equal."""
        names = [
            of for n in range(FEWEST_ITEMS, len(SERVED_NAMES) + 1) for of in itertools.combinations(SERVED_NAMES, n)
        ]
        all_of_limit = range(len(self.symbols) * len(names))
        for limit in LIMITS:  # each file has its own
            chosen = random.sample(all_of_limit, min(number, len(all_of_limit)))
            yield self._write(
                "different",
                (
                    f"{_financials(self.symbols[place % len(self.symbols)])}?limit={limit}"
                    f"&items={','.join(names[place // len(self.symbols)])}"
                    for place in chosen
                ),
            )

    def unchanged(self, address: str, own: Path) -> Path:
        """The requests for financials with the entity tags of a server's current answers.

        Args:
            address: address of the server.
            own: the file of keys.
        """
        paths = list(map(_financials, self.symbols))
        parts = [paths[start::READERS] for start in range(READERS)]
        given = own.read_text().split()
        with ThreadPoolExecutor(READERS) as pool:
            answered = pool.map(lambda part: list(ask(address, part, given)), parts)
        tags = {
            path: tag
            for part, found in zip(parts, answered, strict=True)
            for path, (_, tag, _) in zip(part, found, strict=True)
        }
        return self._write("unchanged", (f"{path}\t{tag}" for path, tag in tags.items()))

    def _write(self, name: str, lines: Iterator[str] | Sequence[str]) -> Path:
        path = self._folder / f"{name}.txt"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path


def create_keys(home: Path) -> Path:
    """Create KEYS keys with active subscriptions in a home, in place of its accounts; return the file of them."""
    for old in home.glob("accounts.sqlite*"):
        old.unlink()
    accounts, now, made = Accounts(home / "accounts.sqlite"), time.time(), [keys.new_key() for _ in range(KEYS)]
    at = timestamp(now)
    with accounts.database.writing() as connection:  # one transaction: a key for itself takes three milliseconds
        holders = [
            accounts.found_or_created(connection, f"reader-{n}@example.org", now)
            for n in range(KEYS // KEYS_OF_ACCOUNT)
        ]
        connection.execute(tables.subscriptions.update().values(status="active"))
        connection.execute(
            tables.keys.insert(),
            [
                {
                    "id": f"key_{n}",
                    "account_id": holders[n // KEYS_OF_ACCOUNT],
                    "sha256": keys.digest(key.encode()),
                    "prefix": keys.PREFIX,
                    "last_four": key[-4:],
                    "created_at": at,
                }
                for n, key in enumerate(made)
            ],
        )
    accounts.close()
    path = home / "keys.txt"
    path.write_text("\n".join(made) + "\n")
    return path


def ask(address: str, paths: Sequence[str], own: Sequence[str]) -> Iterator[tuple[int, str, bytes]]:
    """Status, entity tag and body of each path's response, one after the other, with keys in random order."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    for path in paths:
        connection.request("GET", path, headers={"X-Api-Key": random.choice(own)})
        response = connection.getresponse()
        yield response.status, response.headers.get("ETag", ""), response.read()
    connection.close()


def _company(symbol: str) -> str:
    return f"/v1/companies/{quote(symbol)}"


def _financials(symbol: str) -> str:
    return f"{_company(symbol)}/financials"
