"""Reads the data that the checks use: the assembled tables of a batch of companies, and their filed facts.

Belongs here: the types of columns, and choosing the facts. Does not: any comparison (identities, windows), choosing
companies (checks).
"""

import polars as pl

from pipelines.normalize.facts import reports
from pipelines.normalize.frames import with_ten_digits
from pipelines.quality.evidence import BALANCES, Evidence
from pipelines.storage.lake import LimitedLake
from pipelines.tables.stored import assembled

COMPARED = pl.col("unit").str.contains(r"^[A-Z]{3}$") & (pl.col("start").is_not_null() | pl.col("tag").is_in(BALANCES))
"""Facts that the checks read: amounts of money of a period, or of a total of the balance sheet."""


def evidence_of(part: LimitedLake) -> Evidence:
    """Read the tables of a batch of companies from the lake."""

    def table(name: str) -> pl.DataFrame:
        return part.read(assembled(name))

    def trailing(name: str) -> pl.DataFrame:
        of_company = table(name).filter(pl.col("period_kind") == "ttm", pl.col("class_member").is_null())
        return of_company.drop("period_kind", "class_member")

    financials = table("financials").filter("is_primary")
    versions = trailing("versions")
    filed = versions.select("cik", "period_end", "item", "version", version_filed="filed")
    profiles = part.read("profiles")
    typed = with_ten_digits(reports.typed(part.read("facts", COMPARED))[0])
    in_currency, _ = reports.in_currency(typed, profiles.select("cik", "currency"))
    return Evidence(
        periods=financials.filter(pl.col("period_kind") == "ttm"),
        year_ends=financials.filter(pl.col("period_kind") == "annual").select("cik", "period_end"),
        values=versions.filter("is_current").drop_nulls("value"),
        legs=trailing("lineage").join(filed, on=["cik", "period_end", "item", "version"]),
        gaps=trailing("gaps"),
        profiles=profiles.select("cik", "currency", "industry"),
        facts=_in_place(in_currency, table("repairs")),
    )


def _in_place(filed: pl.DataFrame, repairs: pl.DataFrame) -> pl.DataFrame:
    """The facts, without facts that belong to another period according to table `repairs`."""
    misplaced = repairs.filter(pl.col("kind") == "context").select(
        "cik", "accession", "start", "end", value="filed_value"
    )
    return filed.join(misplaced, on=misplaced.columns, how="anti", nulls_equal=True)
