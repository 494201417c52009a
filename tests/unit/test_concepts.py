"""The table of taxonomy elements is complete and free of contradictions."""

import pytest

from pipelines.normalize.elements import (
    CONCEPTS,
    IFRS,
    ITEM_CONCEPTS,
    US_GAAP,
    describe_sources,
    wanted_elements,
)
from pipelines.normalize.elements.lines import BORROWINGS, CASH_AND_SECURITIES, CURRENT_ASSETS, IFRS_PREFIX, LINES
from pipelines.normalize.elements.sources import COVER, concepts
from pipelines.normalize.industry.table import INDICATORS, INDUSTRIES
from pipelines.normalize.reviewed import TableError
from warehouse.contract.line_items import ITEM_NAMES
from warehouse.contract.vocabulary import FLAGS

NEVER_DEBT = (
    "OperatingLease",
    "FinanceLease",
    "Deposits",
    "FairValue",
    "FaceAmount",
    "Repurchase",
    "FederalFunds",
    "Proceeds",
    "AccountsPayable",
    "Customers",
    "MaturitiesRepayments",
    "Receivable",
)
NEVER_CASH = ("Segregated", "FundsHeldForClients", "HeldInTrust", "RestrictedCashAndCashEquivalents")
WITH_RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"


def test_every_item_of_the_specification_has_its_concepts():
    assert list(ITEM_CONCEPTS) == list(ITEM_NAMES)


def test_every_concept_feeds_an_item_or_the_valuation_or_proves_another():
    fed = {concept.name for concepts in ITEM_CONCEPTS.values() for concept in concepts}

    proving = {concept.name for concept in CONCEPTS if concept.compared_with and not concept.item}
    others = {"customer_funds", "cash", "cash_of_flows", "liabilities", *proving} - fed
    assert sorted(concept.name for concept in CONCEPTS) == sorted([*fed, *others]), "no two have one name"


def test_no_source_counts_an_element_twice_or_can_never_be_chosen():
    """A source can never be chosen if an earlier one needs only a part of its elements, for the same industries."""
    seen = set()
    for concept, source in SOURCES:
        together = [*source.elements, *source.plus, *source.minus, *source.less, *source.where]
        assert together, concept
        assert len(together) == len(set(together)), (concept, source)
        for industry in source.industries:
            limits = source.at_least, source.less_than, source.totals, source.only_zero
            key = concept, source.taxonomy, source.elements, source.minus, source.where, limits, industry
            assert key not in seen
            seen.add(key)


def test_every_source_has_its_statement():
    """A sentence that fits a table; and its reservation, if any, is a documented flag."""
    for concept, source in SOURCES:
        assert source.statement.endswith("."), (concept, source)
        assert not {"|", "\n"} & set(source.statement), (concept, source)
        assert source.reservation in {"", *FLAGS}, (concept, source)
        assert source.industries, (concept, source)


SOURCES = [(concept.name, source) for concept in CONCEPTS for source in concept.sources]


def test_debt_is_borrowings_on_the_balance_sheet():
    """Without separate leases, deposits, payables, repurchase agreements, fair values and principal amounts."""
    elements = {element for table in BORROWINGS.values() for element in table}

    assert [one for one in elements if any(word in one for word in NEVER_DEBT)] == []


def test_cash_belongs_to_the_filer():
    """Without restricted, segregated or customer cash; cash of the flows, which includes it, is not a usual line."""
    of_cash = {name: line for name, line in LINES[CURRENT_ASSETS].items() if line.kind in CASH_AND_SECURITIES}

    assert [one for one in of_cash if any(word in one for word in NEVER_CASH)] == []
    assert not of_cash[WITH_RESTRICTED].usual


def test_all_elements_of_the_rules_are_decoded():
    wanted = wanted_elements()

    assert wanted.keys() == {US_GAAP, IFRS, COVER}
    of_ifrs = {name.removeprefix(IFRS_PREFIX) for name in INDICATORS if name.startswith(IFRS_PREFIX)}
    of_us_gaap = {name for name in INDICATORS if ":" not in name}
    assert {"Equity", "DepositsFromCustomers"} <= of_ifrs
    assert {"Revenues", "MinorityInterest", "InterestExpense", "Liabilities", *of_us_gaap} <= wanted[US_GAAP]
    assert {"Revenue", "NoncontrollingInterests", *of_ifrs} <= wanted[IFRS] - {"Revenues"} == wanted[IFRS]


