"""The page of the interface: the description that clients generate code from, for people.

Belongs here: how the description is laid out on a page. Does not: a word of what the interface does (serve.openapi and
what it is made from); all that is said comes from there.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from serve.site import fields, snippets
from serve.site.content import Block, Code, Document, Folded, Grid, Heading, Paragraph, plain

Json = Mapping[str, Any]

SUMMARY = "Every endpoint with its parameters, its answer, its errors, and programs to paste and run."
START = (
    "The examples take your key from the environment variable `API_KEY`: create one on [your profile](/profile), then "
    "`export API_KEY=...`. The Python examples need nothing but Python 3; the JavaScript ones are modules for Node.js "
    "18 or newer, Deno or Bun. Keep keys on servers: a key in a web page is everybody's."
)
ABSENT = frozenset({"exchange", "from", "to", "page"})  # parameters that would leave the example without an answer


def document(described: Json) -> Document:
    """The page of a description (see serve.openapi.description)."""
    operations = [(path, item["get"]) for path, item in described["paths"].items()]
    blocks: list[Block] = [
        *(Paragraph(" ".join(text.split())) for text in described["info"]["description"].split("\n\n")),
        *_start(described),
        Heading("Endpoints", "endpoints"),
        Grid(
            "All endpoints", ("Endpoint", "Answers with", "Key"), tuple(_listed(path, get) for path, get in operations)
        ),
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
        f"The same as OpenAPI 3.1, for programs that generate code: [openapi.json]({address}/openapi.json). What "
        "changed is on [the changelog](/changelog), what each code of an error means on [the page of errors](/errors). "
        "Those who run the service find [its settings](/settings)."
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
        yield Paragraph("None: any query parameter is refused.")
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
    """The request that the examples make: with the parameters' own examples."""
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
    yield Heading("Answer", f"{get['operationId']}-answer", 3)
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
        (f"`{where}`", kind, told.replace("|", r"\|")) for where, kind, told in fields.rows(schema, path, described)
    )
    return Grid(caption, ("Field", "Type", "Meaning"), rows)


def _headers(described: Json) -> Iterator[Block]:
    yield Heading("Headers of answers", "headers")
    rows = tuple(
        (f"`{name}`", str(header["description"])) for name, header in described["components"]["headers"].items()
    )
    yield Grid("Headers that an answer may have", ("Header", "Meaning"), rows)
    unchanged = described["components"]["responses"]["not_modified"]["description"]
    yield Paragraph(f"**304.** {unchanged} The answer has no body.")


def _code(response: Json) -> str:
    return str(response["$ref"]).rpartition("/")[2]


def _words(name: str) -> str:
    return plain(name.replace("_", " ").capitalize())


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
