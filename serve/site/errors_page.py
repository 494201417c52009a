"""The page that the `docs` link of every error leads to: one section a code, whose anchor is the code.

Belongs here: what a client does about each error. Does not: codes, statuses and messages (serve.errors), when each is
answered (routes), the answers that are shown (serve.openapi).
"""

import json
from collections.abc import Iterator, Mapping

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
from serve.openapi import TOLD
from serve.site.content import Block, Code, Document, Grid, Heading, Paragraph, link

SUMMARY = "What each code means, and what to do about it."
SHAPE = (
    "Every failure is JSON of one shape: `error.code` is stable, branch on it; `error.message` is for people and may "
    "change; `error.docs` leads to this page. `error.details` is there for `invalid_parameter` only, with a message "
    "for each parameter."
)
TO_DO: Mapping[type[ApiError], str] = {
    Unauthenticated: (
        "Send the whole key, once, in the header `X-Api-Key`. If it is lost or revoked, create another on "
        "[your profile](/profile)."
    ),
    SubscriptionInactive: (
        "The key is right, and works again within seconds of the subscription becoming active. "
        "[Your profile](/profile) shows its state."
    ),
    NotFound: (
        "Look at the path, and look the symbol up with [GET /companies](/reference#listCompanies). Preferred shares, "
        "warrants, units and notes are not covered, nor are companies that have left the SEC's list of tickers."
    ),
    MethodNotAllowed: "Send `GET`. Nothing here can be changed by a request.",
    InvalidParameter: (
        "Read `error.details`: it names each parameter, with what it must be or which ones there are. Asking again "
        "without a change gives the same answer."
    ),
    RateLimited: (
        "Wait as many seconds as the header `Retry-After` says. The headers `RateLimit` and `X-RateLimit-Remaining` of "
        "every answer tell what is left."
    ),
    ServerError: (
        "Ask again after a while, and longer after each failure. If it lasts, tell us the header `X-Request-Id` of the "
        "answer: it finds the failure in our log."
    ),
}
"""What is in the power of whoever gets it."""


def document(site: str) -> Document:
    """The page; `site` is the address below which it lies, for the links in the answers that it shows."""
    listed = tuple((str(error.status), link(f"`{error.code}`", f"#{error.code}"), _when(error)) for error in ERRORS)
    blocks = (
        Paragraph(SHAPE),
        Grid("All codes", ("Status", "Code", "When"), listed),
        *(block for error in ERRORS for block in _section(error, site)),
    )
    return Document("Errors", SUMMARY, blocks)


def _section(error: type[ApiError], site: str) -> Iterator[Block]:
    yield Heading(f"{error.status} {error.code}", error.code)
    yield Paragraph(f"**When.** {_when(error)}")
    yield Paragraph(f"**What to do.** {TO_DO[error]}")
    yield Code("json", json.dumps(TOLD[error].envelope(site), indent=2), "The answer's body")


def _when(error: type[ApiError]) -> str:
    return " ".join((error.__doc__ or "").split())
