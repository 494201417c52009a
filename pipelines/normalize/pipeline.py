"""From filed facts to the versions of standardized values, for many companies at once: the order of the rules.

Belongs here: the composition of the other modules of this folder. Does not: any rule.
"""

from dataclasses import dataclass, fields

import polars as pl

from pipelines.normalize.balance import composition as balances
from pipelines.normalize.corrections import ledger
from pipelines.normalize.elements import BY_NAME, RESERVATIONS
from pipelines.normalize.facts import currency, order, recasts, reports
from pipelines.normalize.facts.stated import stated_concepts
from pipelines.normalize.frames import with_ten_digits
from pipelines.normalize.history import causes, versions
from pipelines.normalize.industry import classification as industries
from pipelines.normalize.items import evidence, gaps, returns
from pipelines.normalize.items import line_items as items
from pipelines.normalize.periods import breaks, calendar, fiscal_years
from pipelines.normalize.shares import basis as share_basis
from pipelines.normalize.shares import latest as latest_shares
from pipelines.normalize.shares import splits
from pipelines.normalize.ttm import known as slots

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
    periodic = reports.typed(raw)
    currencies = currency.reporting_currency(periodic)
    ordered = order.in_filing_order(currency.in_currency(periodic, currencies), accepted)
    of_industry = industries.industries(ordered, registrants)
    as_filed, legs = stated_concepts(ordered, of_industry)
    signs = {name: MEASURE_SIGN[concept.measure] for name, concept in BY_NAME.items()}
    signed = as_filed.with_columns(measure_sign=pl.col("concept").replace_strict(signs, return_dtype=pl.Int8))
    sound, found_repairs, of_corrections = ledger.corrected(recasts.without_partial_recasts(signed))
    decisions: list[pl.DataFrame] = []
    decisions.append(of_corrections)
    reserved = sound.join(RESERVATIONS, on=["concept", "rank"], how="left", maintain_order="left")
    legs = legs.join(reserved.select("vintage", "repair", "reservation"), on="vintage", maintain_order="left")
    of_filing = breaks.regimes(ordered, sound)
    vintages = sound.join(of_filing, on=["cik", "seq"], maintain_order="left")
    grid = calendar.fiscal_grid(ordered)
    found_splits = splits.infer_splits(vintages)
    repetitions = share_basis.repeated(vintages)
    placed = calendar.on_grid(share_basis.on_newest_basis(vintages, found_splits, repetitions), grid)
    of_sheets = balances.balances(placed)
    missed = of_sheets.missed.drop("rule")
    composed, composed_legs = _composed(of_sheets, legs, first_vintage=as_filed.height)
    filings = share_basis.share_factors(_filings(ordered, accepted), found_splits, repetitions)
    found, no_returns = _items_at_every_change(placed, composed, grid, of_industry)
    replayed = _with_facts(versions.item_versions(found), pl.concat([legs, composed_legs]), filings, grid)
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
        latest_shares=latest_shares.latest_shares(placed, grid),
        evidence=evidence.evidence(periodic, vintages),
        profiles=_profiles(currencies, grid, industries.newest(of_industry)),
    )
    return Standardized(*(with_ten_digits(getattr(made, field.name)) for field in fields(made)))


