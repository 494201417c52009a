"""When the model does not fit a company: one row a reason, with the test on what is known of the company.

Belongs here: the judgement, and its thresholds. Does not: what the codes say in words (warehouse.reasons), where the
evidence comes from (table).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean, pstdev

from pipelines.valuation.history import Growth, Year
from warehouse.reasons import NO_FAIR_VALUE

FINANCIAL = frozenset({"bank", "broker", "insurer", "investment_company", "financial"})
DEPOSITARY_FORMS = frozenset({"20-F", "6-K"})
"""Annual reports of foreign private issuers, whose interim reports are 6-Ks: what is listed may be a depositary receipt
for several shares, or for a part of one, and no element says how many. Canadian filers of 40-F list their shares."""

FEWEST_YEARS = 5
MOST_VARIATION = 1.0
"""Standard deviation over mean, of free cash flow in revenue: beyond, the mean says nothing. Five years of which fewer
than three are positive are always beyond."""

STALE_DAYS = {"20-F": 610, "40-F": 610}
"""20 months: who reports once a year does so within four to six months after its end."""
STALE_DAYS_QUARTERLY = 457
"""15 months after the period of the newest report: a 10-Q is due within 45 days, so that four of them are missing."""

SHARES_LAG_DAYS = 100
MOST_SHARES_MOVE = 1.5
"""Average shares of a quarter and of the twelve months around it; more is a split, a merger, or an error of scale."""

YEAR_DAYS = 366
"""A statement of what customers left or took counts for a year."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What the value is divided by: the count, its period end, and in words which count it is."""

    count: float
    end: date
    method: str


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a company when it is judged.

    trailing: the newest twelve months; its free cash flow is None where not known.
    years: comparable fiscal years, oldest first; `has_break` where they begin with a break.
    growth: None where history tells none.
    shares: None where not known; `shares_of_year`: the average over the newest twelve months.
    spends_untold: operating cash flow is stated for the newest year, and capital expenditure is not.
    newest_filing: in the whole source: what is stale is judged by it, for a build does not depend on the clock.
    """

    industry: str
    annual_form: str
    currency: str
    newest_currency: str
    newest_filing: date
    trailing: Year
    spends_untold: bool
    customer_funds_end: date | None
    years: Sequence[Year]
    has_break: bool
    growth: Growth | None
    shares: Shares | None
    shares_of_year: float | None

    @property
    def recent(self) -> Sequence[Year]:
        """The years that tell what is usual."""
        return self.years[-FEWEST_YEARS:]


def is_stale(known: Known) -> bool:
    """The newest period ended too long before the newest filing of anybody."""
    age = (known.newest_filing - known.trailing.end).days
    return age > STALE_DAYS.get(known.annual_form, STALE_DAYS_QUARTERLY)


def has_history(known: Known) -> bool:
    """Five comparable fiscal years with free cash flow, the last of which the twelve months follow."""
    enough = len(known.recent) == FEWEST_YEARS and all(year.free_cash_flow is not None for year in known.recent)
    return enough and known.growth is not None


def varies(known: Known) -> bool:
    """The last years spread wider than their mean, or it is none to speak of."""
    if not has_history(known):
        return False
    amounts = [year.free_cash_flow or 0.0 for year in known.recent]
    revenues = [year.revenue or 0.0 for year in known.recent]
    shares = [a / r for a, r in zip(amounts, revenues, strict=True)] if min(revenues) > 0 else amounts
    mean = fmean(shares)
    return mean <= 0 or pstdev(shares) > MOST_VARIATION * mean


def has_customers_money(known: Known) -> bool:
    """What customers left or took was a line of the operating cash flow within the last year."""
    end = known.customer_funds_end
    return end is not None and (known.trailing.end - end).days < YEAR_DAYS


def lacks_shares(known: Known) -> bool:
    """No count, or one of another time than the base."""
    return known.shares is None or abs((known.trailing.end - known.shares.end).days) > SHARES_LAG_DAYS


def moved_shares(known: Known) -> bool:
    """The newest count is far from the average of the twelve months that it is the last quarter of."""
    if known.shares is None or not known.shares_of_year:
        return False
    ratio = known.shares.count / known.shares_of_year
    return not 1 / MOST_SHARES_MOVE <= ratio <= MOST_SHARES_MOVE


TESTS: dict[str, Callable[[Known], bool]] = {
    "financial_company": lambda known: known.industry in FINANCIAL,
    "reit": lambda known: known.industry == "reit",
    "shell": lambda known: known.industry == "shell",
    "captive_finance": lambda known: known.industry == "captive_finance",
    "customer_funds": has_customers_money,
    "depositary_receipt": lambda known: known.annual_form in DEPOSITARY_FORMS,
    "stale_data": is_stale,
    "mixed_currency": lambda known: known.newest_currency != known.currency,
    "missing_capital_expenditure": lambda known: known.trailing.free_cash_flow is None and known.spends_untold,
    "no_free_cash_flow": lambda known: known.trailing.free_cash_flow is None and not known.spends_untold,
    "negative_free_cash_flow": lambda known: (
        known.trailing.free_cash_flow is not None and known.trailing.free_cash_flow <= 0
    ),
    "basis_break": lambda known: known.has_break and not has_history(known),
    "too_little_history": lambda known: not has_history(known) and not known.has_break,
    "too_volatile": varies,
    "missing_shares": lacks_shares,
    "unresolved_share_basis": moved_shares,
}


def reasons(known: Known) -> tuple[str, ...]:
    """The codes of all reasons that apply, the one that weighs most first; none where the model fits."""
    return tuple(code for code in NO_FAIR_VALUE if TESTS[code](known))
