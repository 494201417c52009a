"""Companies for which each rule of the line items decides.

Belongs here: three years of a company, with the lines of an item. Does not: twelve months (flows), debt and cash
(balances).

Amounts are in millions.
"""

from collections.abc import Mapping, Sequence
from datetime import date

from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    DILUTED,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Filer,
    Row,
    fact,
    month_ends,
)
from tests.shapes import Shape

ENDS = month_ends(2021, 12)
QUARTERS = len(ENDS)
COMMON = "NetIncomeLossAvailableToCommonStockholdersBasic"
PREFERRED = "PreferredStockDividendsIncomeStatementImpact"
OPERATING, PRETAX, TAX = (
    "OperatingIncomeLoss",
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest",
    "IncomeTaxExpenseBenefit",
)
CONTINUING = "NetIncomeLossFromContinuingOperationsAvailableToCommonShareholdersBasic"
DISCONTINUED = "IncomeLossFromDiscontinuedOperationsNetOfTax"
INTEREST, COSTS = "InterestExpense", "CostsAndExpenses"
DEBT, EQUITY, ASSETS = "LongTermDebtNoncurrent", "StockholdersEquity", "Assets"
CAPITAL = {DEBT: 200.0, EQUITY: 500.0, CASH: 100.0, ASSETS: 1000.0}

Amounts = Mapping[str, float | Sequence[float]]


def company(
    sums: Amounts, balances: Amounts | None = None, shares: float | Sequence[float] = 0, **per_share: Sequence[float]
) -> list[Row]:
    """Three fiscal years; each amount holds for every quarter. Revenue is always stated."""
    flows = {REVENUE: 100.0, **sums}
    means = {SHARES: _each(shares)} if shares else {}
    held = {tag: _each(amount) for tag, amount in (balances or {}).items()}
    return Filer(ENDS, {**{tag: _each(amount) for tag, amount in flows.items()}, **per_share}, means, held).rows()


def _each(amount: float | Sequence[float]) -> list[float]:
    amounts = [amount] * QUARTERS if isinstance(amount, int | float) else amount
    return [each * 1e6 for each in amounts]