def _items_at_every_change(
    placed: pl.DataFrame, composed: pl.DataFrame, grid: pl.DataFrame, of_industry: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The line items after each filing that changed anything behind them, and why there is no return on capital.

    Returns:
        columns of items.line_items, and of returns.no_return.
    """
    plain, _ = balances.single_lines(placed)
    stocks = slots.at_instants(slots.known_values(pl.concat([plain, composed], how="diagonal")))
    money = versions.flow_versions(slots.known_values(placed.filter(pl.col("n") > 0)), grid)
    standing = versions.at_every_change(money, slots.settled(stocks, ["cik", "concept", "q"], "amount"))
    money = items.wide(*standing)
    found = items.line_items(standing[0], money)
    return industries.with_meaning(found, of_industry), returns.no_return(money)


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


def _with_facts(found: pl.DataFrame, legs: pl.DataFrame, filings: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """Versions with their filing, fiscal period, cause, and the filed facts behind them: REPLAYED, `q` and `seq`."""
    numbered = found.with_row_index("number")
    of_filing = filings.select("cik", "accession", split_factor="factor")
    facts_behind = (
        numbered.select("number", "cik", "legs")
        .explode("legs")
        .unnest("legs")
        .with_row_index("order")
        .join(legs, on="vintage")
        .join(of_filing, on=["cik", "accession"])
        .sort("number", "order", "tag")
        .with_columns(
            weight=pl.col("weight") * pl.col("coefficient"),
            split_factor=pl.col("repair")
            * pl.when(pl.col("unit") == "shares")
            .then("split_factor")
            .when(pl.col("unit").str.ends_with("/shares"))
            .then(1 / pl.col("split_factor"))
            .otherwise(1.0),
        )
    )
    behind = facts_behind.group_by("number", maintain_order=True).agg(
        legs=pl.struct([field.name for field in versions.FACT.fields]),
        scale_repaired=(pl.col("repair").abs() != 1).any(),
        sign_repaired=(pl.col("repair") < 0).any(),
        reservations=pl.col("reservation").str.split(",").explode().drop_nulls().unique().sort().str.join(","),
        tags=pl.col("tag").unique().sort().str.join("+"),
        standards=pl.concat_str(pl.col("tag").str.split(":").list.first(), pl.lit(" "), "unit")
        .unique()
        .sort()
        .str.join("+"),
    )
    # the day before the first fiscal year is no period: only its balance sheet is shown, as a comparative
    periods = grid.filter(pl.col("fiscal_quarter") > 0).select(
        "cik", "q", "period_end", "fiscal_year", "fiscal_quarter", "is_year_end"
    )
    of_version = filings.select(
        "cik", "seq", "accession", "form", "filed", amended=pl.col("form").str.ends_with(reports.AMENDMENT)
    )
    # an amendment may be filed last, and repeat a report on a former basis
    on_newest = filings.filter((pl.col("factor") - 1).abs() < SAME_BASIS)
    newest = on_newest.sort("cik", "seq").group_by("cik", maintain_order=True).agg(basis=pl.col("accession").last())
    joined = (
        numbered.drop("legs")
        .join(behind, on="number")
        .join(of_version, on=["cik", "seq"])
        .join(periods, on=["cik", "q"])
        .join(newest, on="cik")
    )
    first_shown = pl.col("filed") - pl.col("period_end") > pl.duration(days=fiscal_years.YEAR_DAYS[0])
    flagged = causes.classified(joined).with_columns(
        flags=pl.concat_str(
            pl.col("flags").replace("", None),
            pl.col("reservations").replace("", None),
            pl.when("scale_repaired").then(pl.lit(SCALE_REPAIRED)),
            pl.when("sign_repaired").then(pl.lit(SIGN_REPAIRED)),
            pl.when((pl.col("cause") == "initial") & first_shown).then(pl.lit(FIRST_SEEN_AS_COMPARATIVE)),
            separator=",",
            ignore_nulls=True,
        )
    )
    return flagged.sort("cik", "period_end", "item", "seq").select(*versions.REPLAYED.names(), "q", "seq")


FIRST_SEEN_AS_COMPARATIVE = "first_seen_as_comparative"
"""A value whose own report is not among the facts: it was published earlier than its first filing here says."""


SCALE_REPAIRED = "scale_repaired"
"""A leg of the value was filed a thousand or a million times too large or too small; `lineage` has what was filed."""

SIGN_REPAIRED = "sign_repaired"
"""A leg of the value was filed with the other sign; `lineage` has what was filed."""


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
