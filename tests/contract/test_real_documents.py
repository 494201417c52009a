"""The interface over real documents: responses on every company fit the description and are consistent."""

import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract.conftest import Ticking, assert_described, new_key, serving

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def ask(synchronized_mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Response bodies of a service over the whole mirror; each response is validated."""
    home = tmp_path_factory.mktemp("real")
    shutil.copytree(synchronized_mirror / "published", home / "published", symlinks=True)
    with serving(home, Ticking()) as running:
        key, _ = new_key(running)
        hooks = {"response": [assert_described]}
        with httpx.Client(base_url=running.address, headers={"X-Api-Key": key}, event_hooks=hooks) as client:

            def ask(path: str, **parameters: str | int) -> dict[str, Any]:
                response = client.get(path, params=parameters)
                assert response.status_code == 200, response.text
                body: dict[str, Any] = response.json()
                return body

            yield ask


@pytest.fixture(scope="module")
def companies(ask: Ask) -> list[dict[str, Any]]:
    """All companies, page by page."""
    last_page = ask("/companies")["meta"]["last_page"]
    return [company for page in range(1, last_page + 1) for company in ask("/companies", page=page)["data"]]


def test_4_1_the_list_is_all_companies_once_by_symbol(ask: Ask, companies: list[dict[str, Any]]) -> None:
    symbols = [company["symbol"] for company in companies]
    assert symbols == sorted(set(symbols))
    assert len(symbols) == ask("/companies", per_page=1)["meta"]["total"] > 90
    assert {"AAPL", "JPM", "TSM"} <= set(symbols)
    assert ask("/companies", search="aapl")["data"] == [company for company in companies if company["symbol"] == "AAPL"]


def test_4_2_profiles_agree_with_the_list_and_the_values(ask: Ask, companies: list[dict[str, Any]]) -> None:
    for company in companies:
        profile = ask(f"/companies/{company['symbol']}")["data"]
        assert profile == {**profile, **company}
        coverage = profile["coverage"]
        assert coverage["ttm_periods"] + coverage["annual_periods"] > 0
        assert coverage["first_period"]["period_end"] <= coverage["last_period"]["period_end"]


def test_4_3_and_4_4_values_are_the_current_versions(ask: Ask, companies: list[dict[str, Any]]) -> None:
    """Newest first, each period once, each with a value; a revised value equals the value in financials."""
    for company in companies:
        address = f"/companies/{company['symbol']}/financials"
        told = {kind: ask(address, period=kind, limit=40)["data"] for kind in ("ttm", "annual")}
        for kind, rows in told.items():
            assert all(newer["period_end"] > older["period_end"] for newer, older in pairwise(rows))
            assert all(row["period"].startswith("FY") == (kind == "annual") for row in rows)
        values = {
            (row["period"], row["period_end"], item): value
            for rows in told.values()
            for row in rows
            for item, value in row["values"].items()
        }
        oldest = max((rows[-1]["period_end"] for rows in told.values() if rows), default="")
        for revision in ask(f"{address}/revisions", limit=200, **{"from": oldest})["data"]:
            of = (revision["period"], revision["period_end"], revision["item"])
            assert values.get(of) == revision["current_value"], (company["symbol"], of)
            numbers = [version["version"] for version in revision["versions"]]
            assert numbers == sorted(numbers)
            current = [version["value"] for version in revision["versions"] if version["current"]]
            assert current == ([] if revision["current_value"] is None else [revision["current_value"]])


def test_4_5_every_company_has_a_valuation_or_a_reason(ask: Ask, companies: list[dict[str, Any]]) -> None:
    for company in companies:
        data = ask(f"/companies/{company['symbol']}/valuation")["data"]
        assert ("fair_value_per_share" in data) == data["meaningful"] == ("reason" not in data)


def test_4_6_status_counts_the_primary_symbols(ask: Ask, companies: list[dict[str, Any]]) -> None:
    assert ask("/status")["data"]["companies"] == len({company["cik"] for company in companies})
