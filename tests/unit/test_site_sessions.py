"""Cookies and forms: cookie attributes, accepted cookies, and the accepted origin of forms."""

import re
from collections.abc import Iterator
from http.cookies import Morsel, SimpleCookie
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from serve.access.accounts import Accounts
from serve.access.sign_ins import SESSION_LIVES, SignIns
from serve.settings import Settings
from serve.site.frame.sessions import FORM_TOKEN, Sessions

HOST = "data.example.org"


@pytest.fixture
def sign_ins(tmp_path: Path) -> Iterator[SignIns]:
    accounts = Accounts(tmp_path / "accounts.sqlite")
    yield SignIns(accounts)
    accounts.close()


def sessions_at(base_url: str, sign_ins: SignIns) -> Sessions:
    return Sessions(Settings(base_url=base_url), sign_ins)


def request(**headers: str) -> Request:
    """A request with these headers; their names are written with underscores."""
    told = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": told})


def given(sessions: Sessions, session_id: str, **options: int | None) -> "Morsel[str]":
    """The cookie that a browser receives."""
    response = Response()
    sessions.keep(response, session_id, **options)
    return SimpleCookie(response.headers["set-cookie"])[sessions.cookie]


def shown(sessions: Sessions, session_id: str, **headers: str) -> Request:
    """A request with the cookie of this id."""
    return request(cookie=f"{sessions.cookie}={given(sessions, session_id).value}", **headers)


def test_over_https_the_cookie_is_of_this_host_only(sign_ins: SignIns) -> None:
    """RFC 6265bis, section 4.1.3.2: __Host- needs Secure, Path=/ and no Domain."""
    sessions = sessions_at(f"https://{HOST}/v1", sign_ins)
    cookie = given(sessions, "id")
    assert re.fullmatch("__Host-fundamentals-session-[0-9a-f]{8}", sessions.cookie)
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (True, True, "lax")
    assert (cookie["path"], cookie["domain"], cookie["max-age"]) == ("/", "", str(SESSION_LIVES))


def test_over_http_the_cookie_is_not_secure(sign_ins: SignIns) -> None:
    """A browser would refuse a secure cookie."""
    sessions = sessions_at(f"http://{HOST}/v1", sign_ins)
    cookie = given(sessions, "id", lives=None)
    assert re.fullmatch("fundamentals-session-[0-9a-f]{8}", sessions.cookie)
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == ("", True, "lax")
    assert (cookie["path"], cookie["domain"], cookie["max-age"]) == ("/", "", "")


def test_forgetting_deletes_the_same_cookie(sign_ins: SignIns) -> None:
    sessions = sessions_at(f"https://{HOST}/v1", sign_ins)
    response = Response()
    sessions.forget(response)
    cookie = SimpleCookie(response.headers["set-cookie"])[sessions.cookie]
    assert (cookie.value, cookie["max-age"], cookie["path"], cookie["secure"]) == ("", "0", "/", True)


def test_an_id_needs_its_own_signature(sign_ins: SignIns) -> None:
    """Another id's signature, a form's signature, a changed letter and a missing signature are refused."""
    sessions = sessions_at(f"http://{HOST}/v1", sign_ins)
    assert sessions.id_of(shown(sessions, "id")) == "id"
    signature = given(sessions, "id").value.removeprefix("id.")
    letter = "A" if signature[5] != "A" else "B"
    forged = [f"other.{signature}", f"id.{sessions.form_token('id')}", "id", "id.", "", ".", "é.é"]
    for value in [*forged, f"id.{signature[:5]}{letter}{signature[6:]}"]:
        assert sessions.id_of(request(cookie=f"{sessions.cookie}={value}")) is None, value
    assert sessions.id_of(request()) is None


def test_an_id_of_another_service_is_refused(sign_ins: SignIns, tmp_path: Path) -> None:
    """Each home has its own secret."""
    (tmp_path / "other").mkdir()
    accounts = Accounts(tmp_path / "other" / "accounts.sqlite")
    other = sessions_at(f"http://{HOST}/v1", SignIns(accounts))
    accounts.close()
    assert sessions_at(f"http://{HOST}/v1", sign_ins).id_of(shown(other, "id")) is None


def own_form(sessions: Sessions, token: str | None, **headers: str) -> bool:
    return sessions.is_own_form(shown(sessions, "id", **headers), {} if token is None else {FORM_TOKEN: token})


ORIGIN = {"origin": f"https://{HOST}", "host": HOST}


def test_a_form_needs_the_token_of_its_id(sign_ins: SignIns) -> None:
    sessions = sessions_at(f"https://{HOST}/v1", sign_ins)
    assert own_form(sessions, sessions.form_token("id"), **ORIGIN)
    for token in (sessions.form_token("other"), "", "é", None):
        assert not own_form(sessions, token, **ORIGIN)
    assert not sessions.is_own_form(request(**ORIGIN), {FORM_TOKEN: sessions.form_token("id")}), "no cookie"


@pytest.mark.parametrize(
    ("headers", "is_taken"),
    [
        ({}, True),
        ({"host": "10.0.0.7:8000"}, True),  # a proxy that uses another host name
        ({"host": "10.0.0.7:8000", "origin": "https://10.0.0.7:8000"}, True),  # reached without the proxy
        ({"sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "same-site"}, False),
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "none"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": f"https://{HOST}.evil.example"}, False),
        ({"origin": f"https://{HOST}:444"}, False),
        ({"origin": f"http://{HOST}"}, False),
        ({"origin": f"https://sub.{HOST}"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
    ],
)
def test_a_form_needs_the_origin_of_this_service(sign_ins: SignIns, headers: dict[str, str], is_taken: bool) -> None:
    """As the browser states it, even if the token is right."""
    sessions = sessions_at(f"https://{HOST}/v1", sign_ins)
    assert own_form(sessions, sessions.form_token("id"), **{**ORIGIN, **headers}) == is_taken


def test_a_form_without_an_origin_is_refused(sign_ins: SignIns) -> None:
    sessions = sessions_at(f"https://{HOST}/v1", sign_ins)
    assert not own_form(sessions, sessions.form_token("id"), host=HOST)
