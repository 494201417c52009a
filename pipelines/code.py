"""What identifies the rules: a digest of their code and data files, which changes when a value may change.

Belongs here: which part of a source file counts. Does not: what is done again when the digest changes (stages).

Comments, docstrings, formatting, and the words of a rule's statement and source do not count: who edits them
recomputes no company, and no version of the history is said to come from another method.
"""

import ast
import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

COUNTED = (".py", ".csv")
WORDS = ("statement", "source", "applies")
"""Arguments that describe a rule. They count where they are no sentence: `source` may also name a column."""
KEPT = "__pycache__/code.digest"
"""The digest last made, with that of the files as they are: reading 10,000 lines as Python takes 0.4 seconds."""


def digest_of(folder: Path) -> str:
    """The digest of the Python and CSV files below a folder. It is the same for every version of Python."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in COUNTED
    }
    read = {**files, "": Path(__file__).read_bytes()}  # this file: it decides what counts
    as_they_are = _joined(b"%s %s" % (name.encode(), content) for name, content in read.items())
    kept = folder / KEPT
    with contextlib.suppress(OSError, ValueError):
        known, digest = kept.read_text().split()
        if known == as_they_are:
            return digest
    digest = _joined(
        b"%s %s" % (name.encode(), code_of(content).encode() if name.endswith(".py") else content)
        for name, content in files.items()
    )
    with contextlib.suppress(OSError):  # an installation that cannot be written: made anew each time
        kept.parent.mkdir(exist_ok=True)
        written = kept.with_name(f"{kept.name}.{os.getpid()}")
        written.write_text(f"{as_they_are} {digest}")
        written.replace(kept)
    return digest


def code_of(source: bytes) -> str:
    """A Python file as text that changes only with what it does."""
    return "".join(_written(ast.parse(source)))


def _written(part: object) -> Iterator[str]:
    if isinstance(part, ast.AST):
        yield type(part).__name__
        for name in part._fields:
            value = getattr(part, name, None)
            # what is absent or empty does not count: later versions of Python have more fields
            if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
                continue
            yield f"({name}:"
            yield from _written(_without_words(part, name, value))
            yield ")"
    elif isinstance(part, list):
        for each in part:
            if not (isinstance(each, ast.Expr) and _is_text(each.value)):  # a docstring
                yield from _written(each)
                yield ","
    else:
        yield repr(part)


def _without_words(part: ast.AST, field: str, value: object) -> object:
    """The arguments of a call without the sentences that describe a rule."""
    if not isinstance(part, ast.Call) or not isinstance(value, list):
        return value
    if field == "keywords":
        return [each for each in value if not (each.arg in WORDS and _is_sentence(each.value))]
    names_a_rule = isinstance(part.func, ast.Name) and part.func.id.endswith("Rule")
    return [each for each in value if not (names_a_rule and _is_sentence(each))]


def _is_text(part: ast.AST) -> bool:
    return isinstance(part, ast.Constant) and isinstance(part.value, str)


def _is_sentence(part: ast.AST) -> bool:
    """Text of several words, or an f-string, which no name of a column is."""
    return isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and " " in str(part.value))


def _joined(parts: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d\n%s\n" % (len(part), part))
    return digest.hexdigest()
