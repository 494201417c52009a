"""Generated requests, answered by the service and by independently written SQL.

Each request is sent twice to a service with a cache, and once each to one without and to another one over the same
build: all bodies are equal, except for their time. DIFFERENTIAL_REQUESTS is the number of requests.
"""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from serve.settings import Settings
from tests import builds
from tests.servers import NOON, Clock, active_key, in_process
from warehouse.build.opening import open_read_only
from warehouse.contract.line_items import SERVED_NAMES

REQUESTS = int(os.environ.get("DIFFERENTIAL_REQUESTS", "250"))
COMPANIES = 30
WORDS = ("Lantern", "100%", "under_score", "back\\slash", "Fjörd", "QUARRY", "quarry", "O'Brass", "Co.", "[a-z]*")
EXCHANGES = ("NYSE", "Nasdaq", "OTC", "CBOE", None)
PERIODS_FORMS = ("10-K", "20-F", "40-F")
Rows = list[dict[str, Any]]


# --- a build of generated companies


def generated(draw: random.Random) -> dict[str, Rows]:
    """Companies with odd names, gaps and revisions."""
    companies, financials, versions, filings = [], [], [], []
    for number in range(1, COMPANIES + 1):
        symbol = "".join(draw.choices("ABCX", k=draw.randint(1, 3))) + str(number)
        is_held = draw.random() < 0.9
        company = builds.company(
            symbol,
            number,
            name=" ".join(draw.choices(WORDS, k=2)) if draw.random() < 0.9 else None,
            exchange=draw.choice(EXCHANGES),
            currency=draw.choice(("USD", "EUR")),
            is_listed=draw.random() < 0.9,
            fiscal_year_end_month=draw.randint(1, 12),
            sic=draw.choice(("3571", None)),
            **({} if is_held else {"first_period_end": None, "last_period_end": None}),
        )
        companies.append(company)
        if draw.random() < 0.8:
            filings.append(filing(company, draw.choice(PERIODS_FORMS), draw.randint(1, 28)))
        if is_held:
            of_company = periods(draw, company)
            financials += of_company
            versions += [row for told in of_company for row in revised(draw, told)]
    return {"companies": companies, "financials": financials, "versions": versions, "filings": filings}


def periods(draw: random.Random, company: dict[str, Any]) -> Rows:
    who = {name: company[name] for name in ("symbol", "cik", "currency")}
    rows = []
    for kind, days, most in (("ttm", 91, 50), ("annual", 364, 15)):
        end = date(2024, 12, 31) - timedelta(days=draw.randint(0, 200))
        for number in range(draw.randint(0, most)):
            values = {item: amount(draw) for item in SERVED_NAMES if draw.random() < 0.6}
            rows.append(builds.period(who, kind, end - timedelta(days=days * number), draw.randint(1, 4), **values))
    return rows


def revised(draw: random.Random, told: dict[str, Any]) -> Rows:
    """Versions of a period's values; some had earlier values, some were withdrawn for a time."""
    rows = []
    for item in SERVED_NAMES:
        if item not in told:
            continue
        before = [amount(draw) if draw.random() < 0.8 else None for _ in range(draw.choice((0, 0, 0, 1, 3)))]
        values = [*before, told[item]]
        for number, value in enumerate(values, 1):
            at = datetime(2026, 1, number, 6, 0, 0, 500_000, UTC) if draw.random() < 0.7 else None
            last = number == len(values)
            rows.append(builds.version(told, item, number, value, told["period_end"], at, "restatement", last))
    return rows


def amount(draw: random.Random) -> float:
    return draw.choice((0.0, 1.0, -2.5, 0.1 + 0.2, 4.1e11, 1e300, 123456.789, float(draw.randint(-(10**9), 10**9))))


def filing(company: dict[str, Any], form: str, day: int) -> dict[str, Any]:
    return {
        "accession": f"{company['cik']}-25-{day:06d}",
        "cik": company["cik"],
        "form": form,
        "filed": date(2025, 3, day),
        "accepted_at": datetime(2025, 3, day, 21, 30, tzinfo=UTC),
        "url": "https://filings.example.org/1",
    }


# --- the independent implementation


