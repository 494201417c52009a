"""Every response: its headers, its id, the line of the log, and that a failure of the service reveals no internals."""

import json
import logging
import re
import time
from typing import Any

import httpx
import pytest

from serve.http import log as access_log
from tests.contract.conftest import assert_error
from tests.contract.hostile.raw import FIXED, answered, refused
from tests.servers import wait_until


def test_every_response_has_its_headers_and_none_names_the_software(address: str, own_key: str) -> None:
    asked = ["/v1/status", "/v1/companies", "/v1/companies/NOPE", "/v1/companies?page=0", "/v2", "/v1/openapi.json"]
    for path in asked:
        response = httpx.get(address + path, headers={"X-Api-Key": own_key})
        assert response.headers.items() >= FIXED.items(), path
        assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-Id"])
        assert not {"server", "x-powered-by", "via"} & response.headers.keys()


@pytest.mark.parametrize("sent", ["a", "A-1_b.C", "x" * 64])
def test_a_valid_request_id_is_kept(address: str, sent: str) -> None:
    assert httpx.get(f"{address}/v1/status", headers={"X-Request-Id": sent}).headers["X-Request-Id"] == sent


@pytest.mark.parametrize("sent", ["", "x" * 65, "a b", 'a"b', "fds_live_" + "a" * 40, "ä"])
def test_an_invalid_request_id_is_replaced(address: str, sent: str) -> None:
    for headers in ([("X-Request-Id", sent.encode("latin-1"))], [("X-Request-Id", "a"), ("X-Request-Id", "b")]):
        response = httpx.get(f"{address}/v1/status", headers=headers)  # type: ignore[arg-type]
        assert re.fullmatch("[0-9a-f]{32}", response.headers["X-Request-Id"])


def test_the_log_has_one_line_per_request_and_no_key(
    address: str, own_key: str, caplog: pytest.LogCaptureFixture
) -> None:
    paths = [
        "/v1/companies/LNTR?limit=1",
        f"/v1/companies?apikey={own_key}",
        f"/v1/companies/{own_key}",
        f"/{own_key}/x",
        f"/v1/companies?search={own_key}",
        "/" + "x" * 300,
    ]
    with caplog.at_level(logging.INFO, "serve.access"):
        for path in paths:
            httpx.get(address + path, headers={"X-Api-Key": own_key, "X-Request-Id": "mine"})
        refused(answered(address, b"%s\r\n\r\n" % own_key.encode()))
        for method in (own_key.encode(), b"PROPFIND"):
            answered(address, b"%s /v1/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % method)
        wait_until(lambda: len(caplog.messages) == len(paths) + 3)
    lines: list[dict[str, Any]] = [json.loads(message) for message in caplog.messages]
    assert own_key not in caplog.text
    assert [(line["path"], line["status"]) for line in lines] == [
        ("/v1/companies/{symbol}", 422),
        ("/v1/companies", 422),
        ("/v1/companies/{symbol}", 404),
        ("/fds_live_…/x", 404),
        ("/v1/companies", 422),
        ("/" + "x" * 199, 404),
        ("", 422),
        ("", 405),
        ("/v1/status", 405),
    ]
    names = ["time", "id", "method", "path", "status", "bytes", "ms", "key", "worker"]
    assert all(list(line) == names for line in lines)
    assert [line["id"] for line in lines[:6]] == ["mine"] * 6
    assert [line["method"] for line in lines] == ["GET"] * 6 + ["", "", ""], "only methods of HTTP"
    known = lines[0]["key"]
    assert re.fullmatch("key_[0-9a-f]{16}", known)
    assert [line["key"] for line in lines[2:4]] == [known, None]
    assert all(line["bytes"] > 0 and line["ms"] >= 0 for line in lines)


class Stuck:
    """A stream that blocks until it is released."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.is_read = False

    def write(self, text: str) -> None:
        while not self.is_read:
            time.sleep(0.001)
        self.written.append(text)

    def flush(self) -> None:
        pass


def test_a_blocked_log_delays_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are queued, then dropped; their number is logged once the stream is read again, at once or in parts."""
    monkeypatch.setattr(access_log, "HELD", 3)
    stream = Stuck()
    logger = logging.getLogger("serve.test")
    with access_log.logging_to(stream):  # type: ignore[arg-type]
        for number in range(10):
            logger.warning("line %d", number)
        stream.is_read = True
    text = "".join(stream.written)
    assert re.search(r"WARNING serve\.test: line 0\n", text)
    dropped = re.findall(r"^(\d) log lines were dropped: the queue was full$", text, re.MULTILINE)
    assert sum(map(int, dropped)) in (6, 7)


@pytest.mark.parametrize(
    ("failing", "path", "counted"),
    [
        ("serve.http.edge._size_of_head", "/v1/status", 0),
        ("warehouse.read.memory.Memory.companies", "/v1/companies?page=7", 1),
        ("serve.api.interface.problem_of", "/v1/status", 0),
    ],
    ids=["before any endpoint", "of an answer at once", "of a task"],
)
def test_a_failure_reveals_nothing_and_is_logged_and_counted_once(
    address: str,
    own_key: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    failing: str,
    path: str,
    counted: int,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret place")

    def left() -> int:
        response = httpx.get(f"{address}/v1/companies", headers={"X-Api-Key": own_key})
        return int(response.headers["X-RateLimit-Remaining"])

    before = left()
    with monkeypatch.context() as broken:
        broken.setattr(failing, fail)
        response = httpx.get(address + path, headers={"X-Api-Key": own_key})
    assert_error(response, 500, "server_error")
    assert "secret" not in response.text
    assert response.headers["X-Request-Id"] in caplog.text
    assert "RuntimeError: secret place" in caplog.text
    assert before - left() == 1 + counted
