"""Columns: arrays of one length that belong together, one element a row.

Belongs here: taking rows of all columns at once, and putting tables together. Does not: any table.
"""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from pipelines.normalize.arrays import Flags, Ints


@dataclass(frozen=True, slots=True)
class Columns:
    """A table whose fields are arrays of one length."""

    def at(self, rows: Ints | Flags) -> Self:
        """Some rows, by their numbers or by whether each is taken."""
        return type(self)(*(column[rows] for column in self._columns()))

    def followed_by(self, *others: Self) -> Self:
        """The rows of this table and then those of others."""
        columns = (table._columns() for table in (self, *others))
        return type(self)(*(np.concatenate(each) for each in zip(*columns, strict=True)))

    def _columns(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]
