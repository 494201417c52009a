"""The OpenAPI 3.1 description of the interface, generated from the endpoints, parameters, models and errors.

Belongs here: generating the description, its canonical form and its fingerprint. Does not: the described content
(endpoints, parameters, models, serve.errors, examples), the history of the description (changelog).
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from serve.access.limits import LIMITS
from serve.api import examples, models
from serve.api.changelog import VERSION
from serve.api.endpoints import ENDPOINTS, Endpoint
from serve.api.parameters import Parameter
from serve.errors import (
    ERRORS,
    ApiError,
    InvalidParameter,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    ServerError,
    SubscriptionInactive,
    Unauthenticated,
)
from warehouse.contract import served
from warehouse.contract.line_items import SERVED_ITEMS

Json = dict[str, Any]

REF = "#/components/{}/{}"
FICTIONAL = "The company in the examples is fictional."
WINDOWS = " and ".join(f"{limit.requests:,} a {limit.window}" for limit in LIMITS)
ABOUT = f"""Standardized fundamentals of listed US companies, built from the regulator's public electronic filings, and
a fair value per share from a discounted cash flow model. Read-only: only `GET` is accepted.

**The data is provided as is and is not investment advice.**

Monetary values are in the company's reporting currency and in units. Every success has `data` and `meta`; every failure
has `error`, of one shape. New fields may be added: ignore those that you do not know. Undocumented query parameters are
refused, and so is a parameter that is empty or given twice.

Send your key in the header `X-Api-Key`, never in the address. A key may ask {WINDOWS}, in fixed windows of UTC. Every
request with a valid key and an active subscription counts, whatever its answer; a 304 does not count in the day.

While v1 is in beta it may change in place. Each change is listed in a changelog, with the SHA-256 of this description
after it: without `servers`, keys sorted, no white space outside of strings, in UTF-8.

