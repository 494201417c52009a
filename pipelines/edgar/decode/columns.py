"""Rows stored as lists of column values, from which one frame over hundreds of documents is made.

Belongs here: the base class. Does not: the columns of a kind of document (the modules that read documents).
"""

from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(slots=True)
class Columns:
    """Base class: a dataclass whose fields are lists of equal length."""

    def __len__(self) -> int:
        return len(next(iter(self.as_dict().values())))

    def append(self, *row: Any) -> None:
        """Append one row, its values in the order of the columns."""
        for column, value in zip(self.as_dict().values(), row, strict=True):
            column.append(value)

    def extend(self, other: Self) -> None:
        """Append the rows of another document."""
        for column, more in zip(self.as_dict().values(), other.as_dict().values(), strict=True):
            column += more

    def as_dict(self) -> dict[str, list[Any]]:
        """Column name to values, for the constructor of a frame."""
        return {column.name: getattr(self, column.name) for column in fields(self)}
