"""From filed facts to standardized values, for many companies at once: the order in which the rules apply.

Belongs here: the composition of the other modules of this folder. Does not: any rule.
"""

from dataclasses import dataclass

import polars as pl

from pipelines.normalize import balances, calendar, facts, flows, items, splits
from pipelines.normalize.concepts import BY_NAME, CONCEPTS

MEASURE_SIGN = {"money": 0, "per_share": -1, "shares": 1}
FLOWS = tuple(concept.name for concept in CONCEPTS if not concept.instant)
COMPOSED = ("total_debt", "cash_and_equivalents")
PLAIN_BALANCES = ("equity", "assets")
PER_SHARE = tuple(concept.name for concept in CONCEPTS if concept.measure == "per_share")


@dataclass(frozen=True, slots=True)
class Standardized:
    """What is known of some companies after their newest filing.

    values: `cik`, `period_kind`, `period_end`, `period`, `fiscal_year`, `fiscal_quarter`, `item`, `value`, `method`,
        `flags`, `first_filed`, `last_filed`.
    lineage: `cik`, `period_kind`, `period_end`, `item`, `leg`, `tag`, `unit`, `start`, `end`, `value`, `operation`,
        `accession`, `form`, `filed`.
    gaps: `cik`, `period_kind`, `period_end`, `item`, `reason`.
    splits: `cik`, `effective_by`, `ratio`, `effective_after`, `evidence`.
    profiles: `cik`, `currency`, `fiscal_year_end_month`, `industry`.
    filings: `accession`, `cik`, `form`, `filed`, `accepted_at`.
    """

    values: pl.DataFrame
    lineage: pl.DataFrame
    gaps: pl.DataFrame
    splits: pl.DataFrame
    profiles: pl.DataFrame
    filings: pl.DataFrame


def standardize(raw: pl.DataFrame, accepted: pl.DataFrame | None = None) -> Standardized:
    """Standardize the facts of a batch of companies.

    Args:
        raw: facts as filed, columns of facts.RAW_SCHEMA.
        accepted: `accession`, `accepted_at` (UTC) where the submissions tell.

    Returns:
        the tables of Standardized; a company whose facts support nothing has no rows.
    """
    periodic = facts.typed(raw)
    currencies = facts.reporting_currency(periodic)
    ordered = facts.in_filing_order(facts.in_currency(periodic, currencies), accepted)
    of_industry = facts.industries(ordered)
    vintages, legs = facts.stated_concepts(ordered, of_industry)
    grid = calendar.fiscal_grid(ordered)
    found_splits = splits.infer_splits(vintages)
    signs = {name: MEASURE_SIGN[concept.measure] for name, concept in BY_NAME.items()}
    signed = vintages.with_columns(measure_sign=pl.col("concept").replace_strict(signs, return_dtype=pl.Int8))
    placed = calendar.on_grid(splits.on_newest_basis(signed, found_splits), grid)
    composed, composed_legs = _composed(placed, legs, first_vintage=vintages.height)
    legs = pl.concat([legs, composed_legs])
    newest = ordered.group_by("cik").agg(pl.col("seq").max())
    at_points = _at_points(newest, grid, placed, composed)
    found = items.line_items(*at_points, of_industry)
    stated = pl.concat([placed.select("cik", "concept"), composed.select("cik", "concept")])
    missing = items.gaps(found, stated, of_industry)
    numbered = found.with_row_index("value_id")
    lineage = _lineage(numbered, legs)
    filed = lineage.group_by("value_id").agg(first_filed=pl.col("filed").min(), last_filed=pl.col("filed").max())
    values = _by_kind(numbered.join(filed, on="value_id", how="left").drop("legs"), grid)
    return Standardized(
        values=values.drop("value_id"),
        lineage=values.select("value_id", "cik", "period_kind", "period_end", "item")
        .join(lineage, on="value_id")
        .drop("value_id"),
        gaps=_by_kind(missing, grid).select("cik", "period_kind", "period_end", "item", "reason"),
        splits=found_splits.select("cik", "effective_by", "ratio", "effective_after", "evidence"),
        profiles=_profiles(currencies, grid, of_industry),
        filings=_filings(ordered, accepted),
    )


