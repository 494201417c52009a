"""The page `/errors`, the target of every error's `docs` link: one section per code, with the code as its anchor.

Belongs here: advice for a client on each error. Does not: codes, statuses and messages (serve.errors), when each
occurs (api.interface), the example responses (serve.api.description).
"""

import json
from collections.abc import Mapping

from serve.api.description import EXAMPLE_ERRORS
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
from serve.site.text.markdown import Document, write

SUMMARY = "What each error code means, and what to do about it."
TO_DO: Mapping[type[ApiError], str] = {
    Unauthenticated: (
        "Send the whole key, once, in the header `X-Api-Key`; the header `Authorization` is not read. If it is lost or "
        "revoked, create another on [your profile](/profile)."
    ),
    SubscriptionInactive: (
        "The key is valid, and works again within seconds after the subscription becomes active. "
        "[Your profile](/profile) shows its status."
    ),
    NotFound: (
        "Check the path, and look up the symbol with [GET /companies](/reference#listCompanies). The message names "
        "similar symbols; a class of shares is separated by a hyphen, as in `BRK-B`. Preferred shares, warrants, units "
        "and notes are not covered, nor are companies that have left the SEC's list of tickers."
    ),
    MethodNotAllowed: "Send `GET`. The interface is read-only.",
    InvalidParameter: (
        "Read `error.details`: it names each wrong parameter, and the values or parameters that are accepted. The same "
        "request gives the same error again."
    ),
    RateLimited: (
        "Wait for the number of seconds in the header `Retry-After`. The headers `RateLimit` and "
        "`X-RateLimit-Remaining` of every response state how many requests are left."
    ),
    ServerError: (
        "Retry later, and wait longer after each failure. If the error persists, report the header `X-Request-Id` of "
        "the response: it identifies the failure in the log of the service."
    ),
}
"""Advice for a client, by error."""


def document(site: str) -> Document:
    """The page; `site` is the public address of the pages, for the links in the example responses."""
    return Document(write("errors.md", summary=SUMMARY, errors=[_error(error, site) for error in ERRORS]))


def _error(error: type[ApiError], site: str) -> dict[str, object]:
    return {
        "code": error.code,
        "status": error.status,
        "when": " ".join((error.__doc__ or "").split()),
        "to_do": TO_DO[error],
        "example": json.dumps(EXAMPLE_ERRORS[error].envelope(site), indent=2),
    }
