"""A table of the warehouse as data, and its statements in SQL.

Belongs here: the classes of tables and columns, CREATE TABLE and COMMENT. Does not: the tables that there are (schema).
"""

from dataclasses import dataclass, field
from typing import Literal

SqlType = Literal["VARCHAR", "DATE", "TIMESTAMP", "INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "VARCHAR[]"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: name, SQL type, description, and the unit of its numbers (empty for text and dates)."""

    name: str
    type: SqlType
    description: str
    unit: str = ""
    required: bool = False

    @property
    def comment(self) -> str:
        """The COMMENT of the column: the description, with the unit in brackets."""
        return f"{self.description} [{self.unit}]" if self.unit else self.description

    @property
    def ddl(self) -> str:
        """The column's line in CREATE TABLE."""
        return f'"{self.name}" {self.type}{" NOT NULL" if self.required else ""}'


@dataclass(frozen=True, slots=True)
class Table:
    """One table; its key is unique, and its rows are stored sorted by `sort` (default: the key).

    In a build that was made from the previous one, the replaced rows of companies come last, sorted.
    """

    name: str
    description: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    sort: tuple[str, ...] = ()
    not_content: tuple[str, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def order(self) -> tuple[str, ...]:
        """The columns by which rows are sorted."""
        return self.sort or self.key

    @property
    def content_names(self) -> tuple[str, ...]:
        """The columns of the content hash: all except columns about this service's own runs."""
        return tuple(name for name in self.names if name not in self.not_content)


def filed_of(item: str) -> str:
    """The name of the column with the filing date of an item's current value."""
    return f"{item}_filed"


def create_table(table: Table, schema: str = "main") -> str:
    """The CREATE TABLE statement of a table, without constraints that cost load time (keys are checked instead)."""
    columns = ",\n  ".join(column.ddl for column in table.columns)
    return f'CREATE TABLE {schema}."{table.name}" (\n  {columns}\n)'


def comments(table: Table, schema: str = "main", kind: Literal["TABLE", "VIEW"] = "TABLE") -> list[str]:
    """COMMENT statements for the table, or view, and each of its columns."""

    def quoted(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    return [
        f'COMMENT ON {kind} {schema}."{table.name}" IS {quoted(table.description)}',
        *(f'COMMENT ON COLUMN {schema}."{table.name}"."{c.name}" IS {quoted(c.comment)}' for c in table.columns),
    ]
