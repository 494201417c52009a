"""Conditions that hold back publishing: one function for each, with the rows that fail.

Belongs here: what must hold before a build is published. Does not: how the tables are made (stages, tables), checks of
values that only warn (pipelines.quality), how Dagster shows them (checks).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from pipelines.edgar import listing_checks
from pipelines.normalize.history.replay import SAME_RATIO
from pipelines.normalize.items.line_items import recomputed
from pipelines.run.synchronization import Synchronization
from pipelines.tables import rule_table
from pipelines.tables.build_tables import OF_COMPANIES, assembled, repeated_keys
from warehouse import schema
from warehouse.line_items import ITEM_NAMES

LARGEST_QUARANTINE = 0.1
"""If more than this share of the companies with documents is in quarantine, the source or the service is at fault."""

LARGEST_LOSS = 0.01
"""If more than this share of the companies loses all values, the source or the service is at fault."""

FEW = 3
"""Up to so many quarantined or withdrawn companies never hold back publishing, however small the source is."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a gate found: it holds if there are no rows.

    Attributes:
        description: what the rows have in common; or, if it holds, what to know.
        rows: what contradicts the gate.
    """

    description: str = ""
    rows: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts the gate."""
        return self.rows.is_empty()


def failing(rows: pl.DataFrame, description: str) -> Finding:
    """Some rows that contradict a gate, with the description; without rows it holds."""
    return Finding("" if rows.is_empty() else description, rows)


def the_list_is_whole(synchronization: Synchronization) -> Finding:
    """The SEC's list has not lost many companies at once, and no symbol belongs to two companies.

    The setting FUNDAMENTALS_CONFIRM_SHRINK=yes confirms the list; so does a list that says the same on another day.
    """
    lake = synchronization.lake
    listed = lake.read("listings").filter("is_listed")["cik"].n_unique()
    held = listing_checks.holding_back(lake.read(listing_checks.TABLE), listed)
    if synchronization.confirms_shrink:
        return Finding(listing_checks.in_words(held))
    advice = "if the list is right, set FUNDAMENTALS_CONFIRM_SHRINK=yes, or synchronize again tomorrow"
    return failing(held, f"{listing_checks.in_words(held)}; {advice}")


def keys_are_unique(synchronization: Synchronization) -> Finding:
    """The key of each table is unique."""
    return failing(repeated_keys(synchronization.lake), "a key names more than one row")


def annual_equals_ttm_at_year_end(synchronization: Synchronization) -> Finding:
    """At a fiscal year end the trailing twelve months are the fiscal year."""
    rows = synchronization.lake.scan(assembled("financials"), synchronization.not_published).collect()
    items = list(ITEM_NAMES)
    kinds = [
        rows.filter(pl.col("period_kind") == kind).select("symbol", "period_end", *items)
        for kind in schema.PERIOD_KINDS
    ]
    both = kinds[1].join(kinds[0], on=["symbol", "period_end"], how="left", suffix="_ttm")
    differs = pl.any_horizontal(pl.col(item).ne_missing(pl.col(f"{item}_ttm")) for item in items)
    return failing(both.filter(differs), "an annual row differs from the TTM row that ends on its day")


def no_company_is_lost(synchronization: Synchronization) -> Finding:
    """Every company that was covered before is still covered; one that leaves the SEC's list stays, as not listed.

    Two exceptions: a company whose only symbol now belongs to another company, and a few companies whose values were
    all withdrawn, which the log shows. Many of the latter at once are an error of the service.
    """
    lake = synchronization.lake
    covered = lake.read(assembled("companies")).select("cik").unique()
    if not lake.holds("covered"):
        return Finding("the first build of this home")
    before = lake.read("covered")
    lost = before.join(covered, on="cik", how="anti").join(lake.read("listings"), on="cik", how="semi")
    logged = lake.of_companies("versions", lost["cik"]) if lake.holds("versions") else None
    withdrawn = lost.join(logged, on="cik", how="semi") if logged is not None else lost.clear()
    if withdrawn.height == lost.height and lost.height <= max(FEW, LARGEST_LOSS * before.height):
        return Finding(f"{lost.height} companies had all values withdrawn")
    named = ", ".join(lost["cik"].head(FEW))
    return failing(lost, f"{lost.height} companies that the build before covered have no value any more: {named}")


