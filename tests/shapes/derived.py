"""Companies whose statements prove an amount that no filing states.

Belongs here: three years of a company that is shaped after a filer of each kind. Does not: amounts that filings state
(elements), their twelve months (flows).

Amounts of money are in millions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tests.factories import (
    CAPITAL_SPENDING,
    CASH,
    CASH_FLOW,
    DILUTED,
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
EARNINGS = "RetainedEarningsAccumulatedDeficit"
FINANCING, INVESTING = "NetCashProvidedByUsedInFinancingActivities", "NetCashProvidedByUsedInInvestingActivities"
BOUGHT_BACK, BORROWED = "PaymentsForRepurchaseOfCommonStock", "ProceedsFromIssuanceOfLongTermDebt"
SECURITIES = "PaymentsToAcquireAvailableForSaleSecuritiesDebt"
PAID, PER_SHARE = "PaymentsOfDividendsCommonStock", "CommonStockDividendsPerShareCashPaid"
DECLARED, DECLARED_PER_SHARE = "DividendsCommonStockCash", "CommonStockDividendsPerShareDeclared"
ADJUSTMENT = "WeightedAverageNumberDilutedSharesOutstandingAdjustment"
PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"
DILUTED_EARNINGS = "EarningsPerShareDiluted"

Amounts = Mapping[str, Sequence[float]]


def company(
    sums: Amounts | None = None, balances: Amounts | None = None, shares: float = 0, **per_share: float
) -> list[Row]:
    """Twelve quarters with revenue and net income; each amount per share belongs to one quarter."""
    flows = {REVENUE: [100.0] * QUARTERS, NET_INCOME: [10.0] * QUARTERS, **(sums or {})}
    held = {CASH: [50.0] * QUARTERS, **(balances or {})}
    return Filer(
        ENDS,
        {
            **{tag: [each * 1e6 for each in amounts] for tag, amounts in flows.items()},
            **{tag: [amount] * QUARTERS for tag, amount in per_share.items()},
        },
        {SHARES: [shares * 1e6] * QUARTERS} if shares else {},
        {tag: [each * 1e6 for each in amounts] for tag, amounts in held.items()},
        to_date_only=frozenset({CASH_FLOW, CAPITAL_SPENDING, FINANCING, INVESTING, *(sums or {})} - {NET_INCOME}),
    ).rows()


def keeps_its_income(paid: float = 0) -> list[Row]:
    """Retained earnings grow by net income, less dividends of each quarter; neither reports nor notes mention these."""
    return company(balances={EARNINGS: [100.0 + (10 - paid) * number for number in range(1, QUARTERS + 1)]})


def retires_stock(unit: float = 0.0) -> list[Row]:
    """Snowflake: retained earnings grow by net income less stock that is retired, but for a unit of rounding a year."""
    kept = [100.0 + 6 * number + unit * (number == QUARTERS) for number in range(1, QUARTERS + 1)]
    return company({"StockRepurchasedAndRetiredDuringPeriodValue": [4.0] * QUARTERS}, balances={EARNINGS: kept})


CHANGES = {
    "NetIncomeLoss": 10.0,
    "OtherComprehensiveIncomeLossNetOfTax": -1.0,
    "StockIssuedDuringPeriodValueNewIssues": 5.0,
    "AdjustmentsToAdditionalPaidInCapitalSharebasedCompensationRequisiteServicePeriodRecognitionValue": 2.0,
    "StockRepurchasedDuringPeriodValue": 3.0,
}


def changes_of_equity(unexplained: float = 0.0, without: str = "") -> list[Row]:
    """FinWise: equity changes by income, by stock that is issued, granted and bought back, and by an amount without a
    line.
    """
    grown = 10.0 - 1.0 + 5.0 + 2.0 - 3.0 - unexplained
    flows = {tag: [amount] * QUARTERS for tag, amount in CHANGES.items() if tag != without}
    return company(flows, balances={"StockholdersEquity": [200.0 + grown * number for number in range(QUARTERS)]})


def adopts_a_standard() -> list[Row]:
    """Third Coast: a change of accounting raised retained earnings at the beginning of 2023; no dividend is stated."""
    return company(balances={EARNINGS: [100.0 + 10 * number + 7 * (number > 8) for number in range(1, QUARTERS + 1)]})


def adopts_a_standard_in_a_year() -> list[Row]:
    """Carter Bankshares: a change of accounting in the first quarter of 2022; only the year less nine months shows the
    income of the fourth.
    """
    return company(balances={EARNINGS: [100.0 + 10 * number + 7 * (number > 4) for number in range(1, QUARTERS + 1)]})


def pays_once_a_year(paid: float = 2.0) -> list[Row]:
    """Red River Bancshares: the dividend of the first quarter of 2022 is the dividend of the whole year.

    Args:
        paid: millions paid in the year; two in the quarter.
    """
    rows = company(shares=10.0)
    year, quarter = ("2022-01-01", "2022-12-31", "2023-03-01"), ("2022-01-01", "2022-03-31", "2022-05-09")
    for (start, end, filed), millions in ((year, paid), (quarter, 2.0)):
        form = "10-K" if end.endswith("12-31") else "10-Q"
        rows.append(fact(DECLARED_PER_SHARE, 0.2, start, end, form=form, filed=filed))
        rows.append(fact(DECLARED, millions * 1e6, start, end, form=form, filed=filed))
    quarters = (("2023-01-01", "2023-03-31", "2023-05-09"), ("2023-04-01", "2023-06-30", "2023-08-09"))
    next_year = [fact(DECLARED_PER_SHARE, 0.3, start, end, form="10-Q", filed=filed) for start, end, filed in quarters]
    return [*rows, *next_year]


def financing(unexplained: float = 0) -> list[Row]:
    """Financing activities are shares bought back, money borrowed, and an amount without a line."""
    lines = {BOUGHT_BACK: [3.0] * QUARTERS, BORROWED: [8.0] * QUARTERS}
    return company({**lines, FINANCING: [5.0 - unexplained] * QUARTERS})


TWO_YEARS = (("2022-01-01", "2022-12-31", "2023-03-01"), ("2021-01-01", "2021-12-31", "2022-03-01"))


def paid_nothing(tag: str = PAID, taxonomy: str = "us-gaap") -> list[Row]:
    """Annual reports alone state dividends, of zero."""
    zeros = [fact(tag, 0.0, start, end, filed=filed, taxonomy=taxonomy) for start, end, filed in TWO_YEARS]
    return [*company(), *zeros]


def pays_preferred(paid: float = 2.0, tag: str = "PaymentsOfDividends") -> list[Row]:
    """USCB Financial: annual reports state all dividends paid, and two millions of them on preferred stock."""
    stated = {tag: paid * 1e6, "PreferredStockDividendsIncomeStatementImpact": 2e6}
    return [
        *company(),
        *(fact(tag, each, start, end, filed=filed) for start, end, filed in TWO_YEARS for tag, each in stated.items()),
    ]


def paid_twice_a_year(paid: float = 10.0) -> list[Row]:
    """Disney: the annual report dates two dividends of half a dollar, which were paid on ten million shares."""
    dates = [fact(PER_SHARE, 0.5, None, day, filed="2024-02-29") for day in ("2023-01-16", "2023-07-23")]
    year = fact(PAID, paid * 1e6, "2023-01-01", "2023-12-31", filed="2024-02-29")
    return [*company(shares=10.0), *dates, year]


def declares_before_it_pays(*declared: str) -> list[Row]:
    """Disney: half a dollar is paid in July and December of 2023, and quarterly reports date the declarations."""
    paid = [fact(PER_SHARE, 0.5, None, day, filed="2024-02-29") for day in ("2023-07-10", "2023-12-20")]
    years = [
        fact(PAID, amount, f"{year}-01-01", f"{year}-12-31", filed="2024-02-29")
        for year, amount in ((2022, 0.0), (2023, 10e6))
    ]
    days = [fact(DECLARED_PER_SHARE, 0.5, None, day, form="10-Q", filed="2023-11-09") for day in declared]
    return [*company(shares=10.0), *paid, *years, *days]


def pays_twice_a_year(last: float = 0.5) -> list[Row]:
    """Disney: annual reports date payments in the first and third quarters of two years, on ten million shares.

    Args:
        last: the amount per share of the last payment.
    """
    rows = company(shares=10.0)
    for year, amount, filed in ((2022, 0.5, "2023-03-01"), (2023, last, "2024-02-29")):
        dates = [(f"{year}-01-01", f"{year}-03-31", 0.5), (f"{year}-07-01", f"{year}-09-30", amount)]
        rows += [fact(PER_SHARE, each, start, end, filed=filed) for start, end, each in dates]
        rows.append(fact(PAID, (0.5 + amount) * 10e6, f"{year}-01-01", f"{year}-12-31", filed=filed))
    return rows


def declares(
    special: int | None = None, last: float = 2.5, *states_special: float, states_years: bool = False
) -> list[Row]:
    """Costco: a quarter dollar on ten million shares; each quarterly report states the rate, and no annual report does.

    Args:
        special: the quarter with another two dollars, which its report leaves out of the rate.
        last: millions declared in the last quarter of 2022.
        states_special: amounts per share that a later annual report states for that quarter.
        states_years: the annual reports state dividends per share of the year.
    """
    money, per_share = [2.5] * QUARTERS, [0.25] * QUARTERS
    money[7] = last
    if special is not None:
        money[special] += 20.0
        per_share[special] += 2.0
    filer = Filer(
        ENDS,
        {REVENUE: [1e8] * QUARTERS, NET_INCOME: [10_123_000.0] * QUARTERS, DECLARED: [each * 1e6 for each in money]},
        {SHARES: [10e6] * QUARTERS},
        {CASH: [5e7] * QUARTERS},
    )
    rates = replace(filer, sums={DECLARED_PER_SHARE: per_share}, means={}, balances={}).rows()
    quarters = {(str(filer.start(number)), str(ENDS[number])) for number in range(QUARTERS)}
    of_quarters = [
        {**row, "value": 0.25} for row in rates if row["form"] == "10-Q" and (row["start"], row["end"]) in quarters
    ]
    of_years = [row for row in rates if row["form"] == "10-K" and states_years]
    later = [
        fact(DECLARED_PER_SHARE, each, filer.start(special), ENDS[special], filed=filer.filed(special // 4 * 4 + 3))
        for each in states_special
        if special is not None
    ]
    return [*filer.rows(), *of_quarters, *of_years, *later]


def spends_under_an_own_element(unexplained: float = 0) -> list[Row]:
    """NVIDIA: quarterly reports state capital expenditure, the annual report of 2022 has no element for it."""
    spent = [4.0] * QUARTERS
    bought = [20.0] * QUARTERS
    total = [-24.0] * 8 + [unexplained - 24.0] + [-24.0] * 3
    rows = company({CASH_FLOW: [30.0] * QUARTERS, CAPITAL_SPENDING: spent, SECURITIES: bought, INVESTING: total})
    return [row for row in rows if row["tag"] != CAPITAL_SPENDING or row["form"] == "10-Q"]


def spends_under_an_own_element_at_first(unexplained: float = 0) -> list[Row]:
    """NVIDIA in 2012: no report before the annual one of 2023 has the element, which states three years under it."""
    rows = spends_under_an_own_element()
    kept = [row for row in rows if row["tag"] != CAPITAL_SPENDING]
    years = [
        fact(tag, each * 4e6, f"{year}-01-01", f"{year}-12-31", filed="2024-02-29")
        for year in (2021, 2022, 2023)
        for tag, each in {
            CAPITAL_SPENDING: 4.0,
            SECURITIES: 20.0,
            INVESTING: -24.0 + unexplained * (year == 2021),
        }.items()
    ]
    return [*kept, *years]


def loses(diluted: float = -1.0) -> list[Row]:
    """A loss of a dollar per share; no diluted average is stated."""
    return company({NET_INCOME: [-10.0] * QUARTERS}, shares=10.0, **{EPS: -1.0, DILUTED_EARNINGS: diluted})


def earns_alike(each: float = 3.0) -> list[Row]:
    """Basic and diluted earnings per share are equal; no diluted average is stated."""
    return company({NET_INCOME: [each * 10] * QUARTERS}, shares=10.0, **{EPS: each, DILUTED_EARNINGS: each})


def adjusts_by_nothing(adjustment: float = 0.0) -> list[Row]:
    """MainStreet: the dilutive adjustment of each year to date is zero; no diluted average is stated."""
    rows = earns_alike(0.1)
    of_periods = {(row["start"], row["end"], row["filed"], row["form"]) for row in rows if row["tag"] == SHARES}
    return [
        *rows,
        *(
            fact(ADJUSTMENT, adjustment, start, end, form=form, filed=filed, unit="shares")
            for start, end, filed, form in sorted(of_periods)
            if start.endswith("01-01")
        ),
    ]


def earns_per_share(part: float = 1.0) -> list[Row]:
    """Snowflake: averages are stated until 2022, and earnings of three dollars per share afterwards, too.

    Args:
        part: of net income, from which earnings per share are computed.
    """
    rows = [row for row in earns_alike() if row["tag"] != SHARES or row["end"] < "2023-01-01"]
    return [{**row, "value": row["value"] * (part if row["tag"] in (EPS, DILUTED_EARNINGS) else 1)} for row in rows]


def begins_in_the_second_quarter(unstated: str = "2023-03-31", shares: float = 10.0) -> list[Row]:
    """BK Technologies: no report states the average of the first quarter of 2023; the June report has half year and
    quarter.

    Args:
        unstated: the end of the year to date that is not stated.
        shares: million shares of the nine months of 2023.
    """
    rows = [row for row in company(shares=10.0) if (row["tag"], row["end"]) != (SHARES, unstated) or not of_half(row)]
    nine_months = ("2023-01-01", "2023-09-30")
    return [
        {**row, "value": shares * 1e6} if row["tag"] == SHARES and (row["start"], row["end"]) == nine_months else row
        for row in rows
    ]


def of_half(row: Row) -> bool:
    """Whether a fact is of a year to date of 2023."""
    return row["start"] == "2023-01-01"


def loses_in_the_last_quarter(income: float = -40.0) -> list[Row]:
    """Procter & Gamble: a loss in the last quarter of 2022; potential shares of a tenth are in the other quarters."""
    earned = [10.0] * QUARTERS
    earned[7] = income
    rows = company({NET_INCOME: earned}, shares=10.0)
    year = ("2022-01-01", "2022-12-31")
    diluted = [
        {**row, "tag": DILUTED, "value": row["value"] * (1.0 if (row["start"], row["end"]) == year else 1.1)}
        for row in rows
        if row["tag"] == SHARES
    ]
    return [*rows, *diluted]


def leaves_noninterest_income_out(other: float = 0.0) -> list[Row]:
    """SR Bancorp: quarterly reports state noninterest income, the annual report of 2023 does not.

    Args:
        other: millions of a further line in the statements of 2021.
    """
    income = {"NoninterestIncome": 3.0, "NoninterestExpense": 8.0, "InterestIncomeExpenseNet": 10.0}
    income |= {"InterestIncomeExpenseAfterProvisionForLoanLoss": 9.0, PRETAX: 4.0}
    sums = {tag: [amount] * QUARTERS for tag, amount in income.items()}
    sums[PRETAX] = [4.0 + other] * 4 + [4.0] * 8
    rows = [row for row in company(sums) if row["tag"] != REVENUE]
    return [row for row in rows if (row["tag"], row["filed"]) != ("NoninterestIncome", "2024-02-29")]


def loses_on_securities(net_income: float = -13.0) -> list[Row]:
    """First Seacoast Bancorp: noninterest income of the last quarter of 2022 is a loss on securities."""
    income = {"NoninterestExpense": 8.0, "InterestIncomeExpenseNet": 10.0}
    income |= {"InterestIncomeExpenseAfterProvisionForLoanLoss": 9.0, PRETAX: 4.0}
    sums = {tag: [amount] * QUARTERS for tag, amount in income.items()}
    sums["NoninterestIncome"] = [3.0] * 7 + [-20.0] + [3.0] * 4
    sums[PRETAX] = [4.0] * 7 + [-19.0] + [4.0] * 4
    sums["NetIncomeLoss"] = [3.0] * 7 + [net_income] + [3.0] * 4
    return [row for row in company(sums, {"Deposits": [500.0] * QUARTERS}) if row["tag"] != REVENUE]


def has_common_stock_alone(*others: str) -> list[Row]:
    """Berkshire Hathaway: basic averages, and no dilution except the facts `others` of the first report."""
    first = [fact(tag, 1e6, "2021-01-01", "2021-03-31", form="10-Q", filed="2021-05-10") for tag in others]
    return [*company(shares=10.0), *first]


def offers_shares(first: float = 8.0, year: float = 18 * 92 / 365) -> list[Row]:
    """Blue Foundry and ECB Bancorp: savings banks that offered ten million shares in July of 2022.

    No report states shares of a period before.

    Args:
        first: million shares of the third quarter of 2022: eight if the days before the offering count.
        year: million shares of 2022.
    """
    averages = {("2022-07-01", "2022-09-30"): first, ("2022-01-01", "2022-12-31"): year}
    begun = [
        {**row, "value": averages.get((row["start"], row["end"]), 10.0) * 1e6}
        for row in company(shares=10.0)
        if row["tag"] == SHARES
        and (row["end"] > "2022-12-31" or row["start"] == "2022-07-01" or row["end"] == "2022-12-31")
        and row["end"] > "2022-07-01"
    ]
    return [*company(), *begun]


def begins_with_nine_months(
    tag: str = "Revenues", of_quarter: str = "", unit: float = 1e6, nine_months: float = 330
) -> list[Row]:
    """A fiscal year, and the report on nine months of the next one, with their last quarter; no half-year report.

    Args:
        tag: of the amounts. of_quarter: the element of the quarters, if it differs.
        unit: of the amounts. nine_months: the amount stated for the nine months of the next year.
    """
    year = [
        fact(tag, 400 * unit, "2022-01-01", "2022-12-31", filed="2023-02-20"),
        fact("Assets", 900e6, None, "2022-12-31", filed="2023-02-20"),
    ]
    stated = {("2023", 1): nine_months, ("2023", 7): 115, ("2022", 1): 290, ("2022", 7): 100}
    return year + [
        fact(
            of_quarter or tag if month > 1 else tag,
            amount * unit,
            f"{number}-{month:02}-01",
            f"{number}-09-30",
            form="10-Q",
            filed="2023-11-05",
        )
        for (number, month), amount in stated.items()
    ]


SHAPES: tuple[Shape, ...] = (
    Shape("period.beginning-by-difference", begins_with_nine_months()),
    Shape("period.beginning-by-difference", begins_with_nine_months(DECLARED_PER_SHARE, unit=0.01)),
    Shape("shares.of-days-since-offering", offers_shares(10.0, 10.0)),
    Shape("dividends-per-share.none.retained-earnings", keeps_its_income()),
    Shape("dividends-per-share.none.retained-earnings", retires_stock()),
    Shape("dividends-per-share.none.changes-of-equity", changes_of_equity()),
    Shape("dividends-per-share.none.financing-activities", financing()),
    Shape("dividends-per-share.none.of-a-part", paid_nothing()),
    Shape("dividends-per-share.none.all-on-preferred", pays_preferred()),
    Shape("dividends-per-share.none.between-periods-without", adopts_a_standard()),
    Shape("dividends-per-share.none.of-a-part", pays_once_a_year()),
    Shape("dividends-per-share.dated", paid_twice_a_year()),
    Shape("dividends-per-share.dated", declares_before_it_pays("2023-02-01", "2023-08-01")),
    Shape("dividends-per-share.confirmed-by-declared", declares()),
    Shape("dividends-per-share.confirmed-by-declared", declares(5, 2.5, 2.0)),
    Shape("dividends-per-share.confirmed-by-declared", declares(5, states_years=True)),
    Shape("dividends-per-share.not-as-usually-declared", declares(5)),
    Shape("capital-expenditure.residual-of-investing-activities", spends_under_an_own_element()),
    Shape("flag.derived-line", spends_under_an_own_element()),
    Shape("shares.diluted.basic-in-a-loss", loses()),
    Shape("shares.diluted.basic-without-dilution", earns_alike()),
    Shape("shares.diluted.basic-without-dilution", adjusts_by_nothing()),
    Shape("shares.diluted.basic-without-dilution", has_common_stock_alone()),
    Shape("shares.diluted.basic-in-a-loss-of-the-rest", loses_in_the_last_quarter()),
    Shape("shares.net-income-over-earnings-per-share", earns_per_share()),
    Shape("shares.basic.period-less-its-last-quarter", begins_in_the_second_quarter()),
)
