"""Reviewed tables in TOML: reading their rows, with errors that name the file and the row.

Belongs here: what the tables of sources and of industries have in common. Does not: their rows (elements.sources,
industry.table), tables in CSV.

A name of the table `lists` stands, wherever it comes in a list, for the names of that list.
"""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

Row = TypeVar("Row", bound=msgspec.Struct)


class TableError(ValueError):
    """A reviewed table is wrong; the message names the file, the row, and what is wrong with it."""


def tables(path: Path, text: str | None = None) -> dict[str, Any]:
    """The tables of a file by name, with the names of lists replaced.

    Args:
        path: the file.
        text: its content; None: it is read.

    Raises:
        TableError: it is not TOML, or something stands outside of a table.
    """
    content = path.read_text(encoding="utf-8") if text is None else text
    try:
        found = msgspec.toml.decode(content, type=dict[str, dict[str, Any] | list[dict[str, Any]]])
    except msgspec.DecodeError as error:
        raise TableError(f"{path.name}: {error}") from error
    lists = found.pop("lists", {})
    return {name: _spelled(table, lists) for name, table in found.items()}


def row(of: type[Row], fields: dict[str, Any], at: str) -> Row:
    """A row with checked fields.

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
