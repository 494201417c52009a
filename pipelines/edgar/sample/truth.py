"""The true values of a simulated filer, for every period whose value its filings can support.

Belongs here: the truth in the simulator's own terms, from fiscal columns that were shown. Does not: any rule that
finds them from facts; nothing here is shared with the normalization that it tests.

There is no row, because the filings do not tell the value,
- before the first annual report: no fiscal year is known;
- for an item with a component that the business has and never tags, or that it does not have at all;
- for a period that needs a column which no 10-Q, 10-K or 20-F shows: the first quarters without four quarters before
  them, and whatever only a prospectus tells;
- for twelve months within fiscal years that were revised, where a leg was never shown again as revised;
- for the sum of quarterly earnings per share up to the year after an offering, which has no common base of shares.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

from pipelines.edgar.sample.calendar import FOUR_QUARTERS
from pipelines.edgar.sample.filings import Column, Filing
from pipelines.edgar.sample.schedule import basis, known_from
from pipelines.edgar.sample.statements import BALANCE_TOTALS, TOTALS, Measure, owned
from pipelines.edgar.sample.traits import Filer, RevisedBy

MONEY_FLOWS = ("revenue", "net_income", "free_cash_flow")
PER_SHARE = ("eps_basic", "dividends_per_share")
WEIGHTED = ("shares_basic", "shares_diluted")
ITEMS = (*MONEY_FLOWS, *PER_SHARE, *WEIGHTED, *BALANCE_TOTALS)

RECLASSIFIED = frozenset({"revenue", "noninterest_income"})
REVISED_LINES = {
    RevisedBy.COMPARATIVES: RECLASSIFIED,
    RevisedBy.AMENDMENT: RECLASSIFIED | {"net_income", "eps_basic"},
}

# what rounding in a filing leaves open, on its share basis (weighted shares: quarters and their mean); money is exact
ROUNDING = {"eps_basic": Fraction(1, 200), "dividends_per_share": Fraction(1, 20_000)} | dict.fromkeys(
    WEIGHTED, Fraction(1)
)


@dataclass(frozen=True)
class Rounded:
    """A number and how far it may be off, because what it was calculated from was rounded when it was filed."""

    value: Fraction
    slack: Fraction = Fraction(0)

    def __add__(self, other: "Rounded") -> "Rounded":
        return Rounded(self.value + other.value, self.slack + other.slack)

    def __sub__(self, other: "Rounded") -> "Rounded":
        return Rounded(self.value - other.value, self.slack + other.slack)

    def __mul__(self, factor: Fraction | int) -> "Rounded":
        return Rounded(self.value * factor, self.slack * max(factor, -factor))


NOTHING = Rounded(Fraction(0))
Shown = dict[tuple[str, Column], Rounded]


@dataclass(frozen=True)
class TruthRow:
    """One true value; `cik` has ten digits, per-share values and shares are on the newest share basis.

    `tolerance` is how far a right value may be away: what the filings' rounding leaves open (0 for money).
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
    """What the given filings, in order, support: items in their order within periods, oldest first.

    Twelve months at a fiscal year end are the year. At other quarter ends flows and dividends are the sum of four
    quarters; earnings per share too, of quarters as filed (the fourth: the year less nine months); weighted shares
    are the mean of four quarters by days.
    """
    periodic = [filing for filing in filings if filing.is_periodic]
    if not any(filing.fiscal_period == "FY" for filing in periodic):
        return []
    return list(_Truth(filer, _shown(filer, periodic)).rows())


