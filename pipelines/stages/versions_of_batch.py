"""The versions of a batch of companies: compares their replayed values with the version log.

Belongs here: the input of the comparison, and the tables of its result. Does not: choosing companies and recording new
versions (versions), the rules of versions (normalize.history).
"""

from collections.abc import Collection
from datetime import datetime
from functools import cache, partial
from pathlib import Path

import polars as pl

from pipelines.normalize.classes.series import with_classes
from pipelines.normalize.faces.facts import with_filed
from pipelines.normalize.faces.sources import FILING
from pipelines.normalize.history.late import in_force, recorded_again
from pipelines.normalize.history.log import SOURCE, VERSION_OF, with_later_columns
from pipelines.normalize.history.versions import (
    AS_STATED,
    CAUSE_OF,
    CURRENCY_LEFT,
    FACTS_CHANGED,
    ReadDifferently,
    numbered,
    on_basis_of_today,
    recorded,
    to_append,
)
from pipelines.normalize.pipeline import ITEM_SIGNS
from pipelines.one_thread import in_one_thread
from pipelines.stages.batch import batches
from pipelines.stages.batch.batches import Batch
from pipelines.stages.batch.predecessors import held_predecessors
from pipelines.stages.batch.schemas import APPENDED, RECORDED, REPLAYED, VERSIONS
from pipelines.stages.filed import filed_of_batch
from pipelines.storage.lake import Lake
from pipelines.storage.version_log import read

READ_EARLY = pl.duration(days=60)
"""The time before a company's newest filing that is searched for reports that were first read from their package, and
came into companyfacts later."""


@in_one_thread
def work(lake: Lake, log: Path, now: datetime, batch: Batch) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """The versions of a batch of companies, by table: all versions, versions to record, and versions to show as
    changes.

    The notes are the companies with versions to record.
    """
    ciks, rules = batch.ciks, batches.rules_digest()
    logged = read(log, batch.segments, ciks)
    filings, replayed = lake.of_companies("filings", ciks), with_later_columns(lake.of_companies(REPLAYED, ciks))
    known = in_force(on_basis_of_today(logged, lake.of_companies("share_bases", ciks), ITEM_SIGNS))
    order = filings.select("cik", "accession", "seq")
    currencies = lake.of_companies("profiles", ciks).select("cik", "currency")
    facts = cache(partial(_facts_filed, lake, batch))
    reread = ReadDifferently(batch.reread, batch.same_documents, _in_companyfacts(logged, filings))
    again = recorded_again(known, replayed, order, rules, batch.reread)
    known = in_force(pl.concat([known, again]))
    appended = recorded(to_append(known, replayed, order, rules, currencies, facts, reread), now, rules)
    new = pl.concat([again, appended])
    versions = numbered(pl.concat([known, appended]))
    had_versions = pl.col("cik").is_in(known["cik"].unique().implode())
    new_of_known = appended.filter(had_versions)
    of_changed = versions.join(new_of_known, on=VERSION_OF, how="semi", maintain_order="left")
    changes = of_changed.with_columns(before=pl.col("value").shift().over(VERSION_OF)).tail(new_of_known.height)
    tables = {
        RECORDED: new,
        VERSIONS: versions.sort("cik", "period_end", "item", "version", "class_member", "n"),
        APPENDED: _without_read_later(changes, known, order, batch.reread),
    }
    return tables, new["cik"].unique().to_list()


def _in_companyfacts(logged: pl.DataFrame, filings: pl.DataFrame) -> list[str]:
    """The newest filings whose facts the log has from their packages, and that are in companyfacts now."""
    newest = logged.filter(pl.col("filed") >= pl.col("filed").max().over("cik") - READ_EARLY)
    legs = newest.select(pl.col("legs").explode()).drop_nulls().unnest("legs")
    read = legs.filter(pl.col("source") == FILING).select("accession").unique()
    return read.join(filings.filter("in_companyfacts"), on="accession", how="semi")["accession"].to_list()


def _without_read_later(
    changes: pl.DataFrame, log: pl.DataFrame, order: pl.DataFrame, reread: Collection[str]
) -> pl.DataFrame:
    """Remove changes that only follow from a later reading of filings that the log already knew."""
    known = log.select("cik", "accession").join(order, on=["cik", "accession"])
    newest = known.group_by("cik").agg(newest=pl.col("seq").max())
    of_filing = changes.select("cik", "accession").join(
        order, on=["cik", "accession"], how="left", maintain_order="left"
    )
    is_known = of_filing.join(newest, on="cik", how="left", maintain_order="left").select(
        (pl.col("seq") <= pl.col("newest")).fill_null(value=False)
    )
    by_edgar = (pl.col("cause") == CAUSE_OF[FACTS_CHANGED.id]) | (pl.col("rule") == CURRENCY_LEFT.id)
    is_read_later = pl.col("cik").is_in([*reread]) & is_known.to_series() & ~by_edgar
    return changes.filter(~is_read_later, pl.col("cause") != SOURCE)


def _facts_filed(lake: Lake, batch: Batch) -> pl.DataFrame:
    """The facts of a batch of companies and of their predecessors, from all sources, with the columns of AS_STATED."""
    earlier = held_predecessors(lake)
    filers = sorted({filer for cik in batch.ciks for filer in (cik, *earlier.get(cik, ()))})
    facts = lake.of_companies("facts", filers)
    stated, _, _, by_class = with_filed(facts, filed_of_batch.read(lake, filers, batch.table_endings, facts, {}))
    stated = with_classes(stated, by_class).facts
    tag = pl.coalesce("filed_tag", pl.format("{}:{}", "taxonomy", "tag"))
    return stated.with_columns(tag.alias("tag"), pl.col("start", "end").str.to_date()).select(AS_STATED)
