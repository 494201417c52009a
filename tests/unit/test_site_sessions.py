"""Cookies and forms: cookie attributes, accepted cookies, and the accepted origin of forms."""

import re
from collections.abc import Iterator
from contextlib import closing
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
    with closing(Accounts(tmp_path / "accounts.sqlite")) as accounts:
        yield SignIns(accounts)


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


@pytest.mark.parametrize(
    ("scheme", "lives", "name", "secure", "max_age"),
    [
        # RFC 6265bis, section 4.1.3.2: __Host- needs Secure, Path=/ and no Domain
        ("https", SESSION_LIVES, "__Host-fundamentals-session-[0-9a-f]{8}", True, str(SESSION_LIVES)),
        # a browser would refuse a secure cookie
        ("http", None, "fundamentals-session-[0-9a-f]{8}", "", ""),
    ],
)
def test_the_cookie_is_of_this_host_only_and_secure_over_https(
    sign_ins: SignIns, scheme: str, lives: int | None, name: str, secure: object, max_age: str
) -> None:
    sessions = sessions_at(f"{scheme}://{HOST}/v1", sign_ins)
    cookie = given(sessions, "id", lives=lives)
    assert re.fullmatch(name, sessions.cookie)
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (secure, True, "lax")
    assert (cookie["path"], cookie["domain"], cookie["max-age"]) == ("/", "", max_age)


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
    with closing(Accounts(tmp_path / "other" / "accounts.sqlite")) as accounts:
        other = sessions_at(f"http://{HOST}/v1", SignIns(accounts))
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
        (ORIGIN, True),
        ({**ORIGIN, "host": "10.0.0.7:8000"}, True),  # a proxy that uses another host name
        ({"host": "10.0.0.7:8000", "origin": "https://10.0.0.7:8000"}, True),  # reached without the proxy
        ({**ORIGIN, "sec_fetch_site": "same-origin"}, True),
        ({**ORIGIN, "sec_fetch_site": "same-site"}, False),
        ({**ORIGIN, "sec_fetch_site": "cross-site"}, False),
        ({**ORIGIN, "sec_fetch_site": "none"}, False),
        ({**ORIGIN, "origin": "https://evil.example"}, False),
        ({**ORIGIN, "origin": f"https://{HOST}.evil.example"}, False),
        ({**ORIGIN, "origin": f"https://{HOST}:444"}, False),
        ({**ORIGIN, "origin": f"http://{HOST}"}, False),
        ({**ORIGIN, "origin": f"https://sub.{HOST}"}, False),
        ({**ORIGIN, "origin": "null"}, False),
        ({**ORIGIN, "origin": ""}, False),
        ({"host": HOST}, False),  # no origin
    ],
)
def test_a_form_needs_the_origin_of_this_service(sign_ins: SignIns, headers: dict[str, str], is_taken: bool) -> None:
    """As the browser states it, even if the token is right."""
    sessions = sessions_at(f"https://{HOST}/v1", sign_ins)
    assert own_form(sessions, sessions.form_token("id"), **headers) == is_taken
