"""Industries: how codes and elements of a filing determine one, and which items mean nothing in it."""

import re

import polars as pl
import pytest

from pipelines.normalize.industry import classification as industries
from pipelines.normalize.industry.classification import WITHOUT_MEANING
from pipelines.normalize.industry.table import INDUSTRIES, RULES, TABLE, rows
from pipelines.normalize.reviewed import TableError
from tests.factories import CIK, Row, fact, ordered_facts, raw, standardized, value_of
from warehouse.contract.line_items import ITEM_NAMES
from warehouse.contract.vocabulary import GAPS

YEAR = ("2023-01-01", "2023-12-31")
LENDER = ("InterestIncomeExpenseNet", "NoninterestIncome", "Deposits")
BROKER = ("PayablesToCustomers", "ReceivablesFromCustomers")
PREMIUMS = ("PremiumsEarnedNet", "UnearnedPremiums")

COST = "CostOfRevenue"
IFRS_LENDER = ("LoansAndAdvancesToBanks", "InterestRevenueCalculatedUsingEffectiveInterestMethod")

CASES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "a bank by its code": ("6022", (), "bank"),
    "a savings institution by its code": ("6036", (), "bank"),
    "a bank by three of its elements": ("", LENDER, "bank"),
    "two elements are another's too": ("", LENDER[:2], "general"),
    "a card issuer, whose code tells nothing": ("6199", LENDER, "bank"),
    "a maker of machines that lends is none": ("3600", LENDER, "general"),
    "an insurer by its code, whatever it lends": ("6331", LENDER, "insurer"),
    "an insurer by its elements": ("", PREMIUMS, "insurer"),
    "an agent of insurers carries nothing": ("6411", (), "general"),
    "an agent that passes premiums on has current liabilities": ("6411", (*PREMIUMS, "LiabilitiesCurrent"), "general"),
    "a health plan that reports as a business does": ("6324", (*PREMIUMS, "LiabilitiesCurrent"), "general"),
    "the same where the code is not known": ("", (*PREMIUMS, "LiabilitiesCurrent"), "general"),
    "a health plan that reports as a carrier does": ("6324", PREMIUMS, "insurer"),
    "a manager of funds that owns a carrier": ("6282", PREMIUMS, "insurer"),
    "a fund of loans, which has no code": (
        "",
        ("GrossInvestmentIncomeOperating", "NetAssetValuePerShare"),
        "investment_company",
    ),
    "a carrier's investment income": ("6331", ("GrossInvestmentIncomeOperating", "InvestmentOwnedAtCost"), "insurer"),
    "a broker by its code": ("6211", (), "broker"),
    "a broker with customers' accounts": ("6211", ("OperatingIncomeLoss", *BROKER), "broker"),
    "a manager of funds with the brokers' code": ("6211", ("OperatingIncomeLoss",), "asset_manager"),
    "an adviser by its code": ("6282", (), "asset_manager"),
    "an exchange by its code": ("6200", (), "exchange"),
    "a payment network, whose code tells nothing": ("7389", ("SettlementAssetsCurrent",), "exchange"),
    "a company that sells rides and holds its drivers' money": ("7389", ("FundsHeldForClients", COST), "general"),
    "a company that sells rides, with the code of exchanges": ("6200", (COST,), "general"),
    "a foreign bank by its deposits": ("", ("DepositsFromBanks", *IFRS_LENDER), "bank"),
    "a foreign bank by its customers' deposits": (
        "",
        ("BalancesOnTermDepositsFromCustomers", *IFRS_LENDER),
        "bank",
    ),
    "a foreign lender without deposits": ("", IFRS_LENDER, "general"),
    "a trust by its code": ("6798", (), "reit"),
    "a trust that owns mortgages": ("6798", ("InterestIncomeOperating", "InterestIncomeExpenseNet"), "bank"),
    "a trust that owns mortgages and buildings": (
        "6798",
        ("InterestIncomeOperating", "InterestIncomeExpenseNet", "RealEstateInvestmentPropertyNet"),
        "reit",
    ),
    "a trust by its elements": ("6500", ("RealEstateInvestmentPropertyNet", "PaymentsToAcquireRealEstate"), "reit"),
    "electricity": ("4911", (), "utility"),
    "waste is no utility": ("4953", (), "general"),
    "partners' capital of a filer without shareholders' equity": ("", ("PartnersCapital",), "partnership"),
    "a corporation with a partnership among its subsidiaries": (
        "",
        ("PartnersCapital", "StockholdersEquity"),
        "general",
    ),
    "oil and gas": ("1311", (), "oil_and_gas"),
    "refining": ("2911", (), "oil_and_gas"),
    "a maker with a finance arm": (
        "3531",
        ("PaymentsToAcquireEquipmentOnLease", "NotesReceivableNet"),
        "captive_finance",
    ),
    "a maker that lends to its buyers": (
        "3711",
        ("StockholdersEquity", "PaymentsToAcquireFinanceReceivables", "ProceedsFromCollectionOfFinanceReceivables"),
        "captive_finance",
    ),
    "a maker with leased vehicles and income from credit": (
        "3711",
        ("StockholdersEquity", "PropertySubjectToOrAvailableForOperatingLeaseNet", "FinancialServicesCosts"),
        "captive_finance",
    ),
    "a producer of gases with loans to a few partners": (
        "2810",
        ("PaymentsToAcquireFinanceReceivables", "ProceedsFromCollectionOfFinanceReceivables", "NotesReceivableNet"),
        "general",
    ),
    "a maker that rents out equipment and sells its receivables": (
        "3711",
        (
            "StockholdersEquity",
            "PropertySubjectToOrAvailableForOperatingLeaseNet",
            "PaymentsToAcquireEquipmentOnLease",
            "ProceedsFromSaleOfFinanceReceivables",
        ),
        "general",
    ),
    "a maker of machinery whose balance sheet shows no credit": ("3531", ("StockholdersEquity",), "general"),
    "a maker of machinery of which no balance sheet is held": ("3531", ("Revenues",), "captive_finance"),
    "a maker of vehicles under IFRS": ("3711", ("Equity", "Liabilities"), "captive_finance"),
    "a maker of chips of which no balance sheet is held": ("3674", ("Revenues",), "general"),
    "a credit institution": ("6153", (), "captive_finance"),
    "units instead of shares": ("4922", ("PartnersCapital", "LimitedPartnersCapitalAccount"), "partnership"),
    "a blank check": ("6770", ("AssetsHeldInTrustNoncurrent",), "shell"),
    "a shell that has begun to sell": ("6770", ("AssetsHeldInTrustNoncurrent", "Revenues"), "general"),
    "a trust account without a code": ("", ("AssetsHeldInTrustNoncurrent",), "shell"),
    "nothing current, nothing to sell, and no code": ("", ("NetIncomeLoss", "Revenues", "LongTermDebt"), "financial"),
    "the same with income before tax as operating income": ("", ("NetIncomeLoss", "OperatingIncomeLoss"), "financial"),
    "the same of finance services": ("6199", ("NetIncomeLoss", "Revenues"), "financial"),
    "the same in a complete document": ("", ("NetIncomeLoss", "Revenues", "StockholdersEquity"), "general"),
    "a complete document of finance services": ("6199", ("NetIncomeLoss", "StockholdersEquity"), "financial"),
    "a miner of coins among finance services": ("6199", ("NetIncomeLoss", "LiabilitiesCurrent"), "general"),
    "with current liabilities": ("", ("NetIncomeLoss", "LiabilitiesCurrent"), "general"),
    "with a cost of sales": ("", ("NetIncomeLoss", "CostOfRevenue"), "general"),
    "with operating income and equity": ("", ("NetIncomeLoss", "OperatingIncomeLoss", "StockholdersEquity"), "general"),
    "with homes to sell": ("", ("NetIncomeLoss", "InventoryRealEstate"), "general"),
    "with a code that tells": ("3571", ("NetIncomeLoss",), "general"),
    "none of these": ("3571", ("Assets",), "general"),
    "a bank without a code that shows its revenue net": ("", ("RevenuesNetOfInterestExpense",), "bank"),
    "the same line of a company with current liabilities": (
        "",
        ("RevenuesNetOfInterestExpense", "LiabilitiesCurrent", "StockholdersEquity"),
        "general",
    ),
    "a lender that takes deposits, by its code": ("6141", LENDER, "bank"),
    "a broker without a code": ("", BROKER, "broker"),
    "a utility without a code": ("", ("RegulatoryLiabilityNoncurrent", "RegulatoryAssetsNoncurrent"), "utility"),
    "wells without a code": ("", ("OilAndGasPropertyFullCostMethodNet", "ExplorationExpense"), "oil_and_gas"),
    "a maker of vehicles that files under IFRS, complete": ("3711", ("Equity", "ProfitLoss"), "captive_finance"),
}


