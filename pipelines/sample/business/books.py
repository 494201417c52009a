"""The books of a simulated business: the true amounts of each fiscal quarter.

Belongs here: money, shares and dividends of discrete quarters, in double entry, so that statements balance.
Does not: columns, tags, forms, dates of filing.

Amounts are whole reporting units, so sums of quarters are exact. Shares and dividends are on the newest share basis.
Events after NEWEST do not change earlier filings: a later split multiplies the shares in the books, and a later
revision lowers the amounts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from random import Random

from pipelines.sample.business.schedule import annual_report_filed, basis, known_from, known_revisions, newest_report
from pipelines.sample.business.statements import derived, owned
from pipelines.sample.filer.calendar import Period
from pipelines.sample.filer.traits import NEWEST, Economics, Filer, Kind, RevisedBy

TAX_RATE = 0.23
INTEREST = 0.011  # a quarter, on debt
DEPRECIATION = 0.025  # a quarter, on plant
STOCK_COMPENSATION = 0.02  # of revenue
CURRENT_SHARE = 0.1  # share of debt that is due within a year
SHORT_TERM_SHARE = 0.08  # share of debt that is commercial paper or short-term borrowings
DUE_FROM_BANKS = 0.2  # share of a bank's cash; the rest bears interest
LEAST_CASH, MOST_CASH = 0.3, 3.0  # in quarters of revenue: sells shares below, buys back above
DILUTION = 0.018
SHARE_PRICE = 60

Amounts = Mapping[str, int]
YearAndNumber = tuple[int, int]


@dataclass(frozen=True)
class FirstStated:
    """The excess over the true amounts of a quarter in filings before `until`."""

    until: date
    flows: Amounts
    balances: Amounts


@dataclass(frozen=True)
class Quarter:
    """One fiscal quarter: flows in it and balances at its end, by the names of `statements`."""

    period: Period
    flows: Amounts
    balances: Amounts
    shares_basic: int
    shares_diluted: int
    outstanding: int
    dividends_per_share: Fraction
    first_stated: tuple[FirstStated, ...] = ()


@dataclass
class Position:
    """The balance sheet, which changes from quarter to quarter; equity is assets less liabilities."""

    cash: int
    investments: int
    debt: int
    plant: int
    other_assets: int
    deposits: int
    other_liabilities: int
    outstanding: int

    @property
    def assets(self) -> int:
        """Total assets."""
        return self.cash + self.investments + self.plant + self.other_assets

    @property
    def liabilities(self) -> int:
        """Total liabilities."""
        return self.debt + self.deposits + self.other_liabilities


def keep_books(filer: Filer) -> dict[YearAndNumber, Quarter]:
    """The quarters of a filer by fiscal year and number, from two years before its first filings."""
    return _Bookkeeper(filer).books() if filer.kind is not Kind.FUND else {}


class _Bookkeeper:
    """Generates the quarters of one filer, in order."""

    def __init__(self, filer: Filer) -> None:
        self.filer = filer
        self.economics: Economics = filer.economics
        self.rng = Random(f"books/{filer.business or filer.cik}/{filer.seed}")
        self.position = self._opening()
        self.stated_before = dict.fromkeys(known_revisions(filer), 0)  # excess profit carried in equity
        self.newest_basis = basis(filer, NEWEST, newest_report(filer, filer.last_filed) or NEWEST)

    def books(self) -> dict[YearAndNumber, Quarter]:
        return dict(self._quarters())

    def _quarters(self) -> Iterator[tuple[YearAndNumber, Quarter]]:
        for year in range(self.filer.first_year - 2, self.filer.last_filed.year + 2):
            fiscal_year = self.filer.calendar.year(year)
            if fiscal_year.start > self.filer.last_filed:
                return
            for number, period in enumerate(fiscal_year.quarters, start=1):
                yield (year, number), self._quarter(year, number, period)

    def _money(self, amount: float) -> int:
        """The amount rounded to the unit that the filer reports in."""
        return round(amount / self.filer.unit) * self.filer.unit

    def _noise(self) -> float:
        return 1 + self.economics.noise * (2 * self.rng.random() - 1)

    def _opening(self) -> Position:
        quarter, is_bank = self.economics.revenue, self.filer.kind is Kind.BANK
        return Position(
            cash=self._money(self.economics.cash * quarter),
            investments=self._money(self.economics.investments * quarter)
            if "short_term_investments" in owned(self.filer, self.filer.kind)
            else 0,
            debt=self._money(self.economics.debt * quarter),
            plant=self._money(4 * quarter),
            other_assets=self._money((30 if is_bank else 3) * quarter),
            deposits=self._money(25 * quarter) if is_bank else 0,
            other_liabilities=self._money(1.8 * quarter),
            outstanding=round(self.economics.shares * (self.filer.offering.before if self.filer.offering else 1)),
        )

    def _quarter(self, year: int, number: int, period: Period) -> Quarter:
        """Simulate income, cash flows and financing of a quarter, and record the result."""
        position, elapsed = self.position, year - self.filer.first_year + 2 + (number - 1) / 4
        revenue = self._money(
            self.economics.revenue
            * (1 + self.economics.growth) ** elapsed
            * self.economics.season[number - 1]
            * (period.days / 91)
            * self._noise()
        )
        before = position.outstanding
        flows = self._earn_as_bank(revenue) if self.filer.kind is Kind.BANK else self._earn(revenue)
        dividend = self._dividend(year)
        flows |= self._cash_flows(revenue, flows["net_income"], dividend)
        self._finance(revenue, flows)
        basic = self._offer(period, before) or (before + position.outstanding) // 2
        diluted = round(basic * (1 + DILUTION)) if flows["net_income"] > 0 else basic
        first_stated = tuple(self._first_stated(year, revenue))
        return Quarter(
            period=period,
            flows=self._lowered(self._with_derived(flows), first_stated),
            balances=self._with_derived(self._balances()),
            shares_basic=round(basic * self.newest_basis),
            shares_diluted=round(diluted * self.newest_basis),
            outstanding=round(position.outstanding * self.newest_basis),
            dividends_per_share=dividend / self.newest_basis,
            first_stated=first_stated,
        )

    def _earn(self, revenue: int) -> dict[str, int]:
        cost = self._money(revenue * (1 - self.economics.gross_margin) * self._noise())
        operating = revenue - cost - self._money(revenue * self.economics.overhead * self._noise())
        pretax = operating - self._money(self.position.debt * INTEREST)
        tax = self._money(max(0, pretax) * TAX_RATE)
        return {
            "revenue": revenue,
            "cost": cost,
            "gross_profit": revenue - cost,
            "operating_income": operating,
            "pretax": pretax,
            "tax": tax,
            "net_income": pretax - tax,
        }

    def _earn_as_bank(self, revenue: int) -> dict[str, int]:
        """The income statement of a bank, whose revenue is net interest income plus noninterest income."""
        interest_income = self._money(revenue * 0.9 * self._noise())
        interest_expense = self._money(interest_income * 0.24 * self._noise())
        noninterest_income = revenue - interest_income + interest_expense
        provision = self._money(revenue * 0.05 * self._noise())
        noninterest_expense = self._money(revenue * 0.58 * self._noise())
        pretax = revenue - provision - noninterest_expense
        tax = self._money(max(0, pretax) * TAX_RATE)
        return {
            "interest_income": interest_income,
            "interest_expense": interest_expense,
            "net_interest_income": interest_income - interest_expense,
            "noninterest_income": noninterest_income,
            "provision": provision,
            "noninterest_expense": noninterest_expense,
            "pretax": pretax,
            "tax": tax,
            "net_income": pretax - tax,
        }

    def _cash_flows(self, revenue: int, net_income: int, dividend: Fraction) -> dict[str, int]:
        """Operating cash flow, capital expenditure and dividends; updates cash, plant and working capital."""
        position = self.position
        depreciation = self._money(position.plant * DEPRECIATION)
        compensation = self._money(revenue * STOCK_COMPENSATION)
        working_capital = self._money(revenue * 0.04 * (2 * self.rng.random() - 1))
        flows = {
            "operating_cash_flow": net_income + depreciation + compensation + working_capital,
            "capex": self._money(revenue * self.economics.capex * self._noise()),
            "dividends_paid": self._money(float(dividend) * position.outstanding),
        }
        position.plant += flows["capex"] - depreciation
        position.other_assets -= working_capital
        position.cash += flows["operating_cash_flow"] - flows["capex"] - flows["dividends_paid"]
        return flows

    def _finance(self, revenue: int, flows: Amounts) -> None:
        """Change debt, investments and deposits; keep cash within limits by selling or buying back shares."""
        position = self.position
        debt = self._money(position.debt * (0.96 + 0.1 * self.rng.random()))
        investments = self._money(position.investments * (0.9 + 0.2 * self.rng.random()))
        deposits = self._money(position.deposits * (1 + self.economics.growth / 4) * self._noise())
        position.cash += debt - position.debt - (investments - position.investments)
        position.other_assets += deposits - position.deposits  # the bank lends deposits out again
        position.debt, position.investments, position.deposits = debt, investments, deposits
        spare = max(0, position.cash - self._money(revenue * MOST_CASH)) or min(
            0, position.cash - self._money(revenue * LEAST_CASH)
        )
        bought_back = self._money(spare + max(0, flows["net_income"]) * 0.1)
        position.cash -= bought_back
        position.outstanding -= min(round(bought_back / SHARE_PRICE), position.outstanding // 100)

    def _offer(self, period: Period, before: int) -> int | None:
        """Sell the shares of the public offering in its quarter.

        Returns:
            the weighted shares of that quarter; None in other quarters.
        """
        offering = self.filer.offering
        if offering is None or not period.start <= offering.day <= period.end:
            return None
        after = self.economics.shares
        self.position.cash += self._money((after - before) * offering.price * 0.2)  # most of the shares were converted
        self.position.outstanding = after
        days_after = (period.end - offering.day).days + 1
        return round((before * (period.days - days_after) + after * days_after) / period.days)

    def _dividend(self, year: int) -> Fraction:
        dividend = self.filer.dividend
        if dividend is None:
            return Fraction(0)
        return Fraction(dividend.cents + dividend.annual_raise * (year - self.filer.first_year + 2), 100)

    def _balances(self) -> dict[str, int]:
        position = self.position
        short_term = self._money(position.debt * SHORT_TERM_SHARE)
        current = self._money((position.debt - short_term) * CURRENT_SHARE)
        due_from_banks = self._money(position.cash * DUE_FROM_BANKS)
        return {
            "cash": position.cash,
            "due_from_banks": due_from_banks,
            "interest_bearing_deposits": position.cash - due_from_banks,
            "short_term_investments": position.investments,
            "debt": position.debt,
            "short_term_debt": short_term,
            "long_term_debt": position.debt - short_term,
            "debt_current": current,
            "debt_noncurrent": position.debt - short_term - current,
            "deposits": position.deposits,
            "assets": position.assets,
            "other_liabilities": position.other_liabilities,
            "liabilities": position.liabilities,
            "equity": position.assets - position.liabilities,
        }

    def _with_derived(self, amounts: Amounts) -> dict[str, int]:
        """The amounts, together with amounts that are computed from them."""
        all_of_them = dict(amounts)
        for name, shares in derived(self.filer).items():
            if all_of_them.keys() >= shares.keys():
                all_of_them[name] = self._money(sum(all_of_them[of] * share for of, share in shares.items()))
        return all_of_them

    def _lowered(self, flows: Amounts, first_stated: Sequence[FirstStated]) -> dict[str, int]:
        """The flows, less the excess that revisions after NEWEST correct."""
        late = [first.flows for first in first_stated if NEWEST < first.until <= self.filer.last_filed]
        return {name: amount - sum(excess.get(name, 0) for excess in late) for name, amount in flows.items()}

    def _first_stated(self, year: int, revenue: int) -> Iterator[FirstStated]:
        """The excess amounts in filings from before each revision of this fiscal year was known.

        An amendment reduces revenue, its tax, and therefore profit, assets and equity; a reclassification reduces
        revenue and cost by the same amount.
        """
        line, against = (
            ("noninterest_income", "noninterest_expense") if self.filer.kind is Kind.BANK else ("revenue", "cost")
        )
        for revision in self.stated_before:
            if year not in revision.years:
                continue
            excess = self._money(revenue * revision.share)
            flows, balances = {line: excess, against: excess}, {}
            if revision.by is RevisedBy.AMENDMENT:
                tax = self._money(excess * TAX_RATE)
                self.stated_before[revision] += excess - tax
                if known_from(self.filer, revision) > NEWEST:
                    self.position.other_assets -= excess - tax
                profits = dict.fromkeys(("gross_profit", "operating_income", "pretax"), excess)
                flows = {line: excess, **profits, "tax": tax, "net_income": excess - tax}
                balances = dict.fromkeys(("assets", "equity"), self.stated_before[revision])
            yield FirstStated(known_from(self.filer, revision), self._with_derived(flows), balances)
        conversion = self.filer.conversion
        if conversion and year <= conversion.year:
            excess = self._money(revenue * conversion.share)
            flows = dict.fromkeys(("operating_income", "pretax", "net_income", "operating_cash_flow"), excess)
            yield FirstStated(annual_report_filed(self.filer, conversion.year), flows, {})