class Truth:
    """Responses computed from the file of the build alone, by the text of the specification."""

    def __init__(self, file: Path, updated: dict[str, str], base_url: str) -> None:
        self.connection = open_read_only(file)  # a process may open a file with one configuration only
        self.updated = updated
        self.base_url = base_url
        self.covered = self.rows("FROM companies WHERE is_listed AND first_period_end IS NOT NULL ORDER BY symbol")

    def rows(self, sql: str, *parameters: Any) -> Rows:
        cursor = self.connection.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def find(self, symbol: str) -> dict[str, Any] | None:
        return next((row for row in self.covered if row["symbol"].lower() == symbol.lower()), None)

    def company(self, row: dict[str, Any]) -> dict[str, Any]:
        plain = ("symbol", "name", "exchange", "cik", "sic", "sic_description", "currency")
        return {
            **{name: row[name] for name in plain},
            "first_period_end": str(row["first_period_end"]),
            "last_period_end": str(row["last_period_end"]),
            "data_updated_at": self.updated.get(row["cik"]) or moment(row["data_updated_at"]),
        }

    def listed(self, search: str = "", exchange: str = "", page: int = 1, per_page: int = 50) -> Any:
        found = [
            self.company(row)
            for row in self.covered
            if (row["symbol"].lower().startswith(search.lower()) or search.lower() in (row["name"] or "").lower())
            and (not exchange or (row["exchange"] or "").lower() == exchange.lower())
        ]
        pages = [found[start : start + per_page] for start in range(0, len(found), per_page)] or [[]]
        data = pages[page - 1] if page <= len(pages) else []
        return data, {"page": page, "per_page": per_page, "total": len(found), "last_page": len(pages)}

    def told(self, symbol: str, items: tuple[str, ...]) -> Rows:
        some = " OR ".join(f"{item} IS NOT NULL" for item in items)
        return self.rows(f"FROM financials WHERE symbol = ? AND ({some}) ORDER BY period_end DESC", symbol)

    def profile(self, company: dict[str, Any]) -> Any:
        held = self.told(company["symbol"], SERVED_NAMES)
        kinds = {kind: [row for row in held if row["period_kind"] == kind] for kind in ("ttm", "annual")}
        by = kinds["ttm"] or kinds["annual"]
        address = f"{self.base_url}/companies/{company['symbol']}"
        data = {
            **self.company(company),
            "fiscal_year_end_month": company["fiscal_year_end_month"],
            "coverage": {
                "first_period": {"period": by[-1]["period"], "period_end": str(by[-1]["period_end"])},
                "last_period": {"period": by[0]["period"], "period_end": str(by[0]["period_end"])},
                "ttm_periods": len(kinds["ttm"]),
                "annual_periods": len(kinds["annual"]),
                "line_items": [item for item in SERVED_NAMES if any(row[item] is not None for row in held)],
            },
            "links": {
                "sec_filings": self.filings_url(company),
                "financials": f"{address}/financials",
                "valuation": f"{address}/valuation",
            },
        }
        return data, {"symbol": company["symbol"]}

    def financials(self, company: dict[str, Any], **asked: Any) -> Any:
        items, kind = asked.get("items", SERVED_NAMES), asked.get("period", "ttm")
        rows = [
            row
            for row in self.told(company["symbol"], items)
            if row["period_kind"] == kind and is_within(row["period_end"], asked)
        ][: asked.get("limit", 20)]
        data = [
            {
                **{name: row[name] for name in ("period", "fiscal_year", "fiscal_quarter")},
                "period_end": str(row["period_end"]),
                "values": {item: whole(row[item]) for item in items if row[item] is not None},
            }
            for row in rows
        ]
        meta = {"symbol": company["symbol"], "currency": company["currency"], "period": kind, "items": list(items)}
        return data, {**meta, "count": len(data), "filings_url": self.filings_url(company)}

    def revisions(self, company: dict[str, Any], **asked: Any) -> Any:
        items = asked.get("items", SERVED_NAMES)
        groups: dict[tuple[Any, ...], Rows] = {}
        for row in self.rows("FROM versions WHERE cik = ? ORDER BY version", company["cik"]):
            if row["item"] in items and is_within(row["period_end"], asked):
                groups.setdefault((row["period_end"], row["period_kind"], row["item"]), []).append(row)
        changed = {key: rows for key, rows in groups.items() if len(rows) > 1}
        newest_first = sorted(
            changed, key=lambda key: (-key[0].toordinal(), key[1] != "ttm", SERVED_NAMES.index(key[2]))
        )
        data = [
            {
                "period": changed[key][-1]["period"],
                "period_end": str(key[0]),
                "item": key[2],
                "current_value": whole(changed[key][-1]["value"]),
                "versions": [
                    {
                        "version": row["version"],
                        "value": whole(row["value"]),
                        "current": row is changed[key][-1],
                        "recorded_at": moment(row["recorded_at"]),
                    }
                    for row in changed[key]
                    if row["value"] is not None
                ],
            }
            for key in newest_first[: asked.get("limit", 50)]
        ]
        meta = {"symbol": company["symbol"], "currency": company["currency"], "items": list(items)}
        return data, {**meta, "count": len(data)}

    def filings_url(self, company: dict[str, Any]) -> str:
        forms = self.rows("FROM filings WHERE cik = ? ORDER BY filed DESC LIMIT 1", company["cik"])
        form = forms[0]["form"] if forms and forms[0]["form"] != "10-K" else "10-"
        return (
            "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany"
            f"&CIK={company['cik']}&type={form}&dateb=&owner=include&count=40"
        )


def is_within(end: date, asked: dict[str, Any]) -> bool:
    return asked.get("from", date.min) <= end <= asked.get("to", date.max)


def whole(value: float | None) -> float | int | None:
    return int(value) if value is not None and value == int(value) and abs(value) <= 2**53 else value


def moment(at: datetime | None) -> str | None:
    return at and at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- requests


@dataclass(frozen=True)
class Asked:
    """A request, and the function that computes its expected response."""

    path: str
    parameters: dict[str, Any]
    answer: Callable[[Truth], Any]


