"""Admission by a key: the checks of the key that a request of a program sends.

Belongs here: which field of the head is the key, and which error each failure is. Does not: the look-up of keys
(access.holders), what follows (interface, serve.site.mount).
"""

import logging

from starlette.types import Scope

from serve.access.attempts import FAILED_KEYS, Attempts
from serve.access.database import DatabaseError
from serve.access.holders import Holder, Holders
from serve.api.condition import KEYS_UNREADABLE
from serve.errors import ServerError, SubscriptionInactive, Unauthenticated

log = logging.getLogger(__name__)

KEY = "x-api-key"
OTHER_HEADER = "The API key is missing: send it in the header X-Api-Key. The header Authorization is not read."


async def admitted(holders: Holders, attempts: Attempts, scope: Scope) -> Holder:
    """The holder of the request's key.

    Raises:
        Unauthenticated: the key is missing, given twice, malformed, unknown or revoked.
        SubscriptionInactive: its subscription is not active.
        ServerError: the key is not known, and the database of keys cannot be read.
        RateLimited: the client's address sent too many requests without a valid key.
    """
    try:
        holder = await known_holder(holders, scope)
    except DatabaseError as error:
        if not holders.outdated:  # otherwise it was logged when the problem began
            log.error("request %s: the key cannot be looked up: %s", scope["exchange"].id, error)
        raise ServerError(KEYS_UNREADABLE) from error
    if holder is None:
        attempts.count(FAILED_KEYS, scope)
        raise Unauthenticated(_hint(scope))
    if not holder.is_active:
        raise SubscriptionInactive()
    return holder


def _hint(scope: Scope) -> str:
    """A hint for a client that sends its key in the header Authorization, as many interfaces want it; else empty."""
    names = {name for name, _ in scope["headers"]}
    return OTHER_HEADER if b"authorization" in names and KEY.encode() not in names else ""


async def known_holder(holders: Holders, scope: Scope) -> Holder | None:
    """The holder of the request's key; None if it is missing, given twice, malformed, unknown or revoked."""
    sent = [value for name, value in scope["headers"] if name == KEY.encode()]
    return await holders.look_up(sent[0]) if len(sent) == 1 else None
