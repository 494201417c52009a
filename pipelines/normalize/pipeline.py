"""From filed facts to the versions of standardized values, for many companies at once: the order of the rules.

Belongs here: the composition of the other modules of this folder. Does not: any rule.
"""

from dataclasses import dataclass, fields

import polars as pl

from pipelines.normalize.balance import composition as balances
from pipelines.normalize.corrections import ledger
from pipelines.normalize.elements import BY_NAME, RESERVATIONS, RULE_OF_RANK
from pipelines.normalize.facts import currency, order, recasts, reports
from pipelines.normalize.facts.stated import stated_concepts
from pipelines.normalize.frames import with_ten_digits
from pipelines.normalize.history import causes, replay, versions
from pipelines.normalize.industry import classification as industries
from pipelines.normalize.items import evidence, flags, gaps, provenance, returns
from pipelines.normalize.items import line_items as items
from pipelines.normalize.items.points import Points, points_of
from pipelines.normalize.periods import breaks, calendar, fiscal_years
from pipelines.normalize.shares import basis as share_basis
from pipelines.normalize.shares import latest as latest_shares
from pipelines.normalize.shares import splits
from pipelines.normalize.ttm import known as slots
from pipelines.normalize.ttm import windows

MEASURE_SIGN = {"money": 0, "per_share": -1, "shares": 1}
ITEM_SIGNS = {"eps_basic": -1, "dividends_per_share": -1, "shares_basic": 1, "shares_diluted": 1}
"""How a share basis enters an item: shares are multiplied by a split, amounts per share divided."""

SAME_BASIS = 1e-9


@dataclass(frozen=True, slots=True)
class Standardized:
    """What the filings of some companies lead to.

    versions: every value that a filing led to, in the order of filing (versions.REPLAYED), on the newest share basis.
    periods: `cik`, `period_end`, `fiscal_year`, `fiscal_quarter`, `is_year_end`: the fiscal calendar.
    gaps: `cik`, `period_end`, `item`, `reason`: after the newest filing.
    splits: `cik`, `effective_by`, `ratio`, `effective_after`, `evidence`.
    breaks: of breaks.breaks.
    repairs: of corrections.ledger.corrected, with `accession` in place of `seq`.
    filings: `cik`, `accession`, `form`, `filed`, `accepted_at`, `seq` (order of filing) and `factor` (new shares for
        one share of its basis).
    latest_shares: of latest_shares.latest_shares.
    evidence: of evidence.evidence.
    profiles: `cik`, `currency`, `fiscal_year_end_month`, `industry`.
    """

    versions: pl.DataFrame
    periods: pl.DataFrame
    gaps: pl.DataFrame
    splits: pl.DataFrame
    breaks: pl.DataFrame
    repairs: pl.DataFrame
    filings: pl.DataFrame
    latest_shares: pl.DataFrame
    evidence: pl.DataFrame
    profiles: pl.DataFrame


