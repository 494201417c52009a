"""Gates: conditions of the source as a whole that hold back publishing, one function for each, with the failing rows.

Belongs here: conditions that must hold before a build is published. Does not: conditions of the rows of a company,
which hold back this company only (tables.row_gates), checks of values that only warn (pipelines.quality), showing gates
in Dagster (checks).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from pipelines.edgar.decode import listing_checks
from pipelines.normalize.history.log import SOURCE
from pipelines.run.synchronization import Synchronization
from pipelines.stages.batch.schemas import VERSIONS
from pipelines.tables.stored import assembled

LARGEST_QUARANTINE = 0.1
"""If more than this share of the companies with documents is in quarantine, the source or the service is at fault."""

LARGEST_LOSS = 0.01
"""If more than this share of the companies loses all values, the source or the service is at fault."""

FEW = 3
"""Up to this number, quarantined or withdrawn companies never hold back publishing, even if the source is small."""


LOGGED = pl.Schema({"cik": pl.String, "cause": pl.String, "is_current": pl.Boolean})
"""The columns of the log that a gate reads."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a gate, which holds if no row contradicts it.

    Attributes:
        description: the problem of the rows; if the gate holds, a note.
        rows: the rows that contradict the gate.
    """

    description: str = ""
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def holds(self) -> bool:
        """Whether no row contradicts the gate."""
        return self.rows.is_empty()


def failing(rows: pl.DataFrame, description: str) -> Finding:
    """The result for rows that contradict a gate, with the description; without rows, the gate holds."""
    return Finding("" if rows.is_empty() else description, rows)


def ticker_list_is_complete(synchronization: Synchronization) -> Finding:
    """The SEC's list of companies has not lost many companies at once, and no symbol belongs to two companies.

    The setting FUNDAMENTALS_CONFIRM_SHRINK=yes confirms the list; so does an unchanged list on the next day.
    """
    lake = synchronization.lake
    listed = lake.read("listings").filter("is_listed")["cik"].n_unique()
    held = listing_checks.holding_back(lake.read(listing_checks.TABLE), listed)
    if synchronization.confirms_shrink:
        return Finding(listing_checks.in_words(held))
    advice = "if the list is right, set FUNDAMENTALS_CONFIRM_SHRINK=yes, or synchronize again tomorrow"
    return failing(held, f"{listing_checks.in_words(held)}; {advice}")


def no_company_is_lost(synchronization: Synchronization) -> Finding:
    """Each company of the build before is in this build, too; if it leaves the SEC's list, it stays, as not listed.

    Three exceptions: a company whose only symbol now belongs to another company; a company whose filings are no longer
    read, with FUNDAMENTALS_FILINGS=off; and a few companies whose values were all withdrawn, according to the version
    log. Many such companies at once are an error of the service.
    """
    lake = synchronization.lake
    covered = lake.read(assembled("companies")).select("cik").unique()
    if not lake.holds("covered"):
        return Finding("the first build of this home")
    before = lake.read("covered")
    lost = before.join(covered, on="cik", how="anti").join(lake.read("listings"), on="cik", how="semi")
    logged = lake.of_companies(VERSIONS, lost["cik"]) if lake.holds(VERSIONS) else LOGGED.to_frame()
    lost = lost.join(logged.filter("is_current", pl.col("cause") == SOURCE), on="cik", how="anti")
    withdrawn = lost.join(logged, on="cik", how="semi")
    if withdrawn.height == lost.height and lost.height <= max(FEW, LARGEST_LOSS * before.height):
        return Finding(f"{lost.height} companies had all values withdrawn")
    named = ", ".join(lost["cik"].head(FEW))
    return failing(lost, f"{lost.height} companies that the build before covered have no value any more: {named}")


def few_are_quarantined(synchronization: Synchronization) -> Finding:
    """At most three companies, or a tenth of the companies with documents, are in quarantine."""
    lake = synchronization.lake
    quarantined = lake.read("quarantine")
    with_documents = lake.read("documents").drop_nulls("facts_digest").height
    broken = quarantined["cik"].n_unique()
    too_many = broken > FEW and broken > LARGEST_QUARANTINE * with_documents
    everything = broken > 0 and broken >= with_documents
    description = f"{broken} of {with_documents} companies with documents are quarantined"
    return failing(quarantined if too_many or everything else quarantined.clear(), description)


Gate = Callable[[Synchronization], Finding]

OF_TABLES: tuple[Gate, ...] = (no_company_is_lost, few_are_quarantined)
GATES: dict[str, tuple[Gate, ...]] = {"documents": (ticker_list_is_complete,), "tables": OF_TABLES}
"""The gates after each step."""


def checked(gate: Gate, synchronization: Synchronization) -> Finding:
    """Run a gate; if it does not hold, record that it holds back the synchronization."""
    found = gate(synchronization)
    if not found.holds:
        synchronization.held_back_by.append(f"{gate.__name__}: {found.description}")
    return found
