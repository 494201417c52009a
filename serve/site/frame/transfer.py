"""How documents and files are sent: compressed, and cached if they are the same for everyone.

Belongs here: content codings, validators and freshness of pages. Does not: the same for the interface
(serve.http.caching).

An attacker who adds text to a page can guess a secret in it by the length of the compressed response (BREACH). So the
form token differs in each response (sessions), and a new key is shown on a page that is not compressed.
"""

import hashlib

from starlette.requests import Request
from starlette.responses import Response

from serve.http.caching import CODERS, WORTH_CODING, preferred_coding

LIVES = 300
"""Seconds for which a public document is fresh: new builds, and the state of the service, can change it."""


def shared(response: Response, request: Request, cached: str = f"public, max-age={LIVES}") -> Response:
    """A response that is the same for everyone: with a validator, or 304 if the client's copy is current."""
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    common = {"ETag": f"W/{tag}", "Cache-Control": cached, "Vary": "Accept-Encoding"}
    held = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    if held & {tag, "*"}:
        return Response(status_code=304, headers=common)
    response.headers.update(common)
    return compressed(response, request)


def shared_by_visitors(response: Response, request: Request) -> Response:
    """A response that is the same for all visitors, and cached only for them, not for signed-in accounts."""
    response = compressed(response, request) if request.state.session else shared(response, request)
    response.headers["Vary"] = "Accept-Encoding, Cookie"
    return response


def compressed(response: Response, request: Request) -> Response:
    """A response in the content coding that the client prefers."""
    others = [name for name in response.headers.get("Vary", "").split(", ") if name not in ("", "Accept-Encoding")]
    response.headers["Vary"] = ", ".join([*others, "Accept-Encoding"])
    coding = preferred_coding(request.headers.get("accept-encoding", "").encode("latin-1"))
    if coding and len(response.body) >= WORTH_CODING:
        response.body = CODERS[coding](bytes(response.body))
        response.headers["Content-Encoding"] = coding
        response.headers["Content-Length"] = str(len(response.body))
    return response