def standardize(
    raw: pl.DataFrame, accepted: pl.DataFrame | None = None, registrants: pl.DataFrame | None = None
) -> Standardized:
    """Standardize the facts of a batch of companies.

    Args:
        raw: facts as filed, columns of reports.RAW_SCHEMA.
        accepted: `accession`, `accepted_at` (UTC) where the submissions tell.
        registrants: `cik`, `sic` where the submissions tell.

    Returns:
        the tables of Standardized; a company whose facts support nothing has no rows.
    """
    periodic, of_reports = reports.typed(raw)
    currencies = currency.reporting_currency(periodic)
    own, of_currency = currency.in_currency(periodic, currencies)
    ordered, of_order = order.in_filing_order(own, accepted)
    of_industry = industries.industries(ordered, registrants)
    as_filed, legs, of_sources = stated_concepts(ordered, of_industry)
    signs = {name: MEASURE_SIGN[concept.measure] for name, concept in BY_NAME.items()}
    signed = as_filed.with_columns(measure_sign=pl.col("concept").replace_strict(signs, return_dtype=pl.Int8))
    counting, of_recasts = recasts.without_partial_recasts(signed)
    sound, found_repairs, of_corrections = ledger.corrected(counting)
    decisions: list[pl.DataFrame] = []
    decisions += [of_reports, of_currency, of_order, industries.decisions(of_industry), of_sources, of_recasts]
    decisions += [of_corrections]
    of_source = RULE_OF_RANK.join(RESERVATIONS, on=["concept", "rank"], how="left", maintain_order="left")
    reserved = sound.join(of_source, on=["concept", "rank"], how="left", maintain_order="left")
    legs = legs.join(
        reserved.select(
            "vintage", "cik", "seq", "concept", "repair", "reservation", rule=pl.coalesce("corrected_by", "rule")
        ),
        on="vintage",
        maintain_order="left",
    )
    of_filing = breaks.regimes(ordered, sound)
    vintages = sound.join(of_filing.select("cik", "seq", "regime"), on=["cik", "seq"], maintain_order="left")
    grid, of_calendar = calendar.fiscal_grid(ordered)
    found_splits = splits.infer_splits(vintages)
    repetitions = share_basis.repeated(vintages)
    placed, left_out = calendar.on_grid(share_basis.on_newest_basis(vintages, found_splits, repetitions), grid)
    decisions += [of_calendar, left_out]
    of_sheets = balances.balances(placed)
    missed = of_sheets.missed
    composed, composed_legs = _composed(of_sheets, legs, first_vintage=as_filed.height)
    filings = share_basis.share_factors(_filings(ordered, accepted), found_splits, repetitions)
    flow_known, _ = slots.known_amounts(placed.filter(pl.col("n") > 0))
    flows, flow_legs, _ = windows.flow_versions(flow_known, grid)
    stocks = _balances(placed, composed)
    points = Points(points_of(flows, stocks), flows, stocks)
    of_returns = returns.judged(points)
    found, found_legs, _ = replay.item_versions(points, items.line_items(points, of_returns), of_industry)
    behind = provenance.lineage(found_legs, flow_legs, stocks, pl.concat([legs, composed_legs]), filings)
    replayed = _published(found, behind, filings, grid)
    no_returns = returns.no_return(points, of_returns)
    newest = replayed.group_by("cik", "q", "item", maintain_order=True).last()
    stated = pl.concat([placed.select("cik", "concept"), composed.select("cik", "concept")])
    found_breaks = breaks.breaks(of_filing, filings)
    not_told = pl.concat([missed, breaks.straddling(found_breaks, grid)])
    missing = gaps.gaps(newest, stated, industries.newest(of_industry), no_returns, not_told)
    periods = grid.filter(pl.col("fiscal_quarter") > 0)
    made = Standardized(
        versions=replayed.select([*versions.REPLAYED.names()]),
        periods=periods.select("cik", "period_end", "fiscal_year", "fiscal_quarter", "is_year_end"),
        gaps=missing.join(periods.select("cik", "q", "period_end"), on=["cik", "q"]).select(
            "cik", "period_end", "item", "reason"
        ),
        splits=found_splits.select("cik", "effective_by", "ratio", "effective_after", "evidence"),
        breaks=found_breaks,
        repairs=found_repairs.join(filings.select("cik", "seq", "accession"), on=["cik", "seq"])
        .drop("seq")
        .with_columns(pl.col("concept").cast(pl.String)),
        filings=filings,
        latest_shares=latest_shares.latest_shares(flow_known, grid),
        evidence=evidence.evidence(periodic, vintages),
        profiles=_profiles(currencies, grid, industries.newest(of_industry)),
    )
    return Standardized(*(with_ten_digits(getattr(made, field.name)) for field in fields(made)))


def _balances(placed: pl.DataFrame, composed: pl.DataFrame) -> pl.DataFrame:
    """Instants after each filing that changed them: those that are stated, and those that are composed of lines."""
    plain, _ = balances.single_lines(placed)
    known, _ = slots.known_amounts(pl.concat([plain, composed], how="diagonal"))
    return slots.settled(known, ["cik", "concept", "q"])


