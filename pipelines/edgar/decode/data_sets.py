"""Reads the SEC's Financial Statement Data Sets: one zip file a quarter, with the statements of all filings in it.

Belongs here: which columns are read, their types and forms, and the frames. Does not: inflating and parsing
(zipped_tables), the addresses of the zip files (data_set_list), what the values mean (normalize).

The data sets have information that companyfacts leaves out: facts by class of stock or segment, elements that the filer
defines itself, and the lines of the statements in their order. They have only numbers on statements, and less detail of
each: the day is rounded to the end of a month and the duration to whole quarters; the start and the number of decimals
are missing. A fact is therefore matched to companyfacts by accession, element and value.

Source of the format: "Financial Statement Data Sets", the file readme.htm of each zip file.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl

from pipelines.edgar.decode.documents import LARGEST
from pipelines.edgar.decode.zipped_tables import ZippedTables, opened
from pipelines.edgar.errors import DocumentError

NAME, TEXT, FLAG = pl.Categorical(), pl.String(), pl.Boolean()
"""A NAME is text that many rows share, and is stored once."""

FILINGS = pl.Schema(
    {
        "accession": NAME,
        "cik": NAME,
        "form": NAME,
        "filed": pl.Date(),
        "accepted_at": pl.Datetime("us", "UTC"),
        "period": pl.Date(),
        "fy": pl.Int32(),
        "fp": NAME,
        "prevrpt": FLAG,
        "instance": TEXT,
        "co_registrants": pl.List(TEXT),
    }
)
"""One row a filing. `cik` has ten digits, also of the co-registrants. `period` is the day of the balance sheet, rounded
to the end of a month. `prevrpt`: an amendment followed."""

FACTS = pl.Schema(
    {
        "accession": NAME,
        "cik": NAME,
        "element": NAME,
        "own": FLAG,
        "taxonomy": NAME,
        "unit": NAME,
        "ddate": pl.Date(),
        "qtrs": pl.Int16(),
        "segments": NAME,
        "coreg": NAME,
        "value": pl.Float64(),
    }
)
"""One row a fact. `own`: the filer defines the element itself; its `taxonomy` is null. `ddate` is rounded to the end of
a month, `qtrs` to whole quarters, 0 for an instant. `segments` has sorted pairs such as `ClassOfStock=CommonClassA;`,
and is null without dimensions. `coreg` is the co-registrant, null for the consolidated company."""

LINES = pl.Schema(
    {
        "accession": NAME,
        "cik": NAME,
        "statement": NAME,
        "report": pl.Int32(),
        "line": pl.Int32(),
        "element": NAME,
        "own": FLAG,
        "taxonomy": NAME,
        "label": TEXT,
        "negating": FLAG,
        "rfile": NAME,
    }
)
"""One row a line of a statement, in the order of filings, reports and lines. `report` is the number of the rendered
page, `rfile` its kind (H: html, X: xml), `negating`: the page shows the value with the opposite sign."""

STATEMENTS = ("BS", "IS", "CF")
"""Balance sheet, income statement, cash flow statement."""

TAXONOMIES = {"ifrs": "ifrs-full"}
"""Taxonomies that have another name in companyfacts, with this name."""

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2199, 12, 31)
"""Days outside of this range are errors of filers. Polars accepts a year 0, Python does not."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """The data set of one quarter. `ignored` counts the rows that were left out, by table and column: `num.txt:
    value`."""

    filings: pl.DataFrame
    facts: pl.DataFrame
    lines: pl.DataFrame
    ignored: Counter[str]


def read_data_set(source: Path | bytes, name: str, ciks: Collection[str] | None = None) -> DataSet:
    """Read the filings of a quarter, their facts, and the lines of STATEMENTS.

    Rows with a missing or invalid required value are left out and counted: a number beyond LARGEST, a date that does
    not exist. Parenthetical lines, repeated rows, and rows of filings that `sub.txt` does not name are left out, too.

    Args:
        source: the path of the zip file, or its bytes.
        name: the name of the quarter in errors, such as `2010q1`.
        ciks: ten digits each: the companies whose filings are read; None: all.

    Raises:
        DocumentError: not a zip file, a missing table or column, a malformed row, or text that is not UTF-8.
    """
    ignored: Counter[str] = Counter()
    with opened(source, f"data set {name}") as tables:
        filings = _filings(tables, ciks, ignored)
        companies = filings.select(pl.col("accession", "cik").cast(TEXT))
        return DataSet(filings, _facts(tables, companies, ignored), _lines(tables, companies, ignored), ignored)


def companies_of(source: Path | bytes, name: str) -> list[str]:
    """The companies of a quarter, ten digits each, in no order.

    Raises:
        DocumentError: not a zip file, or `sub.txt` is missing or malformed.
    """
    digits = pl.col("cik").pipe(_shaped, r"^\d{1,10}$").str.zfill(10)
    with opened(source, f"data set {name}") as tables:
        parts = [rows.select(digits).drop_nulls() for rows in tables.rows("sub.txt", ["cik"])]
    return pl.concat([pl.DataFrame(schema={"cik": TEXT}), *parts])["cik"].unique().to_list()


def _filings(tables: ZippedTables, ciks: Collection[str] | None, ignored: Counter[str]) -> pl.DataFrame:
    columns = ["adsh", "cik", "form", "filed", "accepted", "period", "fy", "fp", "prevrpt", "instance", "aciks"]
    wanted = pl.lit(True) if ciks is None else pl.col("cik").is_in(list(ciks))
    parts = [
        _valid(
            rows.select(
                accession=pl.col("adsh").pipe(_shaped, r"^\d{10}-\d\d-\d{6}$"),
                cik=pl.col("cik").pipe(_shaped, r"^\d{1,10}$").str.zfill(10),
                form="form",
                filed=_day("filed"),
                accepted_at=_accepted_at(),
                period=_day("period"),
                fy=pl.col("fy").cast(pl.Int32, strict=False),
                fp="fp",
                prevrpt=pl.col("prevrpt") == "1",
                instance="instance",
                co_registrants=pl.col("aciks").str.extract_all(r"\d+").list.eval(pl.element().str.zfill(10)),
            ),
            "sub.txt",
            ("accession", "cik", "form", "filed"),
            ignored,
        )
        .filter(wanted)
        .cast(FILINGS)
        for rows in tables.rows("sub.txt", columns)
    ]
    filings = pl.concat([FILINGS.to_frame(), *parts]).unique(maintain_order=True)
    if (repeated := filings.filter(pl.col("accession").is_duplicated())).height:
        raise DocumentError(f"has several rows of filing {repeated['accession'][0]}", f"{tables.place}, sub.txt")
    return filings


def _facts(tables: ZippedTables, companies: pl.DataFrame, ignored: Counter[str]) -> pl.DataFrame:
    """The facts of the given companies' filings, without repetitions."""
    columns = ["adsh", "tag", "version", "ddate", "qtrs", "uom", "coreg", "value"]
    per_share = _per_share(tables)
    is_price = pl.col("per_share") & pl.col("uom").str.contains(r"^[A-Z]{3}$")
    parts = [
        _valid(
            rows.join(companies, left_on="adsh", right_on="accession", maintain_order="left")
            .join(per_share, on=["tag", "version"], how="left", maintain_order="left")
            .select(
                accession="adsh",
                cik="cik",
                element="tag",
                **_origin(),
                unit=pl.when(is_price).then(pl.col("uom") + "/shares").otherwise("uom"),
                ddate=_day("ddate"),
                qtrs=pl.col("qtrs").cast(pl.Int16, strict=False),
                segments="segments",
                coreg="coreg",
                value=_number("value"),
            ),
            "num.txt",
            ("element", "own", "unit", "ddate", "qtrs", "value"),
            ignored,
        ).cast(FACTS)
        for rows in tables.rows("num.txt", columns, optional=["segments"])
    ]
    return _each_once(pl.concat([FACTS.to_frame(), *parts]))