{FICTIONAL}"""
TAGS = {
    "companies": "Covered companies and what is held of them.",
    "financials": "Line items by period, and how they were restated.",
    "valuation": "Fair value per share.",
    "status": "Whether the interface is up.",
}
"""The tag of an endpoint is the last segment of its path that is a name here, or `companies`."""
SYMBOL = {
    "name": "symbol",
    "in": "path",
    "required": True,
    "description": "Ticker symbol, case-insensitive.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9.-]{0,15}$"},
    "example": examples.SYMBOL,
}
INTEGER, TEXT = {"type": "integer", "minimum": 0}, {"type": "string", "minLength": 1}
HEADERS: dict[str, tuple[str, Json]] = {
    "X-Request-Id": ("Identifies the request; yours, where it was sent and fit for it.", TEXT),
    "X-RateLimit-Limit": ("Requests allowed in the current window.", INTEGER),
    "X-RateLimit-Remaining": ("Requests left in the current window.", INTEGER),
    "X-RateLimit-Reset": ("Unix time in seconds when the window resets.", INTEGER),
    "RateLimit-Policy": ("The quota of each window (draft-ietf-httpapi-ratelimit-headers).", TEXT),
    "RateLimit": ("What is left of each window, and the seconds until it resets (same draft).", TEXT),
    "ETag": ("Names this representation, weakly; send it in If-None-Match.", TEXT),
    "Last-Modified": ("When the data changed last.", TEXT),
    "Cache-Control": ("How long the response may be kept from when it was made.", TEXT),
    "Age": (
        "Seconds since the response was made (`meta.generated_at`), if it was kept from an earlier request: until the "
        "data changes, and for four hours at most.",
        INTEGER,
    ),
    "Vary": ("The headers of a request that the response depends on.", TEXT),
    "Retry-After": ("Seconds to wait.", INTEGER),
    "Allow": ("The methods that are accepted.", {"type": "string", "const": "GET"}),
}
"""Meaning and schema of each response header."""

OF_EVERY_RESPONSE = ("X-Request-Id", "Cache-Control")
OF_THE_LIMIT = ("RateLimit-Policy", "RateLimit")
OF_DATA = (
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", *OF_THE_LIMIT),
    *("ETag", "Last-Modified", "Age", "Vary"),
)
AT_TIMES = frozenset({"Age"})
"""Headers that are described for a response, but are not always sent."""
OF_ERROR = {MethodNotAllowed: ("Allow",), RateLimited: ("Retry-After", *OF_THE_LIMIT)}
NOT_MODIFIED = "not_modified"
EXAMPLE_ERRORS: dict[type[ApiError], ApiError] = {
    Unauthenticated: Unauthenticated(),
    SubscriptionInactive: SubscriptionInactive(),
    NotFound: NotFound("No company with this symbol is covered."),
    MethodNotAllowed: MethodNotAllowed(),
    InvalidParameter: InvalidParameter({"limit": "Parameter 'limit' must be an integer from 1 to 40."}),
    RateLimited: RateLimited(LIMITS[0].requests, LIMITS[0].window, 48),
    ServerError: ServerError(),
}


def description(endpoints: Sequence[Endpoint], base_url: str) -> Json:
    """The OpenAPI document; `base_url` is the public address, which is used in `servers` only."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Fundamentals Data Service",
            "version": VERSION,
            "summary": "Standardized fundamentals of listed US companies.",
            "description": ABOUT,
            "contact": {"name": "Fundamentals Data Service"},
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "security": [{"apiKey": []}],
        "tags": [{"name": name, "description": about} for name, about in TAGS.items()],
        "paths": {endpoint.path: {"get": _operation(endpoint)} for endpoint in endpoints},
        "components": {
            "schemas": _schemas(endpoints),
            "parameters": {"symbol": SYMBOL},
            "headers": {
                name: {"description": about, "required": name not in AT_TIMES, "schema": schema}
                for name, (about, schema) in HEADERS.items()
            },
            "responses": {
                NOT_MODIFIED: {
                    "description": "What If-None-Match or If-Modified-Since names is still current.",
                    "headers": _headers(OF_DATA),
                },
                **{error.code: _failure(error) for error in ERRORS},
            },
            "securitySchemes": {
                "apiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Api-Key",
                    "description": "A key of an account with an active Premium subscription.",
                }
            },
        },
    }


