"""Compares twelve months with four quarters and with the filer's own twelve months.

Belongs here: sums of filed durations, computed independently of our values (normalize.ttm), as comparisons
(evidence.FOUND). Does not: identities within one period (identities), thresholds (checks).
"""

from collections.abc import Callable

import polars as pl

from pipelines.quality.evidence import SAME_DATE, Evidence, found, nearest, newest, oldest

ITEMS = ("revenue", "net_income", "free_cash_flow")
"""Amounts of money over time: shares and amounts per share do not add up over quarters."""

ELEMENT = ["cik", "tag"]
QUARTER_DAYS = (70, 130)
NINE_MONTHS_DAYS = (240, 290)
YEAR_DAYS = (340, 390)
SAME = 0.005
SCALES = (1e6, 1e3, 1.0)
"""The scales in which figures of a statement are shown: millions, thousands, units."""

LAST_DIGITS = 2
"""Tolerance in units of the scale, because each leg is rounded."""

EXCUSES = ("before_recast", "ways_disagree", "scale_repaired", "sign_repaired", "figure_repaired")
STATED_ANEW = ("restatement", "reclassification", "accounting_change", "entity_change", "basis_change")
"""Causes after which a fiscal year is on another basis than its quarters, which were not restated."""

WINDOW = ["cik", "period_end", "item", "version"]
AGAINST_QUARTERS = "against_quarters"


def quarters_of_years(evidence: Evidence) -> pl.DataFrame:
    """The four quarters as filed add up to the fiscal year, unless the year was restated later."""
    rows = _against_quarters(evidence).join(evidence.year_ends, on=["cik", "period_end"], how="semi")
    cause = pl.when(pl.col("cause").is_in(STATED_ANEW)).then("cause")
    flags = pl.concat_str(pl.col("flags").replace("", None), cause, separator=",", ignore_nulls=True)
    return _judged(rows.with_columns(flags=flags), excused_by=(*EXCUSES, *STATED_ANEW))


def two_ways(evidence: Evidence) -> pl.DataFrame:
    """Within a fiscal year, twelve months from the last year and the years to date equal the sum of four quarters."""
    rows = _against_quarters(evidence).join(evidence.year_ends, on=["cik", "period_end"], how="anti")
    return _judged(rows, excused_by=EXCUSES)


def own_twelve_months(evidence: Evidence) -> pl.DataFrame:
    """Twelve months to a date within a fiscal year, as the filer states them in a 10-Q.

    They are compared with our value as of that filing and with today's, within two units of the filing's scale.
    """
    stated = _durations(evidence.facts.filter(pl.col("form_family") == "10-Q"), YEAR_DAYS)
    years = evidence.year_ends.rename({"period_end": "end"})
    of_years = nearest(stated.rename({"end": "period_end"}), years, ["cik"])
    stated = stated.join(
        of_years.select("accession", "tag", end="period_end"), on=["accession", "tag", "end"], how="anti"
    )
    own = stated.with_columns(scale=_scale().over("cik", "accession")).select(
        *ELEMENT, stated_end="end", stated_on="filed", other="value", scale="scale"
    )
    versions = _by_element(evidence.legs)
    ends = nearest(own.rename({"stated_end": "period_end"}), versions.select("cik", "tag", end="period_end"), ELEMENT)
    rows = (
        ends.select(*ELEMENT, "stated_on", "other", "scale", period_end="end")
        .join(versions, on=[*ELEMENT, "period_end"])
        .with_columns(miss=(pl.col("ours") - pl.col("other")).abs())
    )
    value = [*WINDOW[:3], "tag", "stated_on", "other"]
    then = pl.col("version").filter(pl.col("version_filed") <= pl.col("stated_on")).max().over(value)
    now = pl.col("version").max().over(value)
    best = (
        rows.filter((pl.col("version") == then) | (pl.col("version") == now))
        .sort("miss", "stated_on")
        .unique([*ELEMENT, "period_end", "other"], keep="first", maintain_order=True)
        .join(evidence.values.select(*WINDOW[:3], "flags"), on=WINDOW[:3])
    )
    holds = pl.col("miss") <= LAST_DIGITS * pl.col("scale")
    return found(best, holds=holds, subject=pl.col("tag"), excused_by=EXCUSES)


def _scale() -> pl.Expr:
    """The largest of SCALES that divides all figures."""
    whole = [(scale, (pl.col("value") % scale == 0).all()) for scale in SCALES]
    return pl.coalesce(pl.when(holds).then(pl.lit(scale)) for scale, holds in whole)


def _against_quarters(evidence: Evidence) -> pl.DataFrame:
    """Twelve months as served, for each element, with the sum of the four quarters that end on the same day."""
    if AGAINST_QUARTERS not in evidence.kept:
        evidence.kept[AGAINST_QUARTERS] = _nearest_quarters(evidence)
    return evidence.kept[AGAINST_QUARTERS]


