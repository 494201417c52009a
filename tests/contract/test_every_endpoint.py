"""Rules for all endpoints: sections 1, 2.4, 4, 5 and 7, against a running server."""

import re

import httpx
import pytest

from serve.api.endpoints import ENDPOINTS, Endpoint
from serve.api.parameters import COMPANIES, FINANCIALS, REVISIONS
from tests.contract.conftest import DESCRIPTION, NOON, Get, Served, assert_error, assert_valid, minute_of, new_key
from warehouse.contract.line_items import SERVED_NAMES

PATHS = [endpoint.path.format(symbol="LNTR") for endpoint in ENDPOINTS]
KEYED = [endpoint.path.format(symbol="LNTR") for endpoint in ENDPOINTS if endpoint.needs_key]

ADD_ROWS = "if rows are missing, add those of CIK 9990000001 to the table that it reads, in tests/builds.py"

every_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)


def test_4_the_endpoints_and_their_parameters() -> None:
    """Further endpoints come after these."""
    found = [(endpoint.path, [parameter.name for parameter in endpoint.parameters]) for endpoint in ENDPOINTS]
    assert found[:6] == [
        ("/companies", ["search", "exchange", "page", "per_page"]),
        ("/companies/{symbol}", []),
        ("/companies/{symbol}/financials", ["period", "items", "from", "to", "limit"]),
        ("/companies/{symbol}/financials/revisions", ["items", "from", "to", "limit"]),
        ("/companies/{symbol}/valuation", []),
        ("/status", []),
    ]


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECTED", "BREW"])
@pytest.mark.parametrize("path", [*PATHS, "/openapi.json", "/companies/LNTR/financials?anything=1&apikey=x"])
def test_1_only_get_is_accepted(client: httpx.Client, method: str, path: str) -> None:
    """Only the path is checked before the method; the response to HEAD has no body."""
    response = client.request(method, path)
    assert (response.status_code, response.headers["allow"]) == (405, "GET")
    if method != "HEAD":
        assert_error(response, 405, "method_not_allowed")
    assert (response.content == b"") == (method == "HEAD")


@every_endpoint
def test_2_a_response_is_data_and_meta_in_the_shapes_of_the_endpoint(endpoint: Endpoint, get: Get) -> None:
    """To the last field: the client of these tests also validates each response with the closed description."""
    response = get(endpoint.path.format(symbol="LNTR"))
    assert response.status_code == 200, f"{endpoint.name} of LNTR: {response.text}; {ADD_ROWS}"
    body = response.json()
    assert list(body) == ["data", "meta"]
    assert isinstance(body["data"], list) == endpoint.of_many
    own = list(endpoint.meta.__struct_fields__)
    assert list(body["meta"]) == [*own, "source", "api_version", "generated_at"]
    assert body["data"], f"{endpoint.name} of LNTR is empty; {ADD_ROWS}"
    one = body["data"][0] if endpoint.of_many else body["data"]
    assert list(one) in [list(shape.__struct_fields__) for shape in endpoint.data]


def test_2_the_description_rejects_a_wrong_response(get: Get) -> None:
    """An additional or a missing field does not fit the description."""
    schema = {"$ref": "#/components/schemas/ListCompaniesBody"}
    body = get("/companies").json()
    assert_valid(body, schema)
    for wrong in ({**body, "more": 1}, {"data": body["data"]}, {**body, "data": [{**body["data"][0], "secret": 1}]}):
        with pytest.raises(ValueError):
            assert_valid(wrong, schema)
    assert "ListCompaniesBody" in DESCRIPTION["components"]["schemas"]


@pytest.mark.parametrize("item", SERVED_NAMES)
def test_2_4_each_of_the_eleven_line_items_can_be_requested(get: Get, item: str) -> None:
    assert get("/companies/ABCX/financials", items=item).json()["meta"]["items"] == [item]
    assert get("/companies/ABCX/financials/revisions", items=item).json()["meta"]["items"] == [item]


def test_2_4_discrete_quarters_are_not_accepted(get: Get) -> None:
    details = assert_error(get("/companies/LNTR/financials", period="quarter"), 422, "invalid_parameter")
    assert "ttm, annual" in details["period"]


def test_4_1_pages_add_up_to_the_whole_list_each_time(get: Get) -> None:
    whole = [company["symbol"] for company in get("/companies").json()["data"]]
    for _ in range(2):
        pages = [get("/companies", per_page=1, page=page).json()["data"] for page in range(1, len(whole) + 1)]
        assert [company["symbol"] for page in pages for company in page] == whole


@pytest.mark.parametrize("path", KEYED)
def test_5_1_every_endpoint_except_the_status_needs_a_key(client: httpx.Client, path: str) -> None:
    assert_error(client.get(path), 401, "unauthenticated")
    assert client.get("/status").status_code == 200


def test_5_3_a_key_is_a_prefix_and_forty_characters(key: str) -> None:
    assert re.fullmatch(r"fds_live_[A-Za-z0-9]{40}", key)


def test_5_7_limits_are_counted_per_key(served: Served, client: httpx.Client) -> None:
    """Also for two keys of one account."""
    served.clock.now = NOON + 3600
    key, email = new_key(served)
    with served.accounts() as accounts:
        other = accounts.create_key(email, served.clock.now)
    asked = [("/status", {}), *(("/companies", {"X-Api-Key": used}) for used in (key, key, other))]
    left = [client.get(path, headers=headers).headers.get("X-RateLimit-Remaining") for path, headers in asked]
    assert left == [None, "59", "58", "59"]


def test_8_the_limits_of_the_table() -> None:
    bounds = {
        (name, parameter.name): (parameter.default, parameter.minimum, parameter.maximum)
        for name, accepted in (("companies", COMPANIES), ("financials", FINANCIALS), ("revisions", REVISIONS))
        for parameter in accepted
        if hasattr(parameter, "maximum")
    }
    assert bounds == {
        ("companies", "page"): (1, 1, 2**31 - 1),
        ("companies", "per_page"): (50, 1, 100),
        ("financials", "limit"): (20, 1, 40),
        ("revisions", "limit"): (50, 1, 200),
    }


@pytest.mark.parametrize("path", KEYED)
def test_8_every_response_with_data_has_the_headers_of_the_limit(served: Served, get: Get, path: str) -> None:
    minute = minute_of(served)
    headers = get(path).headers
    told = [headers[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Reset")]
    assert told == ["60", "59", str(minute + 60)]


@pytest.mark.parametrize("path", KEYED)
def test_8_a_current_cached_copy_is_304_and_fits_the_description(client: httpx.Client, key: str, path: str) -> None:
    tag = client.get(path, headers={"X-Api-Key": key}).headers["ETag"]
    response = client.get(path, headers={"X-Api-Key": key, "If-None-Match": tag})
    assert (response.status_code, response.content) == (304, b"")
