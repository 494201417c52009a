"""Gaps: why an item is missing in a period that has other values, or why it is withheld.

Belongs here: finding the reason of each missing item. Does not: items with a value (line_items, returns), the meaning
of the reasons in words (warehouse.contract.vocabulary).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.elements import AMOUNT, COMPOSED, ITEM_CONCEPTS
from pipelines.normalize.frames import WITHHELD
from pipelines.normalize.industry.classification import WITHOUT_MEANING, without_meaning
from pipelines.normalize.items.item import Item
from pipelines.normalize.items.points import Points
from pipelines.normalize.periods.calendar import on_grid
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.windows import of_items as items_of_flows
from warehouse.contract.line_items import ITEM_NAMES, items_of

LEFT_OUT = "left_out"
NO_OPERATING_INCOME, NO_FREE_CASH_FLOW = "no_operating_income", "no_free_cash_flow"
"""Also the reasons for a return on capital, or a ratio to free cash flow, without any stated amount in the window."""
THIN_CAPITAL = 0.05
"""If capital is below this share of assets, small changes of it would multiply the return on it."""
NO_SUCH_AMOUNT = "a value is only served where filings support it (service specification, section 2)"

_RULES_OF_REASONS = (
    (
        (
            NO_OPERATING_INCOME,
            "no_pretax_income",
            "no_income_tax",
            "no_equity",
            "no_total_debt",
            "no_cash",
            "no_capital_a_year_before",
            NO_FREE_CASH_FLOW,
            "no_capital_expenditure",
            "no_operating_cash_flow",
        ),
        Rule(
            "gap.no-input",
            "An item is withheld where an amount that it is computed from has no value. The reason names the amount.",
            NO_SUCH_AMOUNT,
            "withhold",
        ),
    ),
    (
        ("non_positive_capital", "thin_capital", "negative_fcf"),
        Rule(
            "gap.divisor",
            "A ratio is withheld where its divisor, free cash flow or invested capital now or a year before, is not "
            f"positive, or invested capital is less than {THIN_CAPITAL:.0%} of assets.",
            "Service specification, section 2.4",
            "withhold",
        ),
    ),
    (
        ("basis_break",),
        Rule(
            "gap.basis-break",
            "Values of twelve months are withheld if the figures under the CIK became another company's, or the "
            "accounting standards changed, within them.",
            "ASC 805-40-45-1 (reverse acquisitions); IFRS 1 (first-time adoption)",
            "withhold",
        ),
    ),
    (
        ("no_tag",),
        Rule(
            "gap.no-tag",
            "An item is withheld where the company's filings never state it, or an amount that it is computed from, "
            "in an element that the rules know.",
            NO_SUCH_AMOUNT,
            "withhold",
        ),
    ),
    (
        ("filed_by_predecessor",),
        Rule(
            "gap.before-succession",
            "Periods that begin before a company's notice of succession have no value where its own filings do not "
            "state them and no filings of its predecessor are joined.",
            "Exchange Act Rule 12g-3: the successor's reports begin with the succession",
            "withhold",
            "companies that were reorganized under another CIK",
        ),
    ),
    (
        ("not_on_balance_sheet",),
        Rule(
            "gap.not-on-balance-sheet",
            "A balance is withheld where the balance sheet at the period end does not state it.",
            NO_SUCH_AMOUNT,
            "withhold",
        ),
    ),
    (
        ("year_not_stated",),
        Rule(
            "gap.year-not-stated",
            "The value of a fiscal year is withheld where no filing states the year in elements from which the value "
            "can be computed.",
            NO_SUCH_AMOUNT,
            "withhold",
        ),
    ),
    (
        ("missing_quarter",),
        Rule(
            "gap.missing-quarter",
            "Twelve months are withheld where no filing states one of the quarters, or the same period of the year "
            "before.",
            "Three quarters are not an estimate of four (service specification, section 2)",
            "withhold",
        ),
    ),
    (
        ("quarter_not_stated",),
        Rule(
            "gap.quarter-not-stated",
            "The value of a quarter is withheld where no filing states the quarter, and years to date do not lead to "
            "it.",
            NO_SUCH_AMOUNT,
            "withhold",
        ),
    ),
)
GAPS: dict[str, Rule] = {reason: rule for reasons, rule in _RULES_OF_REASONS for reason in reasons}
"""The reasons that this module finds, and their rules. Other reasons come with their rules from other modules: lines
that are no longer stated (balance), and items without meaning in an industry (industry)."""

RULES = tuple(rule for _, rule in _RULES_OF_REASONS)


def gaps(
    versions: pl.DataFrame,
    stated: pl.DataFrame,
    of_industry: pl.DataFrame,
    missed: pl.DataFrame,
    item_gaps: pl.DataFrame,
    grid: pl.DataFrame,
    succeeded: pl.DataFrame,
    kind: "PeriodKind | None" = None,
) -> pl.DataFrame:
    """The reasons why periods with some value lack an item, and why items of other periods are withheld.

    Columns: `cik`, `period_end`, `item`, `reason`, `rule`.

    Args:
        versions: all versions: `cik`, `q`, `item`, `value` (null: withdrawn), in the order of filing.
        stated: `cik`, `concept`: all concepts that a company states at any time.
        of_industry: `cik`, `industry` of the newest filing (classification.newest).
        missed: `cik`, `q`, `item`, `reason`, `rule`, one row an item: lines that are no longer stated, windows that
            contain a break, legs that must not be added up, values that a rule withholds or amounts that it leaves out.
        item_gaps: of `of_items`.
        grid: of periods.calendar.fiscal_grid.
        succeeded: of `successions`.
        kind: the kind of the periods; twelve months by default.
    """
    kind = kind or OF_TWELVE_MONTHS
    items = versions.lazy().group_by("cik", "q", "item").agg(pl.col("value").last()).drop_nulls("value")
    wanted = items.select("cik", "q").unique().join(pl.LazyFrame({"item": kind.items}), how="cross")
    has_meaning = ~pl.col("reason").is_in(WITHOUT_MEANING["reason"].unique().implode())
    withheld = missed.lazy().filter(has_meaning).join(wanted, on=["cik", "q"], how="anti")
    missing = pl.concat([wanted.join(items, on=ITEM_KEY, how="anti"), withheld.select(ITEM_KEY)])
    ever = (
        stated.lazy()
        .unique()
        .join(_concepts_of_items(), on="concept")
        .group_by("cik", "item")
        .agg(stated=pl.col("group").n_unique(), groups=pl.col("groups").first())
    )
    described = (
        missing.join(ever, on=["cik", "item"], how="left")
        .join(of_industry.lazy(), on="cik", how="left")
        .join(without_meaning().lazy(), on=["industry", "item"], how="left")
        .join(missed.lazy(), on=ITEM_KEY, how="left", suffix="_missed")
        .join(item_gaps.lazy(), on=ITEM_KEY, how="left", suffix="_of_item")
        .join(grid.lazy().select("cik", "q", "period_end", "is_year_end"), on=["cik", "q"])
        .join(succeeded.lazy(), on="cik", how="left")
    )
    # a return on capital has its own reasons, which come before the missed ones
    first = pl.when(ITEM == "roic").then("reason_of_item")
    never_stated, *others = (pl.when(holds).then(pl.lit(code)) for code, holds in kind.reasons.items())
    reason = pl.coalesce("reason", first, "reason_missed", never_stated, "reason_of_item", *others)
    given = pl.coalesce("rule", pl.when(first.is_null()).then("rule_missed"))
    own = {code: rule.id for code, rule in GAPS.items() if rule.where(condition=True)}
    rule = given.fill_null(reason.replace_strict(own, default=None, return_dtype=pl.String))
    return (
        described.select("cik", "period_end", "item", reason=reason, rule=rule)
        .drop_nulls("rule")
        .sort("cik", "period_end", "item")
        .collect()
    )


def successions(registrants: pl.DataFrame | None, filings: pl.DataFrame) -> pl.DataFrame:
    """The companies without filings before their notice of succession, and its day: `cik`, `succeeded`.

    Args:
        registrants: `cik`, `succeeded` (null: no notice); None without submissions.
        filings: `cik`, `filed`, also of the predecessors that are joined.
    """
    if registrants is None:
        return pl.DataFrame(schema={"cik": pl.Int64, "succeeded": pl.Date})
    first = filings.group_by(pl.col("cik").cast(pl.Int64)).agg(pl.col("filed").min())
    of_company = registrants.select(pl.col("cik").cast(pl.Int64), "succeeded")
    return of_company.join(first, on="cik").filter(pl.col("succeeded") <= pl.col("filed")).drop("filed")


def of_items(points: Points, items: Sequence[Item]) -> pl.DataFrame:
    """The first reason that each item gives for having no value today: `cik`, `q`, `item`, `reason`."""
    found = [
        points.frame[np.flatnonzero(points.is_newest & holds)].select(
            "cik", "q", item=pl.lit(item.name, pl.String), reason=pl.lit(reason, pl.String)
        )
        for item in items
        for reason, holds in item.gaps
    ]
    return pl.concat(found).unique(ITEM_KEY, keep="first", maintain_order=True)


def of_left_out(left_out: pl.DataFrame, grid: pl.DataFrame) -> pl.DataFrame:
    """The items of fiscal years for which a filing states an amount that a rule leaves out: frames.WITHHELD.

    If several rules leave amounts of an item out, the first by its id is named.

    Args:
        left_out: of stated.stated_concepts.
        grid: of periods.calendar.fiscal_grid.
    """
    placed, _ = on_grid(left_out.drop_nulls("start"), grid)
    of_years = placed.filter(pl.col("n") == QUARTERS_A_YEAR)
    return (
        items_of_flows(of_years.join(grid.filter("is_year_end"), on=["cik", "q"], how="semi"))
        .select("cik", "q", "item", reason=pl.lit(LEFT_OUT), rule="rule")
        .sort(*ITEM_KEY, "rule")
        .unique(ITEM_KEY, keep="first", maintain_order=True)
        .cast(WITHHELD)
    )


ITEM_KEY = ["cik", "q", "item"]

ITEM = pl.col("item")
_BEGINS = (
    pl.when(ITEM.is_in(items_of("balance"))).then("period_end").otherwise(pl.col("period_end").dt.offset_by("-1y"))
)
REASONS: dict[str, pl.Expr] = {
    "no_tag": ~ITEM.is_in(items_of("ratio")) & (pl.col("stated").is_null() | (pl.col("stated") < pl.col("groups"))),
    NO_OPERATING_INCOME: ITEM == "roic",
    NO_FREE_CASH_FLOW: ITEM == "debt_to_fcf",
    "filed_by_predecessor": pl.col("succeeded") > _BEGINS,
    "not_on_balance_sheet": ITEM.is_in(items_of("balance")),
    "year_not_stated": pl.col("is_year_end"),
    "missing_quarter": pl.lit(value=True),
}
"""Reasons for items that have a meaning and that no rule withholds; the first one that holds is used."""


@dataclass(frozen=True)
class PeriodKind:
    """A kind of period: its items, and in order the reasons for items without value that no rule withholds."""

    items: tuple[str, ...]
    reasons: dict[str, pl.Expr]


OF_TWELVE_MONTHS = PeriodKind(ITEM_NAMES, REASONS)
OF_QUARTERS = PeriodKind(
    items_of("flow"),
    {
        "no_tag": REASONS["no_tag"],
        "filed_by_predecessor": pl.col("succeeded") > pl.col("period_end").dt.offset_by("-3mo"),
        "quarter_not_stated": pl.lit(value=True),
    },
)


def _concepts_of_items() -> pl.LazyFrame:
    """`concept`, `item`, `group` (concepts that replace each other), `groups` (how many the item needs).

    Free cash flow needs each of its concepts, every other item one of them.
    """
    rows = [
        (concept.name, item, concept.name if item == "free_cash_flow" else item)
        for item, concepts in ITEM_CONCEPTS.items()
        for concept in concepts
    ]
    rows += [(item, item, item) for item in COMPOSED]
    found = pl.LazyFrame(rows, {"concept": AMOUNT, "item": pl.String, "group": pl.String}, orient="row")
    return found.with_columns(groups=pl.col("group").n_unique().over("item"))
