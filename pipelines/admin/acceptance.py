"""The command `fundamentals accept`: the operator accepts the document of a company in quarantine.

Belongs here: checking that a document may be accepted, and recording it. Does not: the effect of acceptance
(stages.batch.quarantine).
"""

import polars as pl

from pipelines.errors import PipelineError
from pipelines.shared.shared_home import changing
from pipelines.stages.batch.quarantine import ACCEPTED
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake


def accept(cik: str) -> str:
    """Accept the document of a company in quarantine; the next synchronization uses it.

    Args:
        cik: the company, with or without leading zeros.

    Returns:
        the message to print.

    Raises:
        PipelineError: the company is not in quarantine, or a synchronization is running.
        WarehouseError: the store cannot be used.
    """
    home, cik = Home.from_environment(), cik.zfill(10)
    lake = Lake(home.tables)
    with changing(home, f"accept {cik}", _is_small_table):
        if not lake.holds("quarantine"):
            raise PipelineError(f"home {home.root}: nothing was synchronized yet; run `fundamentals sync`")
        rows = lake.read("quarantine").filter(pl.col("cik") == cik)
        if rows.is_empty():
            raise PipelineError(f"CIK {cik} is not in quarantine; `fundamentals sync` names the companies that are")
        by_service = pl.col("place").str.starts_with("gate ") | pl.col("place").str.starts_with("stage ")
        found = rows.filter(~by_service).select(ACCEPTED.names())
        if found.is_empty():
            place, reason = rows.select("place", "reason").row(0)
            raise PipelineError(
                f"CIK {cik} is held back by an error of the service, which accepting cannot mend: {place}: {reason}"
            )
        before = lake.read("accepted") if lake.holds("accepted") else pl.DataFrame(schema=ACCEPTED)
        lake.write("accepted", pl.concat([before, found]).unique(maintain_order=True))
    return f"accepted the document of CIK {cik}; the next synchronization takes it over, unless it is malformed"


def _is_small_table(path: str) -> bool:
    """Whether a path is a small table, or the file of the tables' digests."""
    return path.startswith("tables/") and path.count("/") == 1
