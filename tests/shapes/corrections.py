"""Filings with an error that another figure proves, one for each rule that corrects it.

Belongs here: errors of scale, of sign and of context. Does not: the corrected values (unit.test_identities, test_scale,
test_signs, test_contexts).
"""

from collections.abc import Mapping

from tests.factories import (
    ASSETS,
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    DILUTED,
    DIVIDENDS,
    EPS,
    NET_INCOME,
    REVENUE,
    SHARES,
    Row,
    fact,
)
from tests.shapes import Shape, joined

COMMON = "NetIncomeLossAvailableToCommonStockholdersBasic"
PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
TAX = "IncomeTaxExpenseBenefit"
PROFIT = "ProfitLoss"
PAID = "PaymentsOfDividendsCommonStock"
DECLARED, PAID_EACH = "DividendsCommonStock", "CommonStockDividendsPerShareCashPaid"

Figures = Mapping[str, float]


# --- Proved by the figures of one annual report

USUAL = {SHARES: 40e6, EPS: 2.25, NET_INCOME: 90e6}


def annual(year: int, figures: Figures) -> list[Row]:
    """An annual report that states these figures of its year."""
    return [
        fact(tag, value, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-20") for tag, value in figures.items()
    ]


def with_return(year: int, figures: Figures) -> list[Row]:
    """An annual report with the invested capital of its year, and of the year before."""
    return [
        *annual(year, figures),
        *(
            fact(tag, amount, None, f"{at}-12-31", filed=f"{year + 1}-02-20")
            for at in (year - 1, year)
            for tag, amount in CAPITAL.items()
        ),
    ]


DILUTIVE = "WeightedAverageNumberDilutedSharesOutstandingAdjustment"

CAPITAL: Figures = {
    ASSETS: 300e9,
    CASH: 9e9,
    "StockholdersEquity": 90e9,
    "LongTermDebtNoncurrent": 60e9,
    "LiabilitiesCurrent": 80e9,
}

REPORTS: dict[str, list[Row]] = {
    "correction.scale.income-earnings-and-shares": annual(2021, {**USUAL, SHARES: 40e3}),
    "correction.scale.count-by-earlier-filings": joined(
        annual(2021, USUAL), annual(2022, {SHARES: 40e3, NET_INCOME: 90e6})
    ),
    "correction.agreement.adjustment-is-diluted-count": annual(2021, {**USUAL, DILUTIVE: 40.2e6}),
    "correction.scale.more-shares-than-any-company": annual(2021, {REVENUE: 9e9, SHARES: 4e12}),
    "correction.scale.count-by-largest-earnings": annual(2021, {DILUTED: 5_922, NET_INCOME: 19.8e9}),
    "correction.sign.tax-by-income-after-tax": with_return(
        2021, {PRETAX: 20_867e6, TAX: -7_133e6, NET_INCOME: 13_381e6, "OperatingIncomeLoss": 21_500e6}
    ),
    "correction.sign.vote": annual(2021, {NET_INCOME: -90e6, COMMON: 90e6, PROFIT: 90e6}),
    "correction.sign.no-majority": annual(2021, {**USUAL, EPS: -2.25}),
    "flag.scale-repaired": annual(2021, {**USUAL, SHARES: 40e3}),
    "flag.figure-repaired": annual(2021, {**USUAL, COMMON: 60e6}),
    "flag.sign-repaired": annual(2021, {**USUAL, EPS: -2.25, PROFIT: 90e6}),
    "correction.sign.outflow": annual(2021, {CASH_FLOW: 9e9, CAPITAL_SPENDING: -5_984e6}),
}


# --- Proved by the totals of a statement

CASH_FLOWS: Figures = {
    CASH_FLOW: 70e6,
    "NetCashProvidedByUsedInInvestingActivities": -25e6,
    "NetCashProvidedByUsedInFinancingActivities": -30e6,
    "CashAndCashEquivalentsPeriodIncreaseDecrease": 15e6,
}
OUTFLOW: Figures = {
    CASH_FLOW: 305_000e3,
    CAPITAL_SPENDING: 29_531e3,
    "NetCashProvidedByUsedInInvestingActivities": -589_980e3,
}
"""The investing activities of an airline; no element explains most of them."""
LESSOR: Figures = {
    CASH_FLOW: -18_034e3,
    CAPITAL_SPENDING: 5_162e3,
    "PaymentsToAcquireEquipmentOnLease": 5_065e3,
    "PaymentsToAcquireIntangibleAssets": 482e3,
    "NetCashProvidedByUsedInInvestingActivities": -5_644e3,
}
"""Investing is plant and intangible assets, to the unit; equipment on lease is a part of the plant."""
MARGIN: Figures = {REVENUE: 100e6, "CostOfRevenue": 60e6, "GrossProfit": 40e6}
OF_OPERATIONS: Figures = {REVENUE: 100e6, "CostsAndExpenses": 80e6, "OperatingIncomeLoss": 20e6}


def wrong(lines: Figures, **changed: float) -> list[Row]:
    """Two annual reports with a statement that foots, and one with another figure."""
    return joined(annual(2020, lines), annual(2021, lines), annual(2022, {**lines, **changed}))


CASH_OF_YEARS = (40_123e3, 55_228e3, 70_333e3, 85_438e3)
"""Cash at the ends of 2019 to 2022."""


def years_of_cash(last: float) -> list[Row]:
    """Three annual reports with cash at the beginning and end, and the change in between; the last has another end."""
    rows = []
    for year, begin, end in zip((2020, 2021, 2022), CASH_OF_YEARS[:-1], CASH_OF_YEARS[1:], strict=True):
        rows += annual(year, {NET_INCOME: 9e6, "CashAndCashEquivalentsPeriodIncreaseDecrease": end - begin})
        for day, cash in ((year - 1, begin), (year, end if year < 2022 else last)):
            rows += [
                fact(tag, value, None, f"{day}-12-31", filed=f"{year + 1}-02-20")
                for tag, value in ((CASH, cash), (ASSETS, 900e6 + year))
            ]
    return rows


STATEMENTS: dict[str, list[Row]] = {
    "identity.cash-flow.investing-explained": annual(2021, OUTFLOW),
    "correction.total.plant-without-leased": annual(2021, LESSOR),
    "identity.cash.change-in-period": years_of_cash(CASH_OF_YEARS[-1] + 4e6),
    "identity.cash-flow.activities-and-change-in-cash": wrong(CASH_FLOWS, **{CASH_FLOW: 52.3e6}),
    "correction.total.sign-and-scale": wrong(CASH_FLOWS, **{CASH_FLOW: -70e6}),
    "identity.revenue.cost-and-gross-profit": wrong(MARGIN, **{REVENUE: 26e6}),
    "identity.revenue.costs-and-operating-income": wrong(OF_OPERATIONS, **{REVENUE: 26e6}),
}

# --- Contrary to figures that equal each other in other years

PAID_OUT = {DIVIDENDS: 1.0, PAID: 40e6, SHARES: 40e6}


def stated_again(year: int, figures: Figures) -> list[Row]:
    """A year that the annual report on 2021 states as well."""
    return [
        {**row, "filed": "2022-02-20", "accession": f"{row['cik']}-10-K-2022-02-20"} for row in annual(year, figures)
    ]


def third_year(usual: Figures, wrong: Figures) -> list[Row]:
    """Three annual reports, the last with other figures."""
    return joined(annual(2019, usual), annual(2020, usual), annual(2021, {**usual, **wrong}))


AGREEMENT: dict[str, list[Row]] = {
    "correction.scale.alone": joined(
        *(annual(year, {REVENUE: 100e6}) for year in range(2016, 2021)),
        [*annual(2021, {REVENUE: 100e9}), *stated_again(2020, {REVENUE: 100e6}), *stated_again(2019, {REVENUE: 100e6})],
    ),
    "correction.agreement.by-two-others": third_year(
        {NET_INCOME: 90e6, PROFIT: 90e6, COMMON: 90e6}, {NET_INCOME: 70e6}
    ),
    "correction.agreement.contradicted": third_year({NET_INCOME: 90e6, PROFIT: 90e6}, {NET_INCOME: 70e6}),
    "correction.agreement.diluted-below-basic": annual(2021, {REVENUE: 9e9, SHARES: 40e6, DILUTED: 30e6}),
    "correction.scale.dividends-by-payments": annual(2021, {**PAID_OUT, DIVIDENDS: 1000.0}),
    "correction.dividends.not-as-paid": annual(2021, {**PAID_OUT, REVENUE: 9e9, DECLARED: 40e6, DIVIDENDS: 2.0}),
    "correction.dividends.as-paid-per-share": annual(2021, {**PAID_OUT, DIVIDENDS: 1.4, PAID_EACH: 1.0}),
    "correction.dividends.rate": [
        fact(DIVIDENDS, 0.25, "2021-07-01", "2021-09-30", form="10-Q", filed="2021-11-05"),
        *annual(2021, {**PAID_OUT, DIVIDENDS: 0.26}),
    ],
}


# --- Proved by earlier filings of the same line

QUARTERS = ("2021-03-31", "2021-06-30", "2021-09-30", "2021-12-31", "2022-03-31")
SALES = (5.01e9, 5.12e9, 5.23e9, 5.34e9, 5.45e9)
FILED = ("2021-05-05", "2021-08-05", "2021-11-05", "2022-02-05", "2022-05-05")
HALF_YEAR = ("2022-10-03", "2023-04-02")


def sales(number: int, filed: str, scale: float = 1.0) -> Row:
    """The revenue of a quarter, as stated by the report of a day."""
    start = f"{QUARTERS[number][:4]}-{int(QUARTERS[number][5:7]) - 2:02d}-01"
    return fact(REVENUE, SALES[number] * scale, start, QUARTERS[number], form="10-Q", filed=filed)


FOUR_QUARTERS = [sales(number, FILED[number]) for number in range(4)]

LINES: dict[str, list[Row]] = {
    "correction.scale.earlier-filings": [*FOUR_QUARTERS, *(sales(number, FILED[4], 1e-3) for number in (0, 4))],
    "correction.sign.filings-of-period": [
        fact(CASH_FLOW, 1_000.8e6, "2021-10-04", "2022-04-03", form="10-Q", filed="2022-05-03"),
        *(
            fact(CASH_FLOW, amount, *HALF_YEAR, form="10-Q", filed=filed)
            for amount, filed in ((2_360.8e6, "2023-05-02"), (-2_360.8e6, "2024-04-30"))
        ),
    ],
}


# --- A figure in the context of another period

FIRST, SECOND, THIRD, FOURTH, HALF, NINE_MONTHS, YEAR = (
    ("{}-01-01", "{}-03-31"),
    ("{}-04-01", "{}-06-30"),
    ("{}-07-01", "{}-09-30"),
    ("{}-10-01", "{}-12-31"),
    ("{}-01-01", "{}-06-30"),
    ("{}-01-01", "{}-09-30"),
    ("{}-01-01", "{}-12-31"),
)
FILED_IN = {FIRST: "-05-01", SECOND: "-08-01", THIRD: "-11-01", HALF: "-08-01", NINE_MONTHS: "-11-01"}
Stretch = tuple[str, str]


def own(tag: str, amounts: Mapping[Stretch, float], year: int = 2012) -> list[Row]:
    """The figures of a year's quarterly reports."""
    return [
        fact(tag, value, *(text.format(year) for text in stretch), form="10-Q", filed=f"{year}{FILED_IN[stretch]}")
        for stretch, value in amounts.items()
    ]


def yearly(tag: str, amounts: Mapping[Stretch, float], year: int = 2012) -> list[Row]:
    """The figures of the annual report on 2012."""
    return [
        fact(tag, value, *(text.format(year) for text in stretch), filed="2013-01-30")
        for stretch, value in amounts.items()
    ]


SALES_NOW = {FIRST: 13_185e6, SECOND: 12_834e6, THIRD: 13_806e6}
SALES_NEXT = {FIRST: 13_301e6, SECOND: 13_117e6}
SALES_BEFORE = {FIRST: 9_857e6, SECOND: 9_913e6, THIRD: 10_876e6}
INCOME_NOW = {FIRST: 131e6, SECOND: 72e6, THIRD: -274e6}
INCOME_BEFORE = {FIRST: 201e6, SECOND: 191e6, THIRD: 63e6}
TWO_YEARS = [
    *own(REVENUE, SALES_NOW),
    *own(REVENUE, SALES_BEFORE, 2011),
    *own(NET_INCOME, INCOME_NOW),
    *own(NET_INCOME, INCOME_BEFORE, 2011),
]
ROUND_NOW, ROUND_BEFORE = (
    {FIRST: 90e6, SECOND: 80e6, THIRD: 70e6},
    {FIRST: 50e6, SECOND: 60e6, THIRD: 40e6},
)

CONTEXTS: dict[str, list[Row]] = {
    "correction.context.same-end": [
        *own(REVENUE, {SECOND: 2_234e6, HALF: 4_167e6}),
        *yearly(REVENUE, {HALF: 2_234e6, YEAR: 8_560e6}),
        *own(REVENUE, {HALF: 4_302e6}, 2013),
    ],
    "correction.context.other-year": [
        *TWO_YEARS,
        *yearly(REVENUE, {SECOND: SALES_BEFORE[SECOND], YEAR: 52_825e6}),
        *own(REVENUE, SALES_NEXT, 2013),
    ],
    "correction.context.with-proven": [
        *own(REVENUE, SALES_NOW),
        *own(REVENUE, SALES_BEFORE, 2011),
        *own(NET_INCOME, ROUND_NOW),
        *own(NET_INCOME, ROUND_BEFORE, 2011),
        *yearly(REVENUE, {SECOND: SALES_BEFORE[SECOND]}),
        *yearly(NET_INCOME, {SECOND: ROUND_BEFORE[SECOND], YEAR: 300e6}),
        *own(NET_INCOME, {FIRST: 90e6, SECOND: 90e6}, 2013),
    ],
    "correction.context.repeated-in-filing": [
        *own(REVENUE, SALES_NOW),
        *own(DIVIDENDS, {SECOND: 0.085, THIRD: 0.085, NINE_MONTHS: 0.255}),
        *yearly(DIVIDENDS, {YEAR: 0.34, FOURTH: 0.34}),
        *own(DIVIDENDS, {FIRST: 0.09}, 2013),
    ],
    "correction.context.quarters-of-other-year": [
        *yearly(REVENUE, {FIRST: 18_319e3, SECOND: 17_484e3, THIRD: 17_860e3, FOURTH: 19_391e3, YEAR: 68_681e3}),
        fact(REVENUE, 73_054e3, "2011-01-01", "2011-12-31", filed="2013-01-30"),
        *own(REVENUE, {FIRST: 17_102e3}, 2013),
    ],
}


# --- Contradicted by figures of other periods


def balances(end: str, filed: str, cash: float, assets: float) -> list[Row]:
    """Cash and total assets of a quarterly report."""
    return [
        fact(CASH, cash, None, end, form="10-Q", filed=filed),
        fact(ASSETS, assets, None, end, form="10-Q", filed=filed),
        fact(NET_INCOME, 5e6, f"{end[:4]}-01-01", end, form="10-Q", filed=filed),
    ]


LAST_YEAR = fact(NET_INCOME, 8e6, "2012-01-01", "2012-12-31", filed="2013-02-20")

PARTS: dict[str, list[Row]] = {
    "correction.parts.repeats-quarter": [
        *own(DIVIDENDS, {FIRST: 0.08, SECOND: 0.08, THIRD: 0.08}),
        *own(NET_INCOME, INCOME_NOW),
        *yearly(DIVIDENDS, {YEAR: 0.08}),
        *yearly(NET_INCOME, {YEAR: 121e6}),
    ],
    "correction.parts.below-part": [
        *own(CAPITAL_SPENDING, {FIRST: 51e6, HALF: 135e6, NINE_MONTHS: 166e6}),
        *yearly(CAPITAL_SPENDING, {YEAR: 114e6}),
    ],
    "correction.parts.repeats-balance": [
        *balances("2012-03-31", "2012-05-01", 53_412_345, 500e6),
        *balances("2012-06-30", "2012-08-01", 53_412_345, 510e6),
        LAST_YEAR,
    ],
    "correction.parts.other-day": [
        *balances("2012-06-30", "2012-07-29", 1_765e6, 9_000e6),
        *balances("2012-06-30", "2012-10-30", 1_294e6, 9_000e6),
        *balances("2012-09-30", "2012-10-30", 1_294e6, 9_100e6),
        LAST_YEAR,
    ],
}

TABLES = (REPORTS, STATEMENTS, AGREEMENT, LINES, CONTEXTS, PARTS)
SHAPES = tuple(Shape(rule, rows) for table in TABLES for rule, rows in table.items())
