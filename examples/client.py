"""A client of the interface in Python: typed, with retries, all pages of a list, and tables.

The types and functions are generated from the description of a service that runs, such as that of `make run`:

    pip install openapi-python-client httpx polars
    openapi-python-client generate --url http://127.0.0.1:8000/v1/openapi.json --meta none \\
        --output-path examples/fundamentals_client
    API_KEY=fds_live_... python examples/client.py XQORC
"""

import os
import sys
import time
from collections.abc import Iterator
from typing import TypeVar

import httpx
import polars as pl
from fundamentals_client import AuthenticatedClient
from fundamentals_client.api.companies import list_companies
from fundamentals_client.api.financials import list_financials
from fundamentals_client.models import Company, ErrorBody, FinancialPeriod, ListFinancialsPeriod

ADDRESS = os.environ.get("FUNDAMENTALS_ADDRESS", "http://127.0.0.1:8000/v1")
AGAIN = frozenset({429, 500, 502, 503, 504})  # with any other error, the same request would fail again
LONGEST = 90  # seconds to wait; a limit of the day that is used up is the caller's to wait for

Body = TypeVar("Body")


class Retrying(httpx.BaseTransport):
    """Sends a request again if that can help: after the seconds of Retry-After, else after 1, 2, 4, 8."""

    def __init__(self, transport: httpx.BaseTransport, attempts: int = 5) -> None:
        self.transport, self.attempts = transport, attempts

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for attempt in range(self.attempts - 1):
            wait = 2.0**attempt
            try:
                response = self.transport.handle_request(request)
            except httpx.TransportError:
                pass
            else:
                wait = float(response.headers.get("Retry-After", wait))
                if response.status_code not in AGAIN or wait > LONGEST:
                    return response
                response.close()
            time.sleep(wait)
        return self.transport.handle_request(request)

    def close(self) -> None:
        self.transport.close()


def connect(key: str, address: str = ADDRESS) -> AuthenticatedClient:
    """A client with a key; use it in a `with` statement."""
    transport = Retrying(httpx.HTTPTransport())
    return AuthenticatedClient(
        address, key, prefix="", auth_header_name="X-Api-Key", httpx_args={"transport": transport}
    )


def success(answer: Body | ErrorBody | None) -> Body:
    """The answer; raises RuntimeError for an error, whose code is stable."""
    if isinstance(answer, ErrorBody):
        raise RuntimeError(f"{answer.error.code.value}: {answer.error.message}")
    if answer is None:
        raise RuntimeError("the answer is none of the interface")
    return answer


def companies(client: AuthenticatedClient, per_page: int = 100) -> Iterator[Company]:
    """All companies, page by page."""
    page, last = 1, 1
    while page <= last:
        found = success(list_companies.sync(client=client, page=page, per_page=per_page))
        yield from found.data
        page, last = page + 1, found.meta.last_page


def financials(client: AuthenticatedClient, symbol: str, kind: ListFinancialsPeriod) -> list[FinancialPeriod]:
    """The periods of a company, newest first; a parameter that is one of some words takes an enumeration."""
    return success(list_financials.sync(symbol, client=client, period=kind, limit=40)).data


def table(periods: list[FinancialPeriod]) -> pl.DataFrame:
    """Periods as rows, oldest first, items as columns; an item without a value is null, which is not zero."""
    rows = [
        {"period": each.period, "period_end": each.period_end}
        | {item: float(value) for item, value in each.values.to_dict().items()}
        for each in reversed(periods)
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def main(symbol: str) -> None:
    """Print how many companies there are, and the years of one."""
    with connect(os.environ["API_KEY"]) as client:
        print(sum(1 for _ in companies(client)), "symbols")
        years = table(financials(client, symbol, ListFinancialsPeriod.ANNUAL))
    print(years.with_columns(net_margin=pl.col("net_income") / pl.col("revenue")))


if __name__ == "__main__":
    main(sys.argv[1])
