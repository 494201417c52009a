"""Digests of code: a digest covers modules, the modules that they import, and their data; it changes when a result may
change.

Belongs here: finding the files of a module, and the parts of a file that count. Does not: computing rows again when a
digest changes (stages, tables).

Comments, docstrings, formatting, and the text of a rule's statement and source do not count, in Python and in TOML.
After an edit of them, no company is computed again, and no version of the history gets the cause `method`.

Imports are read from all import statements. Imports with the name of the module as text are not found.
"""

import ast
import contextlib
import hashlib
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

import msgspec

PROJECT = Path(__file__).parents[1]
FOLDERS = ("pipelines", "warehouse")
"""The packages of the project that make data."""
WORDS = ("statement", "source", "applies")
"""Arguments that describe a rule. They are ignored only if they are sentences, because `source` may also name a
column."""
CACHE = "pipelines/__pycache__"
KEPT = f"{CACHE}/code.digest"
"""The path of the cache of parsed files: parsing 25,000 lines of Python takes 1.2 seconds."""


class File(msgspec.Struct, frozen=True):
    """The parsed information about a file.

    Attributes:
        content: the digest of its bytes.
        counted: the digest of the parts that count.
        worded: the digest of the parts that count, and of the words that describe rules.
        imports: the modules of the project, or names in them, that a module imports, with dots.
        data: the names of data files in its text, or only their suffixes.
    """

    content: str
    counted: str
    worded: str
    imports: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


Files = Mapping[str, File]
"""The files of a project by their paths, such as `pipelines/normalize/rule.py`."""


class _Kept(msgspec.Struct):
    """The cache: the information about the files, and the digest of this module, which decides which parts count."""

    known_by: str
    files: dict[str, File]


def digest_of(*names: str, files: Files | None = None, with_words: bool = False) -> str:
    """The digest of modules and of all files that they reach. It does not depend on the version of Python.

    Args:
        names: the modules, with dots; a package stands for all its modules.
        files: the files of a project; None: of this project, as read at the first call.
        with_words: whether the text of a rule's statement and source counts, too.

    Raises:
        ValueError: a module does not exist.
    """
    files = _files_of_this_project() if files is None else files
    found = ((path, files[path]) for path in sorted(reached(files, *names)))
    return _digest("\n".join(f"{path} {file.worded if with_words else file.counted}" for path, file in found).encode())


def kept_for(package: str, make: Callable[[], str]) -> str:
    """A text that depends only on the code and data of a package: it is made once, and stored for later processes.

    Args:
        package: the name of the package, with dots.
        make: makes the text, usually by importing the package, which takes most of the time.
    """
    path, made_from = PROJECT / CACHE / f"{package}.text", digest_of(package)
    with contextlib.suppress(OSError, UnicodeDecodeError):
        held_from, _, text = path.read_text().partition("\n")
        if held_from == made_from:
            return text
    text = make()
    _keep(path, f"{made_from}\n{text}".encode())
    return text


def reached(files: Files, *names: str) -> set[str]:
    """The paths of modules, of the modules that they import, directly or indirectly, and of the data files of all of
    them.

    Importing a module also imports its packages. A data file belongs to a module in its folder if the text of the
    module has the file's name; if both names are equal up to the suffix, the suffix is enough.

    Args:
        files: the files of the project.
        names: with dots; a package stands for all modules in it.

    Raises:
        ValueError: a module does not exist.
    """
    modules = {_name(path): path for path in files if path.endswith(".py")}
    if unknown := set(names) - modules.keys():
        raise ValueError(f"no such module: {', '.join(sorted(unknown))}")
    named = {module for module in modules if any(f"{module}.".startswith(f"{name}.") for name in names)}
    to_do, found = [*named], set[str]()
    while to_do:
        parts = to_do.pop().split(".")
        for length in range(1, len(parts) + 1):
            path = modules.get(".".join(parts[:length]), "")
            if path and path not in found:
                found.add(path)
                to_do += (new := {*files[path].imports} - named)
                named |= new
    return found | {data for path in found for data in _data_of(path, files[path]) if data in files}


