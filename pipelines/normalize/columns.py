"""Columns: a table as arrays of equal length.

Belongs here: selecting rows of all columns at once. Does not: any particular table.
"""

from dataclasses import dataclass, fields
from typing import Any, Self

from pipelines.normalize.arrays import Flags, Ints


@dataclass(frozen=True, slots=True)
class Columns:
    """A table whose fields are arrays of equal length."""

    def at(self, rows: Ints | Flags) -> Self:
        """Some rows, selected by number or by a flag for each row."""
        return type(self)(*(column[rows] for column in self._columns()))

    def _columns(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]
