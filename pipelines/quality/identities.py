"""Identities between the values of one period, and between values and the balance sheet.

Belongs here: one function for each check, from Evidence to comparisons (evidence.FOUND). Does not: comparisons of
twelve months with other periods (windows), thresholds (checks).
"""

import polars as pl

from pipelines.loading import loading
from pipelines.quality.evidence import EQUITY, OWN_DEBT, Evidence, found, nearest, newest

ABOUT = 0.02
"""Tolerance: weighted shares are averaged over twelve months and earnings per share are added up over quarters, and
both are rounded."""

CENT = 0.01
"""Earnings per share are filed to the cent: four quarters round by up to two."""

AS_MUCH = 1.001
"""Tolerance: amounts of one filing may be rounded to different powers of ten."""

SAME_DEBT = 0.02
"""Tolerance: carrying amount and principal differ by discounts and issue costs."""

PER_SHARE_EXCUSES = ("attributable_to_parent", "ways_disagree", "scale_repaired", "figure_repaired")


def earnings_per_share(evidence: Evidence) -> pl.DataFrame:
    """EPS times weighted shares is about net income (ASC 260-10-45-10); EPS computed from these two is left out."""
    both = ["eps_basic", "net_income", "shares_basic"]
    how = (
        evidence.values.filter(pl.col("item").is_in(both))
        .group_by("cik", "period_end")
        .agg(flags=pl.col("flags").filter(pl.col("flags") != "").str.join(","), methods=pl.col("method"))
        .filter(~pl.col("methods").list.contains("net_income_over_shares"))
    )
    rows = (
        evidence.periods.drop_nulls(both)
        .join(how, on=["cik", "period_end"])
        .with_columns(ours=pl.col("eps_basic") * pl.col("shares_basic"), other=pl.col("net_income"))
    )
    rounding = 2 * CENT * pl.col("shares_basic")
    holds = (pl.col("ours") - pl.col("other")).abs() <= ABOUT * pl.col("other").abs() + rounding
    return found(rows, holds=holds, subject=pl.lit("eps_basic"), excused_by=PER_SHARE_EXCUSES)


def diluted_shares(evidence: Evidence) -> pl.DataFrame:
    """Diluted shares are at least basic shares (ASC 260-10-45-17): antidilutive shares are not counted."""
    rows = evidence.periods.drop_nulls(["shares_basic", "shares_diluted"]).with_columns(
        ours=pl.col("shares_diluted"), other=pl.col("shares_basic")
    )
    rows = _with_flags(evidence, rows, "shares_diluted")
    return found(rows, holds=pl.col("ours") * AS_MUCH >= pl.col("other"), subject=pl.lit("shares_diluted"))


def cash_within_assets(evidence: Evidence) -> pl.DataFrame:
    """Cash and short-term investments are a part of total assets, unless these are filed as zero."""
    rows = _compared(evidence, "cash_and_equivalents", _balance(evidence, "Assets").filter(pl.col("other") > 0))
    holds = pl.col("ours") <= pl.col("other") * AS_MUCH
    return found(rows, holds=holds, subject=pl.lit("cash_and_equivalents"))


def debt_within_liabilities(evidence: Evidence) -> pl.DataFrame:
    """Debt is a part of total liabilities: the filer's total, otherwise assets less equity with minorities.

    The difference includes temporary equity, so it is also an upper limit. Liabilities that a filing states without
    assets of the same day are not from its balance sheet: they may belong to an acquired business.
    """
    of_balance_sheet = _instants(evidence, "Liabilities").join(
        _instants(evidence, "Assets"), on=["cik", "accession", "end"], how="semi"
    )
    equity = pl.concat([_balance(evidence, tag) for tag in EQUITY]).unique(
        ["cik", "end"], keep="first", maintain_order=True
    )
    residual = (
        _balance(evidence, "Assets")
        .join(equity.rename({"other": "equity"}), on=["cik", "end"])
        .select("cik", "end", other=pl.col("other") - pl.col("equity"))
    )
    liabilities = pl.concat([_newest(of_balance_sheet), residual]).unique(
        ["cik", "end"], keep="first", maintain_order=True
    )
    rows = _compared(evidence, "total_debt", liabilities)
    return found(rows, holds=pl.col("ours") <= pl.col("other") * AS_MUCH, subject=pl.lit("total_debt"))


def debt_as_filed(evidence: Evidence) -> pl.DataFrame:
    """Debt added up from lines equals the filer's own combined total, if it states one.

    Some filers state the total in the note on long-term debt, without short-term borrowings. This is not a difference.
    """
    with loading():
        from pipelines.normalize.elements.lines import SHORT_TERM
    own = pl.concat([_balance(evidence, tag) for tag in OWN_DEBT]).unique(["cik", "end"], maintain_order=True)
    current = evidence.values.filter(pl.col("item") == "total_debt").select("cik", "period_end", "item", "version")
    tag = pl.col("tag").str.split(":").list.last()
    lines = (
        evidence.legs.join(current, on=current.columns)
        .group_by("cik", "period_end")
        .agg(
            is_own=tag.is_in(OWN_DEBT).any(),
            short_term=(pl.col("value") * pl.col("weight")).filter(tag.is_in(SHORT_TERM)).sum(),
        )
    )
    rows = _compared(evidence, "total_debt", own).join(lines, on=["cik", "period_end"]).filter(~pl.col("is_own"))
    allowed = SAME_DEBT * pl.col("other").abs()
    miss = pl.col("ours") - pl.col("other")
    holds = (miss.abs() <= allowed) | ((miss - pl.col("short_term")).abs() <= allowed)
    return found(rows, holds=holds, subject=pl.lit("total_debt"))


def _balance(evidence: Evidence, tag: str) -> pl.DataFrame:
    """An element at instants, as filed last: `cik`, `end`, `other`."""
    return _newest(_instants(evidence, tag))


def _instants(evidence: Evidence, tag: str) -> pl.DataFrame:
    return evidence.facts.filter(pl.col("tag") == tag, pl.col("start").is_null(), pl.col("measure") == "money")


def _newest(filed: pl.DataFrame) -> pl.DataFrame:
    return newest(filed, ["cik", "end"]).select("cik", "end", other="value")


def _compared(evidence: Evidence, item: str, others: pl.DataFrame) -> pl.DataFrame:
    """An item with the other amount at its period end: `cik`, `period_end`, `ours`, `other`, `flags`."""
    ours = evidence.periods.select("cik", "period_end", ours=item).drop_nulls("ours")
    return _with_flags(evidence, nearest(ours, others, ["cik"]), item)


def _with_flags(evidence: Evidence, rows: pl.DataFrame, item: str) -> pl.DataFrame:
    flags = evidence.values.filter(pl.col("item") == item).select("cik", "period_end", "flags")
    return rows.join(flags, on=["cik", "period_end"], how="left")
