"""The digest of the rules: it identifies their code and data files, and changes when a value may change.

Belongs here: which parts of a source file count. Does not: what is computed again when the digest changes (stages).

Comments, docstrings, formatting, and the text of a rule's statement and source do not count, neither in Python nor in
TOML. After an edit of these, no company is computed again, and no version of the history gets the cause `method`.
"""

import ast
import contextlib
import hashlib
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

WORDS = ("statement", "source", "applies")
"""Arguments that describe a rule. They are ignored if they are sentences only: `source` may also name a column."""
KEPT = "__pycache__/code.digest"
"""Cache of the last digest, with a digest of the files' bytes: parsing 10,000 lines of Python takes 0.4 seconds."""


def digest_of(folder: Path) -> str:
    """The digest of the files below a folder that COUNTED names. It does not depend on the version of Python."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.suffix in COUNTED
    }
    read = {**files, "": Path(__file__).read_bytes()}  # this file is included because it decides what counts
    as_they_are = _joined(b"%s %s" % (name.encode(), content) for name, content in read.items())
    kept = folder / KEPT
    with contextlib.suppress(OSError, ValueError):
        known, digest = kept.read_text().split()
        if known == as_they_are:
            return digest
    digest = _joined(b"%s %s" % (name.encode(), COUNTED[Path(name).suffix](content)) for name, content in files.items())
    with contextlib.suppress(OSError):  # a read-only installation computes the digest each time
        kept.parent.mkdir(exist_ok=True)
        written = kept.with_name(f"{kept.name}.{os.getpid()}")
        written.write_text(f"{as_they_are} {digest}")
        written.replace(kept)
    return digest


def code_of(source: bytes) -> bytes:
    """A Python file as text that changes only when its code does."""
    return "".join(_written(ast.parse(source))).encode()


def rows_of(table: bytes) -> bytes:
    """A TOML file as text that changes only when its data do."""
    return repr(_rows(tomllib.loads(table.decode()))).encode()


COUNTED: Mapping[str, Callable[[bytes], bytes]] = {".py": code_of, ".toml": rows_of, ".csv": bytes}
"""The files that count by suffix, and what counts of their content."""


def _rows(part: object) -> object:
    """A part of a TOML file without the words that describe a rule."""
    if isinstance(part, dict):
        return {name: _rows(value) for name, value in part.items() if name not in WORDS}
    return [_rows(value) for value in part] if isinstance(part, list) else part


def _written(part: object) -> Iterator[str]:
    if isinstance(part, ast.AST):
        yield type(part).__name__
        for name in part._fields:
            value = getattr(part, name, None)
            # absent and empty fields do not count, because later versions of Python have more fields
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
    """Whether it is text of several words or an f-string, and therefore not a column name."""
    return isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and " " in str(part.value))


def _joined(parts: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d\n%s\n" % (len(part), part))
    return digest.hexdigest()