def _composed(
    of_sheets: balances.Balances, legs: pl.DataFrame, first_vintage: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Debt and cash of each balance sheet as vintages of their own, and the facts behind them."""
    numbered = of_sheets.composed.with_columns(
        vintage=pl.col("sum") + first_vintage, n=pl.lit(0, pl.Int32), measure_sign=pl.lit(0, pl.Int8)
    )
    parts = of_sheets.parts.select("sum", "vintage").join(numbered.select("sum", "flag"), on="sum")
    of_both = pl.concat_str("reservation", "flag", separator=",", ignore_nulls=True).replace("", None)
    behind = parts.join(legs, on="vintage").with_columns(vintage=pl.col("sum") + first_vintage, reservation=of_both)
    return numbered.drop("sum", "flag"), behind.select(legs.columns)


def _published(found: pl.DataFrame, behind: pl.DataFrame, filings: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """Versions with their filing, fiscal period, cause, and the filed facts behind them: REPLAYED, `q` and `seq`."""
    # the day before the first fiscal year is no period: only its balance sheet is shown, as a comparative
    periods = grid.filter(pl.col("fiscal_quarter") > 0).select(
        "cik", "q", "period_end", "fiscal_year", "fiscal_quarter", "is_year_end"
    )
    of_version = filings.select(
        "cik", "seq", "accession", "form", "filed", is_amended=pl.col("form").str.ends_with(reports.AMENDMENT)
    )
    # an amendment may be filed last, and repeat a report on a former basis
    on_newest = filings.filter((pl.col("factor") - 1).abs() < SAME_BASIS)
    newest = on_newest.sort("cik", "seq").group_by("cik", maintain_order=True).agg(basis=pl.col("accession").last())
    summaries = provenance.summaries(behind, found.height)
    joined = (
        found.with_columns(summaries)
        .join(periods, on=["cik", "q"])
        .join(of_version, on=["cik", "seq"])
        .join(newest, on="cik")
    )
    compared = causes.classified(joined, behind.join(joined.select("version"), on="version", how="semi"))
    first_shown = pl.col("filed") - pl.col("period_end") > pl.duration(days=fiscal_years.YEAR_DAYS[0])
    flagged = compared.with_columns(first_seen_as_comparative=(pl.col("cause") == "initial") & first_shown)
    legs = behind.group_by("version", maintain_order=True).agg(legs=pl.struct(provenance.LINEAGE))
    return (
        flagged.with_columns(flags=flags.published(flagged))
        .join(legs, on="version", how="left", maintain_order="left")
        .sort("cik", "period_end", "item", "seq")
        .select(*versions.REPLAYED.names(), "q", "seq")
    )


def _profiles(currencies: pl.DataFrame, grid: pl.DataFrame, of_industry: pl.DataFrame) -> pl.DataFrame:
    months = (
        grid.filter("is_year_end")
        .select("cik", month=fiscal_years.nominal_month(pl.col("period_end")))
        .group_by("cik", "month")
        .len()
        .sort("cik", "len", "month", descending=[False, True, False])
        .group_by("cik", maintain_order=True)
        .agg(fiscal_year_end_month=pl.col("month").first().cast(pl.Int32))
    )
    return currencies.join(of_industry, on="cik").join(months, on="cik", how="left")


def _filings(ordered: pl.DataFrame, accepted: pl.DataFrame | None) -> pl.DataFrame:
    filings = ordered.select("cik", "accession", "form", "filed", "seq").unique(
        ["cik", "accession"], maintain_order=True
    )
    if accepted is None:
        return filings.with_columns(accepted_at=pl.lit(None, pl.Datetime("us", "UTC")))
    return filings.join(
        accepted.select("accession", "accepted_at").unique("accession"),
        on="accession",
        how="left",
        maintain_order="left",
    )
