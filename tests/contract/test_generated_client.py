"""A client generated from the served description, as subscribers generate theirs, calls every endpoint."""

import datetime
import importlib
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

from serve.api.endpoints import ENDPOINTS, Endpoint
from serve.site.text import snippets
from tests.contract.conftest import DESCRIPTION, Served
from warehouse.contract.line_items import SERVED_NAMES

Call = Callable[..., Any]


@pytest.fixture
def call(generated_client: str, served: Served, key: str) -> Call:
    """The parsed response that the generated function of an endpoint returns."""

    def call(name: str, **values: object) -> object:
        package = importlib.import_module(generated_client)
        with package.AuthenticatedClient(served.address, key, prefix="", auth_header_name="X-Api-Key") as client:
            return importlib.import_module(f"{generated_client}.api.{name}").sync(client=client, **values)

    return call


def test_a_generated_client_asks_for_items_as_a_string(call: Call) -> None:
    """Comma-separated, as section 4.3 types the parameter; and for all of them by default."""
    values = {"symbol": "LNTR", "items": "revenue,net_income", "from_": datetime.date(2024, 12, 1)}
    found = call("financials.list_financials", **values)
    assert [item.value for item in found.meta.items] == ["revenue", "net_income"]
    assert [period.values.revenue for period in found.data] == [4000]
    every = call("financials.list_financials", symbol="LNTR")
    assert [item.value for item in every.meta.items] == list(SERVED_NAMES)
    revised = call("financials.list_revisions", symbol="LNTR", items="revenue")
    assert {each.item.value for each in revised.data} == {"revenue"}


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_a_generated_client_calls_every_endpoint(call: Call, endpoint: Endpoint) -> None:
    """Its functions are named after the tags and names of the endpoints."""
    [tag] = DESCRIPTION["paths"][endpoint.path]["get"]["tags"]
    name = re.sub("(?=[A-Z])", "_", endpoint.name).lower()
    found = call(f"{tag}.{name}", **({"symbol": "LNTR"} if endpoint.needs_symbol else {}))
    assert found.meta.api_version == "v1"


@pytest.mark.parametrize(
    ("name", "values", "field", "expected"),
    [
        ("companies.list_companies", {"search": "lantern", "per_page": 1}, "meta.total", 2),
        ("companies.get_company", {"symbol": "LNTR"}, "data.coverage.annual_periods", 3),
        ("valuation.get_valuation", {"symbol": "LNTR"}, "data.fair_value_per_share", 17),
        ("valuation.get_valuation", {"symbol": "ABCX"}, "data.reason.code.value", "negative_free_cash_flow"),
        ("companies.get_company", {"symbol": "NOPE"}, "error.code.value", "not_found"),
    ],
)
def test_a_generated_client_has_the_fields_of_responses(
    call: Call, name: str, values: dict[str, object], field: str, expected: object
) -> None:
    """Responses and errors are objects of the description's types."""
    assert attrgetter(field)(call(name, **values)) == expected


def test_a_generated_client_has_the_details_of_errors(call: Call) -> None:
    """And calls the endpoint whose answer depends on the time."""
    assert call("status.get_status").data.status.value in ("up", "degraded")
    assert call("companies.list_companies", search="lantern", per_page=1).data[0].symbol == "LNTR"
    assert not call("companies.get_company", symbol="NOPE").error.details
    refused = call("financials.list_financials", symbol="LNTR", items="sales")
    assert "sales" in refused.error.details["items"]


@pytest.mark.usefixtures("generated_client")
def test_the_program_of_the_reference_uses_it(
    served: Served, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands there."""
    _, used, _ = snippets.client(served.address, "LNTR")
    monkeypatch.setenv("API_KEY", key)
    exec(compile(used.text, "reference", "exec"), {})
    said = capsys.readouterr().out
    assert "LNTR" in said
    assert "('FY2024', " in said
