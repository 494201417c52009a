"""API keys: their form, and what is kept of them. Pure functions; who holds a key is the accounts' business.

`fds_live_`, 34 random characters, and 6 that check them, so that garbage is refused without a look-up. The 34
characters hold 202 random bits: a plain SHA-256 at rest is enough, nothing can be guessed that needed slowing down.
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
    """A key that nobody has."""
    body = "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))
    return f"{PREFIX}{body}{_checksum(body)}"


def is_well_formed(text: str) -> bool:
    """Whether a text has the form of a key and its checksum is right."""
    parts = FORM.fullmatch(text)
    return parts is not None and parts[2] == _checksum(parts[1])


def digest(key: str) -> bytes:
    """What is kept of a key: enough to know it again, nothing to use it."""
    return hashlib.sha256(key.encode()).digest()


def _checksum(body: str) -> str:
    """CRC-32 in base 62."""
    rest, characters = zlib.crc32(body.encode()), ""
    for _ in range(CHECK):
        rest, place = divmod(rest, len(ALPHABET))
        characters = ALPHABET[place] + characters
    return characters
