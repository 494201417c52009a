"""The server under the application: uvicorn, and the bounds that it sets to connections."""

import uvicorn
from starlette.applications import Starlette

LARGEST_HEAD = 16 * 1024  # bytes of request line and headers
KEEP_ALIVE = 15  # seconds
SHUTDOWN = 10  # seconds for requests that are being answered


def server(app: Starlette) -> uvicorn.Server:
    """A server for the application, to be run on sockets that listen already."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",  # the other implementation does not bound the size of headers
            ws="none",
            h11_max_incomplete_event_size=LARGEST_HEAD,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=SHUTDOWN,
            log_level="warning",
            access_log=False,  # it would write down keys that somebody puts into an address
            server_header=False,
        )
    )
