"""Bytes that are not HTTP, or not for this service: each is refused with one envelope, which reveals no internals."""

import httpx
import pytest

from tests.contract.hostile.raw import HIDDEN, answered, closed_after, refused

NO_HTTP = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"hello\r\n\r\n",
    b"\x00\x01\x02\r\n\r\n",
    b"GET /v1/status\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
    b"GET /v1/\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/companies/\xff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET /v1/a b HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: smoke\r\n\r\n",
]


@pytest.mark.parametrize("sent", NO_HTTP, ids=range(len(NO_HTTP)))
def test_malformed_http_is_refused_with_a_message(address: str, sent: bytes) -> None:
    assert refused(answered(address, sent)) == "This is not a valid HTTP/1.1 request."


@pytest.mark.parametrize("piece", [100, 100_000])
@pytest.mark.parametrize(
    "head",
    [
        b"GET /v1/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: %s\r\n\r\n" % (b"x" * 17_000),
        b"GET /v1/status?q=%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % (b"x" * 17_000),
        b"GET /v1/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n" % (b"X-Many: a\r\n" * 2000),
        b"GET /v1/status HTTP/1.1\r\nX-Filler: %s\r\nHost: x\r\n\r\n" % (b"a" * 4_000_000),
        b"GET /v1/companies?search=%s HTTP/1.1\r\nHost: x\r\n\r\n" % (b"a" * 4_000_000),
    ],
    ids=["header", "query", "many", "megabytes in a header", "megabytes in a query"],
)
def test_a_head_that_is_too_large_is_refused(address: str, head: bytes, piece: int) -> None:
    """If it arrives in pieces, the server stops reading; if in one piece, it is refused afterwards."""
    try:
        answer = answered(address, *(head[start : start + piece] for start in range(0, len(head), piece)))
    except ConnectionError:
        return  # it was closed while the rest was still being sent
    assert b" 422 " in answer.partition(b"\r\n")[0]
    assert b"The request line and headers are longer than 16384 bytes." in answer


def test_a_large_head_that_is_malformed_too_is_refused_once(address: str, caplog: pytest.LogCaptureFixture) -> None:
    answer = closed_after(address, b"no colon\r\n" + b"x" * 17_000)
    assert refused(answer) == "This is not a valid HTTP/1.1 request."
    assert "Fatal error" not in caplog.text


def test_a_large_head_is_refused_before_it_is_complete(address: str) -> None:
    answer = answered(address, b"GET /v1/status HTTP/1.1\r\nHost: a\r\nX-Long: ", b"x" * 17_000)
    assert refused(answer) == "The request line and headers are longer than 16384 bytes."


@pytest.mark.parametrize("method", ["HEAD", "TRACE", "CONNECT", "FOO"])
def test_other_methods_are_405(address: str, method: str) -> None:
    """As raw bytes, because HTTP clients treat some specially; all of them: test_1_only_get_is_accepted."""
    sent = f"{method} /v1/companies HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode()
    head, _, body = answered(address, sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 405 ")
    assert b"\r\nallow: GET" in head
    assert (body == b"") == (method == "HEAD")


def test_a_request_for_no_path_is_404(address: str) -> None:
    answer = answered(address, b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b'"code":"not_found"' in answer


def test_an_upgrade_is_ignored(address: str) -> None:
    for upgrade in ("websocket", "h2c"):
        asked = {"Connection": "Upgrade", "Upgrade": upgrade, "Sec-WebSocket-Key": "AA==", "HTTP2-Settings": "AA"}
        assert httpx.get(f"{address}/v1/status", headers=asked).status_code == 200


def test_the_connection_is_closed_after_an_upgrade_was_asked_for(address: str) -> None:
    answer = closed_after(address, b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + HIDDEN)
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.count(b"HTTP/1.1") == 1


def test_an_empty_field_is_not_part_of_the_next(address: str) -> None:
    answer = closed_after(address, b"X-Empty:\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n")
    assert b"\r\nx-request-id: mine\r\n" in answer
