"""Quarantine: companies keep their earlier values, because the new document or the new values cannot be right.

Belongs here: the losses that hold a company back, the signs of a suspicious document, accepted documents. Does not:
malformed documents (edgar.decode.documents), errors of a stage (isolation), rows that contradict each other
(tables.row_gates), table `quarantine` (held_back).

EDGAR adds facts and hardly ever removes any. So if many earlier facts are missing or unusable in a new document, the
document is wrong: it was cut off, or EDGAR made it again with an error. The same holds for a document that withdraws
many values without a new filing. The company keeps its values until a later document has the facts again, or the
operator accepts this one (`fundamentals accept CIK`).
"""

from collections.abc import Collection, Mapping
from datetime import date

import polars as pl

from pipelines.edgar.errors import CorruptError, DocumentError
from pipelines.normalize.history.log import TWELVE_MONTHS, VERSION_OF
from pipelines.stages.batch.held_back import Quarantined
from pipelines.storage.lake import Lake

FACT = ["cik", "taxonomy", "tag", "unit", "start", "end", "accession"]
AS_FILED = [*FACT, "form", "filed"]
"""The columns of a fact with the form and the day of its filing, which EDGAR never changes."""
ACCEPTED = pl.Schema({"cik": pl.String(), "raw_document": pl.String()})
"""The documents that the operator has accepted, by their digests."""

LARGEST_LOSS = 0.05
"""A company is held back if it loses more than this share of its usable facts or of its current values."""
REPLAYED_VALUE = [*VERSION_OF, "is_year_end", "value"]
FEWEST_WITHDRAWN = 10
"""Fewer withdrawn values hold a company back only if it has no others: a small filer loses 5 % with three."""
LARGEST_GROWTH = 10
"""A document is suspicious if its number of facts is more than this multiple of the number before: a year adds about a
tenth to most."""


def losses(decoded: pl.DataFrame, before: pl.DataFrame, elements: Mapping[str, Collection[str]]) -> dict[str, str]:
    """The reasons to quarantine documents: facts that were usable before are missing or unusable now.

    Args:
        decoded: the usable facts of the documents (normalize.facts.reports.usable).
        before: the usable facts of the same companies from their documents before.
        elements: the elements that are read today, by taxonomy; missing facts of other elements do not count.

    Returns:
        the reason, by company.
    """
    wanted = pl.DataFrame(
        [(taxonomy, tag) for taxonomy, tags in elements.items() for tag in tags],
        ["taxonomy", "tag"],
        orient="row",
    )
    before = before.join(wanted, on=["taxonomy", "tag"], how="semi")
    gone = before.join(decoded, on=AS_FILED, how="anti", nulls_equal=True)
    of = ["cik", "taxonomy"]
    counted = before.group_by(of).len("held").join(gone.group_by(of).len("gone"), on=of).sort(of)
    reasons = {}
    for cik, rows in counted.group_by("cik", maintain_order=True):
        held = before.filter(pl.col("cik") == cik[0]).height
        lost, whole = int(rows["gone"].sum()), rows.filter(pl.col("gone") == pl.col("held"))["taxonomy"].to_list()
        if whole or lost > LARGEST_LOSS * held:
            named = f", all of {' and '.join(whole)}" if whole else ""
            reasons[cik[0]] = (
                f"lacks {lost:,} of {held:,} facts that were usable before{named} (missing, or with another form, "
                f"date or unit); if they are gone for good, `fundamentals accept {cik[0]}`"
            )
    return reasons


def withdrawals(before: pl.DataFrame, now: pl.DataFrame, may_lose_some: Collection[str]) -> dict[str, str]:
    """The reasons to hold companies back: the new values would withdraw many or all of the earlier values.

    Args:
        before, now: the replayed versions of the same companies in the order of filing, with the columns of
            REPLAYED_VALUE. The last version of a period and item is current; the version of a fiscal year is published
            twice, and counts twice.
        may_lose_some: companies with a new filing or under other rules, which are held back only if they would lose all
            values.

    Returns:
        the reason, by company.
    """
    current = before.unique(VERSION_OF, keep="last", maintain_order=True).drop_nulls("value")
    today = now.unique(VERSION_OF, keep="last", maintain_order=True).drop_nulls("value")
    is_twice = pl.col("is_year_end") & (pl.col("n") == TWELVE_MONTHS)
    published = (1 + is_twice.cast(pl.Int64)).sum()
    lost = current.join(today, on=VERSION_OF, how="anti").group_by("cik").agg(lost=published)
    counted = current.group_by("cik").agg(held=published).join(lost, on="cik").sort("cik")
    is_many = (pl.col("lost") >= FEWEST_WITHDRAWN) & (pl.col("lost") > LARGEST_LOSS * pl.col("held"))
    is_expected = pl.col("cik").is_in([*may_lose_some])
    held_back = counted.filter((pl.col("lost") == pl.col("held")) | (is_many & ~is_expected))
    return {
        cik: f"{lost:,} of {held:,} current values would be withdrawn, without a new filing that explains it; "
        f"if that is right, `fundamentals accept {cik}`"
        for cik, held, lost in held_back.iter_rows()
    }


def suspicions(decoded: pl.DataFrame, before: pl.DataFrame, today: date) -> dict[str, int]:
    """The number of companies with a document that is suspicious but loses no facts, by kind; kinds without a company
    are left out."""
    of = pl.col("cik")
    grown = decoded.group_by(of).len("now").join(before.group_by(of).len("before"), on="cik")
    counts = {
        "filed_in_the_future": decoded.filter(pl.col("filed") > today.isoformat())["cik"].n_unique(),
        "ends_after_filing": decoded.filter(pl.col("end") > pl.col("filed"))["cik"].n_unique(),
        "much_larger_than_before": grown.filter(pl.col("now") > LARGEST_GROWTH * pl.col("before")).height,
    }
    return {kind: number for kind, number in counts.items() if number}


def unlisted(facts: pl.LazyFrame, acceptances: pl.LazyFrame) -> dict[str, int]:
    """The number of companies with facts of a filing that no company's submissions list, in the form of `suspicions`.

    Filings before the first or after the last filing in the company's submissions do not count: a submissions document
    lists only some thousand filings, and the two documents may be from different hours.

    Args:
        facts: `cik`, `accession`, `filed` (text).
        acceptances: columns of ACCEPTANCES for all companies, because another company may have filed for a
            co-registrant.
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


def accepted_companies(lake: Lake) -> frozenset[str]:
    """The companies whose present companyfacts document the operator has accepted."""
    digests = accepted(lake)
    held = lake.read("documents").select("cik", "facts_digest").iter_rows() if digests else ()
    return frozenset(cik for cik, digest in held if digest in digests)


def quarantined(cik: str, error: DocumentError | CorruptError, digest: str) -> Quarantined:
    """The row of table `quarantine` for a document that cannot be used."""
    reason, place = (error.reason, error.place) if isinstance(error, DocumentError) else (str(error), "raw zone")
    return cik, reason, place, digest
