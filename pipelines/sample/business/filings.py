"""The filings of a simulated filer: form, date, and facts as known on that day.

Belongs here: columns, comparatives, share basis and revisions as of a filing. Does not: EDGAR's JSON (documents).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import chain
from random import Random
from typing import NamedTuple

from pipelines.sample.business.books import Quarter, YearAndNumber, keep_books
from pipelines.sample.business.line import Line, Measure, Statement
from pipelines.sample.business.schedule import (
    accepted_at,
    amendment_filed,
    annual_report_filed,
    basis,
    business_day,
    newest_report,
    report_filed,
    reports,
)
from pipelines.sample.business.statements import lines
from pipelines.sample.filer.calendar import Period
from pipelines.sample.filer.traits import Filer, Kind, RevisedBy

ANNUAL_FORMS = {Kind.FOREIGN: "20-F", Kind.FUND: "N-CSR"}  # others: 10-K and 10-Q
INTERIM_FORMS = {Kind.FOREIGN: "6-K", Kind.FUND: "N-CSRS"}
PERIODIC = frozenset({"10-Q", "10-K", "10-K/A", "10-KT", "10-KT/A", "20-F", "20-F/A", "6-K"})

AGENT = "0009990000"  # prefix of all accession numbers: the CIK of the sample's filing agent
COVER_DAYS = timedelta(days=8)  # the cover page states the number of shares this long before the filing
PROSPECTUS_EXCESS = 1.07  # pro forma figures of a prospectus differ from reported figures
PROXY_DIGITS = 2  # the digits to which proxy statements round
THIN = ("net_income", "assets")  # the lines of an amendment that states few lines
MILLION = 1_000_000
YEAR = 4  # quarters
STATED_FOR = timedelta(days=365)  # notes state the ratio of a split for a year
SPLIT_RATIO = "StockholdersEquityNoteStockSplitConversionRatio1"


class Column(NamedTuple):
    """A column of a statement: quarters `first` to `last` of a fiscal year; of a balance sheet, the end of `last`.

    `first` is below one if the column begins before the fiscal year, like comparatives after a change of the year end.
    """

    year: int
    first: int
    last: int


@dataclass(frozen=True)
class Fact:
    """One reported value; `line` and `column` are its place in the statements, None for facts outside of them."""

    taxonomy: str
    tag: str
    unit: str
    start: date | None
    end: date
    value: int | float
    line: Line | None = None
    column: Column | None = None


@dataclass(frozen=True)
class Filing:
    """One filing; fiscal year and period are from its cover, None for forms without them.

    `accepted_at` is the time when EDGAR accepted it, in UTC; None if the time follows from the day and the accession
    number.
    """

    form: str
    filed: date
    report_date: date
    fiscal_year: int | None = None
    fiscal_period: str | None = None
    facts: tuple[Fact, ...] = ()
    items: str = ""
    accession: str = ""
    accepted_at: datetime | None = None

    @property
    def accepted(self) -> datetime:
        """The time when EDGAR accepted it, in UTC."""
        return self.accepted_at or accepted_at(self.filed, self.accession)

    @property
    def is_periodic(self) -> bool:
        """Whether it is a quarterly or annual report, or an amendment of one."""
        return self.form in PERIODIC


def make_filings(filer: Filer, books: dict[YearAndNumber, Quarter]) -> tuple[Filing, ...]:
    """All filings in the order of filing, each with its accession number."""
    drafts = sorted(_Reporter(filer, books).drafts(), key=lambda draft: draft.filed)
    first = filer.since or date.min
    return tuple(_numbered(filer, [draft for draft in drafts if first < draft.filed <= filer.last_filed]))


def _numbered(filer: Filer, drafts: Iterable[Filing]) -> Iterator[Filing]:
    """The filings with accession numbers: agent, year, and a serial number for each filer and year."""
    count: dict[int, int] = {}
    for draft in drafts:
        year = draft.filed.year
        count[year] = count.get(year, 0) + 1
        accession = f"{AGENT}-{year % 100:02d}-{filer.number:04d}{count[year]:02d}"
        yield replace(draft, accession=accession)


class _Reporter:
    """Makes the filings of one filer from its books."""

    def __init__(self, filer: Filer, books: dict[YearAndNumber, Quarter]) -> None:
        self.filer = filer
        self.books = books
        self.shells = keep_books(shell_of(filer)) if filer.merged else {}
        self.order = list(books)
        self.place = {key: place for place, key in enumerate(self.order)}
        self.newest = newest_report(filer, filer.last_filed) or filer.last_filed
        self.bases: dict[date, Fraction] = {}
        self.means: dict[tuple[str, Column, Fraction, bool], int] = {}

    # -- filings -----------------------------------------------------------------------------------------------------

    def drafts(self) -> Iterator[Filing]:
        """Every filing of the history, before accession numbers."""
        yield from self._offering()
        amended = [revision.year for revision in self.filer.revisions if revision.by is RevisedBy.AMENDMENT]
        for year in range(self.filer.first_year, self.filer.last_filed.year + 2):
            for number in reports(self.filer, year):
                filed = report_filed(self.filer, year, number)
                if filed > self.filer.last_filed:
                    return
                if self.filer.kind_in(year).is_domestic:
                    yield self._earnings_release(year, number, filed)
                yield self._report(year, number, filed)
            if year in amended:
                yield self._report(year, self._last(year), amendment_filed(self.filer, year), amends=True)
            if year in self.filer.thin_amendments:
                amendment = self._report(year, self._last(year), amendment_filed(self.filer, year), amends=True)
                few = tuple(fact for fact in amendment.facts if fact.line and fact.line.item in THIN)
                yield replace(amendment, facts=few)
            if self.filer.proxies:
                yield self._proxy(year)

    def _last(self, year: int) -> int:
        return self.filer.calendar.year(year).last

    def _report(self, year: int, number: int, filed: date, amends: bool = False) -> Filing:
        is_annual = number == self._last(year)
        return Filing(
            form=self._form(year, is_annual) + "/A" * amends,
            filed=filed,
            report_date=self.filer.calendar.year(year).quarters[number - 1].end,
            fiscal_year=year,
            fiscal_period="FY" if is_annual else f"Q{number}",
            facts=tuple(self._report_facts(year, number, filed)),
        )

    def _form(self, year: int, is_annual: bool) -> str:
        kind = self.filer.kind_in(year)
        if not is_annual:
            return INTERIM_FORMS.get(kind, "10-Q")
        return ANNUAL_FORMS.get(kind, "10-K" if self._last(year) == YEAR else "10-KT")

    def _earnings_release(self, year: int, number: int, filed: date) -> Filing:
        """The earnings release some days before the report; it has no financial data in XBRL."""
        released = business_day(filed - timedelta(days=3))
        return Filing("8-K", released, released, items="2.02,9.01")

    def _proxy(self, year: int) -> Filing:
        """A proxy statement, whose pay tables repeat net income of three years, rounded to few digits."""
        filed = business_day(annual_report_filed(self.filer, year) + timedelta(days=50))
        columns = [self._year(y) for y in (year, year - 1, year - 2)]
        facts = tuple(self._stray(column, filed, 1.0, digits=PROXY_DIGITS) for column in columns)
        return Filing("DEF 14A", filed, filed, facts=facts)

    def _offering(self) -> Iterator[Filing]:
        """The registration statement and the prospectus of the public offering."""
        if self.filer.offering is None:
            return
        day, year = self.filer.offering.day, self.filer.first_year - 1
        filed = business_day(day - timedelta(days=60))
        annual = [Column(year, 1, 4), Column(year - 1, 1, 4)]
        statements = self._facts(year, filed, {Statement.INCOME: annual, Statement.CASH_FLOW: annual})
        yield Filing("S-1", filed, filed, facts=tuple(statements))
        stray = self._stray(Column(year, 1, 4), day, PROSPECTUS_EXCESS)
        yield Filing("424B4", business_day(day), business_day(day), facts=(stray,))

    # -- facts of a filing -------------------------------------------------------------------------------------------

    def _report_facts(self, year: int, number: int, filed: date) -> Iterator[Fact]:
        if self.filer.kind is Kind.FUND:
            return
        yield self._cover(year, number, filed)
        yield from self._split_ratios(filed)
        facts = list(self._facts(year, filed, self._columns(year, number)))
        yield from facts
        if self.filer.convenience and number == self._last(year):
            newest = self._year(year), Column(year, number, number)
            yield from (
                self._translated(fact, year) for fact in facts if fact.column in newest and fact.unit != "shares"
            )

    def _facts(self, fiscal_year: int, filed: date, columns: dict[Statement, list[Column]]) -> Iterator[Fact]:
        """The lines of a year's statements in the given columns, as known on the day of filing."""
        units = {
            Measure.MONEY: self.filer.currency,
            Measure.SHARES: "shares",
            Measure.PER_SHARE: f"{self.filer.currency}/shares",
        }
        taxonomy = self._taxonomy(fiscal_year)
        periods = {column: self._period(column) for column in dict.fromkeys(chain.from_iterable(columns.values()))}
        for line in lines(self.filer, fiscal_year):
            for column in columns.get(line.statement, ()):
                period = periods[column]
                start = None if line.statement is Statement.BALANCE else period.start
                value = self._value(line, column, filed)
                if line.measure is Measure.MONEY and fiscal_year in self.filer.rounded_in:
                    value = round(value / MILLION) * MILLION
                yield Fact(taxonomy, line.tag, units[line.measure], start, period.end, value, line, column)

    def _cover(self, year: int, number: int, filed: date) -> Fact:
        """Shares outstanding on the cover page."""
        [quarter] = self._quarters(Column(year, number, number), filed)
        count = round(quarter.outstanding / self._basis(filed))
        day = quarter.period.end if self.filer.kind is Kind.FOREIGN else filed - COVER_DAYS
        return Fact("dei", "EntityCommonStockSharesOutstanding", "shares", None, day, count)

    def _taxonomy(self, fiscal_year: int) -> str:
        return "ifrs-full" if self.filer.kind_in(fiscal_year) is Kind.FOREIGN else "us-gaap"

    def _split_ratios(self, filed: date) -> Iterator[Fact]:
        """The ratios of splits, which notes state for splits in effect and for announced splits."""
        for split in (*self.filer.splits, *self.filer.announced):
            if split.effective <= filed < split.effective + STATED_FOR:
                ratio = _number(Decimal(split.ratio.numerator) / split.ratio.denominator)
                yield Fact("us-gaap", SPLIT_RATIO, "pure", split.effective, split.effective, ratio)

    def _stray(self, column: Column, filed: date, excess: float, digits: int | None = None) -> Fact:
        """Net income of a fiscal year as a form other than a periodic report states it."""
        line = next(line for line in lines(self.filer, column.year) if line.item == "net_income")
        period, amount = self._period(column), round(self._money("net_income", column, filed) * excess)
        value = round(amount, digits - len(str(abs(amount)))) if digits else amount
        return Fact(self._taxonomy(column.year), line.tag, self.filer.currency, period.start, period.end, value)

    def _translated(self, fact: Fact, year: int) -> Fact:
        """The fact in US dollars, at a rate of the year."""
        rate = 1 + Random(f"rate/{year}").randint(4, 20) / 100
        per_share = fact.unit.endswith("/shares")
        value = _cents(Decimal(str(fact.value * rate))) if per_share else round(fact.value * rate)
        unit = "USD/shares" if per_share else "USD"
        return Fact(fact.taxonomy, fact.tag, unit, fact.start, fact.end, value)

    # -- columns -----------------------------------------------------------------------------------------------------

    def _columns(self, year: int, number: int) -> dict[Statement, list[Column]]:
        """The columns of a report: Regulation S-X requires the year to date and the same period of the year before.

        Quarterly reports (Rule 10-01(c)) have the quarter and the year to date of both years, cash flows for the year
        to date only, and balance sheets at the end of the quarter and of the last year. Annual reports (Rules 3-01,
        3-02) have three years, two balance sheets, and the quarters of two years if the filer states them (Regulation
        S-K, Item 302). Half-yearly reports have the half-years only.
        """
        to_date, discrete = Column(year, 1, number), Column(year, number, number)
        balances = [discrete, Column(year - 1, self._last(year - 1), self._last(year - 1))]
        if number == self._last(year):
            flows = cash_flows = [self._year(y) for y in (year, year - 1, year - 2)]
            if self.filer.quarterly_data:
                flows = flows + [Column(y, n, n) for y in (year, year - 1) for n in range(1, self._last(y) + 1)]
        else:
            cash_flows = [to_date, self._a_year_before(to_date)]
            quarters = [] if self.filer.half_years else [discrete, self._a_year_before(discrete)]
            flows = list(dict.fromkeys(quarters + cash_flows))
        return {Statement.INCOME: flows, Statement.CASH_FLOW: cash_flows, Statement.BALANCE: balances}

    def _year(self, year: int) -> Column:
        return Column(year, 1, self._last(year))

    def _a_year_before(self, column: Column) -> Column:
        """The same period four quarters before, in any fiscal years."""
        year, last = self.order[self.place[column.year, column.last] - YEAR]
        return Column(year, last - (column.last - column.first), last)

    # -- values as known on a day ------------------------------------------------------------------------------------

    def _quarters(self, column: Column, filed: date) -> list[Quarter]:
        """The quarters of a column, in the books of the shell before a reverse merger, otherwise in the filer's."""
        books = self.shells if self._is_shell(filed) else self.books
        last = self.place[column.year, column.last]
        return [books[key] for key in self.order[last - (column.last - column.first) : last + 1]]

    def _period(self, column: Column) -> Period:
        quarters = self._quarters(column, self.newest)
        return Period(quarters[0].period.start, quarters[-1].period.end)

    def _value(self, line: Line, column: Column, filed: date) -> int | float:
        if line.measure is Measure.SHARES:
            return self._shares(line.item, column, filed)
        if line.item == "dividends_per_share":
            return self._dividends(column, filed)
        if line.measure is Measure.PER_SHARE:
            shares = self._shares(line.item.replace("eps", "shares"), column, filed)
            return _cents(Decimal(self._money("net_income", column, filed)) / Decimal(shares))
        if line.statement is Statement.BALANCE:
            quarter = self._quarters(column, filed)[-1]
            excess = (first.balances.get(line.item, 0) for first in quarter.first_stated if filed < first.until)
            return quarter.balances[line.item] + sum(excess)
        return self._money(line.item, column, filed)

    def _money(self, item: str, column: Column, filed: date) -> int:
        """A flow over the quarters of the column."""
        total = 0
        for quarter in self._quarters(column, filed):
            total += quarter.flows[item]
            for first in quarter.first_stated:
                total += first.flows.get(item, 0) if filed < first.until else 0
        return total

    def _shares(self, item: str, column: Column, filed: date) -> int:
        """Weighted shares of a column: the mean of its quarters by days, on the share basis of the filing."""
        factor = self._basis(filed)
        key = item, column, factor, self._is_shell(filed)
        if key not in self.means:
            quarters = self._quarters(column, filed)
            weighted = sum(round(getattr(quarter, item) / factor) * quarter.period.days for quarter in quarters)
            self.means[key] = round(Fraction(weighted, sum(quarter.period.days for quarter in quarters)))
        return self.means[key]

    def _basis(self, filed: date) -> Fraction:
        """The share basis of a filing: the number of new shares for one share of it."""
        if filed not in self.bases:
            self.bases[filed] = basis(self.filer, filed, self.newest)
        return self.bases[filed]

    def _is_shell(self, filed: date) -> bool:
        """Whether a filing is from the shell, before a reverse merger."""
        return bool(self.filer.merged and filed < self.filer.merged)

    def _dividends(self, column: Column, filed: date) -> int | float:
        declared = sum((quarter.dividends_per_share for quarter in self._quarters(column, filed)), Fraction(0))
        return _number(Decimal(round(declared * self._basis(filed) * 10_000)) / 10_000)


def shell_of(filer: Filer) -> Filer:
    """The filer of the shell that filed under the same CIK before a reverse merger."""
    small = replace(filer.economics, revenue=100_000_000, debt=3.0, shares=37_000_000)
    return replace(filer, business=f"{filer.cik} shell", merged=None, economics=small, revisions=())


def _cents(amount: Decimal) -> int | float:
    return _number(amount.quantize(Decimal("0.01"), ROUND_HALF_UP))


def _number(amount: Decimal) -> int | float:
    """The number as in JSON: whole numbers without a fraction."""
    return int(amount) if amount == int(amount) else float(amount)