def _nearest_quarters(evidence: Evidence) -> pl.DataFrame:
    """The four quarters as first filed or as last filed; the sum that is nearer to the twelve months is used.

    The value of twelve months is on one of the two bases, or is flagged.
    """
    current = evidence.values.filter(pl.col("method") != "four_quarters").select(*WINDOW, "flags", "cause")
    ours = _by_element(evidence.legs.join(current.select(WINDOW), on=WINDOW))
    facts = evidence.facts.join(ours.select(ELEMENT).unique(), on=ELEMENT, how="semi")
    sums = [nearest(ours, _four_quarters(_quarters(facts, stated)), ELEMENT) for stated in (oldest, newest)]
    return (
        pl.concat(sums)
        .sort(*WINDOW, "tag", (pl.col("ours") - pl.col("other")).abs())
        .unique([*WINDOW, "tag"], keep="first", maintain_order=True)
        .join(current, on=WINDOW)
    )


def _judged(rows: pl.DataFrame, excused_by: tuple[str, ...]) -> pl.DataFrame:
    holds = (pl.col("ours") - pl.col("other")).abs() <= SAME * pl.col("other").abs()
    return found(rows, holds=holds, subject=pl.col("tag"), excused_by=excused_by)


def _by_element(legs: pl.DataFrame) -> pl.DataFrame:
    """The amount of each element in a version, if it covers twelve months: WINDOW, `tag`, `ours`.

    A value whose element changes within the window is left out, because neither element covers twelve months.
    """
    days = (pl.col("end") - pl.col("start")).dt.total_days() + 1
    return (
        legs.filter(pl.col("item").is_in(ITEMS))
        .with_columns(tag=pl.col("tag").str.split(":").list.last())
        .group_by(*WINDOW, "tag")
        .agg(
            version_filed=pl.col("version_filed").first(),
            weighted_days=(days * pl.col("weight")).sum(),
            amount=(pl.col("value") * pl.col("weight") * pl.col("split_factor")).sum(),
        )
        .filter(pl.col("weighted_days").abs().is_between(*YEAR_DAYS).all().over(WINDOW))
        .with_columns(ours=pl.col("amount") * pl.col("weighted_days").sign())
    )


def _durations(facts: pl.DataFrame, days: tuple[int, int]) -> pl.DataFrame:
    """Facts of money whose duration in days is in a range."""
    return facts.filter(
        pl.col("measure") == "money", ((pl.col("end") - pl.col("start")).dt.total_days() + 1).is_between(*days)
    )


def _quarters(facts: pl.DataFrame, stated: Callable[[pl.DataFrame, list[str]], pl.DataFrame]) -> pl.DataFrame:
    """Quarters as first or last filed, the fourth as the year less nine months: ELEMENT, `start`, `end`, `value`."""
    columns = [*ELEMENT, "start", "end", "value"]
    filed, years, nine_months = (
        stated(_durations(facts, days), [*ELEMENT, "end"]) for days in (QUARTER_DAYS, YEAR_DAYS, NINE_MONTHS_DAYS)
    )
    fourth = (
        years.sort("start")
        .join_asof(
            nine_months.select(*ELEMENT, "start", nine_end="end", nine="value").sort("start"),
            on="start",
            by=ELEMENT,
            strategy="nearest",
            tolerance=SAME_DATE,
            check_sortedness=False,
        )
        .drop_nulls("nine")
        .select(*ELEMENT, pl.col("nine_end").dt.offset_by("1d").alias("start"), "end", pl.col("value") - pl.col("nine"))
    )
    return pl.concat([filed.select(columns), fourth.select(columns)]).unique(
        [*ELEMENT, "end"], keep="first", maintain_order=True
    )


def _four_quarters(quarters: pl.DataFrame) -> pl.DataFrame:
    """Sums of four consecutive quarters: ELEMENT, `end`, `other` (the sum)."""
    earlier = quarters.select(*ELEMENT, joint="end", earlier_start="start", earlier="value").sort("joint")
    rows = quarters.select(*ELEMENT, "end", since="start", first="start", other="value")
    for _ in range(3):
        rows = (
            rows.with_columns(until=pl.col("first").dt.offset_by("-1d"))
            .sort("until")
            .join_asof(
                earlier,
                left_on="until",
                right_on="joint",
                by=ELEMENT,
                strategy="nearest",
                tolerance=SAME_DATE,
                check_sortedness=False,
            )
            .drop_nulls("earlier")
            .select(*ELEMENT, "end", "since", first="earlier_start", other=pl.col("other") + pl.col("earlier"))
        )
    days = (pl.col("end") - pl.col("first")).dt.total_days() + 1
    return rows.filter(days.is_between(*YEAR_DAYS)).select(*ELEMENT, "end", "other")
