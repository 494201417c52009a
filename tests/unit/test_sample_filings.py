"""Simulated filings are consistent, and each trait of the sample shows in the facts."""

import itertools
from collections import defaultdict
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from pipelines.sample import (
    NEXT_DAY,
    Columns,
    Company,
    Error,
    Extra,
    Filer,
    FiscalCalendar,
    Kind,
    Moved,
    NewYearEnd,
    RevisedBy,
    Revision,
    Split,
    next_day_filers,
    sample_filers,
    simulate,
)
from pipelines.sample.business.filings import Column, Filing

pytestmark = pytest.mark.no_cover  # tracing the simulator would take as long as the tests

ADDITIVE = ("USD", "EUR")
FILERS = next_day_filers()  # which have filed all reports of the sample's filers, and more
REPORTING = [one.name.split()[1] for one in FILERS if one.served and one.kind is not Kind.FUND]
OF_OTHER_COLUMNS = ("Basin", "Borealis")  # a transition period and half-years, which have separate tests
PRETAX = "IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest"


@cache
def company(word: str) -> Company:
    return simulate(next(filer for filer in FILERS if word in filer.name))


def reports(word: str) -> list[Filing]:
    return [filing for filing in company(word).filings if filing.is_periodic]


def table(filing: Filing) -> dict[str, dict[Column, float]]:
    """The statements of a filing: values by tag and column."""
    columns: dict[str, dict[Column, float]] = defaultdict(dict)
    for fact in filing.facts:
        if fact.column:
            columns[fact.tag][fact.column] = fact.value
    return columns


def facts(word: str, tag: str, unit: str = "USD", taxonomy: str = "us-gaap") -> list[dict]:
    return company(word).companyfacts()["facts"][taxonomy][tag]["units"][unit]


def tags(word: str, taxonomy: str = "us-gaap") -> set[str]:
    return set(company(word).companyfacts()["facts"][taxonomy])


def stated(word: str | Filer, tag: str, unit: str = "USD") -> dict[tuple, list[float]]:
    """The values of each period in companyfacts, in the order of filing."""
    told: dict[tuple, list[float]] = defaultdict(list)
    of = company(word) if isinstance(word, str) else simulate(word)
    for fact in of.companyfacts()["facts"]["us-gaap"][tag]["units"][unit]:
        told[fact.get("start"), fact["end"]].append(fact["val"])
    return told


# -- every filing is consistent --------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", REPORTING)
def test_balance_sheets_balance(word):
    """Assets equal liabilities and equity, at each date of each filing."""
    for filing in reports(word):
        shown = table(filing)
        equity = next(shown[tag] for tag in ("StockholdersEquity", "Equity", "PartnersCapital") if tag in shown)
        assert shown["Assets"] == {column: shown["Liabilities"][column] + equity[column] for column in equity}


@pytest.mark.parametrize("word", REPORTING)
def test_income_statements_add_up(word):
    """Revenue less cost is gross profit, and pretax income less tax is net income."""
    for filing in reports(word):
        shown = table(filing)
        revenue = next((shown[tag] for tag in shown if tag in REVENUE), {})
        cost = shown.get("CostOfRevenue") or shown.get("CostOfSales")
        if cost:
            assert shown["GrossProfit"] == {column: revenue[column] - cost[column] for column in cost}
        if tax := shown.get("IncomeTaxExpenseBenefit"):
            assert shown["NetIncomeLoss"] == {column: shown[PRETAX][column] - tax[column] for column in tax}


REVENUE = {"Revenues", "Revenue", "SalesRevenueNet", "RevenueFromContractWithCustomerExcludingAssessedTax"}


@pytest.mark.parametrize("word", REPORTING)
def test_quarters_add_up_to_the_year_to_date(word):
    """In the newest filings, to the unit, wherever all quarters are reported."""
    newest: dict[tuple[str, Column], float] = {}
    for filing in reports(word):
        for fact in filing.facts:
            if fact.column and fact.start and fact.unit in ADDITIVE:
                newest[fact.tag, fact.column] = fact.value
    filer = company(word).filer
    settled = {year for revision in filer.revisions for year in revision.years}
    for (tag, column), value in newest.items():
        parts = [newest.get((tag, Column(column.year, n, n))) for n in range(1, column.last + 1)]
        if column.first == 1 and None not in parts and column.year not in settled:
            assert sum(parts) == value