def test_sources_are_described_in_their_order():
    """With their industries, rule and statement in brackets."""
    described, debt = describe_sources("free_cash_flow").splitlines(), describe_sources("total_debt")

    assert [line.partition(":")[0] for line in described] == ["operating_cash_flow", "capital_expenditure"]
    total = "NetCashProvidedByUsedInOperatingActivities (all; operating-cash-flow.total: The amount of "
    assert described[0].startswith(f"operating_cash_flow: us-gaap:{total}")
    assert "[+ PaymentsToAcquireOtherPropertyPlantAndEquipment] (all; " in described[1]
    assert "NoninterestIncome - InterestExpense (bank; revenue.bank.interest" in describe_sources("revenue")
    assert [line.partition(":")[0] for line in debt.splitlines()] == [name for name in LINES if name != CURRENT_ASSETS]
    assert "current liabilities: us-gaap:DebtCurrent | us-gaap:LongTermDebtCurrent | " in debt
    assert " | ifrs-full:LongtermBorrowings" in debt
    assert describe_sources("debt_to_fcf") == ""


PLAIN = """
[lists]
parts = ["InterestIncome", "FeeIncome"]

[bank_income]
item = "revenue"
measure = "money"

[[bank_income.sources]]
rule = "bank-income.total"
elements = ["TotalIncome"]
of = ["bank"]

[[bank_income.sources]]
rule = "bank-income.parts"
elements = ["parts"]
minus = ["InterestPaid"]
plus = ["OtherIncome"]
source = "Regulation S-X"

[[bank_income.sources]]
rule = "bank-income.ifrs.total"
taxonomy = "ifrs-full"
elements = ["Income"]

[proof]
label = "income before fees"
compared_with = "bank income"

[[proof.sources]]
rule = "proof.income"
elements = ["IncomeOfBank"]
statement = "Income is compared with the total."

[[proof.sources]]
rule = "proof.other"
elements = ["OtherIncomeOfBank"]
"""


def test_a_source_without_a_statement_gets_one_from_its_elements():
    """By its place among the sources of its taxonomy, its elements, and the use of the amount."""
    income, proof = concepts(PLAIN)

    assert [source.statement for source in income.sources] == [
        'The amount of "total income" counts as bank income.',
        'Otherwise the amount of "interest income" plus "fee income" less "interest paid" plus any "other income" '
        "counts as bank income.",
        'Under IFRS the amount of "income" counts as bank income.',
    ]
    assert [source.statement for source in proof.sources] == [
        "Income is compared with the total.",
        'Otherwise the amount of "other income of bank" is compared with bank income.',
    ]
    assert income.sources[1].elements == ("InterestIncome", "FeeIncome")
    assert [source.industries for source in income.sources[:2]] == [("bank",), INDUSTRIES]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[lists]", "[lists", r"sources.toml: .*line 2"),
        ("[lists]", "today = 1\n[lists]", r"sources.toml: Expected `object \| array`, got `int`"),
        ('item = "revenue"', 'item = "sales"', r"sources.toml: bank_income: no line item has the name 'sales'"),
        ('"money"', '"euros"', r"sources.toml: bank_income: Invalid enum value 'euros' - at `\$.measure`"),
        ('["bank"]', '["banks"]', r"source 'bank-income.total' of bank_income: Invalid enum value 'banks' - at `\$.of"),
        ('["TotalIncome"]', '"TotalIncome"', r"Expected `array`, got `str` - at `\$.elements`"),
        ('["TotalIncome"]', '["totals"]', r"Expected `str` matching regex .* - at `\$.elements\[0\]`"),
        ('["TotalIncome"]', '["TotalIncome", "TotalIncome"]', r"no element is counted, or one comes twice"),
        ('elements = ["TotalIncome"]\n', "", r"no element is counted, or one comes twice"),
        ("minus =", "minos =", r"source 'bank-income.parts' of bank_income: Object contains unknown field `minos`"),
        ('"ifrs-full"', '"ifrs"', r"source 'bank-income.ifrs.total' of bank_income: Invalid enum value 'ifrs'"),
        ('rule = "bank-income.total"\n', "", r"source None of bank_income: Object missing required field `rule`"),
        ("bank-income.ifrs.total", "bank-income.total", r"more than one source has the rule bank-income.total"),
        ('plus = ["Other', 'where = ["Other', r"'bank-income.parts' of bank_income needs a statement that says when"),
        (
            "the total.",
            "the total" + " and more" * 20 + ".",
            r"'proof.income' of proof needs a statement of at most 40",
        ),
    ],
)
def test_a_wrong_row_of_the_table_is_refused(old, new, message):
    """The error names the file, the source, its concept, and the error in it."""
    assert old in PLAIN
    with pytest.raises(TableError, match=message):
        concepts(PLAIN.replace(old, new, 1))


@pytest.mark.parametrize("industry", INDUSTRIES)
def test_every_industry_has_sources_for_each_item_of_the_statements(industry):
    """The sources of each item and industry, in order of preference."""
    applying = {
        item: [source for concept in fed for source in concept.sources if industry in source.industries]
        for item, fed in ITEM_CONCEPTS.items()
    }
    assert all(applying[item] for item in ("revenue", "net_income", "free_cash_flow"))
    revenue = [source.elements for source in applying["revenue"]]
    assert ("Revenues",) in revenue
    assert (("InterestIncomeExpenseNet", "NoninterestIncome") in revenue) == (industry == "bank")
