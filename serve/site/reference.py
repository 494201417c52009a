"""The page `/reference`: the OpenAPI description laid out for people.

Belongs here: the layout, and how to make the first request. Does not: the text on endpoints, parameters and fields,
which all comes from the description (serve.api.description).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from serve.site import fields, snippets
from serve.site.content import Block, Code, Document, Folded, Grid, Heading, Paragraph, plain

Json = Mapping[str, Any]

SUMMARY = "Every endpoint with its parameters, its response, its errors, and example programs to copy and run."
START = (
    "The examples take your key from the environment variable `API_KEY`: create one on [your profile](/profile), then "
    "`export API_KEY=...`. The Python examples need only Python 3; the JavaScript ones are modules for Node.js 18 or "
    "newer, Deno or Bun. Keep keys on servers: everybody can read a key in a web page."
)
ABSENT = frozenset({"exchange", "from", "to", "page"})  # left out, so that the example requests find data


def document(described: Json) -> Document:
    """The page, from an OpenAPI description (see serve.api.description.description)."""
    operations = [(path, item["get"]) for path, item in described["paths"].items()]
    blocks: list[Block] = [
        *(Paragraph(" ".join(text.split())) for text in described["info"]["description"].split("\n\n")),
        *_start(described),
        Heading("Endpoints", "endpoints"),
        Grid("All endpoints", ("Endpoint", "Response", "Key"), tuple(_listed(path, get) for path, get in operations)),
    ]
    for path, get in operations:
        blocks += _operation(path, get, described)
    return Document("Interface reference", SUMMARY, (*blocks, *_headers(described)), has_contents=True)


def _start(described: Json) -> Iterator[Block]:
    address = described["servers"][0]["url"]
    yield Heading("Before you begin", "begin")
    yield Paragraph(f"All paths are below `{address}`. Version of the interface: `{described['info']['version']}`.")
    yield Paragraph(START)
    yield Paragraph(
        f"For code generators there is the same reference as OpenAPI 3.1: [openapi.json]({address}/openapi.json). See "
        "[the changelog](/changelog) for changes, [the page of errors](/errors) for error codes, and, if you operate "
        "the service, [its settings](/settings)."
    )


def _listed(path: str, get: Json) -> tuple[str, str, str]:
    return f"[`GET {path}`](#{get['operationId']})", f"{get['summary']}.", "no" if get.get("security") == [] else "yes"


def _operation(path: str, get: Json, described: Json) -> Iterator[Block]:
    name = get["operationId"]
    parameters = [fields.resolved(parameter, described) for parameter in get["parameters"]]
    yield Heading(f"GET {path}", name, short=get["summary"])
    yield Paragraph(f"**{get['summary']}.** {get['description']}")
    yield _request(path, get, parameters, described)
    yield Heading("Parameters", f"{name}-parameters", 3)
    if parameters:
        rows = tuple(_parameter(parameter, described) for parameter in parameters)
        yield Grid(f"Parameters of {path}", ("Parameter", "In", "Form", "Meaning"), rows)
    else:
        yield Paragraph("None: every query parameter is refused.")
    yield from _answer(path, get, described)
    yield Heading("Errors", f"{name}-errors", 3)
    failures = tuple(
        (
            status,
            f"[{_code(response)}](/errors#{_code(response)})",
            str(fields.resolved(response, described)["description"]),
        )
        for status, response in get["responses"].items()
        if status >= "400"
    )
    yield Grid(f"Errors of {path}", ("Status", "Code", "When"), failures)


def _request(path: str, get: Json, parameters: list[Json], described: Json) -> Block:
    """The example programs of an endpoint, with the example values of its parameters."""
    given = {parameter["name"]: parameter["example"] for parameter in parameters}
    placed = path.format_map(given)
    query = {
        parameter["name"]: parameter["example"]
        for parameter in parameters
        if parameter["in"] == "query" and parameter["name"] not in ABSENT
    }
    address = described["servers"][0]["url"] + placed
    return snippets.examples(get["operationId"], address, query, needs_key=get.get("security") != [])


def _parameter(parameter: Json, described: Json) -> tuple[str, str, str, str]:
    form = fields.type_of(parameter["schema"], described)
    needed = ", required" if parameter.get("required") else ""
    return f"`{parameter['name']}`", parameter["in"], form + needed, parameter["description"]


def _answer(path: str, get: Json, described: Json) -> Iterator[Block]:
    content = get["responses"]["200"]["content"]["application/json"]
    body = fields.resolved(content["schema"], described)["properties"]
    yield Heading("Response", f"{get['operationId']}-response", 3)
    yield Folded(
        "Example",
        tuple(Code("json", _json(example["value"]), _words(name)) for name, example in content["examples"].items()),
    )
    start = "data[]" if "items" in body["data"] else "data"
    for schema in fields.alternatives(body["data"], described):
        yield _fields(f"`{start}` of {path}: {schema.get('description', '')}", schema, start, described)
    yield _fields(f"`meta` of {path}", body["meta"], "meta", described)


def _fields(caption: str, schema: Json, path: str, described: Json) -> Grid:
    rows = tuple(
        (f"`{where}`", kind, text.replace("|", r"\|")) for where, kind, text in fields.rows(schema, path, described)
    )
    return Grid(caption, ("Field", "Type", "Meaning"), rows)


def _headers(described: Json) -> Iterator[Block]:
    yield Heading("Response headers", "headers")
    rows = tuple(
        (f"`{name}`", str(header["description"])) for name, header in described["components"]["headers"].items()
    )
    yield Grid("Headers that a response may have", ("Header", "Meaning"), rows)
    unchanged = described["components"]["responses"]["not_modified"]["description"]
    yield Paragraph(f"**304.** {unchanged} The response has no body.")


def _code(response: Json) -> str:
    return str(response["$ref"]).rpartition("/")[2]


def _words(name: str) -> str:
    return plain(name.replace("_", " ").capitalize())


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
