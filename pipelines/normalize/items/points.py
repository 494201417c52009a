"""Points: each quarter end of a company after each filing that changed an amount of its line items.

Belongs here: the flows and balances that are known at a point. Does not: the line items composed of them (line_items,
returns).
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    QUARTER_BITS,
    Flags,
    Floats,
    Ints,
    Timeline,
    floats,
    ints,
    key_of,
    largest,
    starts,
    whole,
)
from pipelines.normalize.elements import NUMBER_OF, REPEATING
from pipelines.normalize.periods.breaks import REGIMES_OF_COMPANY
from pipelines.normalize.rule import Rule
from pipelines.normalize.ttm.known import COMPANY_BITS, CONCEPT_BITS, NOISE_OF_SUMS, QUARTERS_A_YEAR
from pipelines.normalize.ttm.methods import METHODS, SINGLE_FIGURES
from pipelines.normalize.ttm.windows import WINDOW_FLAGS
from warehouse.contract.line_items import LINE_ITEMS

POINT = ["cik", "q", "seq"]

ONE_COMPANY = Rule(
    "break.one-company-a-period",
    "If figures of two companies under one CIK are known for a period, only those of the company with the newest "
    "income or cash flows count: the other company's flows and balances are withheld.",
    "ASC 805-40-45-1: after a reverse acquisition the statements are those of the accounting acquirer",
    "withhold",
)

FURTHER = tuple(item for item in LINE_ITEMS if not item.is_served)
"""Items beyond the specification: each is the twelve months, or the balance, of the concept with its name."""
FLOWS = tuple(
    dict.fromkeys(
        (
            "revenue",
            "net_income_common",
            "net_income_parent",
            "preferred_dividends",
            "eps_basic",
            "earnings_numerator",
            "dividends_per_share",
            "dividends_paid",
            "operating_cash_flow",
            "capital_expenditure",
            "shares_basic",
            "shares_diluted",
            "operating_income",
            "operating_costs",
            "pretax_income",
            "income_tax",
            "interest_expense",
            "investment_income",
            "net_interest",
            "cost_of_revenue",
            "cost_of_goods_alone",
            "eps_diluted_otherwise",
            *(item.name for item in FURTHER if item.kind == "flow"),
        )
    )
)
"""The flow concepts from which items are made, by their twelve months."""
AMOUNT_COLUMNS = (
    *("amount", "days", "regime", "company", "method", "grain"),
    *("spread", "own_spread", "gross", "excess", "is_derived", "seq"),
)
BALANCES = tuple(
    dict.fromkeys(
        (
            *("equity", "total_assets", "total_debt", "cash_and_equivalents"),
            *(item.name for item in FURTHER if item.kind == "balance"),
        )
    )
)
SHARES_OF = {"eps_basic": "shares_basic", "eps_diluted": "shares_diluted"}
"""The shares of each amount of earnings per share."""
SUBSTITUTES = {"eps_diluted": "eps_diluted_otherwise"}
"""For a concept, the one that takes its place where its own twelve months are not stated."""
OF_EARNINGS = {name: [name, SUBSTITUTES.get(name, name)] for name in SHARES_OF}
"""The concepts of each amount of earnings per share."""


def _points(flows: pl.DataFrame, balances: pl.DataFrame, filings: pl.DataFrame) -> pl.DataFrame:
    """The points at which line items can change: after each filing that changed a flow or balance of a quarter end.

    A change of a balance is also a point of the quarter end four quarters later, because return on capital needs it.
    Filed earnings per share are also points of all quarter ends with shares but without filed earnings, because they
    show whether earnings may be computed there. The first filing after a reverse split is a point of all quarter ends
    with earnings per share, because the split makes their cents coarser.

    Returns:
        `cik`, `q`, `seq`, sorted, `is_of_split`, if only a split makes the point, and `is_of_further`, if only amounts
        changed that no item of the specification uses (REPEATING, diluted earnings per share).
    """
    is_further = pl.col("concept").is_in(REPEATING)
    of_amounts = _of_amounts(flows.filter(~is_further), balances.filter(~is_further))
    of_others = [frame.filter(is_further).select(POINT) for frame in (flows, balances)]
    of_others.append(_of_earnings(flows, "eps_diluted"))
    of_further = pl.concat(of_others).unique().join(of_amounts, on=POINT, how="anti")
    former = pl.col("factor").shift().over("cik", order_by="seq")
    splits = filings.filter(pl.col("factor") > former * (1 + NOISE_OF_SUMS)).select("cik", split="seq")
    of_splits = (
        flows.filter(pl.col("concept").is_in([name for pair in OF_EARNINGS.values() for name in pair]))
        .select(POINT)
        .join(splits, on="cik")
        .filter(pl.col("split") > pl.col("seq"))
        .select("cik", "q", seq="split")
        .unique()
        .join(pl.concat([of_amounts, of_further]), on=POINT, how="anti")
    )
    marked = [
        points.with_columns(is_of_split=is_of_split, is_of_further=is_of_further)
        for points, is_of_split, is_of_further in (
            (of_amounts, False, False),
            (of_further, False, True),
            (of_splits, True, False),
        )
    ]
    return pl.concat(marked).sort(POINT)


def _of_amounts(flows: pl.DataFrame, balances: pl.DataFrame) -> pl.DataFrame:
    """The points at which an item of the specification can change because an amount did."""
    changes = [frame.select(POINT) for frame in (flows, balances)]
    windows = pl.concat(changes).select("cik", "q").unique()
    a_year_on = balances.select("cik", pl.col("q") + QUARTERS_A_YEAR, "seq").join(windows, on=["cik", "q"], how="semi")
    return pl.concat([*changes, a_year_on, _of_earnings(flows, "eps_basic")]).unique()


def _of_earnings(flows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Points of quarter ends with shares but without filed earnings per share, after each filing with earnings."""
    shares, earnings = (
        flows.filter(pl.col("concept").is_in(names)).select(POINT) for names in ([SHARES_OF[name]], OF_EARNINGS[name])
    )
    unfiled = shares.select("cik", "q").unique().join(earnings, on=["cik", "q"], how="anti")
    return unfiled.join(earnings.select("cik", "seq").unique(), on="cik").select(POINT)


