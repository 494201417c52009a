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
FORM = re.compile(rf"{PREFIX}([0-9A-Za-z]{{{RANDOM}}})([0-9A-Za-z]{{{CHECK}}})".encode())


def new_key() -> str:
    """A new random key."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    return f"{PREFIX}{body}{_checksum(body.encode())}"


def is_well_formed(sent: bytes) -> bool:
    """Whether bytes have the format of a key and a correct checksum."""
    parts = FORM.fullmatch(sent)
    return parts is not None and parts[2] == _checksum(parts[1]).encode()


def digest(key: bytes) -> bytes:
    """The SHA-256 of a key, which is stored instead of the key."""
    return hashlib.sha256(key).digest()


def _checksum(body: bytes) -> str:
    """CRC-32 in base 62."""
    rest, characters = zlib.crc32(body), ""
    for _ in range(CHECK):
        rest, place = divmod(rest, len(ALPHABET))
        characters = ALPHABET[place] + characters
    return characters
