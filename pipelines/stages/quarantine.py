"""Quarantine: companies that keep the values of before, because the new document or the new values cannot be right.

Belongs here: which losses hold a company back, what makes a document suspicious, which documents are accepted.
Does not: malformed documents (edgar.documents), errors of a stage (isolation), rows that contradict each other
(tables.row_gates), table `quarantine` (held_back).

EDGAR adds facts and hardly ever removes any. So a document in which many facts that were read before are missing or
unusable is not the company's history, whatever it is: it was cut off, or made anew with an error. The same holds for
one that withdraws many values without a new filing. The company keeps its values until a later document has the facts
again, or the operator accepts this one (`fundamentals accept CIK`).
"""

from collections.abc import Collection, Mapping
from datetime import date

import polars as pl

from pipelines.edgar.errors import CorruptError, DocumentError
from pipelines.normalize.history.log import TWELVE_MONTHS, VERSION_OF
from pipelines.stages.held_back import Quarantined
from pipelines.storage.lake import Lake

FACT = ["cik", "taxonomy", "tag", "unit", "start", "end", "accession"]
AS_FILED = [*FACT, "form", "filed"]
"""A fact with the form and the day of its filing, which EDGAR never changes."""
ACCEPTED = pl.Schema({"cik": pl.String(), "raw_document": pl.String()})
"""The documents that the operator has accepted, by their digests."""

LARGEST_LOSS = 0.05
"""A company that loses more than this share of its usable facts, or so many of its current values, is held back."""
REPLAYED_VALUE = [*VERSION_OF, "is_year_end", "value"]
FEWEST_WITHDRAWN = 10
"""Fewer withdrawn values hold back a company only if they are all that it has: a small filer loses 5 % with three."""
LARGEST_GROWTH = 10
"""A document with more than so many times the facts of the one before is suspicious: a year adds a tenth to most."""


def losses(decoded: pl.DataFrame, before: pl.DataFrame, elements: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Why documents are quarantined: facts that were usable before are missing or unusable now.

    Args:
        decoded: the usable facts of the documents (normalize.facts.reports.usable).
        before: the usable facts of the same companies that were read before.
        elements: the elements that are read today, by taxonomy; facts of other elements are not missed.

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
    """Why companies are held back: the values of today would withdraw many of those of before, or all.

    Args:
        before, now: the replayed versions of the same companies in the order of filing: columns of REPLAYED_VALUE; the
            last one of a period and item is current, and one of a year is published twice, and counts twice.
        may_lose_some: companies with a new filing or under other rules, which are held back only if nothing is left.

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
    """The number of companies whose document is suspicious without losing anything, by kind, where there are any."""
    of = pl.col("cik")
    grown = decoded.group_by(of).len("now").join(before.group_by(of).len("before"), on="cik")
    counts = {
        "filed_in_the_future": decoded.filter(pl.col("filed") > today.isoformat())["cik"].n_unique(),
        "ends_after_filing": decoded.filter(pl.col("end") > pl.col("filed"))["cik"].n_unique(),
        "much_larger_than_before": grown.filter(pl.col("now") > LARGEST_GROWTH * pl.col("before")).height,
    }
    return {kind: number for kind, number in counts.items() if number}


def unlisted(facts: pl.LazyFrame, acceptances: pl.LazyFrame) -> dict[str, int]:
    """The number of companies with facts of a filing that nobody's submissions list, as suspicions counts.

    Filings before the first and after the last one that the submissions of the company list do not count: its document
    of submissions ends with some thousand, and both documents need not be of the same hour.

    Args:
        facts: `cik`, `accession`, `filed` (text).
        acceptances: columns of ACCEPTANCES, of all companies, because filings of co-registrants are filed by another.
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
    """The row of table `quarantine` of a document that cannot be used."""
    reason, place = (error.reason, error.place) if isinstance(error, DocumentError) else (str(error), "raw zone")
    return cik, reason, place, digest
