"""Session cookies and the protection of forms against cross-site requests.

Belongs here: the cookie, its signature, form tokens, the check of a form's origin. Does not: the stored sessions
(access.sign_ins), the actions of forms.

The cookie contains a random id and its signature. An id with a stored session belongs to a signed-in account. Any other
id belongs to a visitor, who needs it only to send the sign-in form; signing in starts a session with a new id.

Browsers send cookies to all ports of a host. So the name of the cookie contains a digest of the secret that signs it:
services with other accounts on the same host use another name, and never replace each other's cookies.
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
DIGITS = 8
FORM_TOKEN = "form_token"
"""Name of the form field with the token."""


class Sessions:
    """The cookies and form tokens of this service."""

    def __init__(self, settings: Settings, sign_ins: SignIns) -> None:
        """Read the secret that signs them, and create it if it does not exist.

        Raises:
            CommandError: the file of accounts cannot be read or written.
        """
        public, secret = urlsplit(settings.pages), sign_ins.secret()
        self.sign_ins = sign_ins
        self._scheme = public.scheme
        self._origin = f"{public.scheme}://{public.netloc}"
        self._is_secure = public.scheme == "https"
        name = f"{NAME}-{hmac.new(secret, b'name', hashlib.sha256).hexdigest()[:DIGITS]}"
        # __Host-: browsers accept the cookie from this host over https only, not from another host of the domain
        self.cookie = f"__Host-{name}" if self._is_secure else name
        self._cookies = Signer(secret, salt=b"cookie", key_derivation="hmac", digest_method=hashlib.sha256)
        self._forms = Signer(secret, salt=b"form", key_derivation="hmac", digest_method=hashlib.sha256)

    def id_of(self, request: Request) -> str | None:
        """The id in a request's cookie, of a session or a visitor; None without a cookie with a valid signature."""
        try:
            return self._cookies.unsign(request.cookies.get(self.cookie, "")).decode()
        except BadSignature:
            return None

    def current(self, request: Request, now: float) -> Session | None:
        """The session of a request; None if it has no session."""
        session_id = self.id_of(request)
        return self.sign_ins.session(session_id, now) if session_id else None

    def visitor(self) -> str:
        """A new id for a visitor."""
        return secrets.token_urlsafe(RANDOM)

    def keep(self, response: Response, session_id: str, *, lives: int | None = SESSION_LIVES) -> None:
        """Set the cookie.

        SameSite is Lax: with Strict, a user who follows a link from a mail would not be signed in. With both, forms of
        other sites send no cookie.

        Args:
            response: the response that sets the cookie.
            session_id: id of a session or a visitor.
            lives: lifetime in seconds; None: until the browser is closed.
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
        """Delete the cookie."""
        response.delete_cookie(self.cookie, path="/", secure=self._is_secure, httponly=True, samesite="lax")

    def form_token(self, session_id: str) -> str:
        """A new token that a form must contain when it is sent with this id; each call returns a different one.

        It is the signature of the id, combined with as many random bytes. So a page with the token may be compressed:
        its length reveals nothing about the signature (BREACH).
        """
        signature = self._forms.get_signature(session_id)
        random = secrets.token_bytes(len(signature))
        return (random + _combined(random, signature)).hex()

    def is_own_form(self, request: Request, values: Mapping[str, str]) -> bool:
        """Whether a form comes from a page that this service sent to the same browser."""
        session_id = self.id_of(request)
        if session_id is None or not self._is_same_origin(request):
            return False
        try:
            sent = bytes.fromhex(values.get(FORM_TOKEN, ""))
        except ValueError:
            return False
        half = len(sent) // 2
        return hmac.compare_digest(_combined(sent[:half], sent[half:]), self._forms.get_signature(session_id))

    def _is_same_origin(self, request: Request) -> bool:
        """Whether the Origin header names this service; every browser sends it with a POST."""
        own = {self._origin, f"{self._scheme}://{request.headers.get('host')}"}
        site = request.headers.get("sec-fetch-site", "same-origin")
        return request.headers.get("origin") in own and site == "same-origin"


def _combined(random: bytes, other: bytes) -> bytes:
    """The XOR of two byte strings: the same operation hides a signature and reveals it again."""
    return bytes(one ^ two for one, two in zip(random, other, strict=False))
