"""The line items, from twelve-month flows and balances.

Belongs here: combining concepts into the items of the specification (section 2.4), dividends per share against
dividends paid. Does not: amounts of the concepts (ttm, balance), earnings per share and shares (earnings), return on
invested capital (returns), why an item has no value (gaps).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from pipelines.normalize.arrays import Flags, any_of, floats, numbers, picked
from pipelines.normalize.items.earnings import (
    CONTRADICTED_REASON,
    average_shares,
    diluted_shares,
    earnings_per_share,
    of_all_classes,
)
from pipelines.normalize.items.gaps import GAPS, NO_FREE_CASH_FLOW
from pipelines.normalize.items.gross_profit import gross_profit
from pipelines.normalize.items.item import (
    DIVIDEND,
    DIVISOR,
    DIVISOR_MEAN,
    MEAN,
    SUM,
    Candidate,
    Item,
    Proof,
    flow,
)
from pipelines.normalize.items.points import FURTHER, Points
from pipelines.normalize.items.returns import (
    CAPITAL,
    CAPITAL_BEFORE,
    INCOME_TAX,
    OPERATING_INCOME,
    PRETAX_INCOME,
    RETURN_ON_CAPITAL,
    return_on_capital,
    stated_operating_income,
    tax_rate,
)
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import QUARTERS_A_YEAR
from pipelines.normalize.ttm.methods import FOUR_QUARTERS, METHODS
from warehouse.contract.line_items import LINE_ITEMS

SIGNIFICANT_DIGITS = 6
"""Digits of served per-share values and ratios."""

PREFERRED_SHARE = 0.08
"""Participating securities hardly ever take more than this share of net income; preferred dividends do."""

ALIKE = 0.25
"""Four quarters have no special dividend if their dividends differ by less than this share. Dividends per share times
shares are the dividends paid if they differ by at most as much: declared dividends are paid some weeks later, on other
counts."""
TOO_MANY = 1.5
"""Four even dividends are less than this multiple of the dividends paid in the same twelve months: at most one of them
is paid later. Measured on 228 companies: 4 of 900 sums are more, Disney's: its four contexts have two half-yearly
dividends, each in the quarter in which it was declared and in the quarter in which it was paid."""

COMMON = Rule(
    "net-income.available-to-common",
    "Net income is income available to common shareholders if stated for the twelve months and the four quarter ends "
    "before, or if preferred dividends are paid (stated, or shown by income of the parent that exceeds it by "
    f"{PREFERRED_SHARE:.0%}).",
    "ASC 260-10-45-11: the numerator of basic earnings per share",
    "select",
)
COMPLETED = Rule(
    "net-income.parent-less-preferred-dividends",
    "If preferred dividends are paid and income available to common is not stated for the twelve months, net income "
    "is net income attributable to the parent less preferred dividends.",
    "ASC 260-10-45-11: income available to common is net income less dividends on preferred stock",
    "compose",
)
PARENT = Rule(
    "net-income.attributable-to-parent",
    "Net income is net income attributable to the parent if no preferred dividends are paid and income available to "
    "common is not stated for the twelve months and the four quarter ends before.",
    "ASC 810-10-50-1A; taxonomy definition of NetIncomeLoss",
    "select",
)
NO_PREFERRED_DIVIDENDS = Rule(
    "net-income.preferred-dividends-missing",
    "Net income is withheld if preferred dividends are paid, but the filings state neither income available to "
    "common nor the preferred dividends of the twelve months.",
    "ASC 260-10-45-11; income to the parent would be too high by an unknown amount",
    "withhold",
)
ATTRIBUTABLE_TO_PARENT = Rule(
    "flag.attributable-to-parent",
    "Net income is attributable to the parent, while filings of the year show another amount available to common.",
    "ASC 260-10-45-60: participating securities share in earnings",
    "flag",
)
DIVIDENDS_TIMES_SHARES = Rule(
    "identity.dividends.times-shares",
    "A sum of four about equal quarterly dividends per share is withheld, as one that repeats a quarter, if times "
    f"average shares it exceeds dividends paid by more than {TOO_MANY - 1:.0%}; so is the next sum without stated "
    "payments.",
    "Taxonomy definitions: dividends per share times the shares are the dividends",
    "withhold",
)
FREE_CASH_FLOW = Rule(
    "free-cash-flow.operating-less-capital-expenditure",
    "Free cash flow is operating cash flow less capital expenditure of the same period, if both are of one company "
    "and follow one set of accounting standards.",
    "Service specification, section 2.4; ASC 805-40-45-1 (reverse acquisitions); IFRS 1 (first-time adoption)",
    "compose",
)
ROUNDED = Rule(
    "value.rounded",
    f"Amounts per share and ratios are served rounded to {SIGNIFICANT_DIGITS} significant digits; amounts of money and "
    "numbers of shares in whole units.",
    "Filings state earnings in cents and money in whole units or coarser; sums and quotients of filed figures have no "
    "more digits than the figures",
    "compose",
)
SINGLE_LINE = Rule(
    "balance.line-as-filed",
    "Total assets and stockholders' equity are taken from the balance sheet at the period end, as filed.",
    "Regulation S-X Rule 5-02.18 and 5-02.30; IAS 1.54",
    "select",
)
DEBT_TO_FCF = Rule(
    "debt-to-fcf.total-debt-over-free-cash-flow",
    "Debt to free cash flow is total debt divided by free cash flow, if free cash flow is positive.",
    "Service specification, section 2.4",
    "compose",
)

CALCULATED = tuple(item.name for item in LINE_ITEMS if item.unit not in ("currency", "shares"))
"""Items that are served to SIGNIFICANT_DIGITS; the others in whole units."""
SHARES = tuple(item.name for item in LINE_ITEMS if item.unit == "shares")
ROLES = (SUM, MEAN, DIVIDEND, DIVISOR, DIVISOR_MEAN, *RETURN_ON_CAPITAL)
"""The roles of legs in a value; `recomputed` computes the value from them."""


class Bases(NamedTuple):
    """The basis of net income at each point: whether it is known, and which rule of _net_income it follows."""

    is_known: Flags
    is_common: Flags
    is_completed: Flags
    is_parent: Flags


@np.errstate(divide="ignore", invalid="ignore")
def line_items(points: Points) -> list[Item]:
    """The values of each line item at each point, with their rules, methods, flags and legs.

    Args:
        points: the amounts known at each quarter end after each filing.

    Returns:
        the items of the specification in its order, then the further ones.
    """
    flows, free_cash_flow, others = _flows(points)
    return [
        *flows,
        *(_balance(points, name) for name in ("total_debt", "cash_and_equivalents")),
        return_on_capital(points),
        _debt_to_fcf(points, free_cash_flow),
        *(others.get(item.name) or (_line if item.kind == "balance" else flow)(points, item.name) for item in FURTHER),
    ]


def _balance(points: Points, name: str) -> Item:
    """An item that is the balance of the concept with its name."""
    return replace(flow(points, name), methods=("balance_sheet",), method=np.zeros(len(points), dtype=np.int64))


def _line(points: Points, name: str) -> Item:
    """An item that is one line of the balance sheet."""
    found = _balance(points, name)
    return found.choosing(Candidate(SINGLE_LINE, ~np.isnan(found.value), found.value, found.legs))


@np.errstate(divide="ignore", invalid="ignore")
def quarterly_items(points: Points, of_year: Points, items: Sequence[Item]) -> list[Item]:
    """The flow items of one quarter, by the same rules as line_items.

    Args:
        points: the amounts of the quarter known at each quarter end after each filing.
        of_year: the amounts of the twelve months.
        items: of line_items, from the amounts of the twelve months.
    """
    income = next(item for item in items if item.name == "net_income")
    flows, _, others = _flows(points, _bases_of_year(points, of_year, income))
    further = [item.name for item in FURTHER if item.kind == "flow"]
    return [*flows, *(others.get(name) or flow(points, name) for name in further)]


def _flows(points: Points, bases: Bases | None = None) -> tuple[list[Item], Item, dict[str, Item]]:
    """The flow items of the specification in its order, free cash flow, and further calculated items by name."""
    income = _net_income(points, bases)
    basic = average_shares(points, "shares_basic")
    diluted = diluted_shares(points, basic, income)
    free_cash_flow = _free_cash_flow(points)
    earnings, is_of_one_class = earnings_per_share(points, "eps_basic", income, basic)
    revenue = flow(points, "revenue")
    others = {
        "gross_profit": gross_profit(points, revenue),
        "operating_income": stated_operating_income(points),
        "eps_diluted": earnings_per_share(points, "eps_diluted", income, diluted)[0],
    }
    found = [
        revenue,
        income,
        earnings,
        _dividends(points, basic, diluted),
        free_cash_flow,
        of_all_classes(basic, is_of_one_class),
        of_all_classes(diluted, is_of_one_class),
    ]
    return found, free_cash_flow, others


def _bases_of_year(points: Points, of_year: Points, income: Item) -> Bases:
    """The basis of the twelve months that end with each quarter, as known after the filing; the quarter takes it over.

    Otherwise the quarters of a year would be on different bases if its annual report alone states income to common.
    """
    at = of_year.matching_points(points)
    has_value, number = np.isfinite(picked(income.value, at)), picked(income.rule, at)
    is_withheld = any_of([picked(holds, at) > 0 for *_, holds in income.withheld])
    rules = [has_value & (number == income.rules.index(rule.id)) for rule in (COMMON, COMPLETED, PARENT)]
    return Bases(has_value | is_withheld, *rules)


def _net_income(points: Points, bases: Bases | None = None) -> Item:
    """Net income on one basis: available to common shareholders if it is stated throughout or can be computed.

    Stated throughout: for the window and the four quarter ends before it, as far as net income is known there.
    Otherwise a figure in annual reports only would make the series jump up and down. Computed: net income attributable
    to the parent less preferred dividends, if this window or one of the year before has any; if they are not stated,
    there is no value. If the two bases differ without preferred dividends (participating securities) and income to
    common is not stated throughout, the parent's net income is used and flagged. All of this uses only what was known
    after the filing.

    Args:
        points: the points.
        bases: the basis where the twelve months decide it; None: they decide it at no point.
    """
    common, parent = points.of("net_income_common"), points.of("net_income_parent")
    preferred = points.of("preferred_dividends")
    is_stated, is_of_parent = ~np.isnan(common), ~np.isnan(parent)
    covered = points.changes.of_rows(is_stated | is_of_parent)
    earlier = [points.earlier(covered, back) for back in range(1, QUARTERS_A_YEAR + 1)]

    def before(holds: Flags) -> Flags:
        """Whether the condition held at any of the four quarter ends before, as known after the filing."""
        return any_of([(at >= 0) & holds[at] for at in earlier])

    pays = (preferred > 0) | ((parent - common) > PREFERRED_SHARE * abs(parent))
    pays |= before(pays)
    differs = abs(common - parent) > 0
    is_common = COMMON.where(is_stated & (~before(~is_stated & is_of_parent) | pays))
    if bases:
        is_common = np.where(bases.is_known, is_stated & (bases.is_common | bases.is_completed), is_common)
        pays = np.where(bases.is_known, ~bases.is_parent, pays)
    lacks_preferred = is_of_parent & ~is_common & pays & np.isnan(preferred)
    is_completed = is_of_parent & ~is_common & pays & ~lacks_preferred
    is_parent = is_of_parent & ~is_common & ~is_completed
    of_common, of_parent = flow(points, "net_income_common"), flow(points, "net_income_parent")
    flags = {name: np.where(is_common, of_common.flags[name], holds) for name, holds in of_parent.flags.items()}
    found = replace(
        of_parent,
        name="net_income",
        method=np.where(is_common, of_common.method, of_parent.method),
        flags={**flags, "attributable_to_parent": is_parent & (before(differs) | differs)},
    ).choosing(
        Candidate(COMMON, is_common, common, of_common.legs),
        Candidate(
            COMPLETED,
            is_completed,
            parent - preferred,
            (*of_parent.legs, points.leg("preferred_dividends", SUM, -1.0)),
        ),
        Candidate(PARENT, is_parent, parent, of_parent.legs),
    )
    return found.withholding(("no_preferred_dividends", NO_PREFERRED_DIVIDENDS, lacks_preferred))


def _dividends(points: Points, basic: Item, diluted: Item) -> Item:
    """Dividends per share as filed; a sum of quarters that dividends paid contradict is withheld."""
    found, paid = flow(points, "dividends_per_share"), np.abs(points.of("dividends_paid"))
    product = found.value * np.where(np.isnan(basic.value), diluted.value, basic.value)
    times = product / paid
    is_even = points.of(found.name, "own_spread") < 1 + ALIKE
    may_repeat = is_even & (found.method == METHODS.index(FOUR_QUARTERS))
    is_too_much = may_repeat & np.isfinite(times) & (times > TOO_MANY)
    before = points.earlier(points.changes, 1)
    contradicted = is_too_much | (may_repeat & np.isnan(times) & (before >= 0) & is_too_much[before])
    is_shown = contradicted | (np.abs(times - 1) <= ALIKE)
    proof = Proof(DIVIDENDS_TIMES_SHARES, is_shown, np.where(contradicted, 2, 0), product, paid)
    withheld = found.withholding((CONTRADICTED_REASON, DIVIDENDS_TIMES_SHARES, contradicted))
    return replace(withheld, proofs=(proof,))


def _free_cash_flow(points: Points) -> Item:
    """Operating cash flow less capital expenditure, if both are of one company and one set of accounting standards."""
    operating, capital = flow(points, "operating_cash_flow"), flow(points, "capital_expenditure")
    of_two_regimes = abs(points.of(operating.name, "regime") - points.of(capital.name, "regime")) > 0
    return replace(
        operating,
        name="free_cash_flow",
        flags={name: np.logical_or(holds, capital.flags[name]) for name, holds in operating.flags.items()},
        gaps=tuple(
            (f"no_{one.name}", np.isnan(one.value) & ~np.isnan(other.value))
            for one, other in ((operating, capital), (capital, operating))
        ),
    ).choosing(
        Candidate(
            FREE_CASH_FLOW,
            ~of_two_regimes,
            operating.value - capital.value,
            (*operating.legs, *(leg.recast(SUM, -1.0) for leg in capital.legs)),
        )
    )


def _debt_to_fcf(points: Points, free_cash_flow: Item) -> Item:
    """Total debt divided by free cash flow, if that is positive."""
    flow, debt = free_cash_flow.value, points.of("total_debt")
    legs = (points.leg("total_debt", DIVIDEND), *(leg.recast(DIVISOR) for leg in free_cash_flow.legs))
    found = replace(
        free_cash_flow,
        name="debt_to_fcf",
        methods=("ratio",),
        method=np.zeros(len(points), dtype=np.int64),
        gaps=((NO_FREE_CASH_FLOW, np.isnan(flow)), ("no_total_debt", np.isnan(debt))),
    ).choosing(Candidate(DEBT_TO_FCF, ~np.isnan(flow), debt / flow, legs))
    return found.withholding(("negative_fcf", GAPS["negative_fcf"], flow <= 0))


def served(column: str) -> pl.Expr:
    """Values as served: per-share amounts and ratios with six significant digits, others in whole units.

    Zero has no sign: some filers state "-0".
    """
    is_calculated, value = pl.col("item").is_in(CALCULATED), pl.col(column)
    rounded = pl.when(is_calculated).then(value.round_sig_figs(SIGNIFICANT_DIGITS)).otherwise(value.round())
    is_rounded = ROUNDED.where(rounded.is_not_null())
    return pl.when(rounded == 0).then(pl.lit(0.0)).when(is_rounded).then(rounded).otherwise(column)


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
    rate = tax_rate(*(floats(sums, name) for name in (OPERATING_INCOME, PRETAX_INCOME, INCOME_TAX)))
    after_tax = pl.col(OPERATING_INCOME) * (1 - numbers(rate))
    on_capital = after_tax / ((pl.col(CAPITAL) + pl.col(CAPITAL_BEFORE)) / 2)
    quotient = pl.col(DIVIDEND) / pl.coalesce(DIVISOR, DIVISOR_MEAN)
    return sums.select(*of, recomputed=pl.coalesce(on_capital, quotient, MEAN, SUM))
