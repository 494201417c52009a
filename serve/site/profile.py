"""The profile page: the subscription, and the keys of whoever is signed in.

Belongs here: what the page shows, and its two forms: create a key, revoke one. Does not: keys and counts (access).

A form that creates names the key's identifier: sent again, by a reload, it makes no second key and shows none.
"""

import asyncio
import re
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from serve.access.accounts import Key, KeyExists, new_key_id
from serve.access.limits import LIMITS
from serve.access.sign_ins import Session
from serve.errors import InvalidParameter, NotFound, SubscriptionInactive
from serve.site.pages import Access, PageRoute, Pages, values_of
from serve.site.sign_in import SEE_OTHER

KEY_ID = re.compile(r"key_[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Listed:
    """A key, and the requests made with it today."""

    key: Key
    requests: int


async def show_profile(pages: Pages, request: Request) -> Response:
    """The page as it is for whoever is signed in."""
    return await _profile(pages, request)


async def change(pages: Pages, request: Request) -> Response:
    """What the button that was pressed stands for."""
    values = values_of(request)
    key_id = values.get("key_id", "")
    if not KEY_ID.fullmatch(key_id):
        raise InvalidParameter({"key_id": "This is no identifier of a key."})
    match values.get("action"):
        case "create":
            return await _create(pages, request, key_id)
        case "revoke":
            return await _revoke(pages, request, key_id)
        case _:
            raise InvalidParameter({"action": "There is no such action; it is create or revoke."})


async def _create(pages: Pages, request: Request, key_id: str) -> Response:
    """Make a key, and show it: the only time."""
    session: Session = request.state.session
    if not session.is_active:
        raise SubscriptionInactive("Your Premium subscription is not active; keys are made with an active one.")
    try:
        key = await run_in_threadpool(pages.accounts.create_key, session.email, pages.clock(), key_id)
    except KeyExists:
        return _back(pages)
    return await _profile(pages, request, key)


async def _revoke(pages: Pages, request: Request, key_id: str) -> Response:
    """End a key of one's own."""
    session: Session = request.state.session
    listed = await run_in_threadpool(pages.accounts.keys_of, session.email)
    if key_id not in {key.id for key in listed}:
        raise NotFound("You have no such key.")
    await run_in_threadpool(pages.accounts.revoke_key, key_id, pages.clock())
    return _back(pages)


async def _profile(pages: Pages, request: Request, new_key: str | None = None) -> Response:
    session: Session = request.state.session
    keys = await run_in_threadpool(pages.accounts.keys_of, session.email)
    now = pages.clock()
    counts = await asyncio.gather(*(pages.limits.used_today(key.id, now) for key in keys))
    listed = [Listed(key, count) for key, count in zip(keys, counts, strict=True)]
    return pages.render(
        request,
        "profile.html",
        new_key=new_key,
        new_key_id=new_key_id(),
        keys=[each for each in reversed(listed) if not each.key.revoked_at],
        revoked=[each for each in reversed(listed) if each.key.revoked_at],
        limits=LIMITS,
    )


def _back(pages: Pages) -> Response:
    return RedirectResponse(f"{pages.root}/profile", SEE_OTHER)


ROUTES: tuple[PageRoute, ...] = (("/profile", show_profile, Access.SIGNED_IN),)
FORMS: tuple[PageRoute, ...] = (("/profile", change, Access.SIGNED_IN),)
