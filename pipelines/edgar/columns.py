"""Rows as lists of column values, from which one frame over hundreds of documents is made.

Belongs here: what all such columns have in common. Does not: which columns there are (the readers of documents).
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
        """Column name to values: what a frame is made of."""
        return {column.name: getattr(self, column.name) for column in fields(self)}
