"""The framework alone: Starlette, which responds to every request with the same JSON of the file BODY."""

import os
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

CONSTANT = Path(os.environ["BODY"]).read_bytes()


async def respond(_: Request) -> Response:
    return Response(CONSTANT, media_type="application/json")


app = Starlette(routes=[Route("/{path:path}", respond)])