@pytest.mark.parametrize("word", REPORTING)
def test_weighted_shares_of_a_year_to_date_are_the_mean_of_its_quarters(word):
    tag = "WeightedAverageNumberOfSharesOutstandingBasic"
    calendar = company(word).filer.calendar
    quarters: dict[Column, float] = {}
    for filing in reports(word):
        shown = table(filing).get(tag, {})
        basis = {column: value for column, value in shown.items() if column.first == column.last}
        for column, value in shown.items():
            first, second = quarters.get(Column(column.year, 1, 1)), basis.get(Column(column.year, 2, 2))
            if column.first == 1 and column.last == 2 and first and second:
                days = [quarter.days for quarter in calendar.year(column.year).quarters]
                if 0.5 < first / second < 2:  # both on one share basis
                    assert abs(value - (first * days[0] + second * days[1]) / (days[0] + days[1])) <= 2
        quarters |= basis


@pytest.mark.parametrize("word", [word for word in REPORTING if word not in OF_OTHER_COLUMNS])
def test_reports_have_the_columns_that_the_rules_ask_for(word):
    """Quarterly reports: quarter and year to date of two years, cash flows to date only; annual ones: three years."""
    for filing in reports(word):
        shown = table(filing)
        year = filing.fiscal_year
        ocf = set(
            shown.get("NetCashProvidedByUsedInOperatingActivities") or shown["CashFlowsFromUsedInOperatingActivities"]
        )
        net_income = set(shown.get("NetIncomeLoss") or shown["ProfitLossAttributableToOwnersOfParent"])
        if filing.fiscal_period == "FY":
            assert net_income == ocf == {Column(y, 1, 4) for y in (year - 2, year - 1, year)}
            assert set(shown["Assets"]) == {Column(year, 4, 4), Column(year - 1, 4, 4)}
        else:
            n = int(filing.fiscal_period[1])
            assert ocf == {Column(year, 1, n), Column(year - 1, 1, n)}
            assert net_income == ocf | {Column(year, n, n), Column(year - 1, n, n)}
            assert set(shown["Assets"]) == {Column(year, n, n), Column(year - 1, 4, 4)}


@pytest.mark.parametrize("word", REPORTING)
def test_comparatives_repeat_what_was_filed_before(word):
    """A period has one value in all reports, except after a revision, a change of standards or a split."""
    filer = company(word).filer
    revised = {year for revision in filer.revisions for year in revision.years}
    told: dict[tuple, set[float]] = defaultdict(set)
    for filing in reports(word):
        for fact in filing.facts:
            split = filer.splits and fact.unit not in ADDITIVE
            if fact.column and fact.column.year not in revised and not split:
                told[fact.taxonomy, fact.line.item, fact.unit, fact.column].add(fact.value)
    assert told
    assert {key: values for key, values in told.items() if len(values) > 1} == {}


def test_fiscal_year_and_period_are_those_of_the_filing():
    """Comparatives have the fiscal year and period of the filing that shows them, so these are not a key."""
    labels = {(fact["fy"], fact["fp"]) for fact in facts("Orchard", "NetIncomeLoss") if fact["end"] == "2018-09-30"}

    assert labels == {(2018, "Q3"), (2019, "Q3")}


def test_the_cover_counts_shares_just_before_the_filing():
    for fact in facts("Orchard", "EntityCommonStockSharesOutstanding", "shares", "dei"):
        assert timedelta(0) < date.fromisoformat(fact["filed"]) - date.fromisoformat(fact["end"]) < timedelta(days=14)


# -- each trait shows ------------------------------------------------------------------------------------------------


def lengths(word: str, tag: str = "NetIncomeLoss") -> set[int]:
    return {(date.fromisoformat(fact["end"]) - date.fromisoformat(fact["start"])).days + 1 for fact in facts(word, tag)}


def test_a_calendar_of_weeks_has_years_of_52_and_53():
    ends = {fact["end"] for fact in facts("Harbor", "NetIncomeLoss") if fact["fp"] == "FY"}
    assert {"2016-09-24", "2017-09-30", "2023-09-30", "2024-09-28", "2025-09-27"} <= ends
    assert {364, 371} <= lengths("Harbor")


def test_a_retailer_has_quarters_of_twelve_weeks_and_a_long_last_one():
    """Years to date have 12, 24, 36 and 52 or 53 weeks; the last quarter of 16 or 17 weeks is never reported."""
    assert lengths("Warehouse") == {12 * 7, 24 * 7, 36 * 7, 364, 371}