def filing(elements: tuple[str, ...], filed: str = "2024-02-20") -> list[Row]:
    """A filing that uses these elements, and one element that every filing has."""
    return [
        fact("Assets", 95e6, None, "2023-12-31", filed=filed),
        *(fact(tag, 1e6, *YEAR, filed=filed) for tag in elements if tag != "Assets"),
    ]


def codes(sic: str) -> pl.DataFrame:
    return pl.DataFrame({"cik": [CIK], "sic": [sic]})


CIKS = [str(number) for number in range(len(CASES))]
REGISTRANTS = pl.DataFrame({"cik": CIKS, "sic": [sic for sic, _, _ in CASES.values()]})


@pytest.fixture(scope="module")
def facts():
    """The filing of each case, one company each."""
    each = zip(CIKS, CASES.values(), strict=True)
    filed = [{**row, "cik": cik, "accession": cik} for cik, (_, elements, _) in each for row in filing(elements)]
    return ordered_facts(raw(filed))


@pytest.fixture(scope="module")
def found(facts):
    """The industry and the rule of each case."""
    return industries.industries(facts, REGISTRANTS)[0]


@pytest.mark.parametrize("case", CASES)
def test_a_filing_shows_the_industry_of_its_filer(found, case):
    """By its SIC code if that is specific, else by elements."""
    of_case = found.filter(cik=list(CASES).index(case))

    assert of_case["industry"].to_list() == [CASES[case][2]]