def years_only(tag: str, values: Mapping[int, float]) -> list[Row]:
    """A line that annual reports state for some years."""
    return [
        fact(tag, value * 1e6, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-28")
        for year, value in values.items()
    ]


def reverse_split() -> list[Row]:
    """A quarter after a reverse split of 1:5000, with the quarter of the year before; the year before has not moved."""
    periods = {
        ("2022-01-01", "2022-12-31"): ("10-K", "2023-02-20", 8e9, 0.01),
        ("2022-01-01", "2022-03-31"): ("10-Q", "2023-05-10", 1.5e6, 12.0),
        ("2023-01-01", "2023-03-31"): ("10-Q", "2023-05-10", 1.6e6, 12.5),
    }
    return [
        fact(tag, value, *period, form=form, filed=filed)
        for period, (form, filed, count, earnings) in periods.items()
        for tag, value in ((SHARES, count), (EPS, earnings), (NET_INCOME, count * earnings), (REVENUE, 100e6))
    ]


def conversion(until: str = "9999") -> list[Row]:
    """Average shares of 2022 as before a conversion of 5 for 6 shares that all quarters are stated after.

    Reports after the day `until` state the year after the conversion as well.
    """
    rows = company(INCOME, shares=10.0, **{EPS: [1.0] * QUARTERS})
    return [
        {**row, "value": 12e6}
        if row["tag"] == SHARES and (row["start"], row["end"]) == YEAR_2022 and row["filed"] < until
        else row
        for row in rows
    ]


def paid_half_yearly(each: float = 0.88) -> list[Row]:
    """A dividend twice a year, stated for the quarter in which it is declared and for that in which it is paid."""
    rows = company({**INCOME, PAID: [0.0, 8.8] * (QUARTERS // 2)}, shares=10.0)
    ends = ("2022-03-31", "2022-06-30", "2022-09-30", "2022-12-31")
    starts = ("2022-01-01", "2022-04-01", "2022-07-01", "2022-10-01")
    return [
        *rows,
        *(fact(DIVIDENDS, each, *quarter, filed="2023-02-28") for quarter in zip(starts, ends, strict=True)),
    ]


def earned_apart(quarter: float) -> list[Row]:
    """Earnings per share of two quarters of 2022 that no share count of the same period contradicts."""
    rows = company(INCOME, shares=10.0, **{EPS: [1.0] * 5 + [quarter] * 2 + [1.0] * 5})
    quarters, to_date = ("2022-04-01", "2022-07-01"), ("2022-06-30", "2022-09-30")

    def is_left_out(row: Row) -> bool:
        is_to_date = row["start"] == "2022-01-01" and row["end"] in to_date
        return (row["tag"] == SHARES and row["start"] in quarters) or (row["tag"] == EPS and is_to_date)

    return [row for row in rows if not is_left_out(row)]


def reverse_split_of_cents() -> list[Row]:
    """A loss of 0.6 million of 40 million shares is a cent; a reverse split of 1:5 makes 5 cents of it, and not 7.5."""
    losses, counts = {2020: -4.0, 2021: -4.0, 2022: -0.6, 2023: -4.0}, {"2022-02-28": 40e6, "2023-02-28": 40e6}
    rows = []
    for year in (2021, 2022, 2023):
        filed = f"{year + 1}-02-28"
        count = counts.get(filed, 8e6)
        for of in (year - 1, year):
            period = (f"{of}-01-01", f"{of}-12-31")
            per_share = round(losses[of] * 1e6 / count, 2) if of != 2022 else -0.01 * 40e6 / count
            money = {REVENUE: 90e6, NET_INCOME: losses[of] * 1e6}
            rows += [
                fact(tag, value, *period, filed=filed)
                for tag, value in {**money, SHARES: count, DILUTED: count, EPS: per_share}.items()
                if tag != EPS or (of, year) != (2022, 2023)
            ]
    return rows


def without_discontinued_line() -> list[Row]:
    """Net income of 2022 with discontinued operations, and a later report of it and the tax without them."""
    rows = company({**INCOME, OPERATING: 20.0, TAX: 3.0, DISCONTINUED: 4.0}, CAPITAL)
    again = {"ProfitLoss": 40e6, TAX: 12e6}
    return [*rows, *(fact(tag, value, *YEAR_2022, form="10-K/A", filed="2023-04-03") for tag, value in again.items())]


YEAR_2022 = ("2022-01-01", "2022-12-31")
PAID = "PaymentsOfDividendsCommonStock"
EARNED = {OPERATING: 50.0, PRETAX: 40.0, TAX: 8.0}
INCOME = {NET_INCOME: 10.0}
GROWING = [10.0] * 8 + [20.0] * 4

ITEMS: dict[str, list[Row]] = {
    "net-income.available-to-common": company({**INCOME, COMMON: 9.0}),
    "net-income.attributable-to-parent": company(INCOME),
    "net-income.parent-less-preferred-dividends": [
        *company({**INCOME, PREFERRED: 1.0}),
        *years_only(COMMON, {2023: 36}),
    ],
    "net-income.preferred-dividends-missing": [*company(INCOME), *years_only(PREFERRED, {2021: 4, 2023: 4})],
    "flag.attributable-to-parent": [*company(INCOME), *years_only(COMMON, {2022: 39})],
    "eps.as-filed": company(INCOME, shares=10.0, **{EPS: [1.0] * QUARTERS}),
    "eps.income-over-shares: not filed": company(INCOME, shares=30.0),
    "eps.income-over-shares: stated numerator over shares": company({**INCOME, CONTINUING: 9.0}, shares=30.0),
    "flag.derived": company(INCOME, shares=30.0),
    "eps.net-income-over-shares.issuance": company(INCOME, shares=GROWING, **{EPS: [1.0] * 8 + [0.5] * 4}),
    "flag.issuance": company(INCOME, shares=GROWING, **{EPS: [1.0] * 8 + [0.5] * 4}),
    "identity.earnings-per-share.times-shares: far apart": earned_apart(3.0),
    "flag.apart-from-net-income": company(INCOME, shares=10.0, **{EPS: [1.2] * QUARTERS}),
    "identity.earnings-per-share.times-shares": earned_apart(1.25),
    "eps.net-income-over-shares.roundings: rounded quarters": company(
        {NET_INCOME: 0.135}, shares=10.0, **{EPS: [0.01] * QUARTERS}
    ),
    "eps.net-income-over-shares.roundings: cents before split": reverse_split_of_cents(),
    "eps.withheld.other-shares": [
        row
        for row in company(INCOME, shares=10.0, **{EPS: [0.5] * QUARTERS})
        if row["tag"] != EPS or row["end"] > "2022-12-31"
    ],
    "shares.withheld.of-one-class": company(INCOME, shares=5.0, **{EPS: [0.5] * QUARTERS}),
    "shares.withheld.of-one-class: fewer earn it": company(INCOME, shares=30.0, **{EPS: [0.5] * QUARTERS}),
    "identity.dividends.times-shares": paid_half_yearly(),
    "shares.day-weighted-mean": company(INCOME, shares=10.0),
    "shares.withheld.other-basis": reverse_split(),
    "identity.shares.mean-like-quarters": conversion(),
    "ttm.year-as-corrected": conversion("2024-01-01"),
    "identity.shares.diluted-not-below-basic": [
        *company({NET_INCOME: -10.0}, shares=10.0),
        *(
            {**row, "value": 10e6} if (row["start"], row["end"]) == ("2021-01-01", "2021-12-31") else row
            for row in Filer(ENDS, {}, {DILUTED: [12e6] * 4 + [10e6] * 8}).rows()
            if row["end"].endswith(("03-31", "12-31"))
        ),
    ],
    "free-cash-flow.operating-less-capital-expenditure": company({CASH_FLOW: 30.0, CAPITAL_SPENDING: 10.0}),
    "debt-to-fcf.total-debt-over-free-cash-flow": company({CASH_FLOW: 30.0, CAPITAL_SPENDING: 10.0}, {DEBT: 200.0}),
}

ROUNDED: dict[str, list[Row]] = {
    "value.rounded: significant digits": company(INCOME, shares=30.0),
    "value.rounded: whole units": company(INCOME, shares=GROWING),
    "version.same-within-rounding": [
        *company(INCOME, shares=30.0),
        fact(SHARES, 30_000_001, "2023-01-01", "2023-12-31", form="10-K/A", filed="2024-06-03"),
    ],
}

RETURNS: dict[str, list[Row]] = {
    "version.withdrawn.input": [
        *company(EARNED, CAPITAL),
        fact(EQUITY, -500e6, None, "2023-12-31", form="10-K/A", filed="2024-06-03"),
    ],
    "roic.stated-operating-income": company(EARNED, CAPITAL),
    "roic.tax-rate: tax rate within bounds": company(EARNED, CAPITAL),
    "roic.tax-rate: statutory tax rate": company({**EARNED, PRETAX: -10.0}, CAPITAL),
    "roic.tax-rate: no tax on loss": company({**EARNED, OPERATING: -5.0, PRETAX: -10.0, TAX: 0.0}, CAPITAL),
    "roic.income-before-tax-and-interest": company({PRETAX: 40.0, TAX: 8.0, INTEREST: 12.0}, CAPITAL),
    "flag.derived-operating-income": company({PRETAX: 40.0, TAX: 8.0, INTEREST: 12.0}, CAPITAL),
    "roic.tax-of-income-before-tax": [
        *company({**EARNED, **INCOME}, CAPITAL),
        *(
            fact(tag, value, "2023-01-01", "2023-12-31", form="10-K/A", filed="2024-06-03")
            for tag, value in ((OPERATING, 180e6), (TAX, 28e6))
        ),
    ],
    "period.lacks-discontinued-operations": without_discontinued_line(),
    "roic.contradicted-operating-income": company({**EARNED, PRETAX: 20.0, INTEREST: 2.0, COSTS: 78.0}, CAPITAL),
    "flag.contradicted-operating-income": company({**EARNED, PRETAX: 20.0, INTEREST: 2.0, COSTS: 78.0}, CAPITAL),
}


def without(lines: Mapping[str, float], *left_out: str, **changed: float) -> dict[str, float]:
    """Lines without some, and with others."""
    return {tag: amount for tag, amount in {**lines, **changed}.items() if tag not in left_out}


OPERATIONS = {CASH_FLOW: 30.0, CAPITAL_SPENDING: 10.0}
IN_IFRS = {
    REVENUE: "Revenue",
    OPERATING: "ProfitLossFromOperatingActivities",
    PRETAX: "ProfitLossBeforeTax",
    TAX: "IncomeTaxExpenseContinuingOperations",
    DEBT: "LongtermBorrowings",
    EQUITY: "Equity",
    CASH: "CashAndCashEquivalents",
    ASSETS: "Assets",
}


def other_standards() -> list[Row]:
    """Annual reports on 2021 and 2022 under US GAAP, and one on 2023 under IFRS without comparatives."""
    rows = company(EARNED, CAPITAL)
    us_gaap = [row for row in rows if row["filed"] < "2023-04-01"]
    year = [row for row in rows if row["form"] == "10-K" and row["end"] == "2023-12-31"]
    return [*us_gaap, *({**row, "tag": IN_IFRS[row["tag"]], "taxonomy": "ifrs-full"} for row in year)]


def cash_flow_by_other_standards() -> list[Row]:
    """The report on 2023 under IFRS restates the operating cash flow of 2022, but not its capital expenditure."""
    us_gaap = [row for row in company({**INCOME, **OPERATIONS}) if row["filed"] < "2023-04-01"]
    ifrs = {"Revenue": 400.0, "ProfitLoss": 40.0, "CashFlowsFromUsedInOperatingActivities": 130.0, "Assets": 900.0}
    shown = [
        fact(
            tag,
            amount * 1e6,
            None if tag == "Assets" else f"{year}-01-01",
            f"{year}-12-31",
            filed="2024-02-29",
            taxonomy="ifrs-full",
        )
        for tag, amount in ifrs.items()
        for year in (2022, 2023)
    ]
    return [*us_gaap, *shown]


NO_RETURN: dict[str, list[Row]] = {
    "gap.no-input: no operating income": company(without(EARNED, OPERATING), CAPITAL),
    "gap.no-input: no pretax income": company(without(EARNED, PRETAX), CAPITAL),
    "gap.no-input: no income tax": company(without(EARNED, TAX), CAPITAL),
    "gap.no-input: no equity": company(EARNED, without(CAPITAL, EQUITY)),
    "gap.no-input: no total debt": company(EARNED, without(CAPITAL, DEBT)),
    "gap.no-input: no cash": company(EARNED, without(CAPITAL, CASH)),
    "gap.no-input: no capital a year before": company(EARNED, CAPITAL),
    "gap.basis-break": other_standards(),
    "gap.divisor: non positive capital": company(EARNED, without(CAPITAL, **{CASH: 800.0})),
    "gap.divisor: thin capital": company(EARNED, without(CAPITAL, **{ASSETS: 90_000.0})),
}
ONE_REGIME: dict[str, list[Row]] = {
    "free-cash-flow.operating-less-capital-expenditure: mixed regimes": cash_flow_by_other_standards()
}
NO_VALUE: dict[str, list[Row]] = {
    "gap.divisor: negative fcf": company({**OPERATIONS, CAPITAL_SPENDING: 40.0}, {DEBT: 200.0}),
    "gap.no-input: no free cash flow": company({CASH_FLOW: 30.0}, {DEBT: 200.0}),
    "gap.no-tag": company(INCOME),
    "gap.not-on-balance-sheet": [*company(INCOME), fact(DEBT, 5e6, None, "2021-12-31", filed="2022-03-01")],
    "gap.no-input: no capital expenditure": [*company({CASH_FLOW: 30.0}), *years_only(CAPITAL_SPENDING, {2021: 40})],
    "gap.no-input: no operating cash flow": [*company({CAPITAL_SPENDING: 30.0}), *years_only(CASH_FLOW, {2021: 40})],
    "gap.year-not-stated": [
        *company(INCOME),
        *years_only(CASH_FLOW, {2021: 40}),
        *years_only(CAPITAL_SPENDING, {2021: 9}),
    ],
    "gap.missing-quarter": [*company({}, CAPITAL), *years_only(NET_INCOME, {2021: 40, 2022: 44, 2023: 48})],
}

# after the id of a rule with several documents, the case
SHAPES = (
    *(
        Shape(name.partition(":")[0], rows)
        for table in (ITEMS, ROUNDED, RETURNS, NO_RETURN, ONE_REGIME, NO_VALUE)
        for name, rows in table.items()
    ),
    Shape("gap.before-succession", NO_VALUE["gap.missing-quarter"], succeeded=date(2021, 1, 4)),
)
