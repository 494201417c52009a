"""The footers of the Parquet copies: the meaning and the unit of each column, where Arrow keeps the metadata of fields.

Belongs here: reading them, and making the file that holds them. Does not: the texts (schema), writing copies (copies).

Parquet has no place for a column's meaning. Arrow stores its schema, with the metadata of fields, in the footer of a
file; pyarrow, pandas and DuckDB's `parquet_kv_metadata` read it. Making such a schema needs pyarrow, which the service
does not need otherwise: so `python -m pipelines.tables.dictionary` makes the file arrow_schemas.json, which is part of
the program.
"""

import json
from base64 import b64encode
from functools import cache
from pathlib import Path

from warehouse import views

FILE = Path(__file__).with_name("arrow_schemas.json")
KEY = "ARROW:schema"
"""The key of Arrow's schema in the footer of a Parquet file (Apache Arrow, C++ and Python implementation)."""


def of_table(name: str) -> dict[str, str]:
    """The footer of a table's file: key and value; empty for a table that is not published."""
    return {KEY: _held()[name]} if name in _held() else {}


@cache
def _held() -> dict[str, str]:
    held: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))
    return held


def made() -> str:
    """The content of the file, from the schema as it is now; needs pyarrow."""
    import pyarrow as pa

    types = {
        "VARCHAR": pa.large_string(),
        "DATE": pa.date32(),
        "TIMESTAMP": pa.timestamp("us"),
        "INTEGER": pa.int32(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "VARCHAR[]": pa.large_list(pa.large_string()),
    }
    schemas = {}
    for table in views.PUBLISHED:
        fields = [
            pa.field(column.name, types[column.type], metadata={"description": column.description, "unit": column.unit})
            for column in table.columns
        ]
        described = pa.schema(fields, metadata={"description": table.description})
        schemas[table.name] = b64encode(described.serialize().to_pybytes()).decode()
    return json.dumps(schemas, indent=1) + "\n"
