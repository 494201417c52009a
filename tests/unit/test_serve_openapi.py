"""The OpenAPI description: generated, with closed objects and valid examples; every change has a changelog entry."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from serve.api import description as openapi
from serve.api import examples, parameters
from serve.api.changelog import ENTRIES, VERSION
from serve.api.endpoints import ENDPOINTS
from serve.errors import ERRORS
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.reasons import NO_FAIR_VALUE

ROOT = Path(__file__).parents[2]
ADDRESS = "https://data.example.org/v1"
DESCRIPTION = openapi.description(ENDPOINTS, ADDRESS)
SCHEMAS = DESCRIPTION["components"]["schemas"]
OPERATIONS = {path: item["get"] for path, item in DESCRIPTION["paths"].items()}
ALWAYS, OF_KEYS, OF_SYMBOLS = {200, 405, 422, 429, 500}, {304, 401, 403}, {404}


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """The schema that a reference names."""
    while "$ref" in part:
        _, kind, name = part["$ref"].removeprefix("#/").split("/")
        part = DESCRIPTION["components"][kind][name]
    return part


def nodes(part: Any) -> Iterator[dict[str, Any]]:
    """All objects of a tree."""
    if isinstance(part, dict):
        yield part
    for value in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from nodes(value)


def errors(value: object, schema: dict[str, Any]) -> list[str]:
    """The validation errors of a value."""
    whole = {**schema, "components": DESCRIPTION["components"]}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [error.message for error in validator.iter_errors(value)]


# --- The description ----------------------------------------------------------------------------------------------


def test_each_endpoint_documents_each_status() -> None:
    for endpoint in ENDPOINTS:
        needed = ALWAYS | (OF_KEYS if endpoint.needs_key else set()) | (OF_SYMBOLS if endpoint.needs_symbol else set())
        assert {int(status) for status in OPERATIONS[endpoint.path]["responses"]} == needed


def test_each_endpoint_describes_the_parameters_that_it_accepts() -> None:
    for endpoint in ENDPOINTS:
        told = [resolved(parameter) for parameter in OPERATIONS[endpoint.path]["parameters"]]
        in_query = [parameter["name"] for parameter in told if parameter["in"] == "query"]
        in_path = [parameter["name"] for parameter in told if parameter["in"] == "path"]
        assert in_query == [parameter.name for parameter in endpoint.parameters]
        assert in_path == re.findall(r"{(\w+)}", endpoint.path)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_the_schemas_of_parameters_match_their_parsers(endpoint: Any) -> None:
    """Examples and defaults fit the schema; examples and bounds are accepted, values beyond the bounds are refused."""
    for parameter in endpoint.parameters:
        schema = parameter.schema
        assert errors(parameter.example, schema) == []
        if "default" in schema:
            assert errors(json.loads(json.dumps(parameter.default)), schema) == []
        example = parameter.example
        parameter.read(str(example))
        for bound, step in (("minimum", -1), ("maximum", 1)):
            if bound in schema:
                assert parameter.read(str(schema[bound])) == schema[bound]
                with pytest.raises(ValueError, match="must be an integer"):
                    parameter.read(str(schema[bound] + step))


def test_items_are_the_line_items_comma_separated() -> None:
    """A string, as section 4.3 types it, so that generated clients send it as it is."""
    [items] = [p for p in OPERATIONS["/companies/{symbol}/financials"]["parameters"] if p.get("name") == "items"]
    assert items["schema"]["type"] == "string"
    for text in (",".join(SERVED_NAMES), *SERVED_NAMES):
        assert errors(text, items["schema"]) == []
    for text in ("", "revenue,", ",revenue", "revenue, roic", "sales", "revenueroic"):
        assert errors(text, items["schema"]), text
    values = SCHEMAS["FinancialPeriod"]["properties"]["values"]
    assert list(values["properties"]) == list(SERVED_NAMES)
    assert values["required"] == []


def test_every_object_is_closed_and_requires_its_fields() -> None:
    """Only line items and the details of an error are optional; only these details may have any name."""
    optional = {}
    for name, schema in SCHEMAS.items():
        for node in nodes(schema):
            if node.get("type") != "object":
                continue
            if node["additionalProperties"] is not False:
                assert (name, node["additionalProperties"]) == ("Failure", {"type": "string"})
            elif missing := set(node["properties"]) - set(node["required"]):
                optional[name] = missing
    assert optional == {"FinancialPeriod": set(SERVED_NAMES), "Failure": {"details"}}


def test_every_schema_is_used_and_valid() -> None:
    used = {node["$ref"] for node in nodes(DESCRIPTION) if "$ref" in node}
    declared = {
        f"#/components/{kind}/{name}" for kind in DESCRIPTION["components"] for name in DESCRIPTION["components"][kind]
    }
    assert used == declared - {"#/components/securitySchemes/apiKey"}
    for schema in SCHEMAS.values():
        jsonschema_rs.meta.validate(schema)


def test_every_example_is_valid_and_every_response_has_one() -> None:
    for operation in OPERATIONS.values():
        for status, response in operation["responses"].items():
            if status == "304":
                continue
            content = resolved(response)["content"]["application/json"]
            assert content["examples"]
            for example in content["examples"].values():
                assert errors(example["value"], content["schema"]) == [], status


def test_codes_of_errors_and_reasons_are_enumerated() -> None:
    assert SCHEMAS["Failure"]["properties"]["code"]["enum"] == [error.code for error in ERRORS]
    assert [error.status for error in ERRORS] == [401, 403, 404, 405, 422, 429, 500]
    assert SCHEMAS["Reason"]["properties"]["code"]["enum"] == list(NO_FAIR_VALUE)


def test_the_key_is_in_a_header_and_the_status_needs_none() -> None:
    scheme = DESCRIPTION["components"]["securitySchemes"]["apiKey"]
    assert (scheme["type"], scheme["in"], scheme["name"]) == ("apiKey", "header", "X-Api-Key")
    assert DESCRIPTION["security"] == [{"apiKey": []}]
    assert [path for path, operation in OPERATIONS.items() if operation.get("security") == []] == ["/status"]


def test_the_description_has_the_required_statements() -> None:
    assert DESCRIPTION["openapi"].startswith("3.1.")
    assert "The data is provided as is and is not investment advice." in DESCRIPTION["info"]["description"]
    assert DESCRIPTION["servers"] == [{"url": ADDRESS}]


def test_a_meaningful_valuation_has_ten_years_that_add_up() -> None:
    data = examples.body(*examples.VALUATION["meaningful"])
    data = data["data"]
    assert [year["year"] for year in data["projection"]] == list(range(1, 11))
    summed = sum(year["present_value"] for year in data["projection"])
    assert summed == pytest.approx(data["present_value_of_projection"], abs=0.01)
    assert data["fair_value_per_share"] == pytest.approx(17.083333, abs=1e-3), (
        "100 of free cash flow are worth 1708.3333"
    )
    schema = {"$ref": "#/components/schemas/FairValue"}
    assert errors({**data, "projection": data["projection"][:9]}, schema)
    assert errors({**data, "reason": {}}, schema)


def test_a_shape_without_a_schema_is_refused() -> None:
    with pytest.raises(NotImplementedError):
        openapi._values(set)


# --- Its fingerprint and the changelog ----------------------------------------------------------------------------


def test_the_changelog_has_the_fingerprint_of_the_description() -> None:
    """A change of the description needs an entry, and the number of entries is part of the description."""
    held = ENTRIES[-1].fingerprint
    assert held == openapi.fingerprint(DESCRIPTION), (
        "the description has changed: add an entry to serve/api/changelog.py (or change the last entry if it is not "
        "yet released), then write what `python -m serve.api.description --fingerprint` prints into that entry"
    )


def test_the_changelog_is_in_order() -> None:
    days = [date.fromisoformat(entry.released) for entry in ENTRIES]
    assert days == sorted(days)
    assert all(entry.changes for entry in ENTRIES)
    assert all(re.fullmatch("[0-9a-f]{64}", entry.fingerprint or "") for entry in ENTRIES[1:])
    assert DESCRIPTION["info"]["version"] == VERSION == f"1.0.0-beta.{len(ENTRIES)}"


def test_the_fingerprint_does_not_depend_on_the_address_and_on_order() -> None:
    elsewhere = openapi.description(ENDPOINTS, "http://127.0.0.1:8000/v1")
    assert openapi.canonical(elsewhere) == openapi.canonical(DESCRIPTION)
    assert openapi.fingerprint(dict(reversed(DESCRIPTION.items()))) == openapi.fingerprint(DESCRIPTION)
    assert ADDRESS not in json.dumps({**elsewhere, "components": {}, "paths": {}})


def test_any_change_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters.SINCE.__class__, "schema", {"type": "string"})
    assert openapi.fingerprint(openapi.description(ENDPOINTS, ADDRESS)) != openapi.fingerprint(DESCRIPTION)


def test_the_description_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    openapi.main(["--base-url", "https://else.example.org/v1"])
    assert json.loads(capsys.readouterr().out)["servers"] == [{"url": "https://else.example.org/v1"}]
    openapi.main(["--fingerprint"])
    assert capsys.readouterr().out.strip() == ENTRIES[-1].fingerprint


# --- Linters ------------------------------------------------------------------------------------------------------

LINTERS = {
    "spectral": ["lint", "--fail-severity", "hint", "--ruleset", ".spectral.yaml"],
    "redocly": ["lint", "--config", "redocly.yaml"],
}


@pytest.mark.parametrize("linter", LINTERS)
def test_linters_find_nothing(linter: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    program = ROOT / "node_modules" / ".bin" / linter
    if not program.exists():
        missing = f"{linter} is missing: run `make linters` (Node.js and npm: the Debian packages nodejs and npm)"
        (pytest.fail if request.config.getoption("--strict-skips") else pytest.skip)(missing)
    described = tmp_path / "openapi.json"
    described.write_text(json.dumps(DESCRIPTION), encoding="utf-8")
    quiet = {**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    ran = subprocess.run(
        [program, *LINTERS[linter], described], cwd=ROOT, env=quiet, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not re.search(r"\b(warning|error)s?\b", ran.stdout), ran.stdout
