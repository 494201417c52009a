"""Points: each quarter end of a company after each filing that changed an amount of its line items.

Belongs here: the flows and balances that are known at a point. Does not: the line items composed of them (line_items,
returns).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize.arrays import (
    NOTHING,
    QUARTER_BITS,
    SEQ_BITS,
    Flags,
    Floats,
    Ints,
    Timeline,
    floats,
    ints,
    key_of,
    largest,
    picked,
)
from pipelines.normalize.elements import AMOUNT
from pipelines.normalize.keys import NUMBER_OF, pairs_of_equal
from pipelines.normalize.periods.breaks import REGIMES_OF_COMPANY
from pipelines.normalize.rule import Rule
from pipelines.normalize.shares.basis import SAME_BASIS
from pipelines.normalize.ttm.known import COMPANY_BITS, CONCEPT_BITS, QUARTERS_A_YEAR
from pipelines.normalize.ttm.windows import METHODS, WINDOW_FLAGS

POINT = ["cik", "q", "seq"]

ONE_COMPANY = Rule(
    "break.one-company-a-period",
    "A period has the figures of one company only, the newest whose income or cash flows of the period are stated: "
    "balances and flows of another company under the same CIK are withheld beside them.",
    "ASC 805-40-45-1: after a reverse acquisition the statements are those of the accounting acquirer",
    "withhold",
)
RULES = (ONE_COMPANY,)

FLOWS = (
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
)
OF_FLOWS = ("amount", "days", "regime", "grain", "spread", "own_spread", "gross", "beyond", "is_derived", "seq")
BALANCES = ("equity", "assets", "total_debt", "cash_and_equivalents")


def points_of(flows: pl.DataFrame, balances: pl.DataFrame, filings: pl.DataFrame | None = None) -> pl.DataFrame:
    """The points at which line items can change: after each filing that changed a flow or balance of a quarter end.

    Args:
        flows: of ttm.windows.flow_versions.
        balances: `cik`, `concept`, `q`, `seq`, `amount`, `regime`, `vintage`: instants, one row for each change.
        filings: `cik`, `seq`, `factor` (of shares.basis.share_factors); without them there was no split.

    Returns:
        `cik`, `q`, `seq`, sorted. A change of a balance is also a point of the quarter end four quarters later, because
        return on capital needs it, and earnings per share of a filing of quarter ends for which none are filed, because
        they show whether these may be computed; the first filing after a reverse split is one of all quarter ends with
        such earnings, because the split makes their cents coarser (`is_of_split`, if it changed no amount). `factor`:
        that of the filing. For each of FLOWS and BALANCES a column `<name>_row`: the row number of `flows` or
        `balances` that is known at the point, or null.
    """
    companies = np.unique(np.concatenate([ints(flows, "cik"), ints(balances, "cik")]))
    keys = []
    for frame in (flows, balances):
        company = np.searchsorted(companies, ints(frame, "cik"))
        keys.append((company, ints(frame, "q"), ints(frame, "seq"), ints(frame, "concept")))
    own = [_window(company, q) for company, q, _, _ in keys]
    windows = np.unique(np.concatenate(own))
    company, q, seq, _ = keys[1]
    a_year_on = _window(company, q + QUARTERS_A_YEAR)
    is_window = np.isin(a_year_on, windows)
    changed = [(window << SEQ_BITS) | key[2] for window, key in zip(own, keys, strict=True)]
    changed.append((a_year_on[is_window] << SEQ_BITS) | seq[is_window])
    changed.append(_without_earnings(own[0], *keys[0]))
    basis = _Basis.of(filings, companies)
    of_amounts = np.unique(np.concatenate(changed))
    point = np.union1d(of_amounts, basis.reverse_splits(own[0], *keys[0]))
    window, seq = point >> SEQ_BITS, point & ((1 << SEQ_BITS) - 1)
    standing = {}
    for names, (company, q, filed, concept) in zip((FLOWS, BALANCES), keys, strict=True):
        timeline = Timeline((_window(company, q) << CONCEPT_BITS) | concept, filed)
        for name in names:
            code = AMOUNT.categories.to_list().index(name)
            standing[_row(name)] = timeline.after((window << CONCEPT_BITS) | code, seq)
    return pl.DataFrame(
        {
            "cik": companies[window >> QUARTER_BITS] if len(companies) else np.zeros(0, dtype=np.int64),
            "q": (window & ((1 << QUARTER_BITS) - 1)).astype(np.int32),
            "seq": seq.astype(np.int32),
            "factor": basis.factor(window >> QUARTER_BITS, seq),
            "is_of_split": ~np.isin(point, of_amounts, assume_unique=True),
        }
        | standing
    ).with_columns(pl.when(pl.col(name) >= 0).then(pl.col(name)).cast(pl.UInt32) for name in standing)


def _without_earnings(window: Ints, company: Ints, q: Ints, seq: Ints, concept: Ints) -> Ints:
    """The points of windows with shares and without earnings per share at filings that change such earnings.

    Args:
        window, company, q, seq, concept: of each flow.
    """
    shares, earnings = (np.flatnonzero(concept == NUMBER_OF[name]) for name in ("shares_basic", "eps_basic"))
    lacking = np.setdiff1d(window[shares], window[earnings])
    filings = np.unique((company[earnings] << SEQ_BITS) | seq[earnings])
    left, right = pairs_of_equal(lacking >> QUARTER_BITS, filings >> SEQ_BITS)
    return (lacking[left] << SEQ_BITS) | (filings[right] & ((1 << SEQ_BITS) - 1))


@dataclass(frozen=True)
class _Basis:
    """The share basis of the filings of companies with splits, by company and filing: `packed`, and the factor."""

    packed: Ints
    factors: Floats

    @classmethod
    def of(cls, filings: pl.DataFrame | None, companies: Ints) -> "_Basis":
        """Make it from `cik`, `seq` and `factor` of the filings."""
        if filings is None or not len(companies):
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0))
        factor, cik = floats(filings, "factor"), ints(filings, "cik")
        rows = np.flatnonzero(np.isin(cik, np.unique(cik[factor != 1])) & np.isin(cik, companies))
        packed = (np.searchsorted(companies, cik[rows]) << SEQ_BITS) | ints(filings, "seq")[rows]
        order = np.argsort(packed)
        return cls(packed[order], factor[rows][order])

    def factor(self, company: Ints, seq: Ints) -> Floats:
        """The factor of some filings; 1 for companies without splits."""
        asked = (company << SEQ_BITS) | seq
        if not len(self.packed):
            return np.ones(len(asked))
        at = np.minimum(np.searchsorted(self.packed, asked), len(self.packed) - 1)
        return np.where(self.packed[at] == asked, self.factors[at], 1.0)

    def reverse_splits(self, window: Ints, company: Ints, q: Ints, seq: Ints, concept: Ints) -> Ints:
        """The points of windows with earnings per share at the first filings after later reverse splits."""
        is_first = np.diff(self.factors, prepend=np.inf) > SAME_BASIS * self.factors
        is_first &= np.diff(self.packed >> SEQ_BITS, prepend=NOTHING) == 0
        splits = self.packed[is_first]
        rows = np.flatnonzero((concept == NUMBER_OF["eps_basic"]) & np.isin(company, splits >> SEQ_BITS))
        left, right = pairs_of_equal(company[rows], splits >> SEQ_BITS)
        at = splits[right] & ((1 << SEQ_BITS) - 1)
        is_later = at > seq[rows][left]
        return (window[rows][left][is_later] << SEQ_BITS) | at[is_later]


def _window(company: Ints, q: Ints) -> Ints:
    return key_of((company, COMPANY_BITS), (q, QUARTER_BITS))


def _row(concept: str) -> str:
    """The column of `points` with the row number of a concept."""
    return f"{concept}_row"


@dataclass(frozen=True)
class Leg:
    """One amount in a value, for each point: the row of `flows` or `balances` from which it is taken.

    `role` is its role in the value, `times` the factor of its own legs; `rows` is NOTHING if there is no amount.
    """

    concept: str
    rows: Ints
    role: str
    times: float = 1.0

    @property
    def is_flow(self) -> bool:
        """Whether `rows` are rows of `flows`; otherwise of `balances`."""
        return self.concept in FLOWS

    def where(self, holds: Flags) -> "Leg":
        """The same leg, only at the points where a condition holds."""
        return Leg(self.concept, np.where(holds, self.rows, NOTHING), self.role, self.times)

    def at(self, points: Ints) -> "Leg":
        """The same leg at other points; NOTHING if a point is missing."""
        rows = np.where(points >= 0, self.rows[points], NOTHING) if len(self.rows) else self.rows
        return Leg(self.concept, rows, self.role, self.times)

    def recast(self, role: str, times: float = 1.0) -> "Leg":
        """The same amount in another role, multiplied."""
        return Leg(self.concept, self.rows, role, self.times * times)


class Points:
    """The points as arrays: the amounts known at each point, by concept."""

    def __init__(self, points: pl.DataFrame, flows: pl.DataFrame, balances: pl.DataFrame) -> None:
        """Make the arrays from the frame of `points_of`."""
        self.frame = points.select(POINT)
        self.cik = ints(points, "cik")
        self.company = np.unique(self.cik, return_inverse=True)[1]
        self.q, self.seq = ints(points, "q"), ints(points, "seq")
        self.window = _window(self.company, self.q)
        self.factor = floats(points, "factor")
        self.is_of_split = points["is_of_split"].to_numpy()
        rows = points.select(pl.col(*map(_row, (*FLOWS, *BALANCES))).cast(pl.Int64).fill_null(NOTHING))
        self.rows = {name: rows[_row(name)].to_numpy() for name in (*FLOWS, *BALANCES)}
        self._columns = {True: _columns(flows, (*OF_FLOWS, *WINDOW_FLAGS))}
        self._columns[False] = _columns(balances, ("amount", "regime"))
        self.of_another = self._of_other_companies()
        for name, holds in self.of_another.items():
            self.rows[name] = np.where(holds, NOTHING, self.rows[name])
        ids = {rule.id: number for number, rule in enumerate(METHODS)}
        rules = balances["rule"].fill_null("")
        self._rules = tuple(rules.unique().sort())
        self._rule = rules.rank("dense").to_numpy().astype(np.int64) - 1
        self._ways = flows["rule"].replace_strict(ids, default=NOTHING, return_dtype=pl.Int64).to_numpy()
        self._withheld_by = {
            is_flow: frame.select(pl.when(pl.col("amount").is_null()).then("rule"))["rule"]
            for is_flow, frame in ((True, flows), (False, balances))
        }

    def __len__(self) -> int:
        return len(self.q)

    def _of_other_companies(self) -> dict[str, Flags]:
        """The concepts whose amount is of another company than that of the period's flows, and the points."""
        if not any((regimes["regime"] >= REGIMES_OF_COMPANY).any() for regimes in self._columns.values()):
            return {}
        company = {
            name: np.where(np.isnan(self.of(name)), np.nan, self.of(name, "regime") // REGIMES_OF_COMPANY)
            for name in self.rows
        }
        of_flows = largest(*(company[name] for name in FLOWS))
        found = {name: np.abs(of_name - of_flows) > 0 for name, of_name in company.items()}
        return {name: holds for name, holds in found.items() if holds.any()}

    def of(self, concept: str, name: str = "amount") -> Floats:
        """A column of the known amount of a concept: `amount`, `days`, `regime` and so on; NaN if none is known."""
        return picked(self._columns[concept in FLOWS][name], self.rows[concept])

    def flags(self, concept: str) -> dict[str, Flags]:
        """The flags of the known twelve months of a flow."""
        return {name: self.of(concept, name) > 0 for name in WINDOW_FLAGS}

    def way(self, concept: str) -> Ints:
        """The number in METHODS of the way to the known twelve months; -1 if none are known."""
        return np.nan_to_num(picked(self._ways, self.rows[concept]), nan=NOTHING).astype(np.int64)

    def composed_by(self, concept: str) -> tuple[tuple[str, ...], Ints]:
        """The ids of the rules that composed a balance, and the number of the one at each point (-1 for none)."""
        number = picked(self._rule, self.rows[concept])
        return self._rules, np.nan_to_num(number, nan=NOTHING).astype(np.int64)

    def withheld_by(self, concept: str) -> pl.Series:
        """The id of the rule that withholds the amount of a concept at each point; null if none does."""
        row = pl.Series(self.rows[concept], dtype=pl.Int64).replace(NOTHING, None)
        by = self._withheld_by[concept in FLOWS].gather(row)
        if concept not in self.of_another:
            return by
        is_other = pl.Series(self.of_another[concept])
        return pl.select(pl.when(is_other).then(pl.lit(ONE_COMPANY.id)).otherwise(by)).to_series()

    def leg(self, concept: str, role: str, times: float = 1.0) -> Leg:
        """The known amount of a concept as a leg of a value."""
        return Leg(concept, self.rows[concept], role, times)

    def timeline(self, holds: Flags | None = None) -> tuple[Timeline, Ints]:
        """The points where a condition holds, for look-ups with `earlier`."""
        chosen = np.arange(len(self)) if holds is None else np.flatnonzero(holds)
        return Timeline(self.window[chosen], self.seq[chosen]), chosen

    def after(self, seq: Floats) -> Ints:
        """The newest point of the same quarter end after filing `seq`; NOTHING if there is none."""
        return Timeline(self.window, self.seq).after(self.window, np.nan_to_num(seq, nan=NOTHING))

    def earlier(self, of: tuple[Timeline, Ints], quarters: int) -> Ints:
        """The newest point of the quarter end so many quarters before that was known after the point's own filing."""
        timeline, chosen = of
        found = timeline.after(_window(self.company, self.q - quarters), self.seq)
        return np.where(found >= 0, chosen[found], NOTHING) if len(chosen) else found


def _columns(frame: pl.DataFrame, names: tuple[str, ...]) -> Mapping[str, Floats]:
    return {name: floats(frame, name) for name in names}


def newest_of_windows(points: Points) -> Flags:
    """Whether a point is the last one of its quarter end, and therefore shows what is known today."""
    is_last = np.ones(len(points), dtype=np.bool_)
    is_last[:-1] = points.window[1:] != points.window[:-1]
    return is_last
