"""Asset checks: conditions that the tables must meet before they are published, and checks of the published values.

Belongs here: one function for each check that holds back publishing, with the rows that fail; and the checks of
pipelines.quality as shown in the UI, which only warn. Does not: how the tables are made, any comparison of values.
"""

from collections.abc import Iterator

import dagster as dg
import polars as pl

from pipelines import doubts, rule_table
from pipelines.asset_specs import BUILD
from pipelines.assets import assembly, documents, row_metadata
from pipelines.normalize.history.replay import SAME_RATIO
from pipelines.normalize.items.line_items import recomputed
from pipelines.quality import checks as quality
from pipelines.quality.evidence import FAILS, FLAGGED
from pipelines.resources import Synchronization
from pipelines.tables import OF_COMPANIES, assembled, changed_since, repeated_keys
from warehouse import schema

LARGEST_QUARANTINE = 0.1
"""If more than this share of the companies with documents is in quarantine, the source or the service is at fault."""

LARGEST_LOSS = 0.01
"""If more than this share of the companies loses all values, the source or the service is at fault."""

FEW = 3
"""Up to so many quarantined or withdrawn companies never hold back publishing, however small the source is."""


def failing(rows: pl.DataFrame, description: str) -> dg.AssetCheckResult:
    """A check that passes if there are no rows; otherwise it fails with the description and shows the rows."""
    if rows.is_empty():
        return dg.AssetCheckResult(passed=True)
    return dg.AssetCheckResult(passed=False, description=description, metadata=row_metadata(rows))


@dg.asset_check(asset=documents, blocking=True)
def the_list_is_whole(synchronization: Synchronization) -> dg.AssetCheckResult:
    """The SEC's list has not lost many companies at once, and no symbol belongs to two companies.

    The setting FUNDAMENTALS_CONFIRM_SHRINK=yes confirms the list; so does a list that says the same on another day.
    """
    lake = synchronization.lake
    listed = lake.read("listings").filter("is_listed")["cik"].n_unique()
    held = doubts.holding_back(lake.read(doubts.TABLE), listed)
    if synchronization.confirms_shrink:
        return dg.AssetCheckResult(passed=True, description=doubts.in_words(held) or None)
    advice = "if the list is right, set FUNDAMENTALS_CONFIRM_SHRINK=yes, or synchronize again tomorrow"
    return failing(held, f"{doubts.in_words(held)}; {advice}")


@dg.asset_check(asset=assembly, blocking=True)
def keys_are_unique(synchronization: Synchronization) -> dg.AssetCheckResult:
    """The key of each table is unique."""
    return failing(repeated_keys(synchronization.lake), "a key names more than one row")


def _new(synchronization: Synchronization) -> set[str] | None:
    """The companies whose rows are not in the published build; None: all. The rows of others were checked before it."""
    before = synchronization.before
    return changed_since(synchronization.lake, before.build) if before else None


@dg.asset_check(asset=assembly, blocking=True)
def annual_equals_ttm_at_year_end(synchronization: Synchronization) -> dg.AssetCheckResult:
    """At a fiscal year end the trailing twelve months are the fiscal year."""
    rows = synchronization.lake.scan(assembled("financials"), _new(synchronization)).collect()
    items = list(schema.ITEM_NAMES)
    kinds = [
        rows.filter(pl.col("period_kind") == kind).select("symbol", "period_end", *items)
        for kind in schema.PERIOD_KINDS
    ]
    both = kinds[1].join(kinds[0], on=["symbol", "period_end"], how="left", suffix="_ttm")
    differs = pl.any_horizontal(pl.col(item).ne_missing(pl.col(f"{item}_ttm")) for item in items)
    return failing(both.filter(differs), "an annual row differs from the TTM row that ends on its day")