def test_each_row_decides_about_a_case(facts, found):
    """Each rule decides about a case, too; each filing counts once."""
    _, deciding = industries.deciding_rows(facts, REGISTRANTS)

    assert set(deciding) == set(range(len(TABLE)))
    assert found["industry"].to_list() == [TABLE[row].industry for row in deciding]
    assert found["rule"].to_list() == [TABLE[row].rule for row in deciding]
    assert industries.industries(facts, REGISTRANTS)[1]["figures"].sum() == len(CASES)


def test_without_submissions_only_elements_decide():
    facts = ordered_facts(raw(filing(LENDER)))

    assert industries.industries(facts)[0]["industry"].to_list() == ["bank"]


def test_later_filings_do_not_change_what_earlier_ones_showed():
    """A company that becomes a lender was not one before, and a company that stops lending stays one for earlier
    filings.
    """
    facts = ordered_facts(
        raw(filing((), "2024-02-20"), filing(LENDER, "2025-02-20"), filing((), "2025-05-10"), filing((), "2027-02-20"))
    )

    found, _ = industries.industries(facts)

    assert found["industry"].to_list() == ["general", "bank", "bank", "general"]
    assert industries.newest(found).rows() == [(int(CIK), "general")]


def test_every_industry_has_a_row_and_the_items_without_meaning_exist():
    assert {row.industry for row in TABLE} == set(INDUSTRIES)
    assert {row.rule for row in TABLE} == {rule.id for rule in RULES}
    assert set(WITHOUT_MEANING["industry"]) <= set(INDUSTRIES)
    assert set(WITHOUT_MEANING["item"]) <= set(ITEM_NAMES)
    assert set(WITHOUT_MEANING["reason"]) <= set(GAPS)


ROWS = """
[lists]
pledged = ["LoansPledged"]

[[industries]]
industry = "bank"
rule = "industry.by-elements"
codes = ["0000", "6099-6111"]
uses = ["Deposits", "pledged", "ifrs-full:Loans"]
at_least = 2
statement = "A bank."
"""


def test_a_row_names_groups_of_elements():
    [row] = rows(ROWS)

    assert row.uses == ("Deposits", "LoansPledged", "ifrs-full:Loans")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"bank"', '"lender"', "industries.toml: row 1: Invalid enum value 'lender' - at `$.industry`"),
        ("industry.by-elements", "industry.by-name", "no rule of industries has the id 'industry.by-name'"),
        ("6099-6111", "6099 to 6111", "matching regex '^[0-9]{4}(-[0-9]{4})?$' - at `$.codes[1]`"),
        ("at_least = 2", "at_least = 4", "at least 4 of 3 elements always or never holds"),
        ("at_least = 2\n", "", "at least 0 of 3 elements always or never holds"),
        ("[lists]", "[groups]", "matching regex '^(ifrs-full:)?[A-Z][A-Za-z0-9]+$' - at `$.uses[1]`"),
        ("at_least", "atleast", "Object contains unknown field `atleast`"),
    ],
)
def test_a_wrong_row_is_refused(old, new, message):
    """The error names the file, the row, and the error in it."""
    assert old in ROWS
    with pytest.raises(TableError, match=re.escape(message)):
        rows(ROWS.replace(old, new))


def test_the_sic_code_reaches_the_rules():
    """The same facts of a bank (by its code) and of another company: a bank's revenue is net of interest."""
    amounts = {"Revenues": 100e6, "InterestIncomeExpenseNet": 60e6, "NoninterestIncome": 15e6}
    rows = raw([fact(tag, amount, *YEAR, filed="2024-02-20") for tag, amount in amounts.items()])

    revenues = {
        sic: value_of(standardized(rows, registrants=codes(sic)), "revenue", "annual", "2023-12-31")
        for sic in ("6022", "3571")
    }

    assert revenues == {"6022": 75e6, "3571": 100e6}
