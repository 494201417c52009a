"""Restores segments of the version log from the tables `versions` and `lineage` of a published build.

Belongs here: converting the rows of a build to the columns of the log. Does not: detecting damaged segments
(version_log).

A build has every version of the log with its time of recording, which is the time in the name of its segment. Versions
that were superseded before they were recorded have no time; they are in the segment of the next version. Three columns
are not in a build, and are restored with the same meaning:

- `value` is published rounded. It is computed again from the legs, which are published as filed, where this gives the
  published value.
- `basis`: values and legs are published on today's share basis, so the newest filing is their basis.
- `rules`: today's digest. If the rules changed since the build was made, the next synchronization records changed
  values with the cause `correction` instead of `method`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl

from pipelines.errors import PipelineError
from pipelines.health.published import rows_of
from pipelines.normalize.faces.sources import COMPANYFACTS
from pipelines.normalize.history.late import in_force
from pipelines.normalize.history.log import FACT, LOG, ONE_QUARTER, VERSION_OF, with_later_columns
from pipelines.normalize.history.versions import numbered
from pipelines.normalize.items.item import SUM
from pipelines.normalize.items.line_items import recomputed, served
from pipelines.stages.batch.batches import rules_digest
from pipelines.storage import version_log
from warehouse.contract import quarters
from warehouse.contract.schema import PERIOD_KINDS

VERSION = [*VERSION_OF, "version"]
COMPARED = [*VERSION, "accession", "cause", "recorded_at"]
_, ANNUAL = PERIOD_KINDS
LABEL, LAST_QUARTER = r"^(?:FY)?(\d+)Q(\d)$", r"^FY\d+Q4$"


class NotInBuild(PipelineError):
    """The published build does not have the rows of a segment."""


def restored(folder: Path, build: Path, segments: Sequence[str], damaged: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The rows of damaged segments, by the name of the segment, with the columns of LOG.

    Args:
        folder: the folder of the log.
        build: the file of an undamaged build.
        segments: all committed segments in their order.
        damaged: the names of the damaged segments among them.

    Raises:
        NotInBuild: the build has no rows of a segment, or the restored log would differ from the versions in the build.
        LogError: an undamaged segment cannot be read.
    """
    versions = logged(build)
    rows = {name: versions.filter(pl.col("segment_at") == _time_of(name)) for name in damaged}
    for name, held in rows.items():
        if held.is_empty():
            raise NotInBuild(f"the published build has no version of {name}")
    ciks = pl.concat(held["cik"] for held in rows.values()).unique()
    before = {name: version_log.read(folder, [name], ciks) for name in segments if name not in rows}
    every = before | {name: held.select(LOG.names()) for name, held in rows.items()}
    of_log = numbered(in_force(pl.concat(every[name] for name in segments)))
    of_build = versions.filter(pl.col("cik").is_in(ciks.implode()))
    same = of_log.select(COMPARED).sort(VERSION).equals(of_build.select(COMPARED).sort(VERSION))
    if not same:
        raise NotInBuild("the published build has other versions than the rest of the log")
    return {name: held.select(LOG.names()) for name, held in rows.items()}


def logged(build: Path) -> pl.DataFrame:
    """All versions of a build: the columns of LOG, `version`, and `segment_at`, the time in the name of the segment."""
    published = _rows(build, "versions").with_columns(pl.col("recorded_at", "known_at").dt.replace_time_zone("UTC"))
    year_ends = published.filter(pl.col("period_kind") == ANNUAL).select(*VERSION, is_year_end=pl.lit(value=True))
    legs = _rows(build, "lineage").filter(pl.col("period_kind") != ANNUAL).sort(*VERSION, "leg")
    is_sum = pl.col("operation").is_in(["add", "subtract"])
    added = {"source": COMPANYFACTS, "member": None, "label": None}  # missing in builds of earlier releases
    legs = legs.with_columns(
        *(pl.lit(value, pl.String).alias(name) for name, value in added.items() if name not in legs.columns),
        role=pl.when(is_sum).then(pl.lit(SUM)).otherwise("operation"),
    )
    facts = legs.group_by(VERSION, maintain_order=True).agg(legs=pl.struct(field.name for field in FACT.fields))
    exact = pl.when(served("recomputed") == pl.col("value")).then("recomputed").otherwise("value")
    label = pl.col("period").str.extract_groups(LABEL)
    return (
        published.filter(pl.col("period_kind") != ANNUAL)
        .sort(VERSION)
        .join(year_ends, on=VERSION, how="left", maintain_order="left")
        .join(facts, on=VERSION, how="left", maintain_order="left")
        .join(recomputed(legs, VERSION), on=VERSION, how="left", maintain_order="left")
        .join(_basis(build), on="cik", how="left", maintain_order="left")
        .with_columns(
            segment_at=pl.col("recorded_at").backward_fill().over(VERSION_OF),
            value=exact,
            fiscal_year=label.struct.field("1").cast(pl.Int32),
            fiscal_quarter=label.struct.field("2").cast(pl.Int32),
            is_year_end=pl.col("is_year_end").fill_null(pl.col("period").str.contains(LAST_QUARTER)),
            legs=pl.col("legs").fill_null(pl.lit([], pl.List(FACT))),
            rules=pl.lit(rules_digest()),
            starts_anew=pl.lit(value=False),
        )
        .select(*(pl.col(name).cast(dtype) for name, dtype in LOG.items()), "version", "segment_at")
    )


def _rows(build: Path, name: str) -> pl.DataFrame:
    """The rows of a table of a build, and of the similar table of quarters, if the build has it."""
    of_years = with_later_columns(rows_of(build, name))
    try:
        of_quarters = rows_of(build, quarters.of_quarters(name)).with_columns(n=pl.lit(ONE_QUARTER, pl.Int32))
    except duckdb.CatalogException:  # a build of an earlier release
        return of_years
    return pl.concat([of_years, with_later_columns(of_quarters).select(of_years.columns)])


def _basis(build: Path) -> pl.DataFrame:
    """`cik`, `basis`: the newest filing of each company on today's share basis."""
    filings = rows_of(build, "filings").filter(pl.col("share_basis") == 1)
    newest = filings.sort("filed", "accession").group_by("cik", maintain_order=True).last()
    return newest.select("cik", basis="accession")


def _time_of(name: str) -> datetime:
    """The time of the synchronization that wrote a segment, from its name."""
    try:
        return datetime.strptime(version_log.sync_id_of(name), "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise NotInBuild(f"{name} is not named by a time") from error
