"""One small annual report for each source of an element, with the facts that the source needs in order to be chosen.

Belongs here: the reports, generated from the sources, and the further figures that each needs. Does not: the results
(unit.test_rules), reports shaped after one filing (golden.reports).

Some amounts are never part of a value: they prove another amount, or decide whether a ratio is meaningful. A report of
such a source has a twin without it, and the two have different results.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pipelines.normalize.elements import BY_NAME, CONCEPTS, wanted_elements
from pipelines.normalize.elements.lines import IFRS_PREFIX, LINES, TOTALS
from pipelines.normalize.elements.sources import COVER, IFRS, US_GAAP, Concept, Source
from tests.factories import Row, fact

BEGIN, END, BEFORE, FILED, AGAIN = "2023-01-01", "2023-12-31", "2022-12-31", "2024-02-20", "2025-02-20"
FIRST_COMPANY = 9_991_000_000
SMALL = 10.0
"""The amount of each element that is added if present, or subtracted."""
UNITS = {"money": ("USD", 1e6), "shares": ("shares", 1e6), "per_share": ("USD/shares", 1e-2)}
"""The unit of a measure, and the factor from an amount of one to that unit."""

CODES = {
    "general": "3571",
    "bank": "6022",
    "insurer": "6311",
    "investment_company": "6799",
    "partnership": "4922",
    "oil_and_gas": "1311",
    "reit": "6798",
    "utility": "4911",
    "shell": "6770",
}
"""A SIC code of each industry that has its own sources."""

SHOWS_INDUSTRY: Mapping[str, Mapping[str, float]] = {
    "investment_company": {"InvestmentOwnedAtFairValue": 90, "InvestmentOwnedAtCost": 80},
    "partnership": {"LimitedPartnersCapitalAccount": 90, "PartnersCapital": 95},
}
"""Balances that show an industry if its SIC code does not."""


@dataclass(frozen=True)
class Needs:
    """The figures that a report needs besides a source, in millions.

    amount: of the source: all its elements together. others: element -> amount; of the source's own taxonomy. Elements
    that the concept would be read from are left out. both_ends: balances are stated for the day a year before as well.
    proves: the amount is not part of a value; the report has a twin without it. grows: the balance of the day a year
    before is zero. wrong: if not empty, two annual reports precede, and this one has other amounts of these elements at
    its end. restated: if not 1, the next annual report multiplies the amounts by it, as if another company had filed
    it.
    """

    amount: float = 1000
    others: Mapping[str, float] = field(default_factory=dict)
    both_ends: bool = False
    proves: bool = False
    grows: bool = False
    wrong: Mapping[str, float] = field(default_factory=dict)
    restated: float = 1.0


@dataclass(frozen=True)
class Report:
    """The annual report of a separate company, and the rule that decides in it.

    twin: the company whose report lacks only the elements of the rule; empty if there is none.
    """

    rule: str
    cik: str
    sic: str
    rows: list[Row]
    twin: str = ""


RETURN = {
    "OperatingIncomeLoss": 300,
    "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest": 280,
    "IncomeTaxExpenseBenefit": 60,
    "StockholdersEquity": 2000,
    "LongTermDebtNoncurrent": 500,
    "LiabilitiesCurrent": 400,
    "CashAndCashEquivalentsAtCarryingValue": 900,
    "Assets": 3000,
}
RETURN_IFRS = {
    "ProfitLossFromOperatingActivities": 300,
    "ProfitLossBeforeTax": 280,
    "IncomeTaxExpenseContinuingOperations": 60,
    "Equity": 2000,
    "LongtermBorrowings": 500,
    "CurrentLiabilities": 400,
    "CashAndCashEquivalents": 900,
    "Assets": 3000,
}
"""The amounts of a return on capital; elements of us-gaap and of ifrs-full."""
OPERATING_INCOME = ("OperatingIncomeLoss", "ProfitLossFromOperatingActivities")
WITH_RETURN = {**RETURN, **RETURN_IFRS}
LITTLE_CAPITAL = {**WITH_RETURN, "CashAndCashEquivalentsAtCarryingValue": 2400, "CashAndCashEquivalents": 2400}
"""Invested capital is a thirtieth of assets of 3,000."""
DERIVED_RETURN = {element: amount for element, amount in WITH_RETURN.items() if element not in OPERATING_INCOME}
CONTRADICTED = {**RETURN, tuple(RETURN)[1]: 90, "Revenues": 1000, "InterestExpense": 10}
"""Operating income of 300, although revenue less costs of 900, and income before tax and interest, give 100."""

FREE_CASH_FLOW = {
    "NetCashProvidedByUsedInOperatingActivities": 3000,
    "PaymentsToAcquirePropertyPlantAndEquipment": 300,
    "CashFlowsFromUsedInOperatingActivities": 3000,
    "PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities": 300,
}

OF_INVESTING = {
    **FREE_CASH_FLOW,
    "NetCashProvidedByUsedInInvestingActivities": -350,
    "PaymentsToAcquireIntangibleAssets": 70,
    "ProceedsFromSaleOfPropertyPlantAndEquipment": 20,
}
"""Lines of investing activities to which an outflow of 300 is added."""

TWO_SIGNS = {
    "NetIncomeLoss": 500,
    "NetIncomeLossAvailableToCommonStockholdersBasic": -500,
    "ProfitLossAttributableToOwnersOfParent": 500,
    "ProfitLossAttributableToOrdinaryEquityHoldersOfParentEntity": -500,
}
"""Net income with two signs; one further figure shows the right sign; elements of us-gaap and of ifrs-full."""
OF_OWNERS = {element: amount / 100 for element, amount in TWO_SIGNS.items()}
"""The same, so small that noncontrolling interests make a loss of the profit."""
IN_THOUSANDS = {
    "CommonStockDividendsPerShareDeclared": 100,
    "WeightedAverageNumberOfSharesOutstandingBasic": 40,
    "DividendsRecognisedAsDistributionsToOwnersPerShare": 100,
    "WeightedAverageShares": 40,
}
"""Dividends of one a share on 40 million shares."""

INCOME_IN_THOUSANDS = {
    "NetIncomeLoss": 0.08,
    "EarningsPerShareBasic": 200,
    "WeightedAverageNumberOfSharesOutstandingBasic": 40,
}
"""Earnings of two a share on 40 million shares; net income is a thousandth of them."""

PROPOSED = {
    "CommonStockDividendsPerShareDeclared": 600,
    "PaymentsOfDividends": 180,
    "WeightedAverageNumberOfSharesOutstandingBasic": 40,
    "DividendsRecognisedAsDistributionsToOwnersPerShare": 600,
    "DividendsPaidClassifiedAsFinancingActivities": 180,
    "WeightedAverageShares": 40,
}
"""Dividends of six a share that are paid next year, and 180 million paid on 40 million shares this year."""

TOTAL_ASSETS = 20_000.123456
"""Of every report with a balance sheet, in the units of its finest line."""

OF_EVERY_REPORT = {
    US_GAAP: {"NetCashProvidedByUsedInOperatingActivities": 70},
    IFRS: {"CashFlowsFromUsedInOperatingActivities": 70},
}
"""A cash flow, which shows the currency and the fiscal year."""
TAXONOMY_BESIDE = {COVER: US_GAAP}
"""The taxonomy of the other figures of a report, where the source is of the cover page."""

INVESTING, FINANCING, CHANGE, EXCHANGE = (
    ("NetCashProvidedByUsedInInvestingActivities", "CashFlowsFromUsedInInvestingActivities"),
    ("NetCashProvidedByUsedInFinancingActivities", "CashFlowsFromUsedInFinancingActivities"),
    ("CashAndCashEquivalentsPeriodIncreaseDecrease", "IncreaseDecreaseInCashAndCashEquivalents"),
    ("EffectOfExchangeRateOnCashAndCashEquivalents", "EffectOfExchangeRateChangesOnCashAndCashEquivalents"),
)
"""Lines of the cash flow statement that foot with operating cash flow; elements of us-gaap and of ifrs-full."""


def lines(*amounts: tuple[tuple[str, ...], float]) -> dict[str, float]:
    """Amounts of lines, under the elements of each taxonomy."""
    return {element: amount for elements, amount in amounts for element in elements}


NEEDS: dict[str, Needs] = {
    "investing_cash_flow": Needs(others=lines((FINANCING, -30), (CHANGE, 1040)), proves=True),
    "investing_without_payments": Needs(-5000, FREE_CASH_FLOW, proves=True),
    "plant_beside_leased": Needs(others={"NetCashProvidedByUsedInInvestingActivities": -1000}, proves=True),
    "financing_cash_flow": Needs(others=lines((INVESTING, -30), (CHANGE, 1040)), proves=True),
    "exchange_effect": Needs(others=lines((INVESTING, -30), (FINANCING, -40), (CHANGE, 1000)), proves=True),
    "change_in_cash": Needs(others=lines((INVESTING, 900), (FINANCING, 30)), proves=True),
    "gross_profit": Needs(
        others=lines((("Revenues", "Revenue"), 1600), (("CostOfRevenue", "CostOfSales"), 600)), proves=True
    ),
    "cost_of_revenue": Needs(others=lines((("Revenues", "Revenue"), 1600), (("GrossProfit",), 600)), proves=True),
    "preferred_dividends": Needs(50, {"NetIncomeLoss": 500}),
    "earnings_numerator": Needs(
        others={"NetIncomeLoss": 1100, "WeightedAverageNumberOfSharesOutstandingBasic": 40},
    ),
    "operating_cash_flow": Needs(others=FREE_CASH_FLOW),
    "capital_expenditure": Needs(others=FREE_CASH_FLOW),
    "customer_funds": Needs(proves=True),
    "operating_income": Needs(300, WITH_RETURN, both_ends=True),
    "operating_costs": Needs(900, CONTRADICTED, both_ends=True, proves=True),
    "pretax_income": Needs(280, WITH_RETURN, both_ends=True),
    "income_tax": Needs(60, WITH_RETURN, both_ends=True),
    "interest_expense": Needs(20, DERIVED_RETURN, both_ends=True),
    "investment_income": Needs(20, {**DERIVED_RETURN, "InterestExpense": 30, "FinanceCosts": 30}, both_ends=True),
    "net_interest": Needs(20, DERIVED_RETURN, both_ends=True),
    "equity": Needs(2000, WITH_RETURN, both_ends=True),
    "total_assets": Needs(3000, LITTLE_CAPITAL, both_ends=True, proves=True),
    "cost_of_goods_alone": Needs(others={"Revenues": 1600}, proves=True),
    "cash": Needs(restated=7.0),
    "cash_of_flows": Needs(
        100,
        {"CashAndCashEquivalentsAtCarryingValue": 60, "CashAndCashEquivalentsPeriodIncreaseDecrease": 0},
        both_ends=True,
        proves=True,
        wrong={"CashAndCashEquivalentsAtCarryingValue": 64},
    ),
    "liabilities": Needs(900, FREE_CASH_FLOW, both_ends=True, proves=True, restated=7.0),
    **dict.fromkeys(("profit", "eps_diluted", "comprehensive_income"), Needs(500, TWO_SIGNS, proves=True)),
    "shares_outstanding": Needs(40, INCOME_IN_THOUSANDS, proves=True),
    "retained_earnings": Needs(500, TWO_SIGNS, both_ends=True, proves=True, grows=True),
    "dividends_paid": Needs(40_000, IN_THOUSANDS, proves=True),
    "dividends_declared": Needs(180, {**PROPOSED, "CommonStockDividendsPerShareDeclared": 900}, proves=True),
    "dividends_paid_per_share": Needs(450, PROPOSED, proves=True),
    "other_revenue": Needs(others={"Revenues": 1000}, proves=True, wrong={"Revenues": 1500}),
    "revenue_of_bank": Needs(
        others={"InterestIncomeExpenseNet": 495}, proves=True, wrong={"InterestIncomeExpenseNet": 995}
    ),
    "revenue_by_expenses": Needs(
        900,
        {"InterestIncomeExpenseNet": 600, "NoninterestIncome": 300},
        proves=True,
        wrong={"InterestIncomeExpenseNet": 995},
    ),
}
"""The further figures of a report of a concept; empty for concepts that are not listed."""

NEEDS_OF_RULE: dict[str, Needs] = {
    **{
        source.rule: Needs(0, lines((FINANCING, -30)))
        for source in BY_NAME["capital_expenditure"].sources
        if source.only_zero
    },
    "capital-expenditure.additions-by-footing": Needs(300, OF_INVESTING),
    "capital-expenditure.additions-by-footing.as-outflow": Needs(-300, OF_INVESTING),
    "capital-expenditure.kinds-beside-plant": Needs(65, FREE_CASH_FLOW),
    "revenue.none": Needs(0),
    "revenue.one-kind-that-adds-up": Needs(others={"LicensesRevenue": 1000}),
    "income-tax.none": Needs(0, WITH_RETURN, both_ends=True),
    "witness.revenue.bank-income-expense-and-provision": Needs(
        890, {"NoninterestIncome": 590}, proves=True, wrong={"NoninterestIncome": 995}
    ),
    "witness.profit.less-noncontrolling-interests": Needs(-5, OF_OWNERS, proves=True),
    "witness.profit.ifrs.less-noncontrolling-interests": Needs(-5, OF_OWNERS, proves=True),
    "dividends-per-share.nothing-paid": Needs(0),
    "dividends-per-share.nothing-paid-on-any-stock": Needs(0),
}
"""The same for single sources."""


def reports() -> Iterator[Report]:
    """The report of each source, in the order of concepts and sources."""
    number = FIRST_COMPANY
    for concept in CONCEPTS:
        for source in concept.sources:
            report = _report(concept, source, number)
            yield report
            number += 2


def twins(report: Report) -> list[Row]:
    """The rows of a report's twin, without the elements of its rule; empty if it has no twin."""
    source = SOURCES[report.rule]
    return [{**row, "cik": report.twin} for row in report.rows if report.twin and row["tag"] not in source.counted]