def test_years_to_january_are_named_after_their_start():
    labels = {
        (fact["end"], fact["fy"])
        for fact in facts("Lantern", "NetIncomeLoss")
        if fact["fp"] == "FY" and fact.get("frame") is None
    }
    assert dict(sorted(labels, reverse=True)).items() >= {"2024-02-03": 2023, "2022-01-29": 2021}.items()


def test_a_year_to_the_end_of_december_may_end_in_january():
    years = {filing.report_date: filing.fiscal_year for filing in reports("Willow")}
    assert years.items() >= {date(2021, 1, 3): 2020, date(2023, 1, 1): 2022, date(2021, 10, 3): 2021}.items()


def test_revenue_is_tagged_in_three_ways_over_the_years():
    """Each filing uses one tag for all its columns."""
    used = {tag: {fact["fy"] for fact in facts("Willow", tag)} for tag in tags("Willow") & REVENUE}

    assert used == {
        "SalesRevenueNet": {2015},
        "Revenues": {2016, 2017},
        "RevenueFromContractWithCustomerExcludingAssessedTax": set(range(2018, 2026)),
    }


def test_an_amended_annual_report_changes_two_years_and_later_comparatives():
    """Revenue, net income and equity of the year and the year before fall; earlier years stay."""
    annual = {filing.form: table(filing) for filing in reports("Copper") if filing.report_date == date(2019, 12, 31)}

    def change(tag: str, year: int, first: int = 1) -> float:
        before, after = (annual[form][tag][Column(year, first, 4)] for form in ("10-K", "10-K/A"))
        return after - before

    income = {year: change("NetIncomeLoss", year) for year in (2017, 2018, 2019)}
    first, second = stated("Copper", "NetIncomeLoss")["2019-01-01", "2019-03-31"]

    assert income[2017] == 0 > max(income[2018], income[2019])
    assert max(change("Revenues", 2019), change("EarningsPerShareBasic", 2019)) < 0
    assert change("StockholdersEquity", 2018, 4) == income[2018]
    assert change("StockholdersEquity", 2019, 4) == income[2018] + income[2019]
    assert len({str(each["CashAndCashEquivalentsAtCarryingValue"]) for each in annual.values()}) == 1
    assert second < first


def test_what_is_filed_on_the_next_day_leaves_the_filings_before_as_they_are():
    """Also the filings of a company that restates figures, or splits its shares; other companies file nothing."""
    before = {filer.cik: simulate(filer).filings for filer in sample_filers() if filer.served}
    filed = []
    for filer in FILERS:
        earlier, filings = before.get(filer.cik, ()), simulate(filer).filings
        assert filings[: len(earlier)] == earlier
        filed += [(filer.symbols[0], one.form, one.filed) for one in filings[len(earlier) :] if one.is_periodic]
    forms = {"XQHBR": "10-K/A", "XQWHC": "10-Q", "XQLNT": "10-Q", "XQSLH": "10-K", "XQKST": "10-K"}
    assert filed == [(symbol, form, NEXT_DAY) for symbol, form in forms.items()]


def test_a_recast_comes_with_comparatives_alone():
    """Next year's reports show less revenue and less cost; net income, equity and forms stay the same."""
    year = stated("Meadow", "RevenueFromContractWithCustomerExcludingAssessedTax")["2020-07-01", "2021-06-30"]

    assert year[0] > year[1] == year[2]
    for tag in ("NetIncomeLoss", "StockholdersEquity"):
        assert {len(set(told)) for told in stated("Meadow", tag).values()} == {1}
    assert {filing.form for filing in reports("Meadow")} == {"10-Q", "10-K"}


@pytest.mark.parametrize(
    ("word", "ratio", "day"), [("Harbor", 4, "2020-08-31"), ("Ridge", Fraction(1, 10), "2021-06-15")]
)
def test_a_split_restates_only_what_is_shown_after_it(word, ratio, day):
    """In filings from that day on, shares are multiplied and earnings per share divided; earlier filings stay."""
    shares = defaultdict(dict)
    for fact in facts(word, "WeightedAverageNumberOfSharesOutstandingBasic", "shares"):
        shares[fact["start"], fact["end"]][fact["filed"] >= day] = fact["val"]
    ratios = [told[True] / told[False] for told in shares.values() if len(told) == 2]
    assert ratios == [pytest.approx(float(ratio), rel=1e-6)] * max(5, len(ratios))
    assert any(set(told) == {False} for told in shares.values())
    incomes = stated(word, "NetIncomeLoss")  # several of a period, if it was restated
    for fact in facts(word, "EarningsPerShareBasic", "USD/shares"):
        period = fact["start"], fact["end"]
        told = shares[period][fact["filed"] >= day]
        assert min(abs(fact["val"] - income / told) for income in incomes[period]) <= 0.0051


