"""The tables of the quality report: coverage, gaps, restatements, changes, rules, identities, failures.

Belongs here: pure functions from the tables of a build to the tables of the page. Does not: their layout (page.html,
plots), reading the tables (report), whether a value is right (checks).
"""

from collections.abc import Mapping

import polars as pl

from pipelines.quality.evidence import FAILS, FLAGGED
from warehouse.contract.line_items import ITEM_NAMES
from warehouse.contract.vocabulary import OUTCOMES

SHOWN = 25
"""Rows of a list on the page; `make quality LIST=1` prints all."""

YEARS = 16
"""The number of fiscal years on the page, counted from the newest."""

FEWEST = 0.05
"""A year is left out if less than this share of the companies has it, because it has only begun."""

SERIES = 6
"""The number of causes with a colour of their own; all other causes share one colour."""

OTHERS = "others"
OUR_OWN = ("method", "source")
"""The causes of versions that come from our rules or our reading, not from a restatement by the filer."""


def coverage(financials: pl.DataFrame) -> pl.DataFrame:
    """The share of companies with an annual row that have the item, newest years first.

    Args:
        financials: annual rows of primary symbols: `cik`, `fiscal_year`, items.

    Returns:
        `fiscal_year`, `companies` (with an annual row), items as columns.
    """
    by_year = financials.group_by("fiscal_year").agg(
        companies=pl.col("cik").n_unique(), **{item: pl.col(item).is_not_null().mean() for item in ITEM_NAMES}
    )
    enough = pl.col("companies") >= FEWEST * financials["cik"].n_unique()
    return by_year.filter(enough).sort("fiscal_year", descending=True).head(YEARS)


def gaps(reasons: pl.DataFrame) -> pl.DataFrame:
    """The number of gaps by reason and item: `reason`, `periods`, items as columns; most frequent first.

    Args:
        reasons: TTM rows of table `gaps`: `item`, `reason`.
    """
    return (
        reasons.group_by("reason")
        .agg(periods=pl.len(), **{item: (pl.col("item") == item).sum() for item in ITEM_NAMES})
        .sort("periods", "reason", descending=[True, False])
    )


def restatements(versions: pl.DataFrame) -> pl.DataFrame:
    """The number of versions after the first, by cause and year of the filing: `year`, `cause`, `versions`; rare causes
    are combined.

    Args:
        versions: TTM rows of table `versions`: `version`, `filed`, `cause`.
    """
    later = versions.filter(pl.col("version") > 1, pl.col("filed").is_not_null(), ~pl.col("cause").is_in(OUR_OWN))
    frequent = later.group_by("cause").len().sort("len", "cause", descending=[True, False])["cause"].head(SERIES)
    cause = pl.when(pl.col("cause").is_in(frequent.implode())).then("cause").otherwise(pl.lit(OTHERS))
    counted = later.group_by(year=pl.col("filed").dt.year(), cause=cause).agg(versions=pl.len())
    return counted.sort("year", "cause")


def causes(restated: pl.DataFrame) -> list[str]:
    """The causes of `restatements`, most frequent first, the rare ones last."""
    ordered = restated.group_by("cause").agg(pl.col("versions").sum())
    return ordered.sort(pl.col("cause") == OTHERS, -pl.col("versions").cast(pl.Int64), "cause")["cause"].to_list()


def by_cause(restated: pl.DataFrame) -> pl.DataFrame:
    """Restatements as a table: one row for each cause, one column for each year, newest first."""
    order = {name: place for place, name in enumerate(causes(restated))}
    years = restated.sort("year", descending=True).pivot(
        "year", index="cause", values="versions", aggregate_function="sum"
    )
    return years.fill_null(0).sort(pl.col("cause").replace_strict(order, return_dtype=pl.Int32))


def changes(changed: pl.DataFrame) -> pl.DataFrame:
    """Values that differ from the previous build: `cause`, `values`, `companies`, items as columns; TTM.

    Args:
        changed: TTM rows of table `changes`.
    """
    return (
        changed.group_by("cause")
        .agg(
            values=pl.len(),
            companies=pl.col("cik").n_unique(),
            **{item: (pl.col("item") == item).sum() for item in ITEM_NAMES},
        )
        .sort("values", "cause", descending=[True, False])
    )


def largest(changed: pl.DataFrame, symbols: pl.DataFrame) -> pl.DataFrame:
    """The largest relative changes of values: `symbol`, `period_end`, `item`, `before`, `after`, `cause`."""
    share = ((pl.col("after") - pl.col("before")) / pl.col("before")).abs()
    return (
        changed.filter(pl.col("before").is_not_null(), pl.col("after").is_not_null())
        .join(symbols, on="cik")
        .sort(share, "symbol", "period_end", "item", descending=[True, False, True, False], nulls_last=True)
        .select("symbol", "period_end", "item", "before", "after", "cause")
        .head(SHOWN)
    )


DECIDED = (pl.col("values") > 0) | (pl.col("figures") > 0)


def deciding(rules: pl.DataFrame) -> pl.DataFrame:
    """The rules with a decision in the build, the most frequent first: `rule`, `statement`, `action`, `values`,
    `figures`, `companies`.

    Args:
        rules: table `rules`.
    """
    decided = rules.filter(DECIDED).sort("values", "figures", "rule", descending=[True, True, False])
    return decided.select("rule", "statement", "action", "values", "figures", "companies")


def idle(rules: pl.DataFrame) -> pl.DataFrame:
    """The rules without a decision in the build: `rule`, `statement`, `action`.

    Args:
        rules: table `rules`.
    """
    return rules.filter(~DECIDED).sort("rule").select("rule", "statement", "action")


def identities(proofs: pl.DataFrame, statements: Mapping[str, str]) -> pl.DataFrame:
    """The outcomes of each identity for values of twelve months, sorted by the number of compared values: `rule`,
    `statement`, `compared`, `holds`, `chose`, `corrected`, `withheld`.

    Args:
        proofs: rows of table `proofs`: `rule`, `outcome`.
        statements: the statement of each rule.
    """
    outcome = pl.col("outcome")
    return (
        proofs.group_by("rule")
        .agg(compared=pl.len(), **{name: (outcome == name).sum() for name in OUTCOMES})
        .with_columns(statement=pl.col("rule").replace_strict(statements, default="", return_dtype=pl.String))
        .sort("compared", "rule", descending=[True, False])
        .select("rule", "statement", "compared", *OUTCOMES)
    )


def failures(found: pl.DataFrame, check: str, symbols: pl.DataFrame) -> pl.DataFrame:
    """The newest comparisons of a check that do not hold, failures before flagged ones: `outcome`, `symbol`,
    `period_end`, `subject`, `ours`, `other`, `ratio` and `flags`.
    """
    return (
        found.filter(pl.col("check") == check, pl.col("outcome").is_in([FAILS, FLAGGED]))
        .join(symbols, on="cik")
        .sort("outcome", "period_end", "symbol", "subject", descending=[False, True, False, False])
        .select(
            "outcome",
            "symbol",
            "period_end",
            "subject",
            "ours",
            "other",
            ratio=pl.col("ours") / pl.col("other"),
            flags="flags",
        )
        .head(SHOWN)
    )
