"""Connections that send any bytes to a service, and the check of a refusal.

Belongs here: helpers that the tests of hostile bytes share. Does not: any test.
"""

import json
import re
import socket
from urllib.parse import urlsplit

FIXED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "strict-transport-security": "max-age=31536000",  # because the public address is https
}


STATUS = b"GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n"
HIDDEN = b"GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n(?:.+\r\n)*\r\n", re.IGNORECASE)


class Connection:
    """A connection that sends any bytes."""

    def __init__(self, address: str, source: str = "127.0.0.1") -> None:
        parts = urlsplit(address)
        self.socket = socket.create_connection((parts.hostname, parts.port), 30, (source, 0))

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.socket.sendall(piece)

    def ask(self, request: bytes) -> bytes:
        """The response to a request."""
        self.send(request)
        return self.one()

    def is_closed_after(self, piece: bytes) -> bool:
        """Whether the server has closed the connection, which only another piece shows."""
        try:
            self.send(piece)
        except ConnectionError:
            return True
        return False

    def one(self) -> bytes:
        """One response with its body, and the bytes before it; not the bytes after it."""
        received = b""
        while not (length := LENGTH.search(received)):
            byte = self.socket.recv(1)
            assert byte, received
            received += byte
        return received + self.socket.recv(int(length[1]), socket.MSG_WAITALL)

    def all(self) -> bytes:
        """All bytes until the server closes."""
        received = b""
        while piece := self.socket.recv(65536):
            received += piece
        return received


def refused(answer: bytes) -> str:
    """Check that the response is one envelope, 422 `invalid_parameter`, with the common headers; return the detail."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert status == "HTTP/1.1 422 Unprocessable Content"
    own = {"cache-control": "no-store", "content-type": "application/json", "connection": "close"}
    assert headers.items() >= (FIXED | own | {"content-length": str(len(body))}).items()
    assert re.fullmatch("[0-9a-f]{32}", headers["x-request-id"])
    assert "server" not in headers
    error = json.loads(body)["error"]
    detail: str = error["message"]
    docs = "https://data.example.org/errors#invalid_parameter"
    assert error == {"code": "invalid_parameter", "message": detail, "docs": docs, "details": {"request": detail}}
    return detail


def answered(address: str, *sent: bytes) -> bytes:
    """All that a server answers to some bytes until it closes the connection."""
    with Connection(address) as connection:
        connection.send(*sent)
        return connection.all()


def closed_after(address: str, sent: bytes) -> bytes:
    """The answer of a server to a request, with these further bytes, after which it closes the connection."""
    return answered(address, b"GET /v1/status HTTP/1.1\r\nHost: a\r\n" + sent)
