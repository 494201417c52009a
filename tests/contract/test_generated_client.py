"""A client generated from the served description, as subscribers generate theirs, calls every endpoint."""

import datetime
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from serve.site.text import snippets
from tests.contract.conftest import Served
from warehouse.contract.line_items import SERVED_NAMES

NAME = "generated_client"


@pytest.fixture(scope="module")
def generated(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The package that openapi-python-client makes, without a warning."""
    folder: Path = tmp_path_factory.mktemp("client")
    described = folder / "openapi.json"
    described.write_bytes(httpx.get(f"{served.address}/openapi.json").content)
    settings = folder / "settings.yml"
    settings.write_text("post_hooks: []\n", encoding="utf-8")  # no formatting, which takes time
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
    files = ["--path", str(described), "--config", str(settings), "--output-path", str(folder / NAME)]
    made = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    sys.path.insert(0, str(folder))
    yield importlib.import_module(NAME)
    sys.path.remove(str(folder))


def call(generated: ModuleType, served: Served, key: str, name: str, **values: object) -> object:
    """The parsed response that the generated function of an endpoint returns."""
    client = generated.AuthenticatedClient(served.address, key, prefix="", auth_header_name="X-Api-Key")
    with client:
        return importlib.import_module(f"{NAME}.api.{name}").sync(client=client, **values)


def test_a_generated_client_asks_for_items_as_a_string(generated: ModuleType, served: Served, key: str) -> None:
    """Comma-separated, as section 4.3 types the parameter; and for all of them by default."""
    values = {"symbol": "LNTR", "items": "revenue,net_income", "from_": datetime.date(2024, 12, 1)}
    found = call(generated, served, key, "financials.list_financials", **values)
    assert [item.value for item in found.meta.items] == ["revenue", "net_income"]
    assert [period.values.revenue for period in found.data] == [4000]
    every = call(generated, served, key, "financials.list_financials", symbol="LNTR")
    assert [item.value for item in every.meta.items] == list(SERVED_NAMES)
    revised = call(generated, served, key, "financials.list_revisions", symbol="LNTR", items="revenue")
    assert {each.item.value for each in revised.data} == {"revenue"}


def test_a_generated_client_calls_every_endpoint(generated: ModuleType, served: Served, key: str) -> None:
    """Responses and errors are objects of the description's types."""
    listed = call(generated, served, key, "companies.list_companies", search="lantern", per_page=1)
    assert (listed.data[0].symbol, listed.meta.total) == ("LNTR", 2)
    assert call(generated, served, key, "companies.get_company", symbol="LNTR").data.coverage.annual_periods == 3
    assert call(generated, served, key, "valuation.get_valuation", symbol="LNTR").data.fair_value_per_share == 17
    without = call(generated, served, key, "valuation.get_valuation", symbol="ABCX").data
    assert without.reason.code.value == "negative_free_cash_flow"
    assert call(generated, served, key, "status.get_status").data.status.value in ("up", "degraded")
    missing = call(generated, served, key, "companies.get_company", symbol="NOPE")
    assert missing.error.code.value == "not_found"
    assert not missing.error.details
    refused = call(generated, served, key, "financials.list_financials", symbol="LNTR", items="sales")
    assert "sales" in refused.error.details["items"]


def test_the_program_of_the_reference_uses_it(
    generated: ModuleType, served: Served, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands there, but for the name of the package."""
    _, used, _ = snippets.client(served.address, "LNTR")
    monkeypatch.setenv("API_KEY", key)
    exec(compile(used.text.replace("fundamentals_client", NAME), "reference", "exec"), {})
    said = capsys.readouterr().out
    assert "LNTR" in said
    assert "('FY2024', " in said
