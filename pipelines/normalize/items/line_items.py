"""The line items, from twelve-month flows and balances.

Belongs here: combining concepts into the items of the specification (section 2.4). Does not: amounts of the concepts
(ttm, balance), earnings per share and shares (earnings), return on invested capital (returns), why an item has no value
(gaps).
"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, Ints, ints
from pipelines.normalize.items.earnings import PerShare
from pipelines.normalize.items.gaps import GAPS, NO_FREE_CASH_FLOW
from pipelines.normalize.items.item import (
    DIVIDEND,
    DIVISOR,
    DIVISOR_MEAN,
    MEAN,
    SUM,
    Item,
    ids,
    joined_flags,
)
from pipelines.normalize.items.points import Points
from pipelines.normalize.items.returns import (
    CAPITAL,
    CAPITAL_BEFORE,
    OPERATING_INCOME,
    RETURN_ON_CAPITAL,
    return_on_capital,
    tax_rate_expression,
)
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.windows import METHOD_NAMES, METHODS
from warehouse.schema import LINE_ITEMS, items_of

SIGNIFICANT_DIGITS = 6
"""Digits of served per-share values and ratios."""

PREFERRED_SHARE = 0.08
"""Participating securities hardly ever take more than this share of net income; preferred dividends do."""

COMMON = Rule(
    "net-income.available-to-common",
    "Net income is that available to common shareholders if filings state it for the window and the four quarter ends "
    "before it, or if preferred dividends are paid (stated, or shown by income of the parent that exceeds income to "
    f"common by more than {PREFERRED_SHARE:.0%} of it).",
    "ASC 260-10-45-11: the numerator of basic earnings per share",
    "select",
)
COMPLETED = Rule(
    "net-income.parent-less-preferred-dividends",
    "If preferred dividends are paid and income to common is not stated throughout, net income is that attributable to "
    "the parent less preferred dividends.",
    "ASC 260-10-45-11: income available to common is net income less dividends on preferred stock",
    "compose",
)
PARENT = Rule(
    "net-income.attributable-to-parent",
    "Net income is that attributable to the parent if no preferred dividends are paid and income to common is not "
    "stated throughout.",
    "ASC 810-10-50-1A; taxonomy definition of NetIncomeLoss",
    "select",
)
NO_PREFERRED_DIVIDENDS = Rule(
    "net-income.preferred-dividends-missing",
    "Net income is withheld if preferred dividends are paid but not stated for the window.",
    "ASC 260-10-45-11; income to the parent would be too high by an unknown amount",
    "withhold",
)
ATTRIBUTABLE_TO_PARENT = Rule(
    "flag.attributable-to-parent",
    "Net income is attributable to the parent, while filings of the year show another amount available to common.",
    "ASC 260-10-45-60: participating securities share in earnings",
    "flag",
)
FREE_CASH_FLOW = Rule(
    "free-cash-flow.operating-less-capital-expenditure",
    "Free cash flow is operating cash flow less capital expenditure of the same window and regime.",
    "Service specification, section 2.4",
    "compose",
)
FREE_CASH_FLOW_OF_ONE_REGIME = Rule(
    "free-cash-flow.no-mixed-regimes",
    "Free cash flow is withheld if operating cash flow and capital expenditure are of two companies under one CIK, or "
    "follow two sets of accounting standards.",
    "ASC 805-40-45-1 (reverse acquisitions); IFRS 1 (first-time adoption)",
    "withhold",
)
SIX_DIGITS = Rule(
    "value.significant-digits",
    f"Amounts per share and ratios are served rounded to {SIGNIFICANT_DIGITS} significant digits.",
    "Sums and quotients of filed figures have no more digits than the figures, and filings state earnings in cents",
    "compose",
)
WHOLE_UNITS = Rule(
    "value.whole-units",
    "Amounts of money and numbers of shares are served in whole units.",
    "Filings state them in whole units or coarser; weighted means have fractions",
    "compose",
)
DEBT_TO_FCF = Rule(
    "debt-to-fcf.total-debt-over-free-cash-flow",
    "Debt to free cash flow is total debt divided by free cash flow, if free cash flow is positive.",
    "Service specification, section 2.4",
    "compose",
)
RULES = (
    COMMON,
    COMPLETED,
    PARENT,
    NO_PREFERRED_DIVIDENDS,
    ATTRIBUTABLE_TO_PARENT,
    FREE_CASH_FLOW,
    FREE_CASH_FLOW_OF_ONE_REGIME,
    DEBT_TO_FCF,
    SIX_DIGITS,
    WHOLE_UNITS,
)

CALCULATED = tuple(item.name for item in LINE_ITEMS if item.unit not in ("currency", "shares"))
"""Items that are served to SIGNIFICANT_DIGITS; the others in whole units."""
SHARES = tuple(item.name for item in LINE_ITEMS if item.unit == "shares")
ROLES = (SUM, MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN, *RETURN_ON_CAPITAL)
"""The roles of legs in a value; `recomputed` computes the value from them."""
FURTHER = tuple(item.name for item in LINE_ITEMS if not item.is_served)
"""Items beyond those of the specification: each is the twelve months of the concept of its name."""


def line_items(points: Points, per_share: PerShare, dividends: Item) -> Iterator[Item]:
    """The values of each line item at each point, with their rules, methods, flags and legs.

    Args:
        points: the amounts known at each quarter end after each filing.
        per_share: of net_income: earnings per share and shares.
        dividends: of items.dividends: dividends per share.

    Yields:
        the items of the specification in its order, then the further ones.
    """
    free_cash_flow = _free_cash_flow(points)
    yield _flow(points, "revenue")
    yield per_share.income
    yield per_share.earnings
    yield dividends
    yield free_cash_flow
    yield per_share.basic
    yield per_share.diluted
    for name in items_of("balance"):
        yield _balance(points, name)
    yield return_on_capital(points)
    yield _debt_to_fcf(points, free_cash_flow)
    for name in FURTHER:
        yield _flow(points, name)


def _flow(points: Points, name: str) -> Item:
    """An item that is the twelve months of one concept."""
    way = points.way(name)
    return Item(
        name,
        points.of(name),
        rules=ids(*METHODS),
        rule=way,
        methods=tuple(METHOD_NAMES.values()),
        method=way,
        flags=points.flags(name),
        legs=(points.leg(name, SUM),),
    )


def _balance(points: Points, name: str) -> Item:
    """A balance that is composed of lines of the balance sheet; its rule is the one that chose the lines."""
    rules, rule = points.composed_by(name)
    return Item(
        name,
        points.of(name),
        rules=rules,
        rule=rule,
        methods=("balance_sheet",),
        method=np.zeros(len(points), dtype=np.int64),
        flags={},
        legs=(points.leg(name, SUM),),
    )


def net_income(points: Points) -> Item:
    """Net income on one basis: available to common shareholders if it is stated throughout or can be computed.

    Stated throughout: for the window and the four quarter ends before it, as far as net income is known there.
    Otherwise a figure in annual reports only would make the series jump up and down. Computed: net income attributable
    to the parent less preferred dividends, if this window or one of the year before has any; if they are not stated,
    there is no value. If the two bases differ without preferred dividends (participating securities) and income to
    common is not stated throughout, the parent's net income is used and flagged. All of this uses only what was known
    after the filing.
    """
    common, parent = points.of("net_income_common"), points.of("net_income_parent")
    preferred = points.of("preferred_dividends")
    is_stated = ~np.isnan(common)
    is_covered = is_stated | ~np.isnan(parent)
    differs = np.abs(common - parent) > 0
    unstated = np.isnan(common) & ~np.isnan(parent)
    paid = (preferred > 0) | ((parent - common) > PREFERRED_SHARE * np.abs(parent))
    covered = points.timeline(is_covered)
    earlier = [points.earlier(covered, back) for back in range(1, QUARTERS_A_YEAR + 1)]

    def before(holds: Flags) -> Flags:
        """Whether the condition held at any of the four quarter ends before, as known after the filing."""
        found: Flags = np.any([(at >= 0) & holds[at] for at in earlier], axis=0)
        return found

    near = paid | before(paid)
    unstated_before, differs_near = before(unstated), before(differs) | differs
    is_common = is_covered & is_stated & (~unstated_before | near)
    is_completed = is_covered & ~is_common & near & ~np.isnan(preferred)
    is_parent = is_covered & ~is_common & ~near
    lacks_preferred = is_covered & ~is_common & near & np.isnan(preferred)
    holds = [is_common, is_completed, is_parent]
    ways = np.where(is_common, points.way("net_income_common"), points.way("net_income_parent"))
    of_common, of_parent = points.flags("net_income_common"), points.flags("net_income_parent")
    flags = {name: np.where(is_common, of_common[name], of_parent[name]) for name in of_parent}
    return Item(
        "net_income",
        np.select(holds, [common, parent - preferred, parent], np.nan),
        rules=ids(COMMON, COMPLETED, PARENT),
        rule=np.select(holds, [0, 1, 2], 0),
        methods=tuple(METHOD_NAMES.values()),
        method=ways,
        flags={**flags, "attributable_to_parent": is_parent & differs_near},
        legs=(
            points.leg("net_income_common", SUM).where(is_common),
            points.leg("net_income_parent", SUM).where(is_completed | is_parent),
            points.leg("preferred_dividends", SUM, -1.0).where(is_completed),
        ),
        decided=((NO_PREFERRED_DIVIDENDS, lacks_preferred),),
        withheld=(("no_preferred_dividends", NO_PREFERRED_DIVIDENDS, lacks_preferred),),
    )


def _free_cash_flow(points: Points) -> Item:
    """Operating cash flow less capital expenditure of the same regime."""
    operating, capital = "operating_cash_flow", "capital_expenditure"
    of_operating, of_capital = points.of(operating), points.of(capital)
    regimes = points.of(operating, "regime"), points.of(capital, "regime")
    of_one_regime = regimes[0] == regimes[1]
    of_two_regimes = np.abs(regimes[0] - regimes[1]) > 0
    way = points.way(operating)
    return Item(
        "free_cash_flow",
        np.where(of_one_regime, of_operating - of_capital, np.nan),
        rules=ids(FREE_CASH_FLOW),
        rule=np.zeros(len(points), dtype=np.int64),
        methods=tuple(METHOD_NAMES.values()),
        method=way,
        flags=joined_flags(points.flags(operating), points.flags(capital)),
        legs=(points.leg(operating, SUM), points.leg(capital, SUM, -1.0)),
        decided=((FREE_CASH_FLOW_OF_ONE_REGIME, of_two_regimes),),
        gaps=(
            ("no_capital_expenditure", ~np.isnan(of_operating) & np.isnan(of_capital)),
            ("no_operating_cash_flow", np.isnan(of_operating) & ~np.isnan(of_capital)),
        ),
    )


def _debt_to_fcf(points: Points, free_cash_flow: Item) -> Item:
    """Total debt divided by free cash flow, if that is positive."""
    everywhere = np.zeros(len(points), dtype=np.int64)
    flow, debt = free_cash_flow.value, points.of("total_debt")
    return Item(
        "debt_to_fcf",
        debt / np.where(flow > 0, flow, np.nan),
        rules=ids(DEBT_TO_FCF),
        rule=everywhere,
        methods=("ratio",),
        method=everywhere,
        flags=free_cash_flow.flags,
        legs=(points.leg("total_debt", DIVIDEND), *(leg.recast(DIVISOR) for leg in free_cash_flow.legs)),
        withheld=(("negative_fcf", GAPS["negative_fcf"], flow <= 0),),
        gaps=((NO_FREE_CASH_FLOW, np.isnan(flow)), ("no_total_debt", np.isnan(debt))),
    )


def served(column: str) -> pl.Expr:
    """Values as served: per-share amounts and ratios with six significant digits, others in whole units.

    Zero has no sign: some filers state "-0".
    """
    calculated = pl.col("item").is_in(CALCULATED)
    digits = pl.when(calculated).then(pl.col(column).round_sig_figs(SIGNIFICANT_DIGITS))
    rounded = digits.otherwise(pl.col(column).round())
    return pl.when(rounded == 0).then(pl.lit(0.0)).otherwise(rounded)


def roundings(values: pl.DataFrame) -> list[tuple[Rule, Ints]]:
    """The company of each value that is served rounded, by the rule that rounds it.

    Args:
        values: `cik`, `item`, `value`.
    """
    is_rounded = values.select((served("value") != pl.col("value")).fill_null(value=False)).to_series().to_numpy()
    calculated = values["item"].is_in(CALCULATED).to_numpy()
    cik = ints(values, "cik")
    return [(SIX_DIGITS, cik[is_rounded & calculated]), (WHOLE_UNITS, cik[is_rounded & ~calculated])]


def recomputed(legs: pl.DataFrame, of: list[str]) -> pl.DataFrame:
    """Compute values from their legs only, as any reader of the lineage can do.

    Args:
        legs: `role`, `weight`, `value` (as filed) and `split_factor` (converts it to the newest share basis).
        of: the columns that identify a value.

    Returns:
        `of` and `recomputed`: depending on the roles of the legs, their sum (each multiplied by its weight), their
        weighted mean, a quotient, or return on capital.
    """
    part = pl.col("value") * pl.col("split_factor") * pl.col("weight")
    roles = {role: part.filter(pl.col("role") == role) for role in ROLES}

    def total(role: str) -> pl.Expr:
        return pl.when(roles[role].len() > 0).then(roles[role].sum())

    def mean(role: str) -> pl.Expr:
        return total(role) / pl.col("weight").filter(pl.col("role") == role).sum()

    sums = legs.group_by(of).agg(
        *(total(role).alias(role) for role in (SUM, DIVIDEND, DIVISOR, *RETURN_ON_CAPITAL)),
        *(mean(role).alias(role) for role in (MEAN, DIVISOR_MEAN)),
    )
    after_tax = pl.col(OPERATING_INCOME) * (1 - tax_rate_expression(pl.col(OPERATING_INCOME)))
    on_capital = after_tax / ((pl.col(CAPITAL) + pl.col(CAPITAL_BEFORE)) / 2)
    quotient = pl.col(DIVIDEND) / pl.coalesce(DIVISOR, DIVISOR_MEAN)
    return sums.select(*of, recomputed=pl.coalesce(on_capital, quotient, MEAN, SUM))
