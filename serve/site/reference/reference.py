"""The page `/reference`: the OpenAPI description laid out for people.

Belongs here: the parts shown for each endpoint. Does not: how to make the first request (templates/reference.md), the
text about endpoints, parameters and fields, which all comes from the description (serve.api.description).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from serve.api import examples
from serve.api.description import FICTIONAL
from serve.site.reference import trial
from serve.site.reference.live import Live
from serve.site.text import fields, snippets
from serve.site.text.markdown import Document, write
from serve.site.text.snippets import Code

Json = Mapping[str, Any]

SUMMARY = "Every endpoint with its parameters, its response, its errors, and example programs to copy and run."
ABSENT = frozenset({"exchange", "from", "to", "page"})  # left out, so that the example requests find data


def document(described: Json, live: Live | None = None) -> Document:
    """The page.

    Args:
        described: the OpenAPI description (see serve.api.description.description).
        live: examples of the served build; None: the description's examples, of a fictional company.
    """
    operations = [_operation(path, item["get"], described, live) for path, item in described["paths"].items()]
    introduction = [" ".join(text.split()) for text in described["info"]["description"].split("\n\n")]
    text = write(
        "reference.md",
        summary=SUMMARY,
        introduction=[text for text in introduction if not (live and text == FICTIONAL)],
        live=live,
        address=described["servers"][0]["url"],
        version=described["info"]["version"],
        operations=operations,
        paging=snippets.paging(described["servers"][0]["url"]),
        client=snippets.client(described["servers"][0]["url"], live.company.symbol if live else examples.SYMBOL),
        headers=[(name, header["description"]) for name, header in described["components"]["headers"].items()],
        unchanged=described["components"]["responses"]["not_modified"]["description"],
    )
    contents = tuple((operation["name"], operation["summary"]) for operation in operations)
    forms = tuple((operation["programs"][0].anchor, operation["form"]) for operation in operations)
    return Document(text, contents=contents, drawings=forms, assets=("tabs.js", *trial.ASSETS))


def _operation(path: str, get: Json, described: Json, live: Live | None) -> dict[str, Any]:
    parameters = [fields.resolved(parameter, described) for parameter in get["parameters"]]
    content = get["responses"]["200"]["content"]["application/json"]
    body = fields.resolved(content["schema"], described)["properties"]
    start = "data[]" if "items" in body["data"] else "data"
    base, needs_key = described["servers"][0]["url"], get.get("security") != []
    query, symbol = _asked(get, parameters, live)
    return {
        "path": path,
        "name": get["operationId"],
        "summary": get["summary"],
        "description": get["description"],
        "needs_key": needs_key,
        "programs": snippets.programs(get["operationId"], base + path.format_map(symbol), query, needs_key=needs_key),
        "form": trial.form(base, path, parameters, {**symbol, **query}, needs_key=needs_key),
        "parameters": [_parameter(parameter, described) for parameter in parameters],
        "examples": [Code("json", _json(value), title) for title, value in _examples(get, content, live)],
        "data": [
            (start, schema.get("description", ""), list(fields.rows(schema, start, described)))
            for schema in fields.alternatives(body["data"], described)
        ],
        "meta": list(fields.rows(body["meta"], "meta", described)),
        "errors": list(_errors(get, described)),
    }


def _asked(get: Json, parameters: list[Json], live: Live | None) -> tuple[Json, Json]:
    """The query and the symbol of the example request, from the live examples, otherwise from the description."""
    if live:
        return live.asked[get["operationId"]], {"symbol": quote(live.company.symbol, safe="")}
    query, symbol = (
        {one["name"]: one["example"] for one in parameters if one["in"] == place} for place in ("query", "path")
    )
    return {name: value for name, value in query.items() if name not in ABSENT}, symbol


def _examples(get: Json, content: Json, live: Live | None) -> Iterator[tuple[str, object]]:
    """The titles and bodies of the example responses."""
    if live:
        yield "200 OK", live.answers[get["operationId"]]
        return
    for name, each in content["examples"].items():
        yield _words(name), each["value"]


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
