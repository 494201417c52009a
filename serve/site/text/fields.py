"""The schemas of the OpenAPI description as table rows: one row per field, with path, type in words and meaning.

Belongs here: reading the parts of JSON Schema that the description uses. Does not: the schemas (serve.api.description),
the page (reference).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from serve.api.parameters import LARGEST

Json = Mapping[str, Any]
Row = tuple[str, str, str]
WORDS = {"date": "date", "date-time": "time", "uri": "address"}


def resolved(part: Json, described: Json) -> Json:
    """A schema with its `$ref` replaced by the referenced schema; keywords next to `$ref` take precedence."""
    if "$ref" not in part:
        return part
    _, kind, name = part["$ref"].removeprefix("#/").split("/")
    siblings = {key: value for key, value in part.items() if key != "$ref"}
    return {**described["components"][kind][name], **siblings}


def alternatives(part: Json, described: Json) -> list[Json]:
    """The alternative schemas of a value; for a list, the alternatives of its elements."""
    part = resolved(part, described)
    inner = part["items"] if part.get("type") == "array" else part
    return [resolved(one, described) for one in inner.get("oneOf", [inner])]


def rows(part: Json, path: str, described: Json) -> Iterator[Row]:
    """The fields of an object and of its nested objects: path, type, meaning.

    The type of an optional field ends with "may be missing"; all other fields are always present.
    """
    required = part.get("required", ())
    for name, field in part["properties"].items():
        field = resolved(field, described)
        inner = resolved(field.get("items", field), described)
        here = f"{path}.{name}"
        missing = "" if name in required else ", may be missing"
        yield here, type_of(field, described) + missing, str(field.get("description", ""))
        if "properties" in inner:
            yield from rows(inner, f"{here}[]" if "items" in field else here, described)


def type_of(schema: Json, described: Json) -> str:
    """The type in words, with its bounds, its format, its default and whether it may be null."""
    if "items" in schema:
        words = [f"list of {type_of(resolved(schema['items'], described), described)}"]
    else:
        kinds = schema.get("type", "string")  # msgspec omits the type of a string with an enum
        named = [kinds] if isinstance(kinds, str) else list(kinds)
        words = [" or ".join(WORDS.get(schema.get("format", ""), kind) if kind == "string" else kind for kind in named)]
    words += [_range(schema)] if "minimum" in schema or "maximum" in schema else []
    words += [f"always `{_written(schema['const'])}`"] if "const" in schema else []
    if "enum" in schema and len(schema["enum"]) <= FEW:
        words.append("one of " + ", ".join(f"`{value}`" for value in schema["enum"]))
    if "default" in schema:
        words.append(f"default {schema['default']}")
    return ", ".join(words)


FEW = 4
"""Enums with more values are not listed in the type."""


def _range(schema: Json) -> str:
    if schema.get("maximum", LARGEST) == LARGEST:
        return f"{schema['minimum']} or more"
    return f"{schema['minimum']} to {schema['maximum']}"


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
