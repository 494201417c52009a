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


LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n(?:.+\r\n)*\r\n")


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
    assert headers.items() >= FIXED.items()
    assert headers["cache-control"] == "no-store"
    assert headers["content-type"] == "application/json"
    assert headers["connection"] == "close"
    assert int(headers["content-length"]) == len(body)
    assert re.fullmatch("[0-9a-f]{32}", headers["x-request-id"])
    assert "server" not in headers
    error = json.loads(body)["error"]
    assert error["code"] == "invalid_parameter"
    assert error["docs"] == "https://data.example.org/errors#invalid_parameter"
    assert error["details"].keys() == {"request"}
    detail: str = error["details"]["request"]
    assert error["message"] == detail
    return detail


def closed_after(address: str, sent: bytes, method: str = "GET") -> bytes:
    """The answer of a server to a request after which it closes the connection."""
    with Connection(address) as connection:
        connection.send(f"{method} /v1/status HTTP/1.1\r\nHost: a\r\n".encode() + sent)
        return connection.all()


HIDDEN = b"GET /v1/hidden HTTP/1.1\r\nHost: a\r\n\r\n"
