"""Error responses: the envelope of section 7.

Belongs here: an error as a response. Does not: its code, status and message (serve.errors), when it is raised (api,
access).
"""

import msgspec
from starlette.responses import Response

from serve.errors import ApiError
from serve.http.caching import Answer, body_lines


def answer(error: ApiError, pages: str) -> Answer:
    """An error response that the server sends at once; `pages` is the public address of the pages."""
    content = msgspec.json.encode(error.envelope(pages))
    fields = [f"{name.lower()}: {value}\r\n".encode() for name, value in (error.headers or {}).items()]
    return Answer(error.status, [*fields, body_lines(content)], content)


def failure(error: ApiError, pages: str) -> Response:
    """The same error response, for a page or the application."""
    content = msgspec.json.encode(error.envelope(pages))
    return Response(content, error.status, error.headers or {}, media_type="application/json")
