"""Stores the digests of the files in a folder in one more file there, to detect damage.

Belongs here: storing the digest of a file when it is written, and comparing. Does not: repairing damage (health).

The digest of a new file is stored before the file replaces the earlier file of the same name. A process may be killed
in between, so the digest of the earlier file stays valid until the next replacement.
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

NOTES = "digests.json"
KEPT = 2
"""The number of digests stored for a file: of the newest file, and of the file before."""


def digest_of(path: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def replace(folder: Path, written: Path, path: Path) -> None:
    """Replace a file in a folder, or below it, by a newly written file, and store the digest."""
    note(folder, {path: written})
    written.replace(path)


def note(folder: Path, files: Mapping[Path, Path]) -> None:
    """Store the digests of files, under their present or future paths."""
    digests = held(folder)
    for path, written in files.items():
        name, digest = _name(folder, path), digest_of(written)
        digests[name] = [digest, *(each for each in digests.get(name, []) if each != digest)][:KEPT]
    _write(folder, digests)


def forget(folder: Path, paths: Iterable[Path]) -> None:
    """Remove the digests of removed files."""
    digests = held(folder)
    gone = digests.keys() & {_name(folder, path) for path in paths}
    if gone:
        _write(folder, {name: held for name, held in digests.items() if name not in gone})


def noted(folder: Path) -> list[Path]:
    """The files with a stored digest."""
    return [folder / name for name in held(folder)]


def unnoted(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """The files without a stored digest: an earlier release wrote them, or the file of digests is damaged."""
    digests = held(folder)
    return [path for path in paths if _name(folder, path) not in digests]


def damaged(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """The files that are missing, cannot be read, or do not match their digests; files without a stored digest are not
    checked."""
    digests = held(folder)
    found = []
    for path in paths:
        try:
            digest = digest_of(path)
        except OSError:
            digest = ""
        if digest not in digests.get(_name(folder, path), [digest or "missing"]):
            found.append(path)
    return found


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def held(folder: Path) -> dict[str, list[str]]:
    """The stored digests by name, the newest first; empty if the file of digests is missing or damaged."""
    try:
        return msgspec.json.decode((folder / NOTES).read_bytes(), type=dict[str, list[str]])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def _write(folder: Path, digests: Mapping[str, list[str]]) -> None:
    written = folder / f".{NOTES}.tmp"
    written.write_bytes(msgspec.json.encode(digests, order="sorted"))
    written.replace(folder / NOTES)