def _shown(filer: Filer, filings: list[Filing]) -> Shown:
    """Every column as last filed, on the share basis of the last filing, less those that a revision has overtaken."""
    newest = filings[-1].filed
    revisions = [(known_from(filer, revision), revision) for revision in filer.revisions]
    shown: Shown = {}
    for filing in filings:
        factor = basis(filer, filing.filed, newest)
        for fact in filing.facts:
            if fact.line is None or fact.column is None:
                continue
            scale = {Measure.SHARES: factor, Measure.PER_SHARE: 1 / factor, Measure.MONEY: Fraction(1)}
            key = fact.line.item, fact.column
            as_filed = Rounded(Fraction(str(fact.value)), ROUNDING.get(fact.line.item, Fraction(0)))
            shown[key] = as_filed * scale[fact.line.measure]
            overtaken = (
                filing.filed < known <= newest
                and fact.column.year in revision.years
                and fact.line.item in REVISED_LINES[revision.by]
                for known, revision in revisions
            )
            if any(overtaken):
                del shown[key]
    return shown | _totals(filer, shown)


def _totals(filer: Filer, shown: Shown) -> Shown:
    """The items that add up from several lines, in every column that shows all of these."""
    has = owned(filer)
    totals: Shown = {}
    for item, signs in TOTALS[filer.kind].items():
        present = {line: sign for line, sign in signs.items() if line in has}
        for column in {column for line, column in shown if line in present}:
            if all((line, column) in shown for line in present):
                totals[item, column] = sum((shown[line, column] * sign for line, sign in present.items()), NOTHING)
    return totals


class _Truth:
    """Computes the rows of one filer from the columns shown."""

    def __init__(self, filer: Filer, shown: Shown) -> None:
        self.filer = filer
        self.shown = shown
        shown_years = {column.year for _, column in shown}
        self.years = {year: filer.calendar.year(year) for year in range(min(shown_years) - 1, max(shown_years) + 1)}

    def rows(self) -> Iterator[TruthRow]:
        for year in list(self.years)[1:]:  # the first is only looked back to
            for number in FOUR_QUARTERS:
                yield from self._at(year, number)

    def _at(self, year: int, number: int) -> Iterator[TruthRow]:
        end = self.years[year].quarters[number - 1].end
        kinds: tuple[Literal["ttm", "annual"], ...] = ("ttm", "annual") if number == 4 else ("ttm",)
        values = {item: self._value(item, year, number) for item in ITEMS}
        for kind in kinds:
            for item, found in values.items():
                if found is not None:
                    value, tolerance = _plain(found.value), float(found.slack)
                    yield TruthRow(self.filer.cik, kind, end, year, number, item, value, tolerance)

    def _value(self, item: str, year: int, number: int) -> Rounded | None:
        if item in BALANCE_TOTALS:
            return self.shown.get((item, Column(year, number, number)))
        if number == 4:
            return self.shown.get((item, Column(year, 1, 4)))
        if item == "eps_basic" and self._shares_were_offered(year - 1):
            return None
        total = self._of_four(item, year, number)
        return self._by_year_to_date(item, year, number) if total is None and item in MONEY_FLOWS else total

    def _of_four(self, item: str, year: int, number: int) -> Rounded | None:
        """The sum of the four quarters that end there; of weighted shares, their mean by days."""
        last_four = [(year, n) if n <= number else (year - 1, n) for n in FOUR_QUARTERS]
        weights = [self._days(*quarter) if item in WEIGHTED else 1 for quarter in last_four]
        total = NOTHING
        for quarter, weight in zip(last_four, weights, strict=True):
            value = self._quarter(item, *quarter)
            if value is None:
                return None
            total += value * weight
        return total * Fraction(1, sum(weights)) if item in WEIGHTED else total

    def _by_year_to_date(self, item: str, year: int, number: int) -> Rounded | None:
        """The last year, and the year to date instead of the same stretch of that year."""
        legs = (Column(year - 1, 1, 4), Column(year, 1, number), Column(year - 1, 1, number))
        full, current, prior = (self.shown.get((item, column)) for column in legs)
        return None if full is None or current is None or prior is None else full + current - prior

    def _quarter(self, item: str, year: int, number: int) -> Rounded | None:
        """A quarter as shown, else what the year to date grew by in it."""
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
        """In that fiscal year or later: its fourth quarter is no difference of earnings per share then."""
        offering = self.filer.offering
        return offering is not None and offering.day >= self.years[year].start


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
