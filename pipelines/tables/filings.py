"""Table `filings`: the filings with facts and the unread reports, with their addresses at the SEC.

Belongs here: its rows, and the newest day of filing. Does not: which filings are read (stages).
"""

from datetime import date

import duckdb
import polars as pl

from pipelines.stages.batch.predecessors import held_predecessors
from pipelines.stages.batch.schemas import UNREAD_REPORTS
from pipelines.storage.lake import Lake
from warehouse.build.newest_filing import NEWEST_FILING

ADDRESS = "https://www.sec.gov/Archives/edgar/data/{}/{}/{}-index.htm"


def with_addresses(lake: Lake) -> pl.DataFrame:
    """Table `filings`: the filings with facts and the unread reports, each with its `url` at the SEC."""
    accession = pl.col("accession")
    url = pl.format(
        ADDRESS,
        pl.coalesce("filer", "cik").str.strip_chars_start("0"),
        accession.str.replace_all("-", "", literal=True),
        accession,
    )
    # the URL of a predecessor's filing has the predecessor's CIK
    predecessors = [cik for chain in held_predecessors(lake).values() for cik in chain]
    filers = lake.of_companies("facts", predecessors).select("accession", filer="cik").unique("accession")
    return (
        _with_unread(lake)
        .join(filers, on="accession", how="left", maintain_order="left")
        .with_columns(url=url, share_basis="factor")
    )


def newest_day(lake: Lake) -> date:
    """The newest day of filing of a filing with facts, as published (warehouse.build.newest_filing)."""
    rows = _with_unread(lake).select("cik", "filed", "accepted_at")
    with duckdb.connect() as connection:
        connection.register("filings", rows.with_columns(pl.col("accepted_at").dt.replace_time_zone(None)))
        newest: date | None = connection.execute(NEWEST_FILING).fetchall()[0][0]
    return newest or date.min


def _with_unread(lake: Lake) -> pl.DataFrame:
    """The filings with facts and the unread reports, one row a filing.

    Co-registrants file under one accession number, which is listed under the first of them.
    """
    unread = lake.read(UNREAD_REPORTS).drop("report_date").with_columns(in_companyfacts=pl.lit(value=False))
    filings = pl.concat([lake.read("filings"), unread], how="diagonal")
    return filings.sort("accession", "cik").unique("accession", keep="first", maintain_order=True)
