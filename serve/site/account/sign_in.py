"""The pages and forms to sign in by a one-time link, and to sign out.

Belongs here: these pages and forms. Does not: the validity of a link (access.sign_ins), cookies (sessions).

GET shows a link's page, and only the POST of its button uses the link, because mail programs open links to check them.
The page for an invalid link does not reveal whether the link was forged, used or expired, or whether an account exists.
"""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from serve.access.attempts import SIGN_INS
from serve.access.sign_ins import LINK_LIVES
from serve.site.frame.pages import Access, PageRoute, Pages, values_of

SEE_OTHER = 303
MINUTES = LINK_LIVES // 60


def show_sign_in(pages: Pages, request: Request) -> Response:
    """The sign-in page: instructions; with the token of a link, the account of the link, and a button to confirm."""
    token = request.query_params.get("token")
    if token is None:
        return pages.render(request, "sign_in.html", minutes=MINUTES)
    pages.attempts.count(SIGN_INS, request.scope)
    email = pages.sessions.sign_ins.invited(token, pages.clock())
    if email is None:
        return _refused(pages, request)
    known = pages.sessions.id_of(request)
    visitor = known or pages.sessions.visitor()
    request.state.form_token = pages.sessions.form_token(visitor)
    response = pages.render(request, "confirm.html", email=email, token=token)
    response.headers["Referrer-Policy"] = "strict-origin"  # keeps the token out of the Referer header
    if known is None:
        pages.sessions.keep(response, visitor, lives=None)
    return response


async def sign_in(pages: Pages, request: Request) -> Response:
    """Use a link and start a session; an earlier session of the same browser ends."""
    pages.attempts.count(SIGN_INS, request.scope)
    sessions = pages.sessions
    session_id = await run_in_threadpool(sessions.sign_ins.sign_in, values_of(request).get("token", ""), pages.clock())
    if session_id is None:
        return _refused(pages, request)
    if before := sessions.id_of(request):
        await run_in_threadpool(sessions.sign_ins.sign_out, before)
    response = RedirectResponse(f"{pages.root}/profile", SEE_OTHER)
    sessions.keep(response, session_id)
    return response


def sign_out(pages: Pages, request: Request) -> Response:
    """End the session on the server, and delete its cookie."""
    if session_id := pages.sessions.id_of(request):
        pages.sessions.sign_ins.sign_out(session_id)
    response = RedirectResponse(f"{pages.root}/", SEE_OTHER)
    pages.sessions.forget(response)
    return response


def _refused(pages: Pages, request: Request) -> Response:
    return pages.render(request, "sign_in.html", 403, minutes=MINUTES, is_refused=True)


ROUTES: tuple[PageRoute, ...] = (("/sign-in", show_sign_in, Access.PUBLIC),)
FORMS: tuple[PageRoute, ...] = (
    ("/sign-in", sign_in, Access.PUBLIC),
    ("/sign-out", sign_out, Access.PUBLIC),
)
