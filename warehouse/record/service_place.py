"""Where the service of a home listens, for links to its pages.

Belongs here: reading the file of the home with host and port. Does not: writing it (serve.cli.place), the settings of
the service (serve.settings).
"""

import os
import socket
from pathlib import Path

NAME = "serving"
SECONDS = 1.0
ANY = {"0.0.0.0": "127.0.0.1", "::": "localhost"}
"""Addresses for a browser on this machine, if the service listens on all addresses."""
HOST, PORT = "127.0.0.1", 8000
"""Where a service listens by default."""


def of_service(home: Path) -> tuple[str, int] | None:
    """The host and port at which the service of a home answers; None if no service runs.

    A killed service leaves the file, so a connection is tried.
    """
    try:
        host, port = (home / NAME).read_text(encoding="utf-8").split()
        with socket.create_connection((host, int(port)), SECONDS):
            return ANY.get(host, host), int(port)
    except (OSError, ValueError):
        return None


def pages_of(home: Path) -> str:
    """The base address of the pages: the public one, otherwise of the running service, otherwise the default."""
    public = os.environ.get("FUNDAMENTALS_BASE_URL", "").rstrip("/").removesuffix("/v1")
    host, port = of_service(home) or (HOST, PORT)
    return public or f"http://{f'[{host}]' if ':' in host else host}:{port}"
