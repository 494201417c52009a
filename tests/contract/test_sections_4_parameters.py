"""Query parameters: section 4 and the code `invalid_parameter` of section 7, against a running server."""

from typing import Any

import pytest

from serve.api.endpoints import ENDPOINTS
from tests.contract.conftest import Get, assert_error
from warehouse.contract.line_items import SERVED_NAMES

INTEGERS = [
    "0",
    "-1",
    "+5",
    " 5",
    "5 ",
    "５",
    "1e1",
    "1.0",
    "0x1",
    "five",
    "99999999999999999999",
    "9" * 5000,
    "",
    "1_0",
]
DATES = [
    "2024-1-1",
    "2024-02-30",
    "2024-13-01",
    "20240101",
    "2024/01/01",
    "２０２４-01-01",
    "0000-01-01",
    "2024-01-01T00:00",
    "",
]
LISTS = [
    "revenue,",
    ",revenue",
    "revenue, roic",
    " revenue",
    "revenue,revenue",
    "Revenue",
    "eps_diluted",
    "",
    "revenue;roic",
]
FINANCIALS = "/companies/LNTR/financials"
REVISIONS = "/companies/LNTR/financials/revisions"
VALUATION = "/companies/LNTR/valuation"
TEXTS = ["", "\x00", "a\x7f", "a\nb"]


def named(values: list[str], *parameters: tuple[str, str]) -> list[tuple[str, str, str]]:
    return [(path, parameter, value) for path, parameter in parameters for value in values]


@pytest.mark.parametrize(
    ("path", "parameter", "value"),
    [
        *named(INTEGERS, ("/companies", "page"), ("/companies", "per_page")),
        *named(INTEGERS, (FINANCIALS, "limit"), (REVISIONS, "limit")),
        *named(DATES, (FINANCIALS, "from"), (FINANCIALS, "to"), (REVISIONS, "from"), (REVISIONS, "to")),
        *named(LISTS, (FINANCIALS, "items"), (REVISIONS, "items")),
        *named(["", "TTM", "quarter", "ttm,annual"], (FINANCIALS, "period")),
        *named(TEXTS, ("/companies", "search"), ("/companies", "exchange")),
        ("/companies", "per_page", "101"),
        (FINANCIALS, "limit", "41"),
        (REVISIONS, "limit", "201"),
    ],
)
def test_4_a_malformed_value_is_422_and_named(get: Get, path: str, parameter: str, value: str) -> None:
    response = get(path, **{parameter: value})
    assert assert_error(response, 422, "invalid_parameter").keys() == {parameter}
    assert parameter in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "path", ["/companies", "/companies/LNTR", FINANCIALS, REVISIONS, VALUATION, "/status", "/openapi.json"]
)
def test_4_unknown_parameters_are_named_with_the_accepted_ones(get: Get, path: str) -> None:
    details = assert_error(get(path, limti=1, _=2), 422, "invalid_parameter")
    assert details.keys() == {"limti", "_"}
    for name in ("search", "exchange", "page", "per_page") if path == "/companies" else ():
        assert name in details["_"]
    assert ("did you mean 'limit'" in details["limti"]) == (path in (FINANCIALS, REVISIONS))


@pytest.mark.parametrize("path", [FINANCIALS, REVISIONS])
def test_4_3_unknown_item_is_named_with_the_valid_ones(get: Get, path: str) -> None:
    message = get(path, items="revenue,revenu").json()["error"]["message"]
    assert "'revenu'" in message
    assert "did you mean 'revenue'" in message
    assert all(name in message for name in SERVED_NAMES)


@pytest.mark.parametrize("planned", ["eps_diluted", "operating_cash_flow", "capital_expenditure"])
@pytest.mark.parametrize("path", [FINANCIALS, REVISIONS])
def test_2_4_planned_items_are_refused_without_another_instead(get: Get, path: str, planned: str) -> None:
    response = get(path, items=planned)
    told = f"'{planned}', which is planned and not served yet; valid items are"
    assert told in assert_error(response, 422, "invalid_parameter")["items"]
    assert "did you mean" not in response.json()["error"]["message"]


@pytest.mark.parametrize(("name", "meant"), [("eps", "eps_basic"), ("debt", None), ("operating_profit", None)])
def test_4_3_only_a_name_that_is_alike_or_the_only_one_with_the_word_is_suggested(
    get: Get, name: str, meant: str | None
) -> None:
    message = get(FINANCIALS, items=name).json()["error"]["message"]
    assert "did you mean" not in message if meant is None else f"did you mean '{meant}'?" in message


@pytest.mark.parametrize(
    ("path", "parameter", "value"),
    [(endpoint.path, parameter.name, parameter.example) for endpoint in ENDPOINTS for parameter in endpoint.parameters],
)
def test_4_a_parameter_given_twice_or_empty_is_422_and_named(get: Get, path: str, parameter: str, value: Any) -> None:
    """Every parameter of every endpoint, each with a valid example."""
    path = path.format(symbol="LNTR")
    value = ",".join(value) if isinstance(value, tuple) else value
    assert get(path, **{parameter: value}).status_code == 200
    for query, told in ((f"{parameter}={value}&{parameter}={value}", "more than once"), (f"{parameter}=", "empty")):
        details = assert_error(get(f"{path}?{query}"), 422, "invalid_parameter")
        assert details.keys() == {parameter}
        assert told in details[parameter] or "must" in details[parameter]


def test_4_endpoints_without_parameters_say_so(get: Get) -> None:
    for path in ("/companies/LNTR", VALUATION, "/status", "/openapi.json"):
        for parameter in ("period", "limit", "years"):
            details = assert_error(get(path, **{parameter: 1}), 422, "invalid_parameter")
            assert details[parameter].endswith("this endpoint takes none.")


@pytest.mark.parametrize("path", [FINANCIALS, REVISIONS])
def test_4_from_after_to_is_422(get: Get, path: str) -> None:
    assert_error(get(path, **{"from": "2024-02-01", "to": "2024-01-31"}), 422, "invalid_parameter")
    assert get(path, **{"from": "2024-01-31", "to": "2024-01-31"}).status_code == 200


def test_4_every_wrong_parameter_has_a_message(get: Get) -> None:
    details = assert_error(get("/companies", page=0, per_page=101, colour="red"), 422, "invalid_parameter")
    assert details.keys() == {"page", "per_page", "colour"}


def test_4_parameters_are_checked_before_the_symbol(get: Get) -> None:
    assert_error(get("/companies/NOPE", anything=1), 422, "invalid_parameter")