def test_dividends_are_paid_and_raised():
    declared = stated("Orchard", "CommonStockDividendsPerShareDeclared", "USD/shares")
    years = [told[0] for (start, end), told in sorted(declared.items()) if start[5:] == "01-01" and end[5:] == "12-31"]

    assert years == sorted(set(years))
    assert declared["2020-04-01", "2020-06-30"][0] * 2 == declared["2020-01-01", "2020-06-30"][0]
    assert min(map(min, stated("Orchard", "PaymentsOfDividendsCommonStock").values())) > 0


def test_missing_items_are_never_tagged():
    assert "PaymentsToAcquirePropertyPlantAndEquipment" not in tags("Ridge")
    assert not {tag for tag in tags("Ridge") | tags("Juniper") if "Dividend" in tag}
    assert not {tag for tag in tags("Juniper") if "Debt" in tag or tag == "CommercialPaper"}


def test_an_offering_leaves_facts_from_other_forms_than_reports():
    """The prospectus and proxies state other values than the reports; the first report follows the offering."""
    first = reports("Nimbus")[0]
    strays = [fact for fact in facts("Nimbus", "NetIncomeLoss") if fact["form"] in {"424B4", "DEF 14A"}]
    reported = {
        (fact["start"], fact["end"]): fact["val"]
        for fact in facts("Nimbus", "NetIncomeLoss")
        if fact["form"] in {"10-Q", "10-K"}
    }

    assert (first.form, first.fiscal_period, first.filed > date(2020, 9, 16)) == ("10-Q", "Q3", True)
    assert company("Nimbus").filings[0].form == "S-1"
    assert {fact["form"] for fact in strays} == {"424B4", "DEF 14A"}
    assert all(fact["val"] != reported[fact["start"], fact["end"]] for fact in strays)
    assert any("frame" in fact for fact in strays)
    assert all(value < 0 for value in reported.values())


def test_a_foreign_filer_reports_years_in_euros_and_translates_the_newest():
    revenue = company("Fjord").companyfacts()["facts"]["ifrs-full"]["Revenue"]["units"]

    assert {fact["form"] for fact in revenue["EUR"]} == {"20-F"}
    assert len(revenue["EUR"]) == 3 * len(revenue["USD"])
    assert len({fact["end"] for fact in revenue["USD"]}) == len(revenue["USD"])
    assert {"BasicEarningsLossPerShare", "Borrowings", "WeightedAverageShares", "CashAndCashEquivalents"} <= tags(
        "Fjord", "ifrs-full"
    )


def test_a_bank_has_a_banks_lines():
    assert {"InterestIncomeExpenseNet", "NoninterestIncome", "Deposits", "CashAndDueFromBanks"} <= tags("Prairie")
    assert not tags("Prairie") & (REVENUE | {"CostOfRevenue", "CashAndCashEquivalentsAtCarryingValue"})
    shown = table(reports("Prairie")[-1])
    for column, net in shown["InterestIncomeExpenseNet"].items():
        assert net == shown["InterestAndDividendIncomeOperating"][column] - shown["InterestExpense"][column]
        income = net + shown["NoninterestIncome"][column] - shown["ProvisionForLoanAndLeaseLosses"][column]
        assert shown[PRETAX][column] == income - shown["NoninterestExpense"][column]


def test_a_fund_has_a_document_without_facts():
    assert company("Granite").companyfacts() == {
        "cik": 9990000015,
        "entityName": "Example Granite Income Fund",
        "facts": {},
    }
    assert {filing.form for filing in company("Granite").filings} == {"N-CSR", "N-CSRS"}


def test_money_is_reported_in_the_filers_unit():
    orchard, copper = (
        [value for told in stated(word, "Assets").values() for value in told] for word in ("Orchard", "Copper")
    )
    assert not any(value % 1_000_000 for value in orchard)
    assert any(value % 1_000_000 for value in copper)
    assert not any(value % 1_000 for value in copper)


