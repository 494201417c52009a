"""Table `quarantine`: the companies that are held back, with the place where the problem was found and the reason.

Belongs here: writing and reading the table. Does not: deciding to hold a company back (quarantine, isolation,
tables.row_gates).
"""

from collections.abc import Collection, Iterable, Sequence

import polars as pl

from pipelines.stages.batch.isolation import Fault
from pipelines.stages.batch.schemas import QUARANTINE
from pipelines.storage.lake import Lake

VALUES, NOT_COMPARED = "values", "stage versions"
"""The places of two problems: values that would be withdrawn, and an error in the comparison with the version log."""
AFTER_FACTS = ("gate ", "stage ", VALUES)
"""The beginnings of places of problems that are found after the documents are read."""
Quarantined = tuple[str, str, str, str]
"""A row of QUARANTINE."""
DocumentNotes = tuple[list[Quarantined], dict[str, int]]
"""The notes on a batch: the documents that cannot be used, and the counts of suspicious ones
(quarantine.suspicions)."""


def write(lake: Lake, rows: Iterable[Quarantined]) -> pl.DataFrame:
    """Replace table `quarantine`, and return it: one row for each company and document, with the first reason.

    Companyfacts and submissions may have the same bytes, such as an error page; then they get one row with both places.
    """
    document = ["cik", "raw_document"]
    first_reason, places = pl.col("reason").first(), pl.col("place").unique(maintain_order=True).str.join("; ")
    given = pl.DataFrame([*rows], schema=QUARANTINE, orient="row")
    table = given.group_by(document, maintain_order=True).agg(first_reason, places)
    table = table.select(QUARANTINE.names()).sort(document)
    lake.write("quarantine", table)
    return table


def withdrawing(lake: Lake) -> list[Quarantined]:
    """The rows of companies whose values would be withdrawn; they stay until the document is accepted or correct."""
    return (
        list(lake.read("quarantine").filter(pl.col("place") == VALUES).iter_rows()) if lake.holds("quarantine") else []
    )


def remove_withdrawing(lake: Lake, ciks: Collection[str]) -> None:
    """Remove the rows about withdrawn values for companies that are compared again."""
    is_again = (pl.col("place") == VALUES) & pl.col("cik").is_in([*ciks])
    rows = lake.read("quarantine")
    if rows.filter(is_again).height:
        lake.write("quarantine", rows.filter(~is_again))


def add(lake: Lake, faults: Sequence[Fault]) -> None:
    """Add held back companies to table `quarantine`, with the companyfacts document from which their rows were made."""
    if faults:
        digests = dict(lake.read("documents").select("cik", "facts_digest").drop_nulls().iter_rows())
        rows = [(fault.cik, fault.reason, fault.place, digests.get(fault.cik, "")) for fault in faults]
        write(lake, [*lake.read("quarantine").iter_rows(), *rows])


def found_after_facts(lake: Lake) -> pl.DataFrame:
    """The rows of table `quarantine` for problems that were found after the documents were read."""
    begins = [pl.col("place").str.starts_with(place) for place in AFTER_FACTS]
    return lake.read("quarantine").filter(pl.any_horizontal(begins))


def not_compared(lake: Lake) -> frozenset[str]:
    """The companies whose values could not be compared with the log, so that no rows can combine both."""
    places = lake.read("quarantine").select("cik", pl.col("place").str.split("; ")).iter_rows()
    return frozenset(cik for cik, of_company in places if NOT_COMPARED in of_company)