WANTED = wanted_elements()
SOURCES = {source.rule: source for concept in CONCEPTS for source in concept.sources}
MEASURE = {
    element: source.measure or concept.measure
    for concept in CONCEPTS
    for source in concept.sources
    for element in source.counted
}
INSTANT = {
    element
    for concept in CONCEPTS
    if concept.instant
    for source in concept.sources
    for element in (*source.counted, *source.where)
}
INSTANT |= {element for balances in SHOWS_INDUSTRY.values() for element in balances}
INSTANT |= {element.removeprefix(IFRS_PREFIX) for elements in (TOTALS, *LINES.values()) for element in elements}


def _report(concept: Concept, source: Source, number: int) -> Report:
    needs = NEEDS_OF_RULE.get(source.rule, NEEDS.get(concept.name, Needs()))
    industry = _industry(source)
    own = {other.elements[0] for other in concept.sources if other.elements}
    of_others = TAXONOMY_BESIDE.get(source.taxonomy, source.taxonomy)
    others = {**OF_EVERY_REPORT[of_others], **needs.others}
    known = WANTED[of_others] - own
    amounts = {element: amount for element, amount in others.items() if element in known}
    amounts |= {**SHOWS_INDUSTRY.get(industry, {}), **_amounts(source, needs.amount)}
    if concept.name != "total_assets" and not amounts.keys().isdisjoint(INSTANT):
        amounts.setdefault("Assets", TOTAL_ASSETS)
    cik = str(number)
    rows = []
    for element, amount in amounts.items():
        unit, times = UNITS[MEASURE.get(element, "money")]
        dates = ((None, END), (None, BEFORE)) if element in INSTANT else ((BEGIN, END),)
        taxonomy = source.taxonomy if element in source.counted else of_others
        rows += [
            fact(element, each * times, *period, unit=unit, taxonomy=taxonomy, filed=FILED, cik=cik)
            for period, each in zip(
                dates if needs.both_ends else dates[:1], (amount, 0 if needs.grows else amount), strict=False
            )
        ]
    if needs.wrong:
        rows = [*_years_before(rows, 2), *_years_before(rows, 1), *(_wrong(row, needs.wrong) for row in rows)]
    if needs.restated != 1:
        again = {"filed": AGAIN, "accession": f"{cik}-10-K-{AGAIN}"}
        rows = [*rows, *({**row, **again, "value": row["value"] * needs.restated} for row in rows)]
    return Report(source.rule, cik, CODES[industry], rows, str(number + 1) if needs.proves else "")