@dg.asset_check(asset=assembly, blocking=True)
def no_company_is_lost(synchronization: Synchronization) -> dg.AssetCheckResult:
    """Every company that was covered before is still covered; one that leaves the SEC's list stays, as not listed.

    Two exceptions: a company whose only symbol now belongs to another company, and a few companies whose values were
    all withdrawn, which the log shows. Many of the latter at once are an error of the service.
    """
    lake = synchronization.lake
    covered = lake.read(assembled("companies")).select("cik").unique()
    if not lake.holds("covered"):
        return dg.AssetCheckResult(passed=True, description="the first build of this home")
    before = lake.read("covered")
    lost = before.join(covered, on="cik", how="anti").join(lake.read("listings"), on="cik", how="semi")
    logged = lake.of_companies("versions", lost["cik"]) if lake.holds("versions") else None
    withdrawn = lost.join(logged, on="cik", how="semi") if logged is not None else lost.clear()
    if withdrawn.height == lost.height and lost.height <= max(FEW, LARGEST_LOSS * before.height):
        return dg.AssetCheckResult(passed=True, description=f"{lost.height} companies had all values withdrawn")
    named = ", ".join(lost["cik"].head(FEW))
    return failing(lost, f"{lost.height} companies that the build before covered have no value any more: {named}")


@dg.asset_check(asset=assembly, blocking=True)
def few_are_quarantined(synchronization: Synchronization) -> dg.AssetCheckResult:
    """A broken document stops its company only; many broken documents hold back publishing."""
    lake = synchronization.lake
    quarantined = lake.read("quarantine")
    with_documents = lake.read("documents").drop_nulls("facts_digest").height
    broken = quarantined["cik"].n_unique()
    too_many = broken > FEW and broken > LARGEST_QUARANTINE * with_documents
    everything = broken > 0 and broken >= with_documents
    description = f"{broken} of {with_documents} companies with documents are quarantined"
    return failing(quarantined if too_many or everything else quarantined.clear(), description)


@dg.asset_check(asset=assembly, blocking=True)
def rules_are_listed(synchronization: Synchronization) -> dg.AssetCheckResult:
    """Each rule that a table names is in table `rules`, which has its statement.

    The version log keeps the rules of old versions, so a rule that decides nothing any more stays in the registry.
    """
    lake, new = synchronization.lake, _new(synchronization)
    unlisted = rule_table.unlisted(
        {
            table.name: lake.scan(assembled(table.name), new if table.name in OF_COMPANIES else None)
            for table in schema.TABLES
            if schema.RULE in table.names and lake.holds(assembled(table.name))
        }
    )
    named = ", ".join(unlisted[schema.RULE].head(FEW))
    return failing(unlisted, f"tables name rules that are not in the registry: {named}")


@dg.asset_check(asset=assembly, blocking=True)
def ratios_follow_their_inputs(synchronization: Synchronization) -> dg.AssetCheckResult:
    """Debt to free cash flow and return on capital are what today's inputs give, and missing where one is missing.

    Debt to free cash flow is computed from the row; return on capital from its legs, where the row has debt and cash.
    """
    lake = synchronization.lake
    row = ["cik", "period_kind", "period_end"]
    new = _new(synchronization)
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


@dg.multi_asset_check(
    specs=[
        dg.AssetCheckSpec(check.name, asset=BUILD, description=f"{check.meaning} Source: {check.source}.")
        for check in quality.CHECKS
    ]
)
def quality_of_values(synchronization: Synchronization) -> Iterator[dg.AssetCheckResult]:
    """The checks of pipelines.quality; one with too many failures warns and does not hold back publishing."""
    rows = quality.measured(synchronization.lake, synchronization.workers)
    failing_rows = quality.in_check_order(rows.filter(pl.col("outcome") == FAILS))
    for tally in quality.tallied(rows).iter_rows(named=True):
        name, fails = tally["check"], failing_rows.filter(pl.col("check") == tally["check"])
        counts = {column: tally[column] for column in ("compared", FLAGGED, "companies", "failing", "threshold")}
        yield dg.AssetCheckResult(
            check_name=name,
            asset_key=BUILD,
            passed=tally["passed"],
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{tally[FAILS]} of {tally['compared']} fail, of {tally['companies']} companies",
            metadata={**counts, **row_metadata(fails.drop("check", "outcome"))},
        )


BLOCKING = (
    the_list_is_whole,
    keys_are_unique,
    annual_equals_ttm_at_year_end,
    no_company_is_lost,
    few_are_quarantined,
    rules_are_listed,
    ratios_follow_their_inputs,
)
CHECKS = (*BLOCKING, quality_of_values)
