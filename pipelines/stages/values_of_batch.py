"""The standardized values of a batch of companies: applies the rules to their stored facts and filings.

Belongs here: the input of the rules, and converting their frames to tables. Does not: choosing companies (values), any
rule (normalize), the limits that hold a company back (quarantine).
"""

from collections.abc import Mapping, Sequence

import polars as pl

from pipelines.normalize.facts.unread import unread_reports
from pipelines.normalize.history.log import ONE_QUARTER, TWELVE_MONTHS, with_later_columns
from pipelines.normalize.periods.predecessors import stitched, under_successors
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.one_thread import in_one_thread
from pipelines.stages.batch import held_back, quarantine
from pipelines.stages.batch.batches import Batch, StepNote
from pipelines.stages.batch.isolation import Fault
from pipelines.stages.batch.schemas import REPLAYED, UNREAD_REPORTS, VALUE_TABLES
from pipelines.stages.filed import filed_of_batch
from pipelines.storage.lake import Lake


@in_one_thread
def work(lake: Lake, batch: Batch) -> tuple[dict[str, pl.DataFrame], tuple[list[StepNote], list[Fault]]]:
    """Standardize a batch of companies. Returns the rows by table; the steps of the rules, and the companies to hold
    back."""
    filers = [*batch.ciks, *(cik for chain in batch.predecessors.values() for cik in chain)]
    accepted = under_successors(_acceptances(lake, filers), batch.predecessors)
    codes = lake.of_companies("registrants", batch.ciks).select("cik", "sic", "succeeded")
    facts, of_predecessors = stitched(lake.of_companies("facts", filers), batch.predecessors)
    of_filings = filed_of_batch.read(lake, filers, batch.table_endings, facts, batch.predecessors)
    steps: list[StepNote] = []
    found = standardize(facts, accepted, codes, lambda *step: steps.append(step), filed=of_filings)
    unread = unread_reports(lake.of_companies("reports", batch.ciks), facts, found.filings)
    unread = unread.join(accepted, on=["cik", "accession"], how="left", maintain_order="left")
    frames = of_all_lengths(found) | {UNREAD_REPORTS: unread}
    tables = {name: frames[name] if name in frames else getattr(found, name) for name in VALUE_TABLES}
    tables["decisions"] = pl.concat([of_predecessors, tables["decisions"]])
    named = facts.select("cik", "accession", in_companyfacts=pl.lit(value=True)).unique()
    is_named = pl.col("in_companyfacts").fill_null(value=False)
    tables["filings"] = (
        tables["filings"].join(named, on=["cik", "accession"], how="left", maintain_order="left").with_columns(is_named)
    )
    refused = _withdrawing(lake, batch, tables)
    return tables, (steps, [Fault(cik, held_back.VALUES, reason) for cik, reason in refused.items()])


def _acceptances(lake: Lake, filers: Sequence[str]) -> pl.DataFrame:
    """The times of acceptance of the given companies' filings, from the submissions, otherwise from the feed."""
    listed = lake.of_companies("acceptances", filers)
    of_feed = (
        filed_of_batch.reports_of_feed(lake, filers)
        .join(listed, on=["cik", "accession"], how="anti")
        .select(listed.columns)
    )
    return pl.concat([listed, of_feed])


def of_all_lengths(found: Standardized) -> dict[str, pl.DataFrame]:
    """Tables `replayed` and `gaps`: rows of twelve months, then rows of quarters (`n` is the number of quarters)."""
    gaps = ((found.gaps, TWELVE_MONTHS), (found.quarter_gaps, ONE_QUARTER))
    return {
        REPLAYED: pl.concat([found.versions, found.quarter_versions]),
        "gaps": pl.concat(rows.with_columns(n=pl.lit(n, pl.Int32)) for rows, n in gaps),
    }


def _withdrawing(lake: Lake, batch: Batch, tables: Mapping[str, pl.DataFrame]) -> dict[str, str]:
    """The reasons to hold companies back: too many of their earlier replayed values would be withdrawn."""
    compared = {*batch.compared} & {*batch.ciks}
    if not compared:
        return {}
    value = quarantine.REPLAYED_VALUE
    before = with_later_columns(lake.scan(REPLAYED, compared).collect()).select(value)
    filed = lake.scan("filings", compared).select("cik", "accession").collect()
    new = tables["filings"].join(filed, on=["cik", "accession"], how="anti")["cik"]
    may_lose_some = ({*new, *batch.reread} | (compared - {*batch.same_rules})) - {*batch.withdrawing}
    return quarantine.withdrawals(before, tables[REPLAYED].select(value), may_lose_some)
