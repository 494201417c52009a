"""The last time a run with older code was refused write access to a store: an object with time and version.

Belongs here: its form. Does not: when a run is refused (pipelines.shared.code_in_force), the metric (serve.metrics).
"""

from contextlib import suppress
from datetime import datetime

import msgspec

OBJECT = "REFUSED"
"""The name of the object in the store."""


class Refusal(msgspec.Struct, frozen=True):
    """A run that was refused.

    Attributes:
        at: when, in UTC.
        version: the run's release and the digest of its code and rules.
    """

    at: datetime
    version: str


def encoded(refusal: Refusal) -> bytes:
    """Encode a refusal as JSON."""
    return msgspec.json.encode(refusal)


def decoded(content: bytes | None) -> Refusal | None:
    """Decode a refusal; None if there is none, or if it is damaged."""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(content or b"", type=Refusal)
    return None
