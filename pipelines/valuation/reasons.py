"""The reasons why the model does not fit a company: a table of reason codes and tests.

Belongs here: the tests and their thresholds. Does not: the explanation of the codes (warehouse.contract.reasons), how
the data of a company is gathered (table).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import fmean, pstdev

from pipelines.valuation.history import Growth, Year
from warehouse.contract.reasons import NO_FAIR_VALUE

FINANCIAL = frozenset({"bank", "broker", "insurer", "investment_company", "financial"})
DEPOSITARY_FORMS = frozenset({"20-F", "6-K"})
"""Annual and interim reports of foreign private issuers. The listed security may be a depositary receipt for several
shares or for a part of one, and no element states the ratio. Canadian filers of 40-F list their shares directly."""

FEWEST_YEARS = 5
MOST_VARIATION = 1.0
"""Largest ratio of standard deviation to mean of the free cash flow margins; above it the mean has no meaning. Five
years of which fewer than three are positive always exceed it."""

STALE_DAYS = {"20-F": 610, "40-F": 610}
"""20 months: filers that report once a year do so within four to six months after the year's end."""
STALE_DAYS_QUARTERLY = 457
"""15 months: a 10-Q is due within 45 days, so four reports in a row are missing."""

SHARES_LAG_DAYS = 100
MOST_SHARES_MOVE = 1.5
"""Largest ratio between the average shares of a quarter and of its twelve months; a larger one comes from a split, a
merger, or an error of scale."""

YEAR_DAYS = 366
"""A line of customers' funds in the cash flow statement counts if its last period ends fewer than so many days before
the newest twelve months end."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The share count that the value is divided by, its period end, and a description of the count in words."""

    count: float
    end: date
    method: str


@dataclass(frozen=True, slots=True)
class CompanyData:
    """The data of a company that the tests use.

    trailing: the newest twelve months; its free cash flow is None if not known.
    years: comparable fiscal years, oldest first; `has_break`: they begin with a break.
    growth: None if it cannot be computed.
    class_not_stated: the classes of stock earn differently, and the class of the symbol is not known.
    shares: None if not known; `shares_of_year`: the average over the newest twelve months.
    no_capital_expenditure: operating cash flow is stated for the newest year, but capital expenditure is not.
    newest_filing: date of the newest filing in the whole source; data is stale compared with it, because a build does
        not depend on the clock.
    """

    industry: str
    annual_form: str
    currency: str
    newest_currency: str
    newest_filing: date
    trailing: Year
    no_capital_expenditure: bool
    customer_funds_end: date | None
    years: Sequence[Year]
    has_break: bool
    growth: Growth | None
    shares: Shares | None
    shares_of_year: float | None
    class_not_stated: bool = False

    @property
    def recent(self) -> Sequence[Year]:
        """The newest fiscal years, on which the tests of history are made."""
        return self.years[-FEWEST_YEARS:]


def stale_after(known: CompanyData) -> date:
    """The last filing date of any company at which the newest period is not yet too old."""
    return known.trailing.end + timedelta(days=STALE_DAYS.get(known.annual_form, STALE_DAYS_QUARTERLY))


def is_stale(known: CompanyData) -> bool:
    """Whether the newest period ended too long before the newest filing of any company."""
    return known.newest_filing > stale_after(known)


def has_history(known: CompanyData) -> bool:
    """Whether there are five comparable fiscal years with free cash flow, and a growth rate."""
    enough = len(known.recent) == FEWEST_YEARS and all(year.free_cash_flow is not None for year in known.recent)
    return enough and known.growth is not None


def varies(known: CompanyData) -> bool:
    """Whether the free cash flow margins of the last years vary more than their mean, or their mean is not positive."""
    if not has_history(known):
        return False
    amounts = [year.free_cash_flow or 0.0 for year in known.recent]
    revenues = [year.revenue or 0.0 for year in known.recent]
    shares = [a / r for a, r in zip(amounts, revenues, strict=True)] if min(revenues) > 0 else amounts
    mean = fmean(shares)
    return mean <= 0 or pstdev(shares) > MOST_VARIATION * mean


def has_customers_money(known: CompanyData) -> bool:
    """Whether customers' funds were a line of the operating cash flow within the last year."""
    end = known.customer_funds_end
    return end is not None and (known.trailing.end - end).days < YEAR_DAYS


def lacks_shares(known: CompanyData) -> bool:
    """Whether there is no share count, or only one of another period than the base."""
    return known.shares is None or abs((known.trailing.end - known.shares.end).days) > SHARES_LAG_DAYS


def moved_shares(known: CompanyData) -> bool:
    """Whether the newest share count differs much from the average of its twelve months."""
    if known.shares is None or not known.shares_of_year:
        return False
    ratio = known.shares.count / known.shares_of_year
    return not 1 / MOST_SHARES_MOVE <= ratio <= MOST_SHARES_MOVE


TESTS: dict[str, Callable[[CompanyData], bool]] = {
    "financial_company": lambda known: known.industry in FINANCIAL,
    "reit": lambda known: known.industry == "reit",
    "shell": lambda known: known.industry == "shell",
    "captive_finance": lambda known: known.industry == "captive_finance",
    "customer_funds": has_customers_money,
    "depositary_receipt": lambda known: known.annual_form in DEPOSITARY_FORMS,
    "stale_data": is_stale,
    "mixed_currency": lambda known: known.newest_currency != known.currency,
    "missing_capital_expenditure": lambda known: known.trailing.free_cash_flow is None and known.no_capital_expenditure,
    "no_free_cash_flow": lambda known: known.trailing.free_cash_flow is None and not known.no_capital_expenditure,
    "negative_free_cash_flow": lambda known: (
        known.trailing.free_cash_flow is not None and known.trailing.free_cash_flow <= 0
    ),
    "basis_break": lambda known: known.has_break and not has_history(known),
    "too_little_history": lambda known: not has_history(known) and not known.has_break,
    "too_volatile": varies,
    "class_of_stock_not_stated": lambda known: known.class_not_stated,
    "missing_shares": lacks_shares,
    "unresolved_share_basis": moved_shares,
}


def reasons(known: CompanyData) -> tuple[str, ...]:
    """The codes of all reasons that apply, the most important first; empty if the model fits."""
    return tuple(code for code in NO_FAIR_VALUE if TESTS[code](known))
