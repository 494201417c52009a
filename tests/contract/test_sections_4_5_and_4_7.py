"""Valuation and the description, rule by rule: sections 4.5, 4.7 and 9, against a running server."""

from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from serve.api import description as openapi
from serve.api.changelog import ENTRIES
from tests import builds, dagster_records
from tests.contract.conftest import (
    DESCRIPTION,
    NOON,
    Get,
    Served,
    assert_error,
    new_key,
    serving,
)
from warehouse.build import publish
from warehouse.contract.reasons import NO_FAIR_VALUE

PATH = "/companies/{}/valuation"


@pytest.mark.parametrize(
    ("valuations", "status", "code"),
    [([], 404, "not_found"), ([{**builds.valuations()[0], "assumptions": "{}"}], 500, "server_error")],
    ids=["without one, as in a build of an older program", "of another shape"],
)
def test_4_5_a_missing_valuation_is_not_found_and_a_malformed_one_a_server_error(
    tmp_path: Path, valuations: list[dict[str, object]], status: int, code: str
) -> None:
    """The next synchronization values every company."""
    builds.publish_small(tmp_path / "published", rows={**builds.tables(), "valuations": valuations})
    with serving(tmp_path) as running:
        key, _ = new_key(running)
        response = httpx.get(running.address + PATH.format("LNTR"), headers={"X-Api-Key": key})
        assert_error(response, status, code)


def test_4_5_rule_1_not_meaningful_has_all_reasons_and_no_value(get: Get) -> None:
    data = get(PATH.format("ABCX")).json()["data"]
    codes = ["negative_free_cash_flow", "too_volatile"]
    assert data == {
        "symbol": "ABCX",
        "currency": data["currency"],
        "period": "2024Q4",
        "period_end": "2024-12-31",
        "meaningful": False,
        "reason": {"code": codes[0], "codes": codes, "message": " ".join(NO_FAIR_VALUE[code] for code in codes)},
    }


def test_4_5_rule_2_meaningful_has_value_assumptions_and_ten_years(get: Get) -> None:
    response = get(PATH.format("LNTR"))
    data = response.json()["data"]
    assert (data["meaningful"], "reason" in data) == (True, False)
    assumed = {"base_is_normalized": False, "projection_years": 10, "required_return": 0.085, "perpetual_growth": 0.025}
    assert data["assumptions"].items() >= assumed.items()
    assert [year["year"] for year in data["projection"]] == list(range(1, 11))
    assert '"fair_value_per_share":17,' in response.text, "whole numbers are integers"
    assert '"free_cash_flow":100000000,' in response.text


def test_4_5_class_sibling_shares_the_valuation_under_its_own_symbol(get: Get) -> None:
    first, second = (get(PATH.format(symbol)).json()["data"] for symbol in ("LNTR", "LNTR-B"))
    assert second == {**first, "symbol": "LNTR-B"}


@pytest.mark.parametrize("headers", [{}, {"X-Api-Key": "nonsense"}])
def test_4_7_the_description_is_served_with_or_without_a_key(client: httpx.Client, headers: dict[str, str]) -> None:
    response = client.get("/openapi.json", headers=headers)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json() == DESCRIPTION


def test_4_7_reading_the_description_is_not_counted(client: httpx.Client, key: str, get: Get) -> None:
    for _ in range(3):
        client.get("/openapi.json", headers={"X-Api-Key": key})
    assert get("/companies").headers["X-RateLimit-Remaining"] == "59"


def test_9_2_the_changelog_ends_with_the_fingerprint_of_the_served_description(client: httpx.Client) -> None:
    served = client.get("/openapi.json").json()
    assert openapi.fingerprint(served) == ENTRIES[-1].fingerprint
    assert served["info"]["version"].endswith(f"beta.{len(ENTRIES)}")


def test_4_6_status_has_the_next_morning_in_new_york(served: Served, client: httpx.Client) -> None:
    """6 a.m. in New York is 11:00 UTC in winter; at that very moment the next day is due.

    If this morning's synchronization is more than an hour late, no next one is stated.
    """
    for now, due in (
        (NOON - 3601, "2026-03-02T11:00:00Z"),
        (NOON - 3600, "2026-03-03T11:00:00Z"),
        (NOON, "2026-03-03T11:00:00Z"),
        (NOON + 1, None),
    ):
        served.clock.now = now
        assert client.get("/status").json()["data"]["next_synchronization_at"] == due


def test_4_6_status_has_the_next_tick_as_soon_as_the_schedule_of_dagster_is_on(empty: Served) -> None:
    """Also before it has ever run, and on the front page; not while the daemon that runs it is silent, and not if
    there is no schedule.
    """
    builds.small(empty.home / "published")
    publish.record(
        empty.home / "published", synchronization=builds.SYNCHRONIZATION, updated=builds.UPDATED, is_scheduled=False
    )
    due, record = "2026-03-03T11:00:00Z", empty.home / "dagster/history/runs.db"
    for is_on, silent, promised in (
        (None, 0, None),
        (True, 30, due),
        (False, 30, None),
        (True, 600, None),
        (True, 299, due),
    ):
        record.unlink(missing_ok=True)
        if is_on is not None:
            dagster_records.write(empty.home, is_on=is_on, lived_at=NOON - silent)
        with httpx.Client(base_url=empty.address) as client:
            assert client.get("/status").json()["data"]["next_synchronization_at"] == promised
            page = client.get(urljoin(empty.address, "/"), headers={"Accept": "text/markdown"}).text
        assert (due in page) == (promised is not None)
