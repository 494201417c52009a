"""An HTTP server on a loopback port, in place of the SEC's hosts: with prepared replies, a folder, or a transport.

Belongs here: sending replies, also cut or slow replies. Does not: the content of replies (edgar), faults (faults).
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

SENT = ("ETag", "Last-Modified", "Retry-After")
"""The headers of a transport's answer that are sent."""


@dataclass(frozen=True)
class Reply:
    """One reply; with `cut`, only this number of bytes of the body is sent, but the header states the whole length.

    `drip` is the number of seconds between the bytes of the body, which are sent one by one.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    drip: float = 0.0


@dataclass
class EdgarServer:
    """The server: it records requests, and sends the replies of a list for each path, whose last reply is repeated.

    A request for the rest of a body is answered with the rest if its `If-Range` equals a header of the reply. A path
    without a list gets the answer of a transport such as the sample's, or a file of a mirror directory; if the file
    does not exist, the reply is `otherwise`. `changed` applies faults to the reply to a path; `control` answers POST.
    """

    url: str = ""
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    otherwise: Reply = Reply(404)
    folder: Path | None = None
    transport: httpx.BaseTransport | None = None
    asked: list[tuple[str, Message]] = field(default_factory=list)
    changed: Callable[[str, Reply], Reply] | None = None
    control: Callable[[str, bytes], Reply] | None = None

    def on(self, url: str, *replies: Reply) -> None:
        self.replies["/" + url.removeprefix("https://")] = list(replies)

    def next_reply(self, path: str) -> Reply:
        replies = self.replies.get(path)
        if replies is None and self.transport:
            answer = self.transport.handle_request(httpx.Request("GET", f"https:/{path}"))
            headers = {name: answer.headers[name] for name in SENT if name in answer.headers}
            return Reply(answer.status_code, answer.content, headers)
        if replies is None:
            file = self.folder / path[1:] if self.folder and ".." not in path else None
            return Reply(body=file.read_bytes()) if file and file.is_file() else self.otherwise
        return replies.pop(0) if len(replies) > 1 else replies[0]


@contextmanager
def running_server(port: int = 0) -> Iterator[EdgarServer]:
    """Serve until the block ends, on the given or a free port; `url` is the value for EDGAR_BASE_URL.

    Raises:
        OSError: the port is taken.
    """
    state = EdgarServer()
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # the body is sent after the head, without waiting for an acknowledgement

        def do_GET(self) -> None:
            state.asked.append((self.path, self.headers))
            reply = state.next_reply(self.path)
            if state.changed:
                reply = state.changed(self.path, reply)
            tag = reply.headers.get("ETag")
            if tag and tag == self.headers["If-None-Match"] and reply.status == 200 and state.transport:
                reply = Reply(304, headers=reply.headers)
            asked_range = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            if asked_range and reply.status == 200 and self.headers["If-Range"] in reply.headers.values():
                first, whole = int(asked_range[1]), reply.body
                rest = {"Content-Range": f"bytes {first}-{len(whole) - 1}/{len(whole)}"}
                reply = replace(reply, status=206, body=whole[first:], headers={**reply.headers, **rest})
            self.answer(reply)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.answer(state.control(self.path, body) if state.control else Reply(405))

        def answer(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status != 304:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if reply.drip:
                for byte in reply.body:
                    self.wfile.write(bytes([byte]))
                    if ended.wait(reply.drip):
                        return
            self.wfile.write(reply.body[: reply.cut])
            self.close_connection = reply.cut is not None

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Print nothing, because clients may end connections early."""

    server = Server(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
