"""The last refusal of a store to be written by older code: an object that says when, and which version it was.

Belongs here: its form. Does not: who is refused (pipelines.run.code_in_force), the metric (serve.metrics).
"""

from contextlib import suppress
from datetime import datetime

import msgspec

OBJECT = "REFUSED"
"""Its name in the store."""


class Refusal(msgspec.Struct, frozen=True):
    """A run that was refused.

    Attributes:
        at: when, in UTC.
        version: the release and the digest of its code and rules.
    """

    at: datetime
    version: str


def encoded(refusal: Refusal) -> bytes:
    """A refusal as it is written."""
    return msgspec.json.encode(refusal)


def decoded(content: bytes | None) -> Refusal | None:
    """A refusal from what was written; None if there is none, or if it is damaged."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(content or b"", type=Refusal)
    return None
