"""Hostile requests that any client can send: keys and queries, also to a service elsewhere.

Hostile symbols and paths: test_sections_2_and_4.
"""

import httpx
import pytest

from serve.access import keys
from tests.contract.conftest import Get, assert_error
from tests.contract.test_every_endpoint import PATHS


def malformed() -> dict[str, bytes]:
    """Malformed keys by name: keys are random, but all processes of a run must collect the same tests."""
    key = keys.new_key()
    wrong_check = key[:-1] + ("a" if key[-1] != "a" else "b")
    return {
        "too short": key[:-1].encode(),
        "too long": f"{key}a".encode(),
        "other case": key.swapcase().encode(),
        "bearer": f"Bearer {key}".encode(),
        "twice": f"{key},{key}".encode(),
        "wrong check": wrong_check.encode(),
        "a letter": b"x",
        "unknown": keys.new_key().encode(),
        "prefix alone": b"fds_live_",
        "empty": b"",
        "no text": b"\xff\xfe",
        "Cyrillic": "ключ".encode(),
        "no digits": b"fds_live_" + b"\xb2" * 40,
    }


MALFORMED = malformed()


@pytest.mark.parametrize("value", MALFORMED.values(), ids=MALFORMED)
def test_5_5_a_malformed_or_unknown_key_is_401(client: httpx.Client, value: bytes) -> None:
    assert_error(client.get("/companies", headers={b"X-Api-Key": value}), 401, "unauthenticated")


def test_5_5_a_key_in_another_header_is_401_with_a_hint(client: httpx.Client, key: str) -> None:
    """Whatever the header contains; and never the key."""
    for value in (f"Bearer {key}", "Basic x"):
        response = client.get("/companies", headers={"Authorization": value})
        assert_error(response, 401, "unauthenticated")
        assert response.json()["error"]["message"].endswith("The header Authorization is not read.")
        assert key not in response.text
    both = client.get("/companies", headers={"Authorization": f"Bearer {key}", "X-Api-Key": "x"})
    assert "Authorization" not in both.json()["error"]["message"]
    assert client.get("/companies", headers={"Authorization": "Bearer x", "X-Api-Key": key}).status_code == 200


def test_5_5_two_keys_are_401(client: httpx.Client, key: str) -> None:
    assert_error(client.get("/companies", headers=[("X-Api-Key", key), ("x-api-key", key)]), 401, "unauthenticated")


NAMES = (
    *("apikey", "API_KEY", "api_key", "api-key", "API-KEY", "Key", "key", "token", "Token", "X-Api-Key", "x-api-key"),
    *("access_token", "authToken", "Bearer", "password", "secret"),
)


@pytest.mark.parametrize("path", PATHS)
def test_5_4_a_key_in_the_url_is_422_before_authentication(client: httpx.Client, path: str) -> None:
    """Under any name of a credential whatever the value is, and a key under any other name."""
    key = keys.new_key()
    for name, value in (*((name, "anything") for name in NAMES), ("apikey", key), ("search", key)):
        response = client.get(path, params={name: value})
        assert_error(response, 422, "invalid_parameter")
        assert "X-Api-Key" in response.json()["error"]["message"], name
        assert key not in response.text


@pytest.mark.parametrize(
    "query", ["search=%FF", "%FF=1", "search=%ED%A0%80", "=1", "%00=%00", "x" * 4000, "a&b&c", "search=%"]
)
def test_4_hostile_queries_get_the_envelope(get: Get, query: str) -> None:
    response = get(f"/companies?{query}")
    if query == "search=%":
        assert [company["symbol"] for company in response.json()["data"]] == ["ABCX"]
    else:
        assert_error(response, 422, "invalid_parameter")
        assert len(response.content) < 2000
