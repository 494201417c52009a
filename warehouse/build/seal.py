"""The seal of a small JSON file: a digest of its content, by which a changed number is detected.

Belongs here: encoding with the seal, and decoding. Does not: the digests of builds (digest) and of tables
(pipelines.storage.checksums), which are stored separately from the data.
"""

import hashlib
from typing import Any, TypeVar

import msgspec

SEAL = "seal"

Content = TypeVar("Content", bound=msgspec.Struct)


def encoded(content: msgspec.Struct) -> bytes:
    """Encode a structure as an indented JSON object with one more member, `seal`."""
    members = msgspec.to_builtins(content)
    return msgspec.json.format(msgspec.json.encode(members | {SEAL: _seal(members)}), indent=2) + b"\n"


def decoded(content: bytes, kind: type[Content]) -> Content:
    """Decode a file with a seal. A file of an earlier release without a seal is accepted as it is.

    Raises:
        msgspec.MsgspecError: the content does not match the structure, or differs from its seal.
        UnicodeDecodeError: it is not UTF-8.
    """
    members = msgspec.json.decode(content, type=dict[str, Any])
    seal = members.pop(SEAL, None)
    if seal is not None and seal != _seal(members):
        raise msgspec.ValidationError("the content differs from its seal")
    return msgspec.convert(members, kind)


def _seal(members: dict[str, Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(members, order="sorted")).hexdigest()