def _at_points(
    newest: pl.DataFrame, grid: pl.DataFrame, placed: pl.DataFrame, composed: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Twelve-month flows and balances after each filing of `newest` (`cik`, `seq`)."""
    concepts = pl.DataFrame({"concept": FLOWS}).with_columns(by_quarter_first=pl.col("concept").is_in(PER_SHARE))
    plain = balances.as_first_shown(placed.filter(pl.col("concept").is_in(PLAIN_BALANCES)))
    stocks = flows.known_values(pl.concat([plain, composed], how="diagonal"))
    return (
        flows.twelve_months(
            newest.join(concepts, how="cross"), grid, flows.known_values(placed.filter(pl.col("n") > 0))
        ),
        flows.at_instants(
            newest.join(pl.DataFrame({"concept": [*PLAIN_BALANCES, *COMPOSED]}), how="cross"), grid, stocks
        ),
    )


def _composed(placed: pl.DataFrame, legs: pl.DataFrame, first_vintage: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Debt and cash of each balance sheet as vintages of their own, and the facts behind them."""
    sheets = balances.balance_sheets(placed)
    composed = balances.as_first_shown(
        pl.concat([balances.total_debt(sheets), balances.cash_and_equivalents(sheets)])
    ).with_row_index("number")
    vintage = (pl.col("number") + first_vintage).cast(pl.UInt32)
    numbered = composed.with_columns(vintage=vintage, n=pl.lit(0, pl.Int32), measure_sign=pl.lit(0, pl.Int8)).drop(
        "number"
    )
    parts = numbered.select(composed="vintage", vintage="legs").explode("vintage")
    return numbered.drop("legs"), (
        parts.join(legs, on="vintage").drop("vintage").rename({"composed": "vintage"}).select(legs.columns)
    )


def _lineage(numbered: pl.DataFrame, legs: pl.DataFrame) -> pl.DataFrame:
    """The facts behind each value: `value_id`, `leg` and the fact; a negative coefficient turns the operation."""
    parts = (
        numbered.select("value_id", "legs")
        .explode("legs")
        .unnest("legs")
        .with_row_index("order")
        .join(legs, on="vintage", maintain_order="left_right")
    )
    operation = (
        pl.when(pl.col("coefficient") < 0)
        .then(pl.concat_str(pl.lit("less "), pl.col("operation")))
        .otherwise(pl.col("operation"))
    )
    return (
        parts.with_columns(operation=operation)
        .sort("value_id", "order", "tag")
        .with_columns(leg=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("value_id"))
        .drop("order", "vintage", "coefficient")
    )


def _by_kind(rows: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """Rows by quarter number as rows by period end: `ttm` for each, and `annual` too at fiscal year ends."""
    year, quarter = pl.col("fiscal_year").cast(pl.String), pl.col("fiscal_quarter").cast(pl.String)
    labels = grid.filter(pl.col("fiscal_quarter") > 0).select(
        "cik", "q", "period_end", "fiscal_year", "fiscal_quarter", "is_year_end"
    )
    labelled = rows.join(labels, on=["cik", "q"])
    ttm = labelled.with_columns(period_kind=pl.lit("ttm"), period=pl.concat_str(year, pl.lit("Q"), quarter))
    annual = labelled.filter("is_year_end").with_columns(
        period_kind=pl.lit("annual"), period=pl.concat_str(pl.lit("FY"), year)
    )
    return pl.concat([ttm, annual]).drop("q", "is_year_end", *({"seq"} & set(rows.columns)))


def _profiles(currencies: pl.DataFrame, grid: pl.DataFrame, of_industry: pl.DataFrame) -> pl.DataFrame:
    months = (
        grid.filter("is_year_end")
        .select("cik", month=calendar.nominal_month(pl.col("period_end")))
        .group_by("cik", "month")
        .len()
        .sort("cik", "len", "month", descending=[False, True, False])
        .group_by("cik", maintain_order=True)
        .agg(fiscal_year_end_month=pl.col("month").first().cast(pl.Int32))
    )
    return currencies.join(of_industry, on="cik").join(months, on="cik", how="left")


def _filings(ordered: pl.DataFrame, accepted: pl.DataFrame | None) -> pl.DataFrame:
    filings = ordered.select("accession", "cik", "form", "filed").unique(["accession", "cik"], maintain_order=True)
    if accepted is None:
        return filings.with_columns(accepted_at=pl.lit(None, pl.Datetime("us", "UTC")))
    return filings.join(accepted.unique("accession"), on="accession", how="left", maintain_order="left")