def test_a_new_year_end_leaves_a_transition_period():
    """The two quarters have a transition report; a year later, quarters of both years are shown side by side."""
    [transition] = [filing for filing in reports("Basin") if filing.form == "10-KT"]
    [first] = [filing for filing in reports("Basin") if filing.fiscal_year == 2023 and filing.fiscal_period == "Q3"]

    assert (transition.report_date, transition.fiscal_period) == (date(2022, 6, 30), "FY")
    assert set(table(transition)["NetIncomeLoss"]) == {Column(2022, 1, 2), Column(2021, 1, 4), Column(2020, 1, 4)}
    assert {(date(2022, 7, 1), date(2023, 3, 31)), (date(2021, 7, 1), date(2022, 3, 31))} <= {
        (fact.start, fact.end) for fact in first.facts if fact.tag == "NetIncomeLoss"
    }
    assert {filing.report_date for filing in reports("Basin")} >= {date(2022, 3, 31), date(2023, 6, 30)}


def test_a_foreign_filer_reports_half_years_and_changes_its_standards():
    """Form 6-K for half-years and 20-F until the 10-K of 2023, which restates two years; then quarters."""
    forms = [(filing.form, filing.fiscal_year, filing.fiscal_period) for filing in reports("Borealis")]
    halves = next(filing for filing in reports("Borealis") if filing.form == "6-K")
    under = {
        (fact.taxonomy, fact.column.year): fact.value
        for filing in reports("Borealis")
        for fact in filing.facts
        if fact.line and fact.line.item == "net_income" and fact.column[1:] == (1, 4)
    }

    assert forms[8:11] == [("6-K", 2022, "Q2"), ("20-F", 2022, "FY"), ("10-K", 2023, "FY")]
    assert {form for form, *_ in forms[11:]} == {"10-Q", "10-K"}
    assert set(table(halves)["Revenue"]) == {Column(2018, 1, 2), Column(2017, 1, 2)}
    assert {year for taxonomy, year in under if taxonomy == "us-gaap"} == {2021, 2022, 2023, 2024}
    assert all(under["ifrs-full", year] > under["us-gaap", year] for year in (2021, 2022))


def test_errors_are_in_the_documents_and_not_in_the_true_filings():
    """The true value and the stated one: counts in thousands in one report, a negative comparative in another."""
    counts = stated("Anvil", "WeightedAverageNumberOfSharesOutstandingBasic", "shares")["2021-04-01", "2021-06-30"]
    flows = stated("Anvil", "NetCashProvidedByUsedInOperatingActivities")["2022-01-01", "2022-06-30"]

    assert [round(counts[1] / told) for told in counts] == [1000, 1]
    assert flows == [flows[0], -flows[0]]
    assert all(
        fact.value > 1_000_000
        for filing in reports("Anvil")
        for fact in filing.facts
        if fact.line and fact.line.item == "shares_basic"
    )


def test_two_splits_multiply():
    """One share from before both splits is six shares; one from between them is three."""
    told = stated("Delta", "WeightedAverageLimitedPartnershipUnitsOutstanding", "shares")

    for year, ratio in ((2020, 2), (2023, 3)):
        of_year = told[f"{year}-01-01", f"{year}-12-31"]
        assert of_year[-1] / of_year[0] == pytest.approx(ratio, rel=1e-6)


@pytest.mark.parametrize(
    ("word", "parts", "whole"),
    [
        ("Sable", ["InterestExpense", "RevenuesNetOfInterestExpense"], "Revenues"),
        ("Alder", ["PremiumsEarnedNet", "NetInvestmentIncome", "InsuranceCommissionsAndFees"], "Revenues"),
        ("Cedar", ["OperatingLeaseLeaseIncome", "RevenueFromContractWithCustomerExcludingAssessedTax"], "Revenues"),
        ("Anvil", ["LongTermDebtNoncurrent", "LongTermDebtCurrent"], "LongTermDebt"),
    ],
)
def test_lines_of_an_industry_add_up(word, parts, whole):
    for filing in reports(word):
        shown = table(filing)
        assert shown[whole] == {column: sum(shown[part][column] for part in parts) for column in shown[whole]}


