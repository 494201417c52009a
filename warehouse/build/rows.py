"""The rows of a table in Parquet files, some of which may be outdated.

Belongs here: reading them with SQL. Does not: which files a table has (storage.lake), writing a build (publish).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warehouse.files import quoted


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table.

    files: Parquet files with the same columns; for each, the CIKs of the companies whose rows count, or None if all
        rows count.
    in_order: whether the files, read one after the other, have their rows in the order of the table.
    """

    files: Sequence[tuple[Path, Sequence[str] | None]]
    in_order: bool = False

    @property
    def size(self) -> int:
        """Total size in bytes of the files that exist."""
        return sum(path.stat().st_size for path, _ in self.files if path.exists())

    @property
    def are_sorted(self) -> bool:
        """Whether `sql` yields the rows of several files in the table's order; a single file is always sorted anew."""
        return len(self.files) > 1 and self.in_order and all(some is None for _, some in self.files)

    @property
    def sql(self) -> str:
        """A subquery in parentheses that yields all rows that count."""
        whole = [quoted(path) for path, some in self.files if some is None]
        parts = [f"FROM {_read(whole)}"] if whole else []
        for path, some in self.files:
            if some is not None:
                ciks = ", ".join(f"'{cik}'" for cik in some)
                parts.append(f"FROM {_read([quoted(path)])} WHERE cik IN ({ciks})")
        return f"({' UNION ALL '.join(parts)})"


def _read(files: Sequence[str]) -> str:
    return f"read_parquet([{', '.join(files)}], hive_partitioning = false)"
