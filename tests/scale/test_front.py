"""nginx in front of the replicas: what it caches, what it answers itself, and which requests it never sends twice."""

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from tests import builds
from tests.browsers import Browser
from tests.contract.conftest import assert_error
from tests.contract.hostile.raw import Connection
from tests.e2e.homes import ended, run_as_process
from tests.scale.cluster import SITE, Cluster, Visitor
from tests.scale.conftest import Finder
from tests.scale.front import DEPLOYED, Front, nginx
from tests.servers import PROJECT, as_process, free_port, wait_until

PUBLIC = ("/", "/reference", "/errors", "/dictionary", "/style.css", "/v1/openapi.json", "/llms.txt", "/index.md")
PERSONAL = ("/profile", "/companies", "/companies/LNTR")
FRESH = 5.0
"""Seconds for which a status may be kept."""


def kept(cluster: Cluster, path: str, since: int) -> list[str]:
    """The cache status of nginx for the requests of a path: MISS, HIT, BYPASS; empty if nginx did not look."""
    last = httpx.get(f"{cluster.front.address}/v1/openapi.json").headers["X-Request-Id"]  # a line follows its response
    wait_until(lambda: last in {line["id"] for line in cluster.front.requests()[since:]})
    return [line["cache"] for line in cluster.front.requests()[since:] if line["path"] == path]


@pytest.mark.parametrize("path", PUBLIC)
def test_what_is_the_same_for_everyone_is_kept(cluster: Cluster, path: str) -> None:
    """The same bytes and headers, but for the request's id; and a copy that is current is 304."""
    since = len(cluster.front.requests())
    with httpx.Client(base_url=cluster.front.address) as client:
        first, second = client.get(path), client.get(path, headers={"X-Request-Id": "second"})
        third = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, second.status_code, third.status_code) == (200, 200, 304)
    assert first.content == second.content
    assert second.headers["X-Request-Id"] == "second"
    differing = {"x-request-id", "date", "connection"}
    assert {name: value for name, value in first.headers.items() if name not in differing} == {
        name: value for name, value in second.headers.items() if name not in differing
    }
    assert kept(cluster, path, since)[1:3] == ["HIT", "HIT"]


def test_two_users_and_a_stranger_never_see_each_others_pages(cluster: Cluster) -> None:
    """In turns, so that a page that was kept would be answered to the next one."""
    since = len(cluster.front.requests())
    names = ["anna@example.org", "ben@example.org"]
    with (
        Visitor(cluster.front.address) as anna,
        Visitor(cluster.front.address) as ben,
        Visitor(cluster.front.address) as stranger,
    ):
        visitors = {names[0]: anna, names[1]: ben, "": stranger}
        secrets: dict[str, str] = {}
        for name in names:
            page = visitors[name].sign_in(cluster.sign_in_link(name))
            created = visitors[name].press(page, action="create")
            assert created.status_code == 200
            secrets[name] = created.text.partition("fds_live_")[2][:40]
        assert len(set(secrets.values())) == 2
        for path in [*PERSONAL, *PUBLIC] * 2:
            for name, visitor in visitors.items():
                response = visitor.get(path)
                own = {name} & set(names)
                assert response.status_code == (200 if own or path in PUBLIC else 403), (path, name)
                assert {other for other in names if other in response.text} <= own, (path, name)
                assert not [secret for secret in secrets.values() if secret in response.text], "a key is shown once"
                assert "Set-Cookie" not in response.headers
        assert names[0] in anna.get("/profile").text
        assert names[1] in ben.get("/profile").text
    for path in PERSONAL:
        assert set(kept(cluster, path, since)) <= {"MISS", "BYPASS", ""}, path
    assert "HIT" in kept(cluster, "/errors", since), "to the stranger"


def test_what_came_with_a_key_or_a_cookie_is_neither_kept_nor_answered_from_what_was_kept(cluster: Cluster) -> None:
    since = len(cluster.front.requests())
    [first, second] = cluster.keys(2)
    with httpx.Client(base_url=cluster.front.address) as client:
        for _ in range(2):
            assert client.get("/v1/companies/LNTR").status_code == 401
            for key in (first, second):
                assert client.get("/v1/companies/LNTR", headers={"X-Api-Key": key}).status_code == 200
        left = [client.get("/v1/companies/LNTR", headers={"X-Api-Key": key}) for key in (first, second)]
        for name in ("Cookie", "Authorization", "X-Api-Key"):
            client.get("/errors")
            client.get("/errors", headers={name: "0"})
        assert client.get("/style.css?v=1", headers={"Cookie": "a=b"}).status_code == 200
        assert client.get("/style.css?v=1").status_code == 200
    assert kept(cluster, "/style.css", since) == ["BYPASS", "MISS"]
    assert [each.headers["X-RateLimit-Remaining"] for each in left] == ["57", "57"]
    assert set(kept(cluster, "/v1/companies/LNTR", since)) == {""}
    assert kept(cluster, "/errors", since)[1::2] == ["BYPASS"] * 3