def test_a_shell_has_money_in_trust_and_no_business():
    assert {"AssetsHeldInTrustNoncurrent", "EarningsPerShareBasicAndDiluted"} <= tags("Lodestar")
    assert not tags("Lodestar") & (REVENUE | {"CostOfRevenue", "PaymentsToAcquirePropertyPlantAndEquipment"})


# -- traits that the sample does not have -----------------------------------------------------------------------------


def plain(**traits: object) -> Filer:
    return Filer(cik="9990000100", name="Example Plain Inc", first_year=2021, **traits)


def wrong(item: str, *report: int, quarterly_data: bool = False, **error: Any) -> dict[tuple, list[float]]:
    """The values of an item that one report, or each report, states wrong."""
    tag = {
        "revenue": "Revenues",
        "cash": "CashAndCashEquivalentsAtCarryingValue",
        "capex": "PaymentsToAcquirePropertyPlantAndEquipment",
    }[item]
    of = Error(items=frozenset({item}), report=report or None, **error)
    return stated(plain(quarterly_data=quarterly_data, errors=(of,)), tag)


def test_a_quarter_in_the_context_of_the_half_year_is_right_before_and_after():
    """Of three filings, the middle one (an annual report with quarterly data) states the second quarter twice."""
    revenue = wrong("revenue", 2022, 4, quarterly_data=True, columns=Columns.OWN, moved=Moved.TO_YEAR_TO_DATE)
    right, second, again = revenue["2022-01-01", "2022-06-30"]

    assert (again, second) == (right, revenue["2022-04-01", "2022-06-30"][0])


def test_last_years_quarters_are_filed_in_the_contexts_of_this_year():
    revenue = wrong("revenue", 2022, 4, quarterly_data=True, columns=Columns.COMPARATIVE, moved=Moved.TO_NEXT_YEAR)
    right, of_last_year, *later = revenue["2022-07-01", "2022-09-30"]

    assert of_last_year == revenue["2021-07-01", "2021-09-30"][0] != right
    assert later == [right] * 2


def test_the_last_quarter_is_filed_in_the_context_of_the_year():
    revenue = wrong("revenue", 2022, 4, quarterly_data=True, columns=Columns.OWN, moved=Moved.TO_YEAR)
    year, quarter = (revenue[start, "2022-12-31"] for start in ("2022-01-01", "2022-10-01"))

    assert year[0] == quarter[0] < year[1] / 3


def test_cash_of_the_last_year_end_is_filed_on_the_day_of_the_report():
    cash = wrong("cash", 2022, 2, moved=Moved.TO_REPORT_DATE)

    assert cash[None, "2022-06-30"] == [cash[None, "2021-12-31"][0]]


def test_comparatives_are_repeated_in_few_digits():
    exact, rounded, again = wrong("revenue", 2022, 4, columns=Columns.COMPARATIVE, digits=2)["2021-01-01", "2021-12-31"]

    assert (again, rounded) == (exact, round(exact, 2 - len(str(exact))))


def test_a_report_leaves_a_line_of_its_own_day_out():
    cash = wrong("cash", 2022, 2, columns=Columns.OWN, untagged=True)
    whole = stated(plain(), "CashAndCashEquivalentsAtCarryingValue")

    assert {day: told for day, told in whole.items() if day != (None, "2022-06-30")} == cash
    assert (None, "2022-06-30") in whole


def test_a_thin_amendment_states_few_lines():
    filings = simulate(plain(thin_amendments=frozenset({2022}))).filings
    amendment = next(filing for filing in filings if filing.form == "10-K/A")

    assert {fact.tag for fact in amendment.facts} == {"NetIncomeLoss", "Assets"}


def test_an_error_of_every_report_is_never_contradicted():
    stated_wrong = wrong("capex", column=(2022, 1, 4), factor=Fraction(1000))
    right, year = stated(plain(), "PaymentsToAcquirePropertyPlantAndEquipment"), ("2022-01-01", "2022-12-31")

    assert stated_wrong == right | {year: [1000 * value for value in right[year]]}


def test_missing_reports_are_not_filed():
    filings = simulate(plain(missing=frozenset({(2023, 2)}))).filings
    filed = {(filing.fiscal_year, filing.fiscal_period) for filing in filings}

    assert filed & {(2023, "Q1"), (2023, "Q2"), (2023, "Q3"), (2024, "Q2")} == {
        (2023, "Q1"),
        (2023, "Q3"),
        (2024, "Q2"),
    }


