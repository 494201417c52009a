"""The rows of filings for the rules: tables `filed_facts` and `statement_lines`, for a batch of companies.

Belongs here: choosing the rows that the rules see. Does not: the digests that show which rows are new (filed_digests),
making the rows (statements), their meaning (normalize.faces). This module imports no reader of documents, so that a
change of a reader does not make a table again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from pipelines.normalize.classes.series import BY_CLASS
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.faces.facts import FACT_COLUMNS, LINE_COLUMNS, Filed
from pipelines.normalize.faces.sources import COVERS
from pipelines.normalize.periods.predecessors import under_successors
from pipelines.stages.batch.schemas import COVER_SYMBOLS, FED, FEED_FILINGS, FILED_FACTS, STATEMENT_LINES, XBRL_FILINGS
from pipelines.stages.filed.filed_digests import FACTS, LINES, PACKAGES
from pipelines.storage.lake import EACH, Lake

FILING = ["cik", "accession"]


def read(
    lake: Lake, filers: Sequence[str], endings: Sequence[str], facts: pl.DataFrame, earlier: Mapping[str, Sequence[str]]
) -> Filed | None:
    """The rows of the given companies' filings; None if only companyfacts is used.

    A filing with rows of its package gets no rows of a data set. Filings of a predecessor are included if they have
    facts in `facts`, under the CIK of the successor.

    Args:
        filers: the companies and their possible predecessors.
        endings: the endings of the names of the tables that are read.
        facts: the facts of companyfacts that are used for the companies.
        earlier: the possible predecessors.
    """
    if not endings:
        return None
    packages, quarters = ([each for each in endings if (each == PACKAGES) is wanted] for wanted in (True, False))
    is_read = pl.concat([_rows(lake, name, filers, packages, FILING) for name in (FACTS, LINES)]).unique()
    tags = [(taxonomy, tag) for taxonomy, tags in wanted_elements().items() for tag in tags]
    used = pl.DataFrame(tags, ["taxonomy", "element"], orient="row")
    whole = (
        ~pl.col("own") & pl.col("member").is_null() & pl.col("element").cast(pl.String).is_in(used["element"].implode())
    )
    is_by_class = pl.col("element").cast(pl.String).is_in([*BY_CLASS])
    by_class = ~pl.col("own") & pl.col("member").is_not_null() & is_by_class
    is_of_successor = ~pl.col("cik").is_in([cik for chain in earlier.values() for cik in chain])
    counted = facts.select(FILING).unique()

    def counting(rows: pl.DataFrame) -> pl.DataFrame:
        of_predecessors = under_successors(rows.filter(~is_of_successor), earlier).join(counted, on=FILING, how="semi")
        return pl.concat([rows.filter(is_of_successor), of_predecessors])

    def of(name: str, columns: Sequence[str], where: pl.Expr = EACH) -> pl.DataFrame:
        own, others = (_rows(lake, name, filers, some, columns, where) for some in (packages, quarters))
        return counting(pl.concat([own, others.join(is_read, on=FILING, how="anti", maintain_order="left")]))

    listed = lake.of_companies("xbrl_filings", filers) if lake.holds("xbrl_filings") else XBRL_FILINGS.to_frame()
    columns = [*FILING, "form", "filed"]
    of_feed = reports_of_feed(lake, filers).select(columns).join(listed, on=FILING, how="anti", maintain_order="left")
    filings = pl.concat([listed.select(columns), of_feed])
    covers = lake.of_companies(COVER_SYMBOLS, filers) if lake.holds(COVER_SYMBOLS) else COVERS.to_frame()
    return Filed(
        of(FACTS, FACT_COLUMNS, whole).join(used, on=["taxonomy", "element"], how="semi", maintain_order="left"),
        of(LINES, LINE_COLUMNS),
        counting(filings),
        of(FACTS, FACT_COLUMNS, by_class),
        covers,
    )


def reports_of_feed(lake: Lake, filers: Sequence[str]) -> pl.DataFrame:
    """The reports of the given companies that the feed named, with the columns of FEED_FILINGS."""
    return lake.read(FED).filter(pl.col("cik").is_in([*filers])) if lake.holds(FED) else FEED_FILINGS.to_frame()


def _rows(
    lake: Lake,
    name: str,
    filers: Sequence[str],
    endings: Iterable[str],
    columns: Sequence[str],
    where: pl.Expr = EACH,
) -> pl.DataFrame:
    """The rows of the given companies in tables of facts or lines; categorical columns become text."""
    schema = {FACTS: FILED_FACTS, LINES: STATEMENT_LINES}[name]
    none = schema.to_frame().select(columns)

    def parts() -> Iterator[pl.DataFrame]:
        for each in (none, *(lake.of_companies(name + ending, filers, where) for ending in endings)):
            yield each.select(pl.col(columns)).with_columns(pl.col(pl.Categorical).cast(pl.String))

    return pl.concat(parts())