def files_of(root: Path) -> Files:
    """Read the information about the files of a project; only changed files are parsed.

    Args:
        root: the folder with the packages.
    """
    kept, this = root / KEPT, _digest(Path(__file__).read_bytes())
    known: dict[str, File] = {}
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        read = msgspec.json.decode(kept.read_bytes(), type=_Kept)
        known = read.files if read.known_by == this else {}
    files = {}
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in COUNTED:
                name, content = path.relative_to(root).as_posix(), path.read_bytes()
                held = known.get(name)
                files[name] = held if held and held.content == _digest(content) else _parsed(name, content)
    if files != known:
        _keep(kept, msgspec.json.encode(_Kept(this, files)))
    return files


def _keep(path: Path, content: bytes) -> None:
    with contextlib.suppress(OSError):  # a read-only installation makes the text each time
        path.parent.mkdir(exist_ok=True)
        written = path.with_name(f"{path.name}.{os.getpid()}")
        written.write_bytes(content)
        written.replace(path)


@cache
def _files_of_this_project() -> Files:
    return files_of(PROJECT)


def _name(path: str) -> str:
    """The name of the module in a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _data_of(path: str, module: File) -> Iterator[str]:
    """The possible paths of the data files of a module."""
    file = PurePosixPath(path)
    return (str(file.with_suffix(data) if data.startswith(".") else file.parent / data) for data in module.data)


def _parsed(path: str, content: bytes) -> File:
    suffix = PurePosixPath(path).suffix
    counted, worded = (_digest(COUNTED[suffix](content, words)) for words in (False, True))
    if suffix != ".py":
        return File(_digest(content), counted, worded)
    parts = list(ast.walk(ast.parse(content)))
    imports = {name for part in parts for name in _imported(part, path) if name.partition(".")[0] in FOLDERS}
    texts = {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    data = (text for text in texts if text.endswith(tuple(COUNTED)))
    return File(_digest(content), counted, worded, tuple(sorted(imports)), tuple(sorted(data)))


def _imported(statement: ast.AST, path: str) -> Iterable[str]:
    """The names that a statement imports; `from x import y` gives x.y, which may be a module."""
    if isinstance(statement, ast.Import):
        return [each.name for each in statement.names]
    if not isinstance(statement, ast.ImportFrom):
        return ()
    above = path.split("/")[: -statement.level] if statement.level else []
    package = ".".join([*above, *filter(None, [statement.module])])
    return [f"{package}.{each.name}" for each in statement.names]


def code_of(source: bytes, with_words: bool = False) -> bytes:
    """Convert a Python file to text that changes only with its code or, if included, the words that describe a rule."""
    return "".join(_written(ast.parse(source), with_words)).encode()


def rows_of(table: bytes, with_words: bool = False) -> bytes:
    """Convert a TOML file to text that changes only with its data or, if included, the words that describe a rule."""
    rows = tomllib.loads(table.decode())
    return repr(rows if with_words else _rows(rows)).encode()


def _whole(table: bytes, _: bool) -> bytes:
    return table


COUNTED: Mapping[str, Callable[[bytes, bool], bytes]] = {
    ".py": code_of,
    ".toml": rows_of,
    ".csv": _whole,
    ".sql": _whole,
}
"""The function, by suffix of a file, that extracts the parts that count, without or with the words that describe a
rule."""


def _rows(part: object) -> object:
    """A part of a TOML file without the words that describe a rule."""
    if isinstance(part, dict):
        return {name: _rows(value) for name, value in part.items() if name not in WORDS}
    return [_rows(value) for value in part] if isinstance(part, list) else part


def _written(part: object, with_words: bool) -> Iterator[str]:
    if isinstance(part, ast.AST):
        yield type(part).__name__
        for name in part._fields:
            value = getattr(part, name, None)
            # absent and empty fields do not count, because later versions of Python have more fields
            if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
                continue
            yield f"({name}:"
            yield from _written(value if with_words else _without_words(part, name, value), with_words)
            yield ")"
    elif isinstance(part, list):
        for each in part:
            if not (isinstance(each, ast.Expr) and _is_text(each.value)):  # a docstring
                yield from _written(each, with_words)
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
    """Whether it is text with several words or an f-string, and therefore not a column name."""
    return isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and " " in str(part.value))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
