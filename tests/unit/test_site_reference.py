"""The pages on the interface have all content of the OpenAPI description, and no more."""

import ast
import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest

from serve.api import description as openapi
from serve.api.changelog import ENTRIES
from serve.api.endpoints import ENDPOINTS
from serve.errors import ERRORS
from serve.site.reference import changelog_page, errors_page, reference
from serve.site.text import fields, snippets
from serve.site.text.markdown import plain
from tests.texts import anchors, first_cells, lacking, programs, section, tables

BASE = "https://data.example.org/v1"
DESCRIBED = openapi.description(ENDPOINTS, BASE)
OPERATIONS = [(path, item["get"]) for path, item in DESCRIBED["paths"].items()]
PAGE = reference.document(DESCRIBED).text
each_operation = pytest.mark.parametrize(("path", "get"), OPERATIONS, ids=[get["operationId"] for _, get in OPERATIONS])


def properties(schema: Any) -> Iterator[str]:
    """All names of fields in a schema, found independently of the page's code."""
    if isinstance(schema, list):
        for part in schema:
            yield from properties(part)
    elif isinstance(schema, dict):
        if "$ref" in schema:
            yield from properties(DESCRIBED["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        for name, part in schema.items():
            if name == "properties":
                yield from part
            if name in ("properties", "items", "oneOf") or isinstance(part, dict):
                yield from properties(list(part.values()) if name == "properties" else part)


@each_operation
def test_every_parameter_field_and_error_is_on_the_page(path, get):
    """Each endpoint has a section with a row for each of them."""
    told = section(PAGE, get["operationId"])
    rows = first_cells(told)

    parameters = {fields.resolved(parameter, DESCRIBED)["name"] for parameter in get["parameters"]}
    assert {f"`{name}`" for name in parameters} <= rows
    schema = get["responses"]["200"]["content"]["application/json"]["schema"]
    named = {row.strip("`").rpartition(".")[2].removesuffix("[]") for row in rows}
    assert set(properties(schema)) - {"data", "meta"} <= named
    codes = [row[1] for table in tables(told) for row in table if row[0].isdigit()]
    assert codes == [
        f"[{plain(error.code)}](/errors#{error.code})" for error in ERRORS if str(error.status) in get["responses"]
    ]


@each_operation
def test_every_response_is_shown_by_its_example(path, get):
    """The examples of the description, as JSON."""
    shown = map(json.loads, programs(section(PAGE, get["operationId"]), "json"))
    assert list(shown) == [
        each["value"] for each in get["responses"]["200"]["content"]["application/json"]["examples"].values()
    ]


@each_operation
def test_examples_are_programs_that_name_the_endpoint(path, get):
    """In three languages; the key, if needed, comes from the environment and is in no URL."""
    told = section(PAGE, get["operationId"])
    [curl], [python], [javascript] = (programs(told, language) for language in ("sh", "python", "js"))

    address = shlex.split(curl)[-1]
    assert address.startswith(BASE + path.replace("{symbol}", "XQORC"))
    assert ast.parse(python)
    for text in (curl, python, javascript):
        assert (address in text, "API_KEY" in text) == (True, get.get("security") != [])
    assert "API_KEY" not in address


def test_commas_in_a_query_stay_readable():
    [curl, *_] = snippets.programs("x", f"{BASE}/y", {"items": "a,b", "search": "a&b"}, needs_key=False)
    assert curl.text == f'curl "{BASE}/y?items=a,b&search=a%26b"'


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 40, "default": 20}, "integer, 1 to 40, default 20"),
        ({"type": "integer", "minimum": 1, "maximum": 2_147_483_647}, "integer, 1 or more"),
        ({"type": ["string", "null"], "format": "date"}, "date or null"),
        ({"type": "string", "enum": ["ttm", "annual"]}, "string, one of `ttm`, `annual`"),
        ({"type": "array", "items": {"type": "string"}}, "list of string"),
        ({"type": "boolean", "const": True}, "boolean, always `true`"),
        ({"type": "number", "const": 0.085}, "number, always `0.085`"),
    ],
)
def test_types_are_shown_in_words(schema, words):
    assert fields.type_of(schema, DESCRIBED) == words


def test_every_header_is_explained():
    """All headers of the description."""
    assert first_cells(section(PAGE, "headers")) == {f"`{name}`" for name in DESCRIBED["components"]["headers"]}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_every_error_has_a_section_that_its_docs_link_names(error):
    """The anchor is the code; the section says when it occurs and what to do, and shows the response."""
    told = section(errors_page.document("https://data.example.org").text, error.code)
    assert not lacking(told, "**When.**", "**What to do.**", f'"code": "{error.code}"')


def test_the_changelog_has_every_change_and_fingerprint():
    """Newest first; the newest fingerprint belongs to the current description."""
    told = changelog_page.document(BASE).text

    for entry in ENTRIES:
        assert not lacking(told, entry.fingerprint or "", *entry.changes)
    assert anchors(told)[:-1] == [f"beta-{number}" for number in range(len(ENTRIES), 0, -1)]


def test_the_program_of_the_changelog_computes_the_fingerprint(capsys):
    """The code on the page, with a replaced request."""
    [program] = programs(changelog_page.document(BASE).text, "python")
    start, end = program.index("with urlopen"), program.index("del description")
    exec(program[:start] + program[end:], {"description": json.loads(json.dumps(DESCRIBED))})
    assert capsys.readouterr().out.strip() == openapi.fingerprint(DESCRIBED)


class Pages(BaseHTTPRequestHandler):
    """Three pages of a list; each request is refused once, by a limit or a failure."""

    refused: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        number = int(parse_qs(urlsplit(self.path).query)["page"][0])
        if self.path not in self.refused:
            self.refused.append(self.path)
            self.send_response((429, 500, 503)[number - 1])
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"data": [number] * 2, "meta": {"total": 6}}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_the_program_for_all_pages_gets_them_and_tries_again() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        program = snippets.paging(f"http://127.0.0.1:{server.server_port}").text
        environment = {**os.environ, "API_KEY": "key"}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
        )
        server.shutdown()
        thread.join()
    assert (done.stdout, done.stderr) == ("6\n", "")
    assert len(Pages.refused) == 3