def _per_share(tables: ZippedTables) -> pl.DataFrame:
    """The elements whose values are per share. Their unit is the currency in `num.txt`, and the currency per share in
    companyfacts."""
    parts = [
        rows.filter(pl.col("datatype") == "perShare").select("tag", "version", per_share=pl.lit(True))
        for rows in tables.rows("tag.txt", ["tag", "version", "datatype"])
    ]
    empty = pl.DataFrame(schema={"tag": TEXT, "version": TEXT, "per_share": FLAG})
    return pl.concat([empty, *parts]).unique()


def _lines(tables: ZippedTables, companies: pl.DataFrame, ignored: Counter[str]) -> pl.DataFrame:
    """The lines of the statements in the given companies' filings."""
    columns = ["adsh", "report", "line", "stmt", "inpth", "rfile", "tag", "version", "plabel", "negating"]
    parts = [
        _valid(
            rows.filter(pl.col("stmt").is_in(STATEMENTS), pl.col("inpth") == "0")
            .join(companies, left_on="adsh", right_on="accession", maintain_order="left")
            .select(
                accession="adsh",
                cik="cik",
                statement="stmt",
                report=pl.col("report").cast(pl.Int32, strict=False),
                line=pl.col("line").cast(pl.Int32, strict=False),
                element="tag",
                **_origin(),
                label="plabel",
                negating=pl.col("negating") == "1",
                rfile="rfile",
            ),
            "pre.txt",
            ("report", "line", "element", "own"),
            ignored,
        ).cast(LINES)
        for rows in tables.rows("pre.txt", columns)
    ]
    return _each_once(pl.concat([LINES.to_frame(), *parts])).sort("accession", "report", "line")


