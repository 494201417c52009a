"""The assets that Dagster shows besides the steps: the SEC's documents, each published table, and the HTTP interface.

Belongs here: descriptions of assets, made from the schema of the warehouse. Does not: materializing them (assets).
"""

from collections.abc import Collection, Iterable

import dagster as dg

from warehouse.contract import schema, views
from warehouse.contract.table import Table

SEC, WAREHOUSE, INTERFACE = "sec", "warehouse", "interface"
"""Groups of assets; the steps of a synchronization have their own groups."""

OWNERS = {
    SEC: ["team:sec-filings"],
    "extract": ["team:data-engineering"],
    "normalize": ["team:accounting"],
    "publish": ["team:data-engineering"],
    WAREHOUSE: ["team:data-engineering"],
    INTERFACE: ["team:service"],
}
"""The owners of the assets of a group."""
BUILD = dg.AssetKey("warehouse")
MADE_FROM = {
    **dict.fromkeys(("versions", "lineage", "changes", "quarter_versions", "quarter_lineage"), ("versions",)),
    **dict.fromkeys(("valuations", "projections"), ("versions", "values")),
    **dict.fromkeys(("companies", "quarantine"), ("documents", "values")),
    "filings": ("documents", "filings"),
    "securities": ("documents", "statements"),
    "newest_statements": ("statements",),
    **dict.fromkeys(("line_items", "rules"), ()),
    "syncs": ("documents",),
}
"""The steps from which the rows of a published table come; the rows of all other tables come from `values`."""
VALUES = ("values",)
Document = tuple[str, str, str, str]
"""Name, format, address, description."""
UPSTREAM: tuple[Document, ...] = (
    (
        "tickers",
        "json",
        "www.sec.gov/files/company_tickers_exchange.json",
        "The SEC's list of companies, symbols, exchanges.",
    ),
    (
        "companyfacts",
        "json",
        "data.sec.gov/api/xbrl/companyfacts",
        "All XBRL facts of a company, from all of its filings.",
    ),
    ("submissions", "json", "data.sec.gov/submissions", "The filings of a company, with the time of their acceptance."),
)
"""The SEC's documents from which values are made."""
OF_FILINGS: tuple[Document, ...] = (
    (
        "data_sets",
        "zip",
        "www.sec.gov/data-research/sec-markets-data/financial-statement-data-sets",
        "The statements of all filings of a quarter, with members and own elements.",
    ),
    (
        "packages",
        "zip",
        "www.sec.gov/Archives/edgar/data",
        "The XBRL documents of a filing: all facts, order and sums.",
    ),
)
"""The SEC's documents that the step `filings` reads."""


def upstream(documents: Iterable[Document]) -> list[dg.AssetSpec]:
    """External assets for the SEC's documents that a synchronization reads."""
    return [
        dg.AssetSpec(
            ["sec", name],
            description=description,
            group_name=SEC,
            kinds={kind},
            owners=OWNERS[SEC],
            metadata={"address": dg.MetadataValue.url(f"https://{address}")},
        )
        for name, kind, address, description in documents
    ]


def key_of(table: Table) -> dg.AssetKey:
    """The asset of a published table or view."""
    return dg.AssetKey(["warehouse", table.name])


def sources_of(of: Table, steps: Collection[str]) -> list[dg.AssetKey]:
    """The assets from which the rows of a table come: steps that are run; for a view, other tables."""
    if isinstance(of, views.View):
        return [key_of(schema.BY_NAME[name]) for name in of.reads]
    return [dg.AssetKey(name) for name in MADE_FROM.get(of.name, VALUES) if name in steps]


def table(of: Table, code_version: str, steps: Collection[str]) -> dg.AssetSpec:
    """The asset of a published table or view, with its columns; it is materialized only with a new build.

    Args:
        of: the table.
        code_version: the version of the code that makes tables.
        steps: the steps that are run.
    """
    return dg.AssetSpec(
        key_of(of),
        deps=sources_of(of, steps),
        description=of.description,
        group_name=WAREHOUSE,
        kinds={"duckdb", "view" if of in views.VIEWS else "table"},
        owners=OWNERS[WAREHOUSE],
        tags={"key": ".".join(of.key)},
        metadata={"dagster/column_schema": columns(of), "dagster/table_name": f"warehouse.main.{of.name}"},
        code_version=code_version,
        skippable=True,
    )


def columns(of: Table) -> dg.TableSchema:
    """The columns of a table with type, meaning, unit, and whether a value is required."""
    key = ", ".join(of.key)
    return dg.TableSchema(
        [
            dg.TableColumn(
                column.name,
                column.type,
                description=column.comment,
                constraints=dg.TableColumnConstraints(nullable=not column.required, unique=of.key == (column.name,)),
            )
            for column in of.columns
        ],
        constraints=dg.TableConstraints(other=[f"unique: {key}"]),
    )


def interface() -> dg.AssetSpec:
    """An external asset for the HTTP interface, which answers from the newest build."""
    return dg.AssetSpec(
        "http_interface",
        deps=[BUILD, *map(key_of, views.PUBLISHED)],
        description="Answers questions of client programs from the published build; `fundamentals serve` starts it.",
        group_name=INTERFACE,
        kinds={"starlette"},
        owners=OWNERS[INTERFACE],
    )
