"""What a simulated filer is: its identity, and the traits that make its filings hard to read.

Belongs here: the vocabulary that filers are composed of. Does not: the built-in filers (filers), what the
traits do to numbers (books) and documents (filings).
"""

from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from fractions import Fraction

from pipelines.edgar.sample.calendar import FiscalCalendar

FIRST_CIK = 9_990_000_000  # far above what EDGAR has given out
MOST_FILERS = 10_000  # four digits of the accession number tell filers apart
NEWEST = date(2025, 11, 21)  # nothing is filed later: the sample has no clock

CONTRACT_REVENUE = "RevenueFromContractWithCustomerExcludingAssessedTax"


class Kind(Enum):
    """The statements that a filer makes."""

    COMMERCIAL = "commercial"  # US-GAAP, 10-Q and 10-K
    BANK = "bank"  # US-GAAP, 10-Q and 10-K, with a bank's lines
    FOREIGN = "foreign"  # IFRS, 20-F once a year
    FUND = "fund"  # registered, but without financial data in XBRL
    BROKER = "broker"  # from here on US-GAAP, 10-Q and 10-K, with the lines of the industry
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
    """The documents that EDGAR has of a filer."""

    FACTS = "companyfacts"
    SUBMISSIONS = "submissions"


class RevisedBy(Enum):
    """How a revision of figures filed before becomes known."""

    AMENDMENT = "amendment"  # by an amended annual report: what was earned changes
    COMPARATIVES = "comparatives"  # silently beside next year's figures: a reclassification, net income stays


@dataclass(frozen=True, kw_only=True)
class Split:
    """A share split: `ratio` new shares for one old (below one: a reverse split) from `effective` on.

    Filings from that day on restate what they show; earlier filings stay as they are (ASC 260-10-55-12).
    """

    ratio: Fraction
    effective: date


@dataclass(frozen=True, kw_only=True)
class Revision:
    """The figures of fiscal years `year` - 1 and `year` were first filed with too much revenue.

    share: the excess, as a share of the true revenue.
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
    """Cents a share and quarter in the first year, and what is added each year; on the newest share basis."""

    cents: int
    annual_raise: int = 0


@dataclass(frozen=True, kw_only=True)
class Offering:
    """An initial public offering: before that day a tenth to a half of the shares (`before`) were out."""

    day: date
    before: float = 0.3
    price: int = 18


@dataclass(frozen=True, kw_only=True)
class Extra:
    """A line besides those that every filer of the kind has, in filings for the fiscal years `since` to `until`.

    beside: the line whose place and measure it has; where `of` is empty its amount too.
    of: what the amount adds up from: names of the books, and their shares.
    """

    tag: str
    beside: str
    of: tuple[tuple[str, float], ...] = ()
    since: int = 0
    until: int = 9999


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """A foreign filer moves from IFRS to US-GAAP with the annual report on `year`, which restates two years before.

    share: by how much of revenue profit and operating cash flow are larger under IFRS.
    """

    year: int
    share: float = 0.05


class Columns(Enum):
    """Which columns of a report an error is in."""

    EVERY = "every"
    OWN = "own"  # of the fiscal year that the report is about
    COMPARATIVE = "comparative"  # of the years before


class Moved(Enum):
    """Where an amount is stated besides its own period."""

    TO_YEAR_TO_DATE = "to year to date"  # a quarter's in the context of the half-year or the nine months
    TO_NEXT_YEAR = "to next year"  # a quarter's in the context of the same quarter a year later


@dataclass(frozen=True, kw_only=True)
class Error:
    """The facts of some lines are stated wrong: by a factor, or in the context of another period.

    items: the lines, as `statements` names them.
    report: fiscal year and quarter of the report that errs; None where every report does.
    column: the only column that errs (fiscal year, first and last quarter); None where all of `columns` do.
    factor: by which amounts are multiplied: -1 is an error of sign, others are errors of scale.
    moved: for errors of context.
    """

    items: frozenset[str]
    report: tuple[int, int] | None = None
    column: tuple[int, int, int] | None = None
    columns: Columns = Columns.EVERY
    factor: Fraction = Fraction(1)
    moved: Moved | None = None


@dataclass(frozen=True, kw_only=True)
class Economics:
    """How the business goes. Amounts are in units of currency, rates a share of revenue unless said otherwise."""

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
    shares: int = 200_000_000  # outstanding at the beginning, on the newest share basis


@dataclass(frozen=True, kw_only=True)
class Filer:
    """A fictional filer: the same filer always files the same documents.

    cik: ten digits, from 9990000000 to 9990009999.
    symbols: the first is the primary one; none for a filer that is not in the tickers file.
    first_year: first fiscal year with filings of its own; the two years before are known from comparatives.
    since: nothing is filed by this day or before: another filer did, of the same business.
    unit: money is reported in multiples of this.
    revenue_tags: from which fiscal year's filings on revenue is tagged how.
    investments_tag: how short-term investments are tagged; None where there are none.
    untagged: what the business has but never tags (names as in `statements`).
    convenience: the newest year is translated to USD as well.
    proxies: proxy statements repeat rounded figures.
    business: whose books these are; its own where empty. Two filers of one business are one company under two CIKs.
    extras: lines besides those of its kind, from other names for the same to totals and parts.
    ceased: lines that are no longer tagged from some fiscal year's filings on.
    missing: reports that were never filed, by fiscal year and quarter.
    quarterly_data: annual reports repeat the quarters of two years (Regulation S-K, Item 302).
    rounded_in: fiscal years whose filings state money in millions.
    half_years: a foreign filer reports half-years too, under 6-K.
    conversion: a foreign filer moves to US-GAAP.
    merged: the day of a reverse merger: reports before it are those of a shell, whose history is no part of the later.
    announced: splits that filings tell the ratio of for a year after `effective`, which is the announcement: they do
        not take effect.
    errors: what its reports state wrong.
    recent: rows on the first page of the submissions; older ones are on further pages.

    Raises ValueError where the CIK is out of range or a year has no place in the history.
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
    served: frozenset[Served] = frozenset(Served)
    recent: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what could not be told apart or simulated."""
        if not (self.cik.isdigit() and len(self.cik) == 10 and 0 <= self.number < MOST_FILERS):
            raise ValueError(
                f"CIK of a simulated filer is {self.cik!r}, expected {FIRST_CIK} and the next {MOST_FILERS}"
            )
        if not 1995 <= self.first_year <= NEWEST.year:
            raise ValueError(f"first_year of {self.cik} is {self.first_year}, expected 1995 to {NEWEST.year}")
        if early := [revision.year for revision in self.revisions if revision.year < self.first_year]:
            raise ValueError(f"{self.cik} revises {early[0]}, expected {self.first_year} (its first_year) or later")

    def kind_in(self, fiscal_year: int) -> Kind:
        """The statements in filings for that fiscal year."""
        return Kind.COMMERCIAL if self.conversion and fiscal_year >= self.conversion.year else self.kind

    @property
    def number(self) -> int:
        """Which of the simulated filers this is: its CIK less the first."""
        return int(self.cik) - FIRST_CIK
