"""The page `/reference`: the OpenAPI description laid out for people.

Belongs here: what is listed of each endpoint. Does not: how to make the first request (templates/reference.md), the
text on endpoints, parameters and fields, which all comes from the description (serve.api.description).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from serve.site import fields, snippets
from serve.site.markdown import Document, write
from serve.site.snippets import Code

Json = Mapping[str, Any]

SUMMARY = "Every endpoint with its parameters, its response, its errors, and example programs to copy and run."
ABSENT = frozenset({"exchange", "from", "to", "page"})  # left out, so that the example requests find data


def document(described: Json) -> Document:
    """The page, from an OpenAPI description (see serve.api.description.description)."""
    operations = [_operation(path, item["get"], described) for path, item in described["paths"].items()]
    text = write(
        "reference.md",
        summary=SUMMARY,
        introduction=[" ".join(text.split()) for text in described["info"]["description"].split("\n\n")],
        address=described["servers"][0]["url"],
        version=described["info"]["version"],
        operations=operations,
        headers=[(name, header["description"]) for name, header in described["components"]["headers"].items()],
        unchanged=described["components"]["responses"]["not_modified"]["description"],
    )
    return Document(text, contents=tuple((operation["name"], operation["summary"]) for operation in operations))


def _operation(path: str, get: Json, described: Json) -> dict[str, Any]:
    parameters = [fields.resolved(parameter, described) for parameter in get["parameters"]]
    content = get["responses"]["200"]["content"]["application/json"]
    body = fields.resolved(content["schema"], described)["properties"]
    start = "data[]" if "items" in body["data"] else "data"
    return {
        "path": path,
        "name": get["operationId"],
        "summary": get["summary"],
        "description": get["description"],
        "needs_key": get.get("security") != [],
        "programs": _programs(path, get, parameters, described),
        "parameters": [_parameter(parameter, described) for parameter in parameters],
        "examples": [Code("json", _json(each["value"]), _words(name)) for name, each in content["examples"].items()],
        "data": [
            (start, schema.get("description", ""), list(fields.rows(schema, start, described)))
            for schema in fields.alternatives(body["data"], described)
        ],
        "meta": list(fields.rows(body["meta"], "meta", described)),
        "errors": list(_errors(get, described)),
    }


def _programs(path: str, get: Json, parameters: list[Json], described: Json) -> tuple[Code, ...]:
    """The example programs of an endpoint, with the example values of its parameters."""
    placed = path.format_map({parameter["name"]: parameter["example"] for parameter in parameters})
    query = {
        parameter["name"]: parameter["example"]
        for parameter in parameters
        if parameter["in"] == "query" and parameter["name"] not in ABSENT
    }
    address = described["servers"][0]["url"] + placed
    return snippets.programs(get["operationId"], address, query, needs_key=get.get("security") != [])


def _parameter(parameter: Json, described: Json) -> tuple[str, str, str, str]:
    form = fields.type_of(parameter["schema"], described)
    needed = ", required" if parameter.get("required") else ""
    return parameter["name"], parameter["in"], form + needed, parameter["description"]


def _errors(get: Json, described: Json) -> Iterator[tuple[str, str, str]]:
    """Status, code and meaning of each error."""
    for status, response in get["responses"].items():
        if status >= "400":
            code = response["$ref"].rpartition("/")[2]
            yield status, code, fields.resolved(response, described)["description"]


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
