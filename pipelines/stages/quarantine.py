"""Quarantine: whether the facts of a companyfacts document take the place of those that were read before.

Belongs here: what makes a document suspicious, and which losses keep it out. Does not: malformed documents
(edgar.documents), what the other stages do with a company in quarantine (facts).

EDGAR adds facts and hardly ever removes any. So a document that lacks many that were read before is not the company's
history, whatever it is: it was cut off, or made anew with an error. Its company keeps its values until a later document
has the facts again, or the operator accepts this one (`fundamentals accept CIK`).
"""

from datetime import date

import polars as pl

from pipelines.errors import PipelineError
from pipelines.normalize.elements import wanted_elements
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.storage.shared_home import changing
from warehouse.errors import WarehouseError

FACT = ["cik", "taxonomy", "tag", "unit", "start", "end", "accession"]
ACCEPTED = pl.Schema({"cik": pl.String(), "raw_document": pl.String()})
"""The documents that the operator has accepted, by their digests."""

LARGEST_LOSS = 0.05
"""A document that lacks more than this share of the facts that were read before is quarantined."""
LARGEST_GROWTH = 10
"""A document with more than so many times the facts of the one before is suspicious: a year adds a tenth to most."""


def losses(decoded: pl.DataFrame, before: pl.DataFrame) -> dict[str, str]:
    """Why documents are quarantined: they lack what was read before.

    Args:
        decoded: the facts of the documents.
        before: the facts of the same companies that were read before.

    Returns:
        the reason, by company.
    """
    wanted = pl.DataFrame(
        [(taxonomy, tag) for taxonomy, tags in wanted_elements().items() for tag in tags],
        ["taxonomy", "tag"],
        orient="row",
    )
    before = before.join(wanted, on=["taxonomy", "tag"], how="semi")
    gone = before.join(decoded, on=FACT, how="anti", nulls_equal=True)
    of = ["cik", "taxonomy"]
    counted = before.group_by(of).len("held").join(gone.group_by(of).len("gone"), on=of).sort(of)
    reasons = {}
    for cik, rows in counted.group_by("cik", maintain_order=True):
        held = before.filter(pl.col("cik") == cik[0]).height
        lost, whole = int(rows["gone"].sum()), rows.filter(pl.col("gone") == pl.col("held"))["taxonomy"].to_list()
        if whole or lost > LARGEST_LOSS * held:
            named = f", all of {' and '.join(whole)}" if whole else ""
            reasons[cik[0]] = (
                f"lacks {lost:,} of {held:,} facts that were read before{named}; if they are gone for good, "
                f"`fundamentals accept {cik[0]}`"
            )
    return reasons


def suspicions(decoded: pl.DataFrame, before: pl.DataFrame, today: date) -> dict[str, int]:
    """The number of companies whose document is suspicious without losing anything, by kind, where there are any."""
    of = pl.col("cik")
    grown = decoded.group_by(of).len("now").join(before.group_by(of).len("before"), on="cik")
    counts = {
        "filed_in_the_future": decoded.filter(pl.col("filed") > today.isoformat())["cik"].n_unique(),
        "ends_after_filing": decoded.filter(pl.col("end") > pl.col("filed"))["cik"].n_unique(),
        "much_larger_than_before": grown.filter(pl.col("now") > LARGEST_GROWTH * pl.col("before")).height,
    }
    return {kind: number for kind, number in counts.items() if number}


def unlisted(facts: pl.LazyFrame, acceptances: pl.LazyFrame) -> dict[str, int]:
    """The number of companies with facts of a filing that nobody's submissions list, as suspicions counts.

    Filings before the first and after the last one that the submissions of the company list do not count: its document
    of submissions ends with some thousand, and both documents need not be of the same hour.

    Args:
        facts: `cik`, `accession`, `filed` (text).
        acceptances: columns of ACCEPTANCES, of all companies, because filings of co-registrants are filed by another.
    """
    at, filed = pl.col("accepted_at").dt.date(), pl.col("filed").str.to_date()
    listed = acceptances.group_by("cik").agg(first=at.min(), last=at.max())
    filings = facts.select("cik", "accession", "filed").unique().join(listed, on="cik")
    unknown = filings.filter(filed > pl.col("first"), filed < pl.col("last")).join(acceptances, "accession", how="anti")
    number = int(unknown.select(pl.col("cik").n_unique()).collect().item())
    return {"filing_is_not_listed": number} if number else {}


def accepted(lake: Lake) -> frozenset[str]:
    """The digests of the documents that the operator has accepted."""
    return frozenset(lake.read("accepted")["raw_document"]) if lake.holds("accepted") else frozenset()


def accept(cik: str) -> str:
    """Accept the document of a company in quarantine; the next synchronization takes it over.

    Args:
        cik: the company, with or without leading zeros.

    Returns:
        what to print.

    Raises:
        PipelineError: the company is not in quarantine, a synchronization is running, or the store cannot be used.
    """
    home, cik = Home.from_environment(), cik.zfill(10)
    lake = Lake(home.tables)
    try:
        with changing(home, f"accept {cik}", _is_small_table):
            if not lake.holds("quarantine"):
                raise PipelineError(f"home {home.root}: nothing was synchronized yet; run `fundamentals sync`")
            found = lake.read("quarantine").filter(pl.col("cik") == cik).select(ACCEPTED.names())
            if found.is_empty():
                raise PipelineError(f"CIK {cik} is not in quarantine; `fundamentals sync` names the companies that are")
            before = lake.read("accepted") if lake.holds("accepted") else pl.DataFrame(schema=ACCEPTED)
            lake.write("accepted", pl.concat([before, found]).unique(maintain_order=True))
    except WarehouseError as error:
        raise PipelineError(str(error)) from error
    return f"accepted the document of CIK {cik}; the next synchronization takes it over, unless it is malformed"


def _is_small_table(path: str) -> bool:
    """Whether a path is that of a small table, or of their digests."""
    return path.startswith("tables/") and path.count("/") == 1