def test_the_status_is_never_older_than_five_seconds(cluster: Cluster) -> None:
    """A copy is recognized by its bytes, which contain the second at which it was made."""
    seen: dict[str, list[float]] = {}
    since, end = len(cluster.front.requests()), time.monotonic() + 6
    with httpx.Client(base_url=cluster.front.address) as client:
        assert client.head("/v1/status").status_code == 405
        assert_error(client.get("/v1/status?verbose=1"), 422, "invalid_parameter")
        while time.monotonic() < end:
            before = time.monotonic()
            response = client.get("/v1/status")
            assert response.status_code == 200
            seen.setdefault(response.text, []).append(before)
            time.sleep(0.1)
    assert 2 <= len(seen) <= 3, "kept for about four seconds"
    assert max(times[-1] - times[0] for times in seen.values()) <= FRESH
    assert "HIT" in kept(cluster, "/v1/status", since)


def test_the_id_of_a_request_goes_to_the_replica_and_back(cluster: Cluster) -> None:
    with httpx.Client(base_url=cluster.front.address) as client:
        given = client.get("/v1/companies", headers={"X-Request-Id": "mine-1"})
        bad = client.get("/v1/companies", headers={"X-Request-Id": "fds_live_abc"})
    assert given.headers.get_list("X-Request-Id") == ["mine-1"]
    assert bad.headers["X-Request-Id"] != "fds_live_abc"
    ids = {"mine-1", bad.headers["X-Request-Id"]}
    wait_until(lambda: ids <= {line["id"] for replica in cluster.replicas for line in replica.requests()})


def test_a_client_does_not_choose_the_address_that_it_is_counted_by(cluster: Cluster) -> None:
    """Each worker allows 60 failed keys a minute, whatever the client writes into X-Forwarded-For."""
    transport = httpx.HTTPTransport(local_address="127.9.9.9")
    with httpx.Client(base_url=cluster.front.address, transport=transport) as client:
        statuses = [
            client.get("/v1/companies", headers={"X-Forwarded-For": f"198.51.100.{number % 250}"}).status_code
            for number in range(4 * 60 + 1 + 120)
        ]
        assert set(statuses[:60]) == {401}
        assert 429 in statuses
    assert httpx.get(f"{cluster.front.address}/v1/companies").status_code == 401, "another address"


def raw(front: Front, request: bytes) -> httpx.Response:
    """The response to bytes that no client library would send."""
    with Connection(front.address) as connection:
        head, _, body = connection.ask(request).partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return httpx.Response(int(first.split()[1]), headers=[tuple(line.split(": ", 1)) for line in lines], content=body)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        (b"GET /v1/companies?search=" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 422, "invalid_parameter"),
        (b"GET /v1/status HTTP/1.1\r\nHost: x\r\nX-Filler: " + b"a" * 40_000 + b"\r\n\r\n", 422, "invalid_parameter"),
        (b"GET /v1/status HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 422, "invalid_parameter"),
        (b"nonsense\r\n\r\n", 422, "invalid_parameter"),
        (b"GET /v1/companies/LNTR%00 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not_found"),
        (b"GET /v1/companies/%zz?page=1 HTTP/1.0\r\n\r\n", 404, "not_found"),
        (b"GET /v1/../../status HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not_found"),
        (b"GET /v1/companies/LNTR\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 422, "invalid_parameter"),
        (b"POST /v1/companies/LNTR%00 HTTP/1.1\r\nHost: x\r\n\r\n", 422, "invalid_parameter"),
        (b"GET status HTTP/1.1\r\nHost: x\r\n\r\n", 422, "invalid_parameter"),
        (b"TRACE /v1/companies HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method_not_allowed"),
        (b"POST /profile HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n", 422, "invalid_parameter"),
        (b"GET /v1/status HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 422, "invalid_parameter"),
    ],
    ids=[
        "a long line",
        "a long field",
        "two hosts",
        "no HTTP",
        "a zero byte in the path",
        "no hexadecimal number",
        "above the root",
        "a control character",
        "a form to a zero byte",
        "no path",
        "a method",
        "a large body",
        "a coding",
    ],
)
def test_what_nginx_refuses_has_the_form_of_the_service(
    cluster: Cluster, request_: bytes, status: int, code: str
) -> None:
    response = raw(cluster.front, request_)
    assert_error(response, status, code)
    assert response.headers.get("allow") == ("GET" if status == 405 else None)
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["x-request-id"]


@pytest.mark.parametrize("size", [9_000, 60_000])
def test_a_form_that_is_too_long_is_refused_by_the_service_itself(cluster: Cluster, size: int) -> None:
    response = httpx.post(f"{cluster.front.address}/sign-in", data={"token": "x" * size}, headers={"Origin": SITE})
    assert response.status_code in (403, 413)
    assert response.headers["content-type"].startswith("text/html")


@contextmanager
def dying() -> Iterator[tuple[int, list[bytes]]]:
    """A service that closes each connection when it has read a request: its port, and the first lines."""
    lines: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    lines.append(connection.recv(65536).partition(b"\r\n")[0])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], lines
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_request_goes_to_the_next_replica_once_and_a_form_never(tmp_path: Path, installed: Finder) -> None:
    """Each of two replicas dies under every request."""
    with (
        dying() as (first, one),
        dying() as (second, two),
        nginx(installed("nginx"), tmp_path / "nginx", [f"127.0.0.1:{first}", f"127.0.0.1:{second}"]) as front,
    ):
        response = httpx.get(f"{front.address}/v1/companies?page=1")
        assert_error(response, 500, "server_error")
        assert one == two == [b"GET /v1/companies?page=1 HTTP/1.1"]
        one.clear(), two.clear()
        assert_error(httpx.post(f"{front.address}/profile", data={"action": "create"}), 500, "server_error")
        assert one + two == [b"POST /profile HTTP/1.1"]