def _years_before(rows: list[Row], years: int) -> list[Row]:
    """The same report some years earlier."""

    def moved(text: str) -> str:
        return f"{int(text[:4]) - years}{text[4:]}"

    days = ("start", "end", "filed")
    return [
        {**row, **{day: moved(str(row[day])) for day in days if row[day]}, "accession": f"{row['accession']}-{years}"}
        for row in rows
    ]


def _wrong(row: Row, amounts: Mapping[str, float]) -> Row:
    """A fact, with another amount if it is of one of these elements and of the period end."""
    return {**row, "value": amounts[row["tag"]] * 1e6} if row["tag"] in amounts and row["end"] == END else row


def _industry(source: Source) -> str:
    return next(industry for industry in CODES if industry in source.industries)


def _amounts(source: Source, amount: float) -> dict[str, float]:
    """Amounts by element with which the source states the amount."""
    if not source.elements:
        # of different amounts, because the same amount under two elements counts once
        parts = sum(range(len(source.counted) + 1))
        return {element: amount * part / parts for part, element in enumerate(source.counted, 1)}
    added, taken = len(source.plus), len(source.minus) + len(source.less)
    each = (amount - SMALL * added + SMALL * taken) / len(source.elements)
    if source.only_zero and len(source.elements) == 2:
        return dict(zip(source.elements, (SMALL, -SMALL), strict=True))
    small = dict.fromkeys((*source.plus, *source.minus, *source.less, *source.where), SMALL)
    return {**dict.fromkeys(source.elements, each), **dict.fromkeys(source.less_than, 2 * amount), **small}
