"""The page `/profile`: the subscription and the API keys of the signed-in account.

Belongs here: the page, and its forms to create and to revoke a key. Does not: keys and counts themselves (access).

The form that creates a key contains the new key's identifier, so that sending it twice (a reload) creates one key only.
"""

import asyncio
import re
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from serve.access.accounts import MOST_KEYS, Key, KeyExists, TooManyKeys, new_key_id
from serve.access.limits import LIMITS
from serve.access.sign_ins import Session
from serve.errors import InvalidParameter, NotFound, SubscriptionInactive
from serve.site.account.sign_in import SEE_OTHER
from serve.site.frame.pages import Access, PageRoute, Pages, values_of

KEY_ID = re.compile(r"key_[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Listed:
    """A key and the number of requests made with it today."""

    key: Key
    requests: int


async def show_profile(pages: Pages, request: Request) -> Response:
    """The profile page of the signed-in account."""
    return await _profile(pages, request)


async def change(pages: Pages, request: Request) -> Response:
    """Carry out the form's action, `create` or `revoke`."""
    values = values_of(request)
    key_id = values.get("key_id", "")
    if not KEY_ID.fullmatch(key_id):
        raise InvalidParameter({"key_id": "This is not the identifier of a key."})
    match values.get("action"):
        case "create":
            return await _create(pages, request, key_id)
        case "revoke":
            return await _revoke(pages, request, key_id)
        case _:
            raise InvalidParameter({"action": "The action must be create or revoke."})


async def _create(pages: Pages, request: Request, key_id: str) -> Response:
    """Create a key, and show it once."""
    session: Session = request.state.session
    if not session.is_active:
        raise SubscriptionInactive("Your Premium subscription is not active; creating a key needs an active one.")
    try:
        key = await run_in_threadpool(pages.accounts.create_key, session.email, pages.clock(), key_id)
    except KeyExists:
        return _back(pages)
    except TooManyKeys as error:
        raise InvalidParameter(
            {"action": f"Your account has {MOST_KEYS} active keys and can have no more. Revoke one first."}
        ) from error
    return await _profile(pages, request, key)


async def _revoke(pages: Pages, request: Request, key_id: str) -> Response:
    """Revoke a key of the signed-in account."""
    session: Session = request.state.session
    listed = await run_in_threadpool(pages.accounts.keys_of, session.email)
    if key_id not in {key.id for key in listed}:
        raise NotFound("Your account has no such key.")
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
        most_keys=MOST_KEYS,
    )


def _back(pages: Pages) -> Response:
    return RedirectResponse(f"{pages.root}/profile", SEE_OTHER)


ROUTES: tuple[PageRoute, ...] = (("/profile", show_profile, Access.SIGNED_IN),)
FORMS: tuple[PageRoute, ...] = (("/profile", change, Access.SIGNED_IN),)