def _window(company: Ints, q: Ints) -> Ints:
    return key_of((company, COMPANY_BITS), (q, QUARTER_BITS))


@dataclass(frozen=True)
class Leg:
    """One amount in a value: for each point its row, counted through `flows` and then `balances`.

    `role` is its role in the value, `times` the factor of its own legs; `rows` is NOTHING if there is no amount.
    """

    concept: str
    rows: Ints
    role: str
    times: float = 1.0

    def where(self, holds: Flags) -> "Leg":
        """The same leg, only at the points where a condition holds."""
        return Leg(self.concept, np.where(holds, self.rows, NOTHING), self.role, self.times)

    def at(self, points: Ints) -> "Leg":
        """The same leg at other points; NOTHING if a point is missing."""
        return Leg(self.concept, np.where(points >= 0, self.rows[points], NOTHING), self.role, self.times)

    def recast(self, role: str, times: float = 1.0) -> "Leg":
        """The same amount in another role, multiplied."""
        return Leg(self.concept, self.rows, role, self.times * times)


class Points:
    """The points as arrays: the amounts known at each point, by concept."""

    def __init__(self, flows: pl.DataFrame, balances: pl.DataFrame, filings: pl.DataFrame) -> None:
        """Find the points, and the amounts known at each.

        Args:
            flows: of ttm.windows.flow_versions, or of ttm.discrete.quarter_versions.
            balances: `cik`, `concept`, `q`, `seq`, `amount`, `regime`, `vintage`: instants, one row for each change.
            filings: `cik`, `seq`, `factor` (of shares.splits.share_factors).
        """
        points = _points(flows, balances, filings).join(
            filings.select("cik", "seq", "factor"), on=["cik", "seq"], how="left", maintain_order="left"
        )
        self.frame = points.select(POINT)
        self.is_of_split, self.is_of_further = (points[name].to_numpy() for name in ("is_of_split", "is_of_further"))
        self.factor = floats(points.fill_null(1.0), "factor")
        self.cik = ints(self.frame, "cik")
        companies, self.company = np.unique(self.cik, return_inverse=True)
        self.q, self.seq = ints(self.frame, "q"), ints(self.frame, "seq")
        self.window = _window(self.company, self.q)
        self.changes = Timeline(self.window, self.seq)
        # the last point of each quarter end shows what is known today
        self.is_newest = np.roll(starts(self.window), -1)
        known = pl.concat([flows, balances], how="diagonal")
        self.first_balance = flows.height
        window = _window(np.searchsorted(companies, ints(known, "cik")), ints(known, "q"))
        of_concepts = Timeline((window << CONCEPT_BITS) | ints(known, "concept"), ints(known, "seq"))
        self.rows = {
            name: of_concepts.after((self.window << CONCEPT_BITS) | NUMBER_OF[name], self.seq)
            for name in (*FLOWS, *BALANCES)
        }
        for name, other in SUBSTITUTES.items():
            self.rows[name] = np.where(self.rows[name] == NOTHING, self.rows[other], self.rows[name])
        self.rules = (*(rule.id for rule in METHODS), *balances["rule"].drop_nulls().unique(maintain_order=True))
        numbers = {rule: number for number, rule in enumerate(self.rules)}
        known = known.with_columns(
            method=pl.col("rule").replace_strict(numbers, default=None, return_dtype=pl.Float64),
            company=pl.when(pl.col("amount").is_not_null()).then(pl.col("regime") // REGIMES_OF_COMPANY),
            withheld_by=pl.when(pl.col("amount").is_null()).then("rule"),
        )
        self._withheld_by = known["withheld_by"].extend_constant(None, 1)  # the last entry is for row NOTHING
        self._columns = {name: np.append(floats(known, name), np.nan) for name in (*AMOUNT_COLUMNS, *WINDOW_FLAGS)}
        self.of_another = self._of_other_companies()
        for name, holds in self.of_another.items():
            self.rows[name] = np.where(holds, NOTHING, self.rows[name])
        self.entity = largest(*(self.of(name, "company") for name in self.rows))

    def __len__(self) -> int:
        return len(self.q)

    def _of_other_companies(self) -> dict[str, Flags]:
        """Concepts with amounts of another company than the flows of the period, and the points of these amounts."""
        company = {name: self.of(name, "company") for name in self.rows}
        of_flows = largest(*(company[name] for name in FLOWS))
        found = {name: ONE_COMPANY.where(np.abs(of_name - of_flows) > 0) for name, of_name in company.items()}
        return {name: holds for name, holds in found.items() if holds.any()}

    def of(self, concept: str, name: str = "amount") -> Floats:
        """A column of the known amount of a concept: `amount`, `days`, `regime` and so on; NaN if none is known."""
        # row NOTHING is the last number of each column, which is NaN
        return self._columns[name][self.rows[concept]]

    def flags(self, concept: str) -> dict[str, Flags]:
        """The flags of the known twelve months of a flow."""
        return {name: self.of(concept, name) > 0 for name in WINDOW_FLAGS}

    def method(self, concept: str) -> Ints:
        """The number in `rules` of the rule that composes the known amount: METHODS for flows; -1 if none is known."""
        return whole(self.of(concept, "method"))

    def is_figure(self, concept: str) -> Flags:
        """Whether the known amount of a flow is one figure as filed: of the fiscal year, or of the quarter."""
        found: Flags = np.isin(self.method(concept), [METHODS.index(rule) for rule in SINGLE_FIGURES])
        return found

    def withheld_by(self, concept: str) -> pl.Series:
        """The id of the rule that withholds the amount of a concept at each point; null if none does."""
        return self._withheld_by[self.rows[concept]]

    def matching_points(self, points: "Points") -> Ints:
        """For each of other points, the newest own point of its company and quarter end as known after its filing."""
        companies = np.unique(self.cik)
        company = np.searchsorted(companies, points.cik)
        is_own = np.isin(points.cik, companies)
        return np.where(is_own, self.changes.after(_window(company, points.q), points.seq), NOTHING)

    def leg(self, concept: str, role: str, times: float = 1.0) -> Leg:
        """The known amount of a concept as a leg of a value."""
        return Leg(concept, self.rows[concept], role, times)

    def earlier(self, of: Timeline, quarters: int) -> Ints:
        """The newest point so many quarters before, as known after the point's own filing."""
        return of.after(_window(self.company, self.q - quarters), self.seq)