def test_rounded_reports_state_the_same_in_millions():
    revenue = stated(plain(unit=1_000, rounded_in=frozenset({2023})), "Revenues")["2022-01-01", "2022-12-31"]

    assert revenue[1] % 1_000_000 == 0 != revenue[0] % 1_000_000
    assert abs(revenue[1] - revenue[0]) <= 500_000
    assert revenue[2] == revenue[0]


def test_a_reverse_merger_changes_the_company_whose_history_is_filed():
    """The same quarter first belongs to the shell and then to the business, which is ten times as large."""
    shell, business = stated(plain(merged=date(2022, 7, 1)), "Revenues")["2021-04-01", "2021-06-30"]

    assert business > 5 * shell


def test_an_announced_split_is_stated_but_not_carried_out():
    filer = plain(announced=(Split(ratio=Fraction(4), effective=date(2023, 3, 1)),))
    average = "WeightedAverageNumberOfSharesOutstandingBasic"

    assert set(*stated(filer, "StockholdersEquityNoteStockSplitConversionRatio1", "pure").values()) == {4}
    assert stated(filer, average, "shares") == stated(plain(), average, "shares")


def test_a_business_moves_to_another_cik_with_its_books():
    """The successor's comparatives are the figures that the predecessor filed."""
    whole = plain(business="moved")
    before = stated(replace(whole, last_filed=date(2023, 3, 1)), "Revenues")
    after = stated(replace(whole, cik="9990000101", since=date(2023, 3, 1)), "Revenues")
    shared = before.keys() & after.keys()

    assert len(shared) >= 5
    assert all(before[period][-1] == after[period][0] for period in shared)


def test_a_line_changes_its_tag_and_a_total_ends():
    """From 2023 on the line has another tag, and of the total only the part remains that was stated before, too."""
    half = Extra(tag="HalfOfRevenue", like="revenue", of=(("revenue", 0.5),))
    other = Extra(tag="OtherRevenue", like="revenue", since=2023)
    filer = plain(extras=(half, other), ceased=(("revenue", 2023),))
    told = [stated(filer, tag) for tag in ("Revenues", "OtherRevenue", "HalfOfRevenue")]
    total, switched, part = (of["2022-01-01", "2022-12-31"][0] for of in told)

    assert max(end for _, end in told[0]) == "2022-12-31"
    assert (switched, part) == (total, pytest.approx(total / 2, rel=0.01))


@pytest.mark.parametrize("change", [NewYearEnd(year=2022, month=11), NewYearEnd(year=2022, month=12)])
def test_a_change_that_is_no_whole_number_of_quarters_is_refused(change):
    with pytest.raises(ValueError, match=f"moves from month 12 to {change.month}"):
        FiscalCalendar(change=change)


# -- the parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("month", [1, 2, 6, 9, 12])
@pytest.mark.parametrize("weekday", [None, 3, 5, 6])
@pytest.mark.parametrize("nearest", [False, True])
def test_fiscal_years_tile_time(month, weekday, nearest):
    """Years and quarters follow one another without gap or overlap, and have 52 or 53 weeks or twelve months."""
    calendar = FiscalCalendar(month=month, weekday=weekday, nearest=nearest)
    years = [calendar.year(label) for label in range(2000, 2030)]
    quarters = [quarter for year in years for quarter in year.quarters]

    for before, after in itertools.pairwise(quarters):
        assert after.start == before.end + timedelta(days=1)
    for year in years:
        assert (year.end - year.start).days + 1 in ({365, 366} if weekday is None else {364, 371})
        assert abs((year.end - date(year.label, month, 28)).days) <= 7


@pytest.mark.parametrize("by", RevisedBy)
def test_a_revision_after_the_history_never_happens(by):
    plain = Filer(cik="9990000100", name="Example Late Filer", first_year=2022)
    assert simulate(replace(plain, revisions=(Revision(year=2025, by=by),))).filings == simulate(plain).filings


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"revisions": (Revision(year=2014, by=RevisedBy.AMENDMENT),)}, "9990000100 revises 2014, expected 2015"),
        ({"first_year": 2031}, "first_year of 9990000100 is 2031"),
    ],
)
def test_a_filer_outside_the_history_is_refused(traits, message):
    with pytest.raises(ValueError, match=message):
        Filer(cik="9990000100", name="Example", **traits)