def test_without_any_replica_the_answer_is_an_envelope(tmp_path: Path, installed: Finder) -> None:
    with nginx(installed("nginx"), tmp_path / "nginx", ["127.0.0.1:1", "127.0.0.1:2"]) as front:
        for path in ("/v1/companies", "/v1/status", "/"):
            assert_error(httpx.get(f"{front.address}{path}"), 500, "server_error")


def test_a_replica_that_died_is_passed_over(tmp_path: Path, installed: Finder, cluster: Cluster) -> None:
    """One of two addresses has nobody: no request fails."""
    alive = f"127.0.0.1:{cluster.replicas[0].port}"
    with nginx(installed("nginx"), tmp_path / "nginx", ["127.0.0.1:1", alive]) as front, httpx.Client() as client:
        assert {client.get(f"{front.address}/v1/openapi.json?").status_code for _ in range(20)} == {200}
        assert {line["status"] for line in front.requests()} == {200}


@pytest.mark.long
def test_readers_of_compose_sign_in_over_http(tmp_path: Path, installed: Finder) -> None:
    """The front of compose.yaml as it stands, with nginx's configuration written by its own script, in front of one
    service.
    """
    compose = yaml.safe_load((PROJECT / "deploy" / "compose.yaml").read_text())
    writing = compose["services"]["nginx"]["entrypoint"][2].partition(" exec nginx")[0].replace("$$", "$")
    site, home = tmp_path / "default.conf", tmp_path / "home"
    for there, here in (
        ("/etc/nginx/fundamentals/fundamentals.conf", DEPLOYED / "fundamentals.conf"),
        ("/etc/nginx/conf.d/default.conf", site),
    ):
        assert there in writing
        writing = writing.replace(there, str(here))
    port, own = free_port(), free_port()
    public = f"http://127.0.0.1:{port}"
    subprocess.run(["sh", "-ec", writing], check=True, env={"PATH": os.environ["PATH"], "PUBLIC": public})
    builds.small(home / "published", "b1")
    variables = {"FUNDAMENTALS_BASE_URL": f"{public}/v1", "FUNDAMENTALS_TRUSTED_PROXY": "127.0.0.1"}
    with (
        nginx(installed("nginx"), tmp_path / "nginx", [f"127.0.0.1:{own}"], port, site) as front,
        as_process(home, "--port", str(own), **variables),
        Browser(front.address) as browser,
    ):
        link = ended(run_as_process(home, "accounts", "invite", "anna@example.org", **variables)).stdout.split()[-1]
        assert link.startswith(public)
        assert "anna@example.org" in browser.sign_in(link).text
        assert "anna@example.org" in browser.get("/profile").text
        missing = browser.get("/v1/companies")
        assert (missing.status_code, missing.json()["error"]["code"]) == (401, "unauthenticated")
        assert {line["replica"] for line in front.requests()} == {f"127.0.0.1:{own}"}
