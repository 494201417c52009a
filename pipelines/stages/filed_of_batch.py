"""What filings themselves state, for the rules: rows of tables `filed_facts` and `statement_lines` of some companies.

Belongs here: which of these rows the rules see. Does not: the digests by which a stage knows that they are new (filed),
making the rows (statements), what they mean (normalize.faces). It imports no reader of documents, so that a change of
one makes no table again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import polars as pl

from pipelines.normalize.classes.series import BY_CLASS
from pipelines.normalize.elements import wanted_elements
from pipelines.normalize.faces.facts import FACT_COLUMNS, LINE_COLUMNS, Filed
from pipelines.normalize.faces.sources import COVERS
from pipelines.normalize.periods.predecessors import under_successors
from pipelines.stages.filed import FACTS, LINES, PACKAGES
from pipelines.stages.schemas import COVER_SYMBOLS, FED, FEED_FILINGS, FILED_FACTS, STATEMENT_LINES, XBRL_FILINGS
from pipelines.storage.lake import EACH, Lake

FILING = ["cik", "accession"]


def read(
    lake: Lake, filers: Sequence[str], endings: Sequence[str], facts: pl.DataFrame, earlier: Mapping[str, Sequence[str]]
) -> Filed | None:
    """What the filings of some companies state; None: companyfacts alone count.

    A filing whose package is read has no rows of a data set. Of a predecessor the filings count that have facts in
    `facts`, under the CIK of its successor.

    Args:
        filers: the companies and their possible predecessors.
        endings: the endings of the names of the tables that are read.
        facts: the facts of companyfacts that count for the companies.
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
    of_feed = fed(lake, filers).select(columns).join(listed, on=FILING, how="anti", maintain_order="left")
    filings = pl.concat([listed.select(columns), of_feed])
    covers = lake.of_companies(COVER_SYMBOLS, filers) if lake.holds(COVER_SYMBOLS) else COVERS.to_frame()
    return Filed(
        of(FACTS, FACT_COLUMNS, whole).join(used, on=["taxonomy", "element"], how="semi", maintain_order="left"),
        of(LINES, LINE_COLUMNS),
        counting(filings),
        of(FACTS, FACT_COLUMNS, by_class),
        covers,
    )


def fed(lake: Lake, filers: Sequence[str]) -> pl.DataFrame:
    """The reports of some companies that the feed named: columns of FEED_FILINGS."""
    return lake.read(FED).filter(pl.col("cik").is_in([*filers])) if lake.holds(FED) else FEED_FILINGS.to_frame()


def _rows(
    lake: Lake,
    name: str,
    filers: Sequence[str],
    endings: Iterable[str],
    columns: Sequence[str],
    where: pl.Expr = EACH,
) -> pl.DataFrame:
    """Rows of some companies in tables of facts or lines, names as text."""
    schema = {FACTS: FILED_FACTS, LINES: STATEMENT_LINES}[name]
    none = schema.to_frame().select(columns)

    def parts() -> Iterator[pl.DataFrame]:
        for each in (none, *(lake.of_companies(name + ending, filers, where) for ending in endings)):
            yield each.select(pl.col(columns)).with_columns(pl.col(pl.Categorical).cast(pl.String))

    return pl.concat(parts())