def canonical(described: Mapping[str, Any]) -> bytes:
    """The bytes from which the fingerprint is computed: without `servers`, keys sorted, no white space."""
    neutral = {name: value for name, value in described.items() if name != "servers"}
    return json.dumps(neutral, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def fingerprint(described: Mapping[str, Any]) -> str:
    """The SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical(described)).hexdigest()


def _operation(endpoint: Endpoint) -> Json:
    tags = [segment for segment in endpoint.path.split("/") if segment in TAGS]
    operation: Json = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": endpoint.description,
        "tags": tags[-1:] or ["companies"],
        "parameters": [
            *([_ref("parameters", "symbol")] if endpoint.needs_symbol else []),
            *(_parameter(parameter) for parameter in endpoint.parameters),
        ],
        "responses": {
            "200": _success(endpoint),
            **({"304": _ref("responses", NOT_MODIFIED)} if endpoint.needs_key else {}),
            **{str(error.status): _ref("responses", error.code) for error in _errors(endpoint)},
        },
    }
    return operation if endpoint.needs_key else {**operation, "security": []}


def _errors(endpoint: Endpoint) -> Iterable[type[ApiError]]:
    """The errors that an endpoint can respond with."""
    never: set[type[ApiError]] = set() if endpoint.needs_symbol else {NotFound}
    if not endpoint.needs_key:
        never |= {Unauthenticated, SubscriptionInactive}
    return [error for error in ERRORS if error not in never]


def _parameter(parameter: Parameter) -> Json:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "schema": parameter.schema,
        "example": parameter.example,
    }


def _success(endpoint: Endpoint) -> Json:
    shown = {name: {"value": examples.body(*each)} for name, each in endpoint.examples.items()}
    return {
        "description": endpoint.summary + ".",
        "headers": _headers(OF_DATA if endpoint.needs_key else ()),
        "content": {"application/json": {"schema": _ref("schemas", _body_name(endpoint)), "examples": shown}},
    }


def _failure(error: type[ApiError]) -> Json:
    pages = examples.BASE_URL.removesuffix("/v1")
    return {
        "description": error.__doc__,
        "headers": _headers(OF_ERROR.get(error, ())),
        "content": {
            "application/json": {
                "schema": _ref("schemas", "ErrorBody"),
                "examples": {error.code: {"value": EXAMPLE_ERRORS[error].envelope(pages)}},
            }
        },
    }


def _headers(names: Iterable[str]) -> Json:
    return {name: _ref("headers", name) for name in (*OF_EVERY_RESPONSE, *names)}


def _ref(kind: str, name: str) -> Json:
    return {"$ref": REF.format(kind, name)}


# --- Schemas ------------------------------------------------------------------------------------------------------


def _schemas(endpoints: Sequence[Endpoint]) -> Json:
    """The schemas of all shapes and of the response body of every endpoint."""
    metas = [endpoint.meta for endpoint in endpoints]
    used = [models.ErrorBody, models.Common, *(shape for endpoint in endpoints for shape in endpoint.data), *metas]
    _, found = msgspec.json.schema_components(used, schema_hook=_values, ref_template=REF.format("schemas", "{name}"))
    named: Json = {name: _plain(schema) for name, schema in found.items()}
    bodies = {_body_name(endpoint): _body(endpoint, named) for endpoint in endpoints}
    part_of_bodies = {models.Common.__name__, *(meta.__name__ for meta in metas)}
    return {**{name: schema for name, schema in named.items() if name not in part_of_bodies}, **bodies}


def _body_name(endpoint: Endpoint) -> str:
    return f"{endpoint.name[0].upper()}{endpoint.name[1:]}Body"


def _body(endpoint: Endpoint, named: Mapping[str, Json]) -> Json:
    one_of = [_ref("schemas", shape.__name__) for shape in endpoint.data]
    data = one_of[0] if len(one_of) == 1 else {"oneOf": one_of}
    own, common = named[endpoint.meta.__name__], named[models.Common.__name__]
    return _closed(
        {
            "data": {"type": "array", "items": data} if endpoint.of_many else data,
            "meta": _closed({**own["properties"], **common["properties"]}),
        }
    )


def _closed(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _values(shape: type) -> Json:
    """The schema of served.Values, the one shape that is a dict: each line item is optional."""
    if shape is not served.Values:
        raise NotImplementedError(shape)
    items = {item.name: {"type": "number", "description": f"{item.meaning} [{item.unit}]"} for item in SERVED_ITEMS}
    return {**_closed(items), "required": [], "minProperties": 1, "description": served.Values.__doc__}


def _plain(schema: Any) -> Any:
    """A schema of msgspec without its Python details: no titles, and `number` instead of integer or number."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _plain(part) for name, part in schema.items() if name != "title"}
    types = [part.get("type") for part in plain.get("anyOf", [])]
    if types and all(types):
        del plain["anyOf"]
        kept = [kind for kind in types if kind != "integer" or "number" not in types]
        plain["type"] = kept[0] if len(kept) == 1 else kept
    return plain


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the description, or its fingerprint."""
    parser = argparse.ArgumentParser(prog="python -m serve.api.description", description="The OpenAPI description.")
    parser.add_argument("--fingerprint", action="store_true", help="print its SHA-256 only")
    parser.add_argument("--base-url", default=examples.BASE_URL, help="the public address")
    given = parser.parse_args(arguments)
    described = description(ENDPOINTS, given.base_url)
    print(fingerprint(described) if given.fingerprint else json.dumps(described, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
