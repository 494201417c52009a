"""Makes the rows of decoded filings and data sets: filed facts, and the lines of statements with their values.

Belongs here: converting the results of the readers to the columns of both tables. Does not: reading documents
(edgar.filing.package, edgar.decode.data_sets), choosing documents and storing rows (statements).
"""

from collections.abc import Sequence

import polars as pl

from pipelines.edgar.decode.columns import Columns
from pipelines.edgar.decode.data_sets import DataSet
from pipelines.edgar.filing.face import StatementLines
from pipelines.edgar.filing.instance import StatedFacts, StatedTexts
from pipelines.edgar.filing.markup import OWN
from pipelines.edgar.filing.package import Package
from pipelines.normalize.faces.sources import COVERS
from pipelines.stages.batch.schemas import COVER_SYMBOLS, FILED_FACTS, NAME, STATEMENT_LINES
from pipelines.stages.filed.filed_digests import FACTS, LINES, Tables

FILING, DATA_SET = "filing", "data set"
"""The values of column `source`."""

TOGETHER = 1000
"""The number of a quarter's filings whose rows are made at a time: a quarter of 540 MB takes 800 MB less memory than
all at once."""

CONCEPT = ("accession", "taxonomy", "element")
AMOUNT = ("unit", "start", "end", "quarters", "value")

OF_READERS: dict[str, pl.DataType] = {
    **dict.fromkeys(("value", "decimals", "weight"), pl.Float64()),
    **dict.fromkeys(("line", "depth"), pl.Int32()),
    **dict.fromkeys(("abstract", "negated"), pl.Boolean()),
    "members": pl.List(pl.String()),
}


def of_packages(packages: Sequence[Package]) -> Tables:
    """The rows of packages.

    A line has the facts of its element and of each of its members, in all periods that the filing states.
    """
    stated, shown = StatedFacts(), StatementLines()
    for package in packages:
        stated.extend(package.facts)
        shown.extend(package.lines)
    facts, lines = _frame(stated).rename({"dimensions": "member"}), _frame(shown)
    tables = _tables(
        facts.with_columns(pl.col("start", "end").str.to_date("%Y-%m-%d")).with_columns(_own_and_member()),
        lines.explode("members", empty_as_null=True).rename({"members": "member"}).with_columns(_own_and_member()),
        FILING,
        (*CONCEPT, "member"),
    )
    texts = StatedTexts()
    for package in packages:
        texts.extend(package.texts)
    of_texts = pl.DataFrame(texts.as_dict(), schema=dict.fromkeys(texts.as_dict(), pl.String()))
    symbols, titles = (
        of_texts.filter(pl.col("element") == element).select("cik", "accession", "value", member="dimensions")
        for element in ("TradingSymbol", "Security12bTitle")
    )
    key = ["cik", "accession", "member"]
    covers = symbols.rename({"value": "symbol"}).join(
        titles.rename({"value": "title"}).unique(key, keep="first"), on=key, how="left", maintain_order="left"
    )
    return tables | {COVER_SYMBOLS: covers.select(COVERS.names()).unique(maintain_order=True)}


def of_data_set(data: DataSet) -> Tables:
    """The rows of the data set of a quarter.

    A data set does not state which members are on a statement, so a line has the facts of its element with all members.
    The day is rounded to the end of a month, and the length of the period to quarters; the first day is missing.
    """
    filings = data.filings.select(pl.col("accession", "cik").cast(pl.String)).sort("cik", "accession")["accession"]
    some = [filings[start : start + TOGETHER] for start in range(0, max(1, len(filings)), TOGETHER)]
    parts = [_of_filings(accessions.cast(NAME), data) for accessions in some]
    return {name: pl.concat([part[name] for part in parts]) for name in (FACTS, LINES)}


def _of_filings(accessions: pl.Series, data: DataSet) -> Tables:
    """The rows of the given filings of a quarter, by company."""
    facts, lines = (rows.filter(pl.col("accession").is_in(accessions.implode())) for rows in (data.facts, data.lines))
    of_others = pl.concat_str(
        pl.lit("LegalEntity="), "coreg", pl.lit(";"), pl.col("segments").cast(pl.String).fill_null("")
    )
    facts = facts.with_columns(
        member=pl.when(pl.col("coreg").is_null()).then("segments").otherwise(of_others.cast(NAME))
    )
    tables = _tables(
        facts.rename({"ddate": "end", "qtrs": "quarters"}),
        lines.rename({"negating": "negated"}).with_columns(abstract=pl.lit(value=False)),
        DATA_SET,
        CONCEPT,
    )
    return {name: rows.sort("cik", maintain_order=True) for name, rows in tables.items()}


def _frame(columns: Columns) -> pl.DataFrame:
    """A frame of the rows from a reader; all columns are text, except the columns in OF_READERS."""
    lists = columns.as_dict()
    return pl.DataFrame(lists, schema={name: OF_READERS.get(name, pl.String()) for name in lists})


def _own_and_member() -> list[pl.Expr]:
    """Columns `own` and `member`: readers mark own elements with a taxonomy, and the company as a whole with an empty
    text."""
    is_own = pl.col("taxonomy") == OWN
    named = pl.when(~is_own).then("taxonomy")
    return [named.alias("taxonomy"), is_own.alias("own"), pl.col("member").replace("", None)]


def _tables(facts: pl.DataFrame, lines: pl.DataFrame, source: str, place: Sequence[str]) -> Tables:
    """Both tables; a line gets the facts with equal values in the columns `place`."""
    facts, lines = _named(facts, FILED_FACTS, source), _named(lines, STATEMENT_LINES, source)
    labels = lines.drop_nulls("label").unique(CONCEPT, keep="first", maintain_order=True).select(*CONCEPT, "label")
    amounts = facts.select(*{*place, "member"}, *AMOUNT)
    lines = lines.drop("member" if "member" not in place else [], *AMOUNT)
    facts = facts.drop("label").join(labels, on=CONCEPT, how="left", nulls_equal=True, maintain_order="left")
    lines = lines.join(amounts, on=place, how="left", nulls_equal=True, maintain_order="left")
    return {FACTS: facts.select(FILED_FACTS.names()), LINES: lines.select(STATEMENT_LINES.names())}


def _named(rows: pl.DataFrame, schema: pl.Schema, source: str) -> pl.DataFrame:
    """The columns of a table; columns that a source lacks are null."""
    absent = [pl.lit(None).alias(name) for name in schema if name not in rows.columns]
    return rows.with_columns(absent).with_columns(source=pl.lit(source)).select(schema.names()).cast(schema)