def _each_once(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows without repetitions. Only rows with equal hashes are compared: comparing all takes 700 MB more."""
    alike = rows.hash_rows().is_duplicated()
    return pl.concat([rows.filter(~alike), rows.filter(alike).unique(maintain_order=True)]) if alike.any() else rows


def _valid(rows: pl.DataFrame, table: str, required: Collection[str], ignored: Counter[str]) -> pl.DataFrame:
    """The rows that have all required values. The others are counted by the first of these columns that is missing."""
    for column in required:
        if missing := rows[column].null_count():
            ignored[f"{table}: {column}"] += missing
            rows = rows.drop_nulls(column)
    return rows


def _origin() -> dict[str, pl.Expr]:
    """`own` and `taxonomy` from `version`, which is `us-gaap/2009`, or the accession of the filing that defines the
    element."""
    taxonomy = pl.col("version").str.extract(r"^([^/]+)/", 1).replace(TAXONOMIES)
    return {"own": pl.when(pl.col("version").is_not_null()).then(taxonomy.is_null()), "taxonomy": taxonomy}


def _shaped(text: pl.Expr, pattern: str) -> pl.Expr:
    return pl.when(text.str.contains(pattern)).then(text)


def _day(column: str) -> pl.Expr:
    day = pl.col(column).pipe(_shaped, r"^\d{8}$").str.to_date("%Y%m%d", strict=False)
    return pl.when(day.is_between(FIRST_DAY, LAST_DAY)).then(day)


def _accepted_at() -> pl.Expr:
    """The time of acceptance in UTC. The table states it in New York time, with or without a fraction of a second."""
    local = pl.col("accepted").str.slice(0, 19).str.to_datetime("%Y-%m-%d %H:%M:%S", time_unit="us", strict=False)
    local = local.dt.replace_time_zone("America/New_York", ambiguous="earliest", non_existent="null")
    return local.dt.convert_time_zone("UTC")


def _number(column: str) -> pl.Expr:
    number = pl.col(column).cast(pl.Float64, strict=False)
    return pl.when(number.abs() <= LARGEST).then(number)
