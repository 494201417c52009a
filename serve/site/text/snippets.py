"""Example programs for an endpoint in three languages, to copy and run.

Belongs here: the code of a request in each language. Does not: the requests shown (reference).

The key comes from the environment variable API_KEY, because keys in source code are easily published by mistake.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

PYTHON = """\
import json
import os
from urllib.request import Request, urlopen

url = "{url}"
{request}
with urlopen(request) as response:
    answer = json.load(response)

print(json.dumps(answer["data"], indent=2))"""
PYTHON_REQUEST = {
    True: 'request = Request(url, headers={"X-Api-Key": os.environ["API_KEY"]})',
    False: "request = Request(url)",
}
JAVASCRIPT = """\
const url = "{url}";
const response = await fetch(url{options});
const answer = await response.json();
if (!response.ok) throw new Error(answer.error.message);

console.log(JSON.stringify(answer.data, null, 2));"""
JAVASCRIPT_OPTIONS = {True: ', {\n  headers: { "X-Api-Key": process.env.API_KEY },\n}', False: ""}


PAGING = """\
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def answer(url, attempts=5):
    request = Request(url, headers={{"X-Api-Key": os.environ["API_KEY"]}})
    for attempt in range(attempts):
        try:
            with urlopen(request) as response:
                return json.load(response)
        except HTTPError as error:
            if error.code not in (429, 500, 503) or attempt == attempts - 1:
                raise  # the same request would fail again
            time.sleep(int(error.headers.get("Retry-After", 2**attempt)))


companies, page, total = [], 1, 1
while len(companies) < total:
    found = answer(f"{address}/companies?per_page=100&page={{page}}")
    companies += found["data"]
    page, total = page + 1, found["meta"]["total"]

print(len(companies))"""
CLIENT = """\
pip install openapi-python-client
openapi-python-client generate --url {address}/openapi.json --meta none --output-path fundamentals_client"""
TYPES = "npx openapi-typescript {address}/openapi.json --output fundamentals.d.mts"
CLIENT_USED = """\
import os

from fundamentals_client import AuthenticatedClient
from fundamentals_client.api.companies import list_companies
from fundamentals_client.api.financials import list_financials
from fundamentals_client.models import ListFinancialsPeriod

with AuthenticatedClient("{address}", os.environ["API_KEY"], prefix="", auth_header_name="X-Api-Key") as client:
    found = list_companies.sync(client=client, per_page=5)
    years = list_financials.sync("{symbol}", client=client, period=ListFinancialsPeriod.ANNUAL, items="revenue")
print([company.symbol for company in found.data])
print([(year.period, year.values.revenue) for year in years.data])"""


@dataclass(frozen=True, slots=True)
class Code:
    """A program or JSON with its title; a program with an anchor has a button to copy it."""

    language: str
    text: str
    title: str
    anchor: str = ""


def programs(name: str, address: str, parameters: Mapping[str, object], *, needs_key: bool) -> tuple[Code, ...]:
    """The same request for curl, Python and JavaScript.

    Args:
        name: operation name, for anchors.
        address: address of the endpoint, with the symbol filled in.
        parameters: query parameters.
        needs_key: whether the request sends a key.
    """
    query = urlencode(parameters, safe=",")
    url = f"{address}?{query}" if query else address
    header = '-H "X-Api-Key: $API_KEY" \\\n  ' if needs_key else ""
    python = PYTHON.format(url=url, request=PYTHON_REQUEST[needs_key])
    javascript = JAVASCRIPT.format(url=url, options=JAVASCRIPT_OPTIONS[needs_key])
    return (
        Code("sh", f'curl {header}"{url}"', "curl", f"{name}-curl"),
        Code("python", python if needs_key else python.replace("import os\n", ""), "Python", f"{name}-python"),
        Code("js", javascript, "JavaScript", f"{name}-javascript"),
    )


def paging(address: str) -> Code:
    """A program that requests all pages of a list, and retries where a retry can help."""
    return Code("python", PAGING.format(address=address), "Python", "paging-python")


def client(address: str, symbol: str) -> tuple[Code, Code, Code]:
    """Commands and code to generate a client from the description, to use it, and to generate TypeScript types."""
    return (
        Code("sh", CLIENT.format(address=address), "Generate", "client-generate"),
        Code("python", CLIENT_USED.format(address=address, symbol=symbol), "Use", "client-use"),
        Code("sh", TYPES.format(address=address), "Generate", "types-generate"),
    )
