"""The description of a simulated filer: its identity, and the traits that make its filings hard to read.

Belongs here: the types that describe a filer. Does not: the built-in filers (filers), the effects of traits on amounts
(books) and filings (filings).
"""

from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from fractions import Fraction

from pipelines.sample.filer.calendar import FiscalCalendar
from pipelines.sample.filer.details import Block, OwnLine, Security

FIRST_CIK = 9_990_000_000  # far above the numbers that EDGAR has assigned
MOST_FILERS = 10_000  # four digits of the accession number identify the filer
NEWEST = date(2025, 11, 21)  # the date of the newest filing: the sample does not depend on the clock
NEXT_DAY = date(2025, 12, 15)  # the next day on which companies of the sample file (next_day)

CONTRACT_REVENUE = "RevenueFromContractWithCustomerExcludingAssessedTax"


class Kind(Enum):
    """The kind of statements that a filer prepares."""

    COMMERCIAL = "commercial"  # US-GAAP, 10-Q and 10-K
    BANK = "bank"  # US-GAAP, 10-Q and 10-K, with the lines of a bank
    FOREIGN = "foreign"  # IFRS, 20-F once a year
    FUND = "fund"  # registered, but without financial data in XBRL
    BROKER = "broker"  # this and all below: US-GAAP, 10-Q and 10-K, with the lines of the industry
    ASSET_MANAGER = "asset manager"
    EXCHANGE = "exchange"
    PAYMENTS = "payments"
    INSURER = "insurer"
    REIT = "REIT"
    UTILITY = "utility"
    OIL_AND_GAS = "oil and gas"
    CAPTIVE_FINANCE = "captive finance"
    PARTNERSHIP = "partnership"
    SHELL = "shell"

    @property
    def is_domestic(self) -> bool:
        """Whether it files 10-Q and 10-K."""
        return self not in (Kind.FOREIGN, Kind.FUND)


class Served(Enum):
    """The documents that EDGAR serves for a filer."""

    FACTS = "companyfacts"
    SUBMISSIONS = "submissions"


class RevisedBy(Enum):
    """How a revision of earlier figures becomes known."""

    AMENDMENT = "amendment"  # by an amended annual report: net income changes
    COMPARATIVES = "comparatives"  # only in comparatives of next year's report: a reclassification, net income stays


@dataclass(frozen=True, kw_only=True)
class Split:
    """A share split: `ratio` new shares for one old (below one: a reverse split) from `effective` on.

    Filings from that day on restate their figures; earlier filings do not change (ASC 260-10-55-12).
    """

    ratio: Fraction
    effective: date


@dataclass(frozen=True, kw_only=True)
class Revision:
    """The figures of fiscal years `year` - 1 and `year` were first filed with too much revenue.

    share: the excess, as a share of the true revenue; for a revision after NEWEST, of the revenue as first filed.
    """

    year: int
    by: RevisedBy
    share: float = 0.03

    @property
    def years(self) -> tuple[int, int]:
        """The fiscal years that change."""
        return self.year - 1, self.year


@dataclass(frozen=True, kw_only=True)
class Dividend:
    """Cents a share and quarter in the first year, and the raise each year; on the newest share basis."""

    cents: int
    annual_raise: int = 0


@dataclass(frozen=True, kw_only=True)
class Offering:
    """An initial public offering; `before` is the part of the shares that were outstanding before that day."""

    day: date
    before: float = 0.3
    price: int = 18


@dataclass(frozen=True, kw_only=True)
class Extra:
    """A line that other filers of this kind lack, in filings for the fiscal years `since` to `until`.

    like: the line with the same statement and measure, and with the same amount if `of` is empty.
    of: the components of the amount: names of the books, and their factors.
    """

    tag: str
    like: str
    of: tuple[tuple[str, float], ...] = ()
    since: int = 0
    until: int = 9999


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """A foreign filer moves from IFRS to US-GAAP with the annual report on `year`, which restates two years before.

    share: the excess of profit and of operating cash flow under IFRS, as a share of revenue.
    """

    year: int
    share: float = 0.05


class Columns(Enum):
    """The columns of a report that have an error."""

    EVERY = "every"
    OWN = "own"  # columns of the fiscal year that the report covers
    COMPARATIVE = "comparative"  # columns of the years before


class Moved(Enum):
    """The wrong context in which an amount is stated."""

    TO_YEAR_TO_DATE = "to year to date"  # a quarter's amount in the context of the half-year or the nine months
    TO_NEXT_YEAR = "to next year"  # a quarter's amount in the context of the same quarter a year later
    TO_YEAR = "to year"  # the last quarter's amount in the context of the fiscal year
    TO_REPORT_DATE = "to report date"  # the balance of the last year end in the context of the day of the report


@dataclass(frozen=True, kw_only=True)
class Error:
    """An error in the facts of some lines: a wrong factor, the context of another period, or no tag.

    items: the names of the lines in `statements`.
    report: fiscal year and quarter of the report with the error; None: every report has it.
    column: the only column with the error (fiscal year, first and last quarter); None: all of `columns` have it.
    factor: multiplies the amounts: -1 is an error of sign, others are errors of scale.
    moved: the wrong context, for errors of context.
    digits: the number of digits to which the amounts are rounded; None: they are not rounded.
    untagged: the report does not tag the lines.
    """

    items: frozenset[str]
    report: tuple[int, int] | None = None
    column: tuple[int, int, int] | None = None
    columns: Columns = Columns.EVERY
    factor: Fraction = Fraction(1)
    moved: Moved | None = None
    digits: int | None = None
    untagged: bool = False


