"""Reads the rows of reviewed tables in TOML, with errors that name the file and the row.

Belongs here: code that the tables of sources and of industries share. Does not: their rows (elements.sources,
industry.table), tables in CSV.

Table `lists` names lists. If such a name is an element of another list, it is replaced by the elements of its list.
"""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

Row = TypeVar("Row", bound=msgspec.Struct)


class TableError(ValueError):
    """A reviewed table is wrong; the message names the file, the row and the error."""


def tables(path: Path, text: str | None = None) -> dict[str, Any]:
    """The tables of a file by name, with the names of lists replaced.

    Args:
        path: the file.
        text: its content; None: read the file.

    Raises:
        TableError: the content is not TOML, or a value is outside of a table.
    """
    content = path.read_text(encoding="utf-8") if text is None else text
    try:
        found = msgspec.toml.decode(content, type=dict[str, dict[str, Any] | list[dict[str, Any]]])
    except msgspec.DecodeError as error:
        raise TableError(f"{path.name}: {error}") from error
    lists = found.pop("lists", {})
    return {name: _spelled(table, lists) for name, table in found.items()}


def row(of: type[Row], fields: dict[str, Any], at: str) -> Row:
    """Convert the fields of a row to its type, and check them.

    Args:
        of: the type of the row.
        fields: as in the file.
        at: the file and the row, for the message.

    Raises:
        TableError: a field is unknown, missing, of another type, or refused by the type of the row.
    """
    try:
        return msgspec.convert(fields, of)
    except msgspec.ValidationError as error:
        raise TableError(f"{at}: {error}") from error


def _spelled(value: Any, lists: Any) -> Any:
    """A value of the file, with the names of lists replaced by what they contain."""
    if isinstance(value, dict):
        return {name: _spelled(each, lists) for name, each in value.items()}
    if isinstance(value, list):
        return [each for one in value for each in lists.get(str(one), [_spelled(one, lists)])]
    return value
