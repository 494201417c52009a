"""Authentication, errors, limits: sections 5, 7 and 8, and the order of checks, against a running server."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import httpx
import pytest

from serve.access.limits import LIMITS, Limit
from tests import builds
from tests.contract.conftest import NOON, Get, Served, assert_error, minute_of, new_key, only_here
from tests.servers import wait_until
from warehouse.build.opening import open_read_only
from warehouse.read.reader import FALLEN_BACK, UNREADABLE

HEADERS, BLOCK = 12_288, 262_144
"""Bytes of a DuckDB file before its blocks, and of a block."""


DATA = ("/companies", *(f"/companies/LNTR{end}" for end in ("", "/financials", "/financials/revisions", "/valuation")))
"""The paths that need a build."""


@pytest.fixture
def subscriber(empty: Served) -> Iterator[httpx.Client]:
    """A client with a key of the separate service."""
    with httpx.Client(base_url=empty.address, headers={"X-Api-Key": new_key(empty)[0]}) as client:
        yield client


def status_of(client: httpx.Client) -> tuple[str, str | None, str | None]:
    """The status, the build and the reason that a service states."""
    data = client.get("/status").json()["data"]
    return data["status"], data["build"], data["reason"]


def test_5_5_revoked_key_is_401_within_five_seconds(served: Served, client: httpx.Client) -> None:
    only_here("sets the clock")
    key, email = new_key(served)
    assert client.get("/companies", headers={"X-Api-Key": key}).status_code == 200
    with served.accounts() as accounts:
        accounts.revoke_key(accounts.keys_of(email)[0].id, served.clock.now)
    served.clock.now += 4.9
    assert_error(client.get("/companies", headers={"X-Api-Key": key}), 401, "unauthenticated")


def test_5_6_inactive_subscription_is_403_and_changes_apply_within_five_seconds(
    served: Served, client: httpx.Client
) -> None:
    only_here("sets the clock")
    key, email = new_key(served, status=None)
    assert_error(client.get("/companies", headers={"X-Api-Key": key}), 403, "subscription_inactive")
    with served.accounts() as accounts:
        for status, expected in (("active", 200), ("inactive", 403)):
            accounts.set_subscription(email, status, served.clock.now)  # type: ignore[arg-type]
            served.clock.now += 4.9
            assert client.get("/companies", headers={"X-Api-Key": key}).status_code == expected


def test_5_the_last_use_of_a_key_is_stored(served: Served, client: httpx.Client) -> None:
    """Soon after the response, because no request waits for it."""
    only_here("the time of the last use is noon")
    key, email = new_key(served)
    client.get("/companies", headers={"X-Api-Key": key})
    with served.accounts() as accounts:
        wait_until(lambda: accounts.keys_of(email)[0].last_used_at == "2026-03-02T12:00:00Z")


def test_7_order_of_checks(served: Served, client: httpx.Client) -> None:
    """Unknown path, method, credential in the query, key, subscription, limit, parameters, symbol."""
    inactive, active, fresh = (new_key(served, status)[0] for status in (None, "active", "active"))
    minute_of(served)  # the sixty requests fall into one
    for _ in range(60):
        client.get("/companies/NOPE", headers={"X-Api-Key": active})
    wrong = "/companies/NOPE/financials?limit=0"
    asked = [
        ("POST", "/nothing?apikey=x", None, 404),
        ("POST", "/companies/NOPE?apikey=x", None, 405),
        ("GET", "/companies/NOPE?apikey=x", None, 422),
        ("GET", wrong, None, 401),
        ("GET", wrong, inactive, 403),
        ("GET", wrong, active, 429),
        ("GET", wrong, fresh, 422),
        ("GET", "/companies/NOPE/financials", fresh, 404),
        ("GET", "/companies/LNTR/financials", fresh, 200),
    ]
    for method, path, key, status in asked:
        response = client.request(method, path, headers={"X-Api-Key": key} if key else {})
        assert response.status_code == status, (method, path, response.text)


def test_7_without_any_build_data_is_a_server_error_and_status_answers(empty: Served, subscriber: httpx.Client) -> None:
    for path in DATA:
        response = subscriber.get(path)
        assert_error(response, 500, "server_error")
        assert response.json()["error"]["message"] == "No data has been published yet."
    status = subscriber.get("/status")
    assert status.status_code == 200
    assert status.json()["data"] == {
        "status": "degraded",
        "build": None,
        "last_synchronized_at": None,
        "age_seconds": None,
        "newest_filing": None,
        "companies": None,
        "quarantined": None,
        "next_synchronization_at": None,
        "reason": "No data has been published yet.",
    }
    builds.small(empty.home / "published")
    assert subscriber.get("/companies").status_code == 200
    assert status_of(subscriber) == ("up", "b1", None)
    (empty.home / "published" / "CURRENT.json").write_text("nothing of the kind")
    assert subscriber.get("/companies").status_code == 200, "the build that is open stays served"
    assert status_of(subscriber) == ("degraded", "b1", FALLEN_BACK)


def test_7_a_damaged_build_is_left_for_the_one_before(empty: Served, subscriber: httpx.Client) -> None:
    """No request fails while a build can be read, and status says which is served and why."""
    published = empty.home / "published"

    def publish(number: int, damaged: str = "") -> None:
        builds.small(published, f"b{number}", sync_id=f"s{number}")
        if damaged:
            damage(published / f"warehouse-b{number}.duckdb", damaged)

    publish(1, damaged="companies")
    assert_error(subscriber.get("/companies"), 500, "server_error")
    assert status_of(subscriber) == ("degraded", None, UNREADABLE)

    publish(2)
    publish(3, damaged="companies")
    assert [subscriber.get(path).status_code for path in DATA] == [200] * len(DATA)
    assert status_of(subscriber) == ("degraded", "b2", FALLEN_BACK)

    publish(4)
    assert subscriber.get("/companies").status_code == 200
    assert status_of(subscriber) == ("up", "b4", None)

    publish(5, damaged="rules")
    pages = empty.address.removesuffix("/v1")
    assert httpx.get(f"{pages}/rules").status_code == 200
    assert FALLEN_BACK in httpx.get(pages).text


def damage(path: Path, table: str) -> None:
    """Flip a bit in a block that is read with the rows of a table, and not when the build is opened."""
    path.chmod(0o644)
    content = path.read_bytes()
    for at in range(HEADERS + 100, len(content), BLOCK):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        if answers(path, "SELECT 1") and not answers(path, f"FROM {table}"):
            return
    raise AssertionError(f"{path} has no such block")


def answers(path: Path, sql: str) -> bool:
    """Whether a file can be opened and queried."""
    try:
        with open_read_only(path) as build:
            build.execute(sql).fetchall()
    except duckdb.Error:
        return False
    return True


def test_7_new_build_is_served_without_restart(empty: Served, subscriber: httpx.Client) -> None:
    for number in (1, 2, 3):
        rows = builds.tables()
        rows["financials"][0]["revenue"] = float(number)
        builds.publish_small(empty.home / "published", f"b{number}", rows, sync_id=f"s{number}")
        values = subscriber.get("/companies/LNTR/financials?items=revenue").json()["data"][-1]["values"]
        assert (values, status_of(subscriber)) == ({"revenue": number}, ("up", f"b{number}", None))


def limits(response: httpx.Response) -> tuple[int, int, int]:
    return tuple(int(response.headers[f"X-RateLimit-{name}"]) for name in ("Limit", "Remaining", "Reset"))  # type: ignore[return-value]


def assert_refused_for(seconds: int, response: httpx.Response) -> None:
    assert_error(response, 429, "rate_limited")
    assert response.headers["Retry-After"] == str(seconds)


def test_8_the_61st_request_of_a_minute_is_429_until_the_next_minute(served: Served, get: Get) -> None:
    """Whatever the sixty responses were; refused requests do not count."""
    served.clock.now = NOON + 600 + 12.5
    for path in ["/companies"] * 20 + ["/companies?page=0"] * 20 + ["/companies/NOPE"] * 20:
        assert get(path).status_code in (200, 422, 404)
    for _ in range(3):
        assert_refused_for(48, get("/companies"))
    served.clock.now = NOON + 660
    assert limits(get("/companies")) == (60, 59, int(NOON) + 720)


def test_8_a_used_up_day_is_429_until_midnight(served: Served, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a smaller limit, because ten thousand requests are slow; requests refused by the minute do not count."""
    assert LIMITS[1] == Limit(10_000, "day", 86_400)
    monkeypatch.setattr("serve.access.limits.LIMITS", (LIMITS[0], Limit(63, "day", 86_400)))
    midnight = int(NOON // 86_400 + 1) * 86_400
    assert [get("/companies").status_code for _ in range(62)] == [200] * 60 + [429] * 2
    served.clock.now = NOON + 60
    assert [limits(get("/companies")) for _ in range(3)] == [(63, left, midnight) for left in (2, 1, 0)]
    assert_refused_for(int(midnight - NOON - 60), get("/companies"))
    served.clock.now = midnight
    assert limits(get("/companies")) == (60, 59, midnight + 60)


def test_8_errors_have_no_rate_limit_headers(get: Get) -> None:
    assert not [name for name in get("/companies/NOPE").headers if name.startswith("x-ratelimit")]
