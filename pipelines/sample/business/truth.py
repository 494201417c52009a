"""The true values of a simulated filer, for every period whose value its filings support.

Belongs here: true values with the simulator's own names, computed from the columns of filings. Does not: rules that
find values from facts; no code is shared with the normalization, which is tested against these values.

The filings do not support a true value

- before the first annual report: no fiscal year is known;
- for an item that the business does not have, or with a component that it has but does not tag;
- for a period that needs a column which no 10-Q, 10-K or 20-F shows: the first three quarters, and periods that only a
  prospectus shows;
- for twelve months within fiscal years that were revised, if a leg was never shown as revised;
- for the sum of quarterly earnings per share up to the year after an offering, which has no common number of shares;
- for periods that only the reports of a shell show, if the business was merged into it (reverse merger).

Errors in reports do not change the true values, because they are computed from the filings without errors. Facts that
companyfacts leaves out (own elements, classes of stock) are not in the true values.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

from pipelines.sample.business.filings import MILLION, YEAR, Column, Fact, Filing
from pipelines.sample.business.line import Measure
from pipelines.sample.business.schedule import basis, known_from
from pipelines.sample.business.statements import BALANCE_TOTALS, STATEMENTS, owned
from pipelines.sample.filer.traits import Filer, Kind, RevisedBy

MONEY_FLOWS = ("revenue", "net_income", "free_cash_flow")
PER_SHARE = ("eps_basic", "dividends_per_share")
WEIGHTED = ("shares_basic", "shares_diluted")
ITEMS = (*MONEY_FLOWS, *PER_SHARE, *WEIGHTED, *BALANCE_TOTALS)

RECLASSIFIED = frozenset({"revenue", "noninterest_income"})
REVISED_LINES = {
    RevisedBy.COMPARATIVES: RECLASSIFIED,
    RevisedBy.AMENDMENT: RECLASSIFIED | {"net_income", "eps_basic"},
}

# the largest rounding error of a filed figure on its share basis (weighted shares: a quarter or a mean); money is exact
ROUNDING = {"eps_basic": Fraction(1, 200), "dividends_per_share": Fraction(1, 20_000)} | dict.fromkeys(
    WEIGHTED, Fraction(1)
)


@dataclass(frozen=True)
class Rounded:
    """A number with its largest possible error, because the filed figures from which it is computed were rounded."""

    value: Fraction
    slack: Fraction = Fraction(0)

    def __add__(self, other: "Rounded") -> "Rounded":
        return Rounded(self.value + other.value, self._slack_with(other))

    def __sub__(self, other: "Rounded") -> "Rounded":
        return Rounded(self.value - other.value, self._slack_with(other))

    def __mul__(self, factor: Fraction | int) -> "Rounded":
        return self if factor == 1 else Rounded(self.value * factor, self.slack * max(factor, -factor))

    def _slack_with(self, other: "Rounded") -> Fraction:
        """The error of a sum. The error of money is zero, and is not added, because adding fractions takes most of the
        time."""
        return self.slack + other.slack if other.slack else self.slack

    def is_finer_than(self, other: "Rounded") -> bool:
        """Whether the other number is this one with fewer digits."""
        return self.slack < other.slack and abs(self.value - other.value) <= self.slack + other.slack


NONE = Fraction(0)
NOTHING = Rounded(NONE)
Shown = dict[tuple[str, Column], Rounded]


@dataclass(frozen=True)
class TruthRow:
    """One true value; `cik` has ten digits; per-share values and shares are on the newest share basis.

    `tolerance` is the largest difference of a correct value, because of rounding in the filings (0 for money).
    """

    cik: str
    period_kind: Literal["ttm", "annual"]
    period_end: date
    fiscal_year: int
    fiscal_quarter: int
    item: str
    value: int | float
    tolerance: float = 0.0


def true_values(filer: Filer, filings: Iterable[Filing]) -> list[TruthRow]:
    """The true values that the given filings, in their order, support: oldest period first, items in their usual order.

    At a fiscal year end, twelve months are the fiscal year. At other quarter ends, flows and dividends are the sum of
    four quarters, and so are earnings per share of quarters as filed (the fourth: the year less nine months); weighted
    shares are the mean of four quarters by days.
    """
    periodic = [filing for filing in filings if filing.is_periodic]
    if filer.merged and periodic and periodic[-1].filed >= filer.merged:
        periodic = [filing for filing in periodic if filing.filed >= filer.merged]
    if not any(filing.fiscal_period == "FY" for filing in periodic):
        return []
    found: dict[tuple[str, date, str], TruthRow] = {}
    for shown in _shown(filer, periodic):
        found = {(row.period_kind, row.period_end, row.item): row for row in _Truth(filer, shown).rows()} | found
    return sorted(found.values(), key=lambda row: (row.period_end, row.period_kind == "annual", ITEMS.index(row.item)))


def _shown(filer: Filer, filings: list[Filing]) -> list[Shown]:
    """Every column as last filed, with totals, for each kind of statements that the filer has prepared, newest first.

    Totals and twelve months never mix two kinds: US-GAAP is not added to IFRS.
    """
    shown = []
    for kind in dict.fromkeys(filer.kind_in(filing.fiscal_year or 0) for filing in reversed(filings)):
        of_kind = [filing for filing in filings if filer.kind_in(filing.fiscal_year or 0) is kind]
        columns = _columns(filer, of_kind, newest=filings[-1].filed)
        shown.append(columns | _totals(filer, kind, columns))
    return shown


def _columns(filer: Filer, filings: list[Filing], newest: date) -> Shown:
    """Every column as last filed, on the share basis of the newest filing, without columns that a revision replaced.

    If an amount is repeated with fewer digits, the more precise figure is kept.
    """
    revisions = [(known_from(filer, revision), revision) for revision in filer.revisions]
    last: dict[tuple[str, Column], tuple[Fact, Fraction, Fraction]] = {}
    for filing in filings:
        factor = basis(filer, filing.filed, newest)
        scale = {Measure.SHARES: factor, Measure.PER_SHARE: 1 / factor, Measure.MONEY: Fraction(1)}
        half_a_million = Fraction(MILLION, 2) if filing.fiscal_year in filer.rounded_in else NONE
        overtaking = [revision for known, revision in revisions if filing.filed < known <= newest]
        for fact in filing.facts:
            if fact.line is None or fact.column is None:
                continue
            key = fact.line.item, fact.column
            year, item = fact.column.year, fact.line.item
            if any(year in revision.years and item in REVISED_LINES[revision.by] for revision in overtaking):
                last.pop(key, None)
                continue
            slack = half_a_million if fact.line.measure is Measure.MONEY else NONE
            stated = fact, scale[fact.line.measure], slack
            is_coarser = slack > 0 and key in last and _on_newest(*last[key]).is_finer_than(_on_newest(*stated))
            if not is_coarser:
                last[key] = stated
    return {key: _on_newest(*stated) for key, stated in last.items()}


def _on_newest(fact: Fact, factor: Fraction, slack: Fraction) -> Rounded:
    """A filed figure times the factor of its share basis; `slack` is the error of rounded money."""
    assert fact.line
    value = Fraction(fact.value) if isinstance(fact.value, int) else Fraction(str(fact.value))
    return Rounded(value, ROUNDING.get(fact.line.item, slack)) * factor


def _totals(filer: Filer, kind: Kind, shown: Shown) -> Shown:
    """The items that are sums of several lines, in every column that shows all of these lines."""
    has = owned(filer, kind)
    totals: Shown = {}
    for item, signs in STATEMENTS[kind].totals.items():
        present = {line: sign for line, sign in signs.items() if line in has}
        for column in {column for line, column in shown if line in present}:
            if all((line, column) in shown for line in present):
                totals[item, column] = sum((shown[line, column] * sign for line, sign in present.items()), NOTHING)
    return totals


class _Truth:
    """Computes the rows of one filer from the columns of its filings."""

    def __init__(self, filer: Filer, shown: Shown) -> None:
        self.filer = filer
        self.shown = shown
        shown_years = {column.year for _, column in shown}
        self.years = {year: filer.calendar.year(year) for year in range(min(shown_years) - 2, max(shown_years) + 1)}
        self.order = [(label, number) for label, year in self.years.items() for number in range(1, year.last + 1)]
        self.place = {key: place for place, key in enumerate(self.order)}
        self.quarters: dict[tuple[str, int, int], Rounded | None] = {}

    def rows(self) -> Iterator[TruthRow]:
        for year, number in self.order[YEAR:]:  # the first four quarters are parts of later years only
            yield from self._at(year, number)

    def _is_year_end(self, year: int, number: int) -> bool:
        return number == self.years[year].last == YEAR

    def _before(self, year: int, number: int, quarters: int) -> tuple[int, int]:
        return self.order[self.place[year, number] - quarters]

    def _at(self, year: int, number: int) -> Iterator[TruthRow]:
        end = self.years[year].quarters[number - 1].end
        kinds: tuple[Literal["ttm", "annual"], ...] = ("ttm", "annual") if self._is_year_end(year, number) else ("ttm",)
        values = {item: self._value(item, year, number) for item in ITEMS}
        for kind in kinds:
            for item, found in values.items():
                if found is not None:
                    value, tolerance = _plain(found.value), float(found.slack)
                    yield TruthRow(self.filer.cik, kind, end, year, number, item, value, tolerance)

    def _value(self, item: str, year: int, number: int) -> Rounded | None:
        if item in BALANCE_TOTALS:
            return self.shown.get((item, Column(year, number, number)))
        if self._is_year_end(year, number):
            return self.shown.get((item, Column(year, 1, YEAR)))
        if item == "eps_basic" and self._shares_were_offered(year - 1):
            return None
        ways = [self._of_four(item, year, number)]
        if item in MONEY_FLOWS:
            ways.append(self._by_year_to_date(item, year, number))
        known = [way for way in ways if way is not None]
        # both ways are correct; their rounding errors add up
        return Rounded(known[0].value, sum((way.slack for way in known), Fraction(0))) if known else None

    def _of_four(self, item: str, year: int, number: int) -> Rounded | None:
        """The sum of the last four quarters; for weighted shares, their mean by days."""
        last_four = [self._before(year, number, back) for back in range(YEAR)]
        weights = [self._days(*quarter) if item in WEIGHTED else 1 for quarter in last_four]
        total = NOTHING
        for quarter, weight in zip(last_four, weights, strict=True):
            value = self._quarter(item, *quarter)
            if value is None:
                return None
            total += value * weight
        return total * Fraction(1, sum(weights)) if item in WEIGHTED else total

    def _by_year_to_date(self, item: str, year: int, number: int) -> Rounded | None:
        """The last year, plus the year to date, less the same period of the last year."""
        if self.years[year - 1].last < YEAR:
            return None
        legs = (Column(year - 1, 1, YEAR), Column(year, 1, number), Column(year - 1, 1, number))
        full, current, prior = (self.shown.get((item, column)) for column in legs)
        return None if full is None or current is None or prior is None else full + current - prior

    def _quarter(self, item: str, year: int, number: int) -> Rounded | None:
        """A quarter, computed once, because four periods of twelve months need it."""
        key = item, year, number
        if key not in self.quarters:
            self.quarters[key] = self._discrete(*key)
        return self.quarters[key]

    def _discrete(self, item: str, year: int, number: int) -> Rounded | None:
        """A quarter as stated; otherwise the difference of two years to date."""
        if (discrete := self.shown.get((item, Column(year, number, number)))) is not None:
            return discrete
        longer = self.shown.get((item, Column(year, 1, number)))
        shorter = self.shown.get((item, Column(year, 1, number - 1)))
        if longer is None or shorter is None:
            return None
        if item not in WEIGHTED:
            return longer - shorter
        days, until_then = self._days(year, number), sum(self._days(year, n) for n in range(1, number))
        return (longer * (until_then + days) - shorter * until_then) * Fraction(1, days)

    def _days(self, year: int, number: int) -> int:
        return self.years[year].quarters[number - 1].days

    def _shares_were_offered(self, year: int) -> bool:
        """Whether shares were offered in a fiscal year or later.

        Then the earnings per share of the fourth quarter are not the difference of the year and nine months.
        """
        offering = self.filer.offering
        return offering is not None and offering.day >= self.years[year].start


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
