"""Publication: versions in the form of the log and the warehouse, with filing, period, cause, flags and lineage.

Belongs here: combining the results of the steps for each version. Does not: computing these results (replay, causes,
provenance).
"""

import polars as pl

from pipelines.normalize.facts.reports import AMENDMENT
from pipelines.normalize.history.causes import classified
from pipelines.normalize.history.versions import REPLAYED
from pipelines.normalize.items import flags, provenance
from pipelines.normalize.periods.fiscal_years import YEAR_DAYS
from pipelines.normalize.shares.splits import SAME_BASIS


def published(values: pl.DataFrame, lineage: pl.DataFrame, filings: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """The versions of all values: columns of versions.REPLAYED, `q` and `seq`, in the order of filing.

    Args:
        values: of replay.item_versions.
        lineage: of provenance.lineage.
        filings: with `factor`, the share basis.
        grid: of periods.calendar.fiscal_grid.
    """
    # the day before the first fiscal year is not a period: only its balance sheet is known, as a comparative
    periods = grid.filter(pl.col("fiscal_quarter") > 0).select(
        "cik", "q", "period_end", "fiscal_year", "fiscal_quarter", "is_year_end"
    )
    of_filing = filings.select(
        "cik", "seq", "accession", "form", "filed", is_amended=pl.col("form").str.ends_with(AMENDMENT)
    )
    # the newest filing may be an amendment that repeats a report on a former basis
    on_newest = filings.filter((pl.col("factor") - 1).abs() < SAME_BASIS)
    newest = on_newest.sort("cik", "seq").group_by("cik", maintain_order=True).agg(basis=pl.col("accession").last())
    described = (
        values.with_columns(provenance.summaries(lineage, values.height))
        .join(periods, on=["cik", "q"])
        .join(of_filing, on=["cik", "seq"])
        .join(newest, on="cik")
    )
    compared = classified(described, lineage.join(described.select("version"), on="version", how="semi"))
    first_shown = pl.col("filed") - pl.col("period_end") > pl.duration(days=YEAR_DAYS[0])
    flagged = compared.with_columns(first_seen_as_comparative=(pl.col("cause") == "initial") & first_shown)
    legs = lineage.group_by("version", maintain_order=True).agg(legs=pl.struct(provenance.LINEAGE))
    return (
        flagged.with_columns(flags=flags.published(flagged))
        .sort("cik", "period_end", "item", "seq")
        .join(legs, on="version", how="left", maintain_order="left")
        .with_columns(pl.col("legs").fill_null(pl.lit([])))
        .select(*REPLAYED.names(), "q", "seq")
    )