def request(draw: random.Random, symbols: list[str]) -> Asked:
    """Any request to one of the endpoints, with any of its parameters, in any order."""
    endpoint = draw.choice(("companies", "companies", "profile", "financials", "financials", "revisions", "revisions"))
    if endpoint == "companies":
        found = draw.choice(({}, some(draw, search=search(draw, symbols), exchange=exchange(draw))))
        asked = found | some(draw, page=draw.randint(1, 4), per_page=draw.choice((1, 3, 10, 100)))
        return Asked("/companies", asked, lambda truth: truth.listed(**asked))
    symbol = draw.choice([*symbols, "NOPE", "ß1", "A%25"])
    path = f"/companies/{draw.choice((symbol, symbol.lower()))}"
    if endpoint == "profile":
        return Asked(path, {}, lambda truth: (found := truth.find(symbol)) and truth.profile(found))
    days = sorted(date(2010, 1, 1) + timedelta(days=draw.randint(0, 5600)) for _ in range(2))
    items = tuple(draw.sample(SERVED_NAMES, draw.randint(1, len(SERVED_NAMES))))
    asked = some(draw, items=items, limit=draw.randint(1, 40), **{"from": days[0], "to": days[1]})
    if endpoint == "revisions":
        asked |= some(draw, limit=draw.randint(1, 200))
        return Asked(
            f"{path}/financials/revisions",
            asked,
            lambda truth: (found := truth.find(symbol)) and truth.revisions(found, **asked),
        )
    asked |= some(draw, period=draw.choice(("ttm", "annual")))
    return Asked(
        f"{path}/financials", asked, lambda truth: (found := truth.find(symbol)) and truth.financials(found, **asked)
    )


def some(draw: random.Random, **parameters: Any) -> dict[str, Any]:
    chosen = [name for name in parameters if draw.random() < 0.5]
    draw.shuffle(chosen)
    return {name: parameters[name] for name in chosen}


def search(draw: random.Random, symbols: list[str]) -> str:
    text = draw.choice([*WORDS, *symbols, "%", "_", "\\", "a", "o"])
    return draw.choice((text, text.lower(), text.upper(), text[: draw.randint(1, len(text))]))


def exchange(draw: random.Random) -> str:
    return draw.choice(("NYSE", "nasdaq", "OTC", "N%", "nowhere"))


def written(asked: Asked) -> str:
    parameters = {
        name: ",".join(value) if isinstance(value, tuple) else value for name, value in asked.parameters.items()
    }
    return f"{asked.path}?{urlencode(parameters)}" if parameters else asked.path


# --- the comparison


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    builds.publish_small(home / "published", "b1", generated(random.Random(6)))
    return home


@pytest.fixture(scope="module")
def services(home: Path) -> Iterator[list[tuple[httpx.Client, Clock]]]:
    """One service with a cache, one without, and a second one with a cache."""
    with ExitStack() as stack:
        started = []
        for number, cache in enumerate((True, False, True)):
            clock = Clock(NOON + number)
            address = stack.enter_context(in_process(Settings(home, "https://data.example.org/v1", cache=cache), clock))
            headers = {"X-Api-Key": active_key(home, f"reader{number}@example.org")}
            started.append((stack.enter_context(httpx.Client(base_url=f"{address}/v1", headers=headers)), clock))
        yield started


def test_generated_requests_get_the_expected_responses(home: Path, services: list[tuple[httpx.Client, Clock]]) -> None:
    truth = Truth(home / "published" / "warehouse.duckdb", builds.UPDATED, "https://data.example.org/v1")
    symbols = [row["symbol"] for row in truth.rows("FROM companies")]
    draw = random.Random(REQUESTS)
    answered = 0
    for _ in range(REQUESTS):
        asked = request(draw, symbols)
        path = written(asked)
        responses = []
        for client, clock in [*services, services[0]]:
            clock.now += 31  # less than sixty a minute, less than ten thousand a day
            responses.append(client.get(path))
        bodies = [response.json() for response in responses]
        times = [body.get("meta", {}).pop("generated_at", None) for body in bodies]
        assert all(body == bodies[0] for body in bodies), path
        assert times[0] == times[3], f"{path} was not kept"
        assert {response.status_code for response in responses} == {200 if "data" in bodies[0] else 404}
        expected = asked.answer(truth)
        if expected is None or not (expected[0] or asked.path == "/companies" or is_held(truth, asked)):
            assert bodies[0]["error"]["code"] == "not_found", path
            continue
        data, meta = expected
        assert bodies[0] == {"data": data, "meta": {**meta, "source": "SEC EDGAR", "api_version": "v1"}}, path
        assert len({response.headers["ETag"] for response in responses}) == 1
        answered += 1
    truth.connection.close()
    assert answered > REQUESTS / 2, "most requests were for something that is there"


def is_held(truth: Truth, asked: Asked) -> bool:
    """Whether a company has a value in any period; otherwise it counts as not covered."""
    company = truth.find(asked.path.split("/")[2])
    return bool(company and truth.told(company["symbol"], SERVED_NAMES))