def few_are_quarantined(synchronization: Synchronization) -> Finding:
    """A broken document stops its company only; many broken documents hold back publishing."""
    lake = synchronization.lake
    quarantined = lake.read("quarantine")
    with_documents = lake.read("documents").drop_nulls("facts_digest").height
    broken = quarantined["cik"].n_unique()
    too_many = broken > FEW and broken > LARGEST_QUARANTINE * with_documents
    everything = broken > 0 and broken >= with_documents
    description = f"{broken} of {with_documents} companies with documents are quarantined"
    return failing(quarantined if too_many or everything else quarantined.clear(), description)


def rules_are_listed(synchronization: Synchronization) -> Finding:
    """Each rule that a table names is in table `rules`, which has its statement.

    The version log keeps the rules of old versions, so a rule that decides nothing any more stays in the registry.
    """
    lake, new = synchronization.lake, synchronization.not_published
    unlisted = rule_table.unlisted(
        {
            table.name: lake.scan(assembled(table.name), new if table.name in OF_COMPANIES else None)
            for table in schema.TABLES
            if schema.RULE in table.names and lake.holds(assembled(table.name))
        }
    )
    named = ", ".join(unlisted[schema.RULE].head(FEW))
    return failing(unlisted, f"tables name rules that are not in the registry: {named}")


def ratios_follow_their_inputs(synchronization: Synchronization) -> Finding:
    """Debt to free cash flow and return on capital are what today's inputs give, and missing where one is missing.

    Debt to free cash flow is computed from the row; return on capital from its legs, where the row has debt and cash.
    """
    lake = synchronization.lake
    row = ["cik", "period_kind", "period_end"]
    new = synchronization.not_published
    rows = lake.scan(assembled("financials"), new).collect()
    rows = rows.filter(pl.col("period_kind") == schema.PERIOD_KINDS[0], "is_primary")
    debt, flow, served = pl.col("total_debt"), pl.col("free_cash_flow"), pl.col("debt_to_fcf")
    expected = pl.when(flow > 0).then(debt / flow)
    is_apart = served.is_not_null() & ~_near(served, expected).fill_null(value=False)
    stale = rows.filter(is_apart).select(*row, item=pl.lit("debt_to_fcf"), served=served, expected=expected)
    current = lake.scan(assembled("versions"), new).filter(
        pl.col("item") == "roic", pl.col("period_kind") == schema.PERIOD_KINDS[0], "is_current"
    )
    legs = lake.scan(assembled("lineage"), new).join(current, on=[*row, "item", "version"], how="semi")
    returns = recomputed(legs.rename({"operation": "role"}).collect(), row)
    capital = rows.filter(pl.col("roic").is_not_null()).join(returns, on=row, how="left")
    has_inputs = debt.is_not_null() & pl.col("cash_and_equivalents").is_not_null()
    is_right = _near(pl.col("roic"), pl.col("recomputed")).fill_null(value=False) & has_inputs
    wrong = capital.filter(~is_right).select(*row, item=pl.lit("roic"), served="roic", expected="recomputed")
    return failing(pl.concat([stale, wrong]), "a ratio is not what its inputs give")


def _near(served: pl.Expr, expected: pl.Expr) -> pl.Expr:
    """Whether a ratio agrees with another in the digits that are served."""
    return (served - expected).abs() <= SAME_RATIO * expected.abs()


Gate = Callable[[Synchronization], Finding]

GATES: dict[str, tuple[Gate, ...]] = {
    "documents": (the_list_is_whole,),
    "tables": (
        keys_are_unique,
        annual_equals_ttm_at_year_end,
        no_company_is_lost,
        few_are_quarantined,
        rules_are_listed,
        ratios_follow_their_inputs,
    ),
}
"""The conditions after each step."""
