"""API keys: their format, checksum and stored hash.

Belongs here: pure functions on keys. Does not: which account a key belongs to (accounts).

A key is `fds_live_`, 34 random characters and a checksum of 6, so that malformed keys are refused without a look-up.
The random characters have 202 bits of entropy; no key can be guessed, and a plain SHA-256 is a sufficient hash.
"""

import hashlib
import re
import secrets
import zlib

PREFIX = "fds_live_"
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RANDOM, CHECK = 34, 6
FORM = re.compile(rf"{PREFIX}([0-9A-Za-z]{{{RANDOM}}})([0-9A-Za-z]{{{CHECK}}})")


def new_key() -> str:
    """A new random key."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    return f"{PREFIX}{body}{_checksum(body)}"


def is_well_formed(text: str) -> bool:
    """Whether a text has the format of a key and a correct checksum."""
    parts = FORM.fullmatch(text)
    return parts is not None and parts[2] == _checksum(parts[1])


def digest(key: str) -> bytes:
    """The SHA-256 of a key, which is stored instead of the key."""
    return hashlib.sha256(key.encode()).digest()


def _checksum(body: str) -> str:
    """CRC-32 in base 62."""
    rest, characters = zlib.crc32(body.encode()), ""
    for _ in range(CHECK):
        rest, place = divmod(rest, len(ALPHABET))
        characters = ALPHABET[place] + characters
    return characters
