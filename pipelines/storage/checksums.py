"""The digests of the files in a folder, noted in a file beside them, by which damage is found.

Belongs here: noting the digest of a file when it is written, and comparing. Does not: what is done about damage
(health).

The digest of a new file is noted before it replaces the file of the same name. A process may be killed between the two,
so the digest of the file before stays noted until the next replacement.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

NOTES = "digests.json"
KEPT = 2
"""Digests noted for a file: of the newest one, and of the one before."""


def digest_of(path: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def replace(folder: Path, written: Path, path: Path) -> None:
    """Replace a file in a folder, or below it, by one that was written beside it, and note the digest."""
    note(folder, {path: written})
    written.replace(path)


def note(folder: Path, files: Mapping[Path, Path]) -> None:
    """Note the digests of files under the paths that they have or get."""
    digests = held(folder)
    for path, written in files.items():
        name, digest = _name(folder, path), digest_of(written)
        digests[name] = [digest, *(each for each in digests.get(name, []) if each != digest)][:KEPT]
    _write(folder, digests)


def forget(folder: Path, paths: Iterable[Path]) -> None:
    """Forget the digests of files that are removed."""
    digests = held(folder)
    gone = digests.keys() & {_name(folder, path) for path in paths}
    if gone:
        _write(folder, {name: held for name, held in digests.items() if name not in gone})


def noted(folder: Path) -> list[Path]:
    """The files whose digests are noted."""
    return [folder / name for name in held(folder)]


def unnoted(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """The files whose digest is not noted: an earlier release wrote them, or the notes are damaged."""
    digests = held(folder)
    return [path for path in paths if _name(folder, path) not in digests]


def damaged(folder: Path, paths: Iterable[Path]) -> list[Path]:
    """The files that are missing, cannot be read or do not have a noted digest; without a note a file is not judged."""
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
    """The noted digests by name, the newest first; none if the notes are missing or damaged."""
    try:
        digests = json.loads((folder / NOTES).read_bytes())
        return {str(name): [str(each) for each in held] for name, held in digests.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def _write(folder: Path, digests: Mapping[str, list[str]]) -> None:
    written = folder / f".{NOTES}.tmp"
    written.write_text(json.dumps(dict(sorted(digests.items()))))
    written.replace(folder / NOTES)
