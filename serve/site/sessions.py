"""Cookies and forms: how a browser shows who is signed in, and how a form shows that a page of ours held it.

Belongs here: the cookie, its signature, the token of forms, the origin of a request. Does not: which sessions there
are (access.sign_ins), what a form does.

A cookie holds a random id and its signature. An id with a session in the file is somebody who is signed in; any other
is a visitor, who has the cookie only to send one form: the one that signs in, which begins a session with a new id.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

from itsdangerous import BadSignature, Signer
from starlette.requests import Request
from starlette.responses import Response

from serve.access.sign_ins import RANDOM, SESSION_LIVES, Session, SignIns
from serve.settings import Settings

NAME = "fundamentals-session"
FORM_TOKEN = "form_token"
"""The field that every form has."""


class Sessions:
    """The sessions of this service, as browsers show them."""

    def __init__(self, settings: Settings, sign_ins: SignIns) -> None:
        """Read the secret, or make it.

        Raises:
            CommandError: the file of accounts cannot be read or written.
        """
        public, secret = urlsplit(settings.pages), sign_ins.secret()
        self.sign_ins = sign_ins
        self._scheme = public.scheme
        self._origin = f"{public.scheme}://{public.netloc}"
        self._is_secure = public.scheme == "https"
        # __Host-: browsers take it from this very host only, over https, so that no neighbour can plant one
        self.cookie = f"__Host-{NAME}" if self._is_secure else NAME
        self._cookies = Signer(secret, salt=b"cookie", key_derivation="hmac", digest_method=hashlib.sha256)
        self._forms = Signer(secret, salt=b"form", key_derivation="hmac", digest_method=hashlib.sha256)

    def id_of(self, request: Request) -> str | None:
        """The id that a request's cookie holds, of a session or of a visitor; None without one that was signed here."""
        try:
            return self._cookies.unsign(request.cookies.get(self.cookie, "")).decode()
        except BadSignature:
            return None

    def current(self, request: Request, now: float) -> Session | None:
        """Who is signed in."""
        session_id = self.id_of(request)
        return self.sign_ins.session(session_id, now) if session_id else None

    def visitor(self) -> str:
        """An id for somebody who has none."""
        return secrets.token_urlsafe(RANDOM)

    def keep(self, response: Response, session_id: str, *, lives: int | None = SESSION_LIVES) -> None:
        """Have the browser hold an id.

        Lax: with Strict, a link to a page in a mail would find nobody signed in. A form of another site sends no cookie
        either way.

        Args:
            response: what the browser gets.
            session_id: of a session or a visitor.
            lives: seconds; None until the browser is closed.
        """
        response.set_cookie(
            self.cookie,
            self._cookies.sign(session_id).decode(),
            max_age=lives,
            path="/",
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )

    def forget(self, response: Response) -> None:
        """Have the browser hold none."""
        response.delete_cookie(self.cookie, path="/", secure=self._is_secure, httponly=True, samesite="lax")

    def form_token(self, session_id: str) -> str:
        """What a form has to hold to be taken from who has this id."""
        return self._forms.get_signature(session_id).decode()

    def is_own_form(self, request: Request, values: Mapping[str, str]) -> bool:
        """Whether a page of this service held the form, and the browser that sends it was shown that page."""
        session_id = self.id_of(request)
        if session_id is None or not self._is_same_origin(request):
            return False
        sent = values.get(FORM_TOKEN, "")
        return hmac.compare_digest(sent.encode(), self.form_token(session_id).encode())

    def _is_same_origin(self, request: Request) -> bool:
        """Whether the browser says so: every browser names the origin of a form that is posted."""
        own = {self._origin, f"{self._scheme}://{request.headers.get('host')}"}
        site = request.headers.get("sec-fetch-site", "same-origin")
        return request.headers.get("origin") in own and site == "same-origin"