@dataclass(frozen=True, kw_only=True)
class Economics:
    """Economics of the business: amounts in units of currency; rates as shares of revenue, unless stated otherwise."""

    revenue: int = 800_000_000  # of the first quarter
    growth: float = 0.06  # a year
    season: tuple[float, float, float, float] = (0.95, 0.98, 1.0, 1.07)
    gross_margin: float = 0.42
    overhead: float = 0.25
    capex: float = 0.05
    noise: float = 0.03
    cash: float = 0.8  # quarters of the first revenue, as are the next two
    investments: float = 0.5
    debt: float = 1.5
    shares: int = 200_000_000  # outstanding at the beginning, on the share basis of the newest filing up to NEWEST


@dataclass(frozen=True, kw_only=True)
class Filer:
    """A fictional filer: the same filer always files the same documents.

    cik: ten digits, from 9990000000 to 9990009999.
    symbols: the first is the primary symbol; empty for a filer that is not in the tickers file.
    filed_on: fiscal year, quarter and day of reports that are filed on an unusual day.
    first_year: first fiscal year with filings; the two years before are known from comparatives.
    since: the filer files nothing up to this day, because another filer of the same business filed then.
    unit: money is reported in multiples of this.
    revenue_tags: fiscal year and tag: filings for this year and later use this tag for revenue.
    investments_tag: the tag of short-term investments; None: the business has no investments.
    untagged: lines that the business has but never tags (names as in `statements`).
    convenience: the newest year is also translated to USD.
    proxies: proxy statements repeat rounded figures.
    business: the name of the business whose books are used; empty: the filer's own. Two filers of one business are one
        company under two CIKs.
    extras: further lines: other tags for the same amount, totals, and parts.
    ceased: lines and fiscal years: filings for this year and later no longer tag the line.
    missing: reports that were never filed, by fiscal year and quarter.
    quarterly_data: annual reports repeat the quarters of two years (Regulation S-K, Item 302).
    rounded_in: fiscal years whose filings state money in millions.
    half_years: a foreign filer reports half-years too, under 6-K.
    conversion: a foreign filer moves to US-GAAP.
    merged: the day of a reverse merger: earlier reports are from a shell, which has another history than the business.
    announced: splits that never take effect, though notes state the ratio for a year after the announcement
        (`effective`).
    errors: the errors in its reports.
    thin_amendments: fiscal years whose annual report has an amendment that states net income and total assets only.
    securities: the securities on the cover page; empty: one common stock with the first symbol.
    blocks: the parts of the business with their own balance sheet.
    own_lines: lines under elements that the filer defines itself.
    recent: rows on the first page of the submissions; older ones are on further pages.

    Raises ValueError if the CIK is out of range or a year is outside of the history.
    """

    cik: str
    name: str
    symbols: tuple[str, ...] = ()
    exchange: str | None = "NYSE"
    sic: str = "3420"
    kind: Kind = Kind.COMMERCIAL
    calendar: FiscalCalendar = field(default_factory=FiscalCalendar)
    first_year: int = 2015
    since: date | None = None
    last_filed: date = NEWEST
    filed_on: tuple[tuple[int, int, date], ...] = ()
    unit: int = 1_000_000
    currency: str = "USD"
    economics: Economics = field(default_factory=Economics)
    revenue_tags: tuple[tuple[int, str], ...] = ((0, "Revenues"),)
    investments_tag: str | None = "ShortTermInvestments"
    untagged: frozenset[str] = frozenset()
    dividend: Dividend | None = None
    splits: tuple[Split, ...] = ()
    revisions: tuple[Revision, ...] = ()
    offering: Offering | None = None
    convenience: bool = False
    proxies: bool = False
    business: str = ""
    extras: tuple[Extra, ...] = ()
    ceased: tuple[tuple[str, int], ...] = ()
    missing: frozenset[tuple[int, int]] = frozenset()
    quarterly_data: bool = False
    rounded_in: frozenset[int] = frozenset()
    half_years: bool = False
    conversion: Conversion | None = None
    merged: date | None = None
    announced: tuple[Split, ...] = ()
    errors: tuple[Error, ...] = ()
    thin_amendments: frozenset[int] = frozenset()
    securities: tuple[Security, ...] = ()
    blocks: tuple[Block, ...] = ()
    own_lines: tuple[OwnLine, ...] = ()
    served: frozenset[Served] = frozenset(Served)
    recent: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for a filer that could not be identified or simulated."""
        if not (self.cik.isdigit() and len(self.cik) == 10 and 0 <= self.number < MOST_FILERS):
            raise ValueError(
                f"CIK of a simulated filer is {self.cik!r}, expected {FIRST_CIK} and the next {MOST_FILERS}"
            )
        if not 1995 <= self.first_year <= NEWEST.year:
            raise ValueError(f"first_year of {self.cik} is {self.first_year}, expected 1995 to {NEWEST.year}")
        if early := [revision.year for revision in self.revisions if revision.year < self.first_year]:
            raise ValueError(f"{self.cik} revises {early[0]}, expected {self.first_year} (its first_year) or later")

    def kind_in(self, fiscal_year: int) -> Kind:
        """The kind of statements in filings for a fiscal year."""
        return Kind.COMMERCIAL if self.conversion and fiscal_year >= self.conversion.year else self.kind

    @property
    def number(self) -> int:
        """The number of the filer in the sample: its CIK less the first CIK."""
        return int(self.cik) - FIRST_CIK
