"""The table of taxonomy elements is complete and free of contradictions."""

import pytest

from pipelines.normalize.elements import (
    CONCEPTS,
    IFRS,
    ITEM_CONCEPTS,
    US_GAAP,
    WITNESSES,
    describe_sources,
    sources_of,
    wanted_elements,
)
from pipelines.normalize.elements.cash import CASH, CASH_OF_FLOWS
from pipelines.normalize.elements.cash_flow import CUSTOMER_FUNDS
from pipelines.normalize.elements.lines import BORROWINGS, CASH_AND_SECURITIES, CURRENT_ASSETS, LINES
from pipelines.normalize.elements.totals import LIABILITIES
from pipelines.normalize.industry.indicators import IFRS_ONLY
from pipelines.normalize.industry.names import INDUSTRIES
from pipelines.normalize.industry.table import INDICATORS
from warehouse.schema import ITEM_NAMES
from warehouse.vocabulary import FLAGS

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

    others = (CUSTOMER_FUNDS, CASH, CASH_OF_FLOWS, LIABILITIES, *WITNESSES)
    assert fed == {concept.name for concept in CONCEPTS} - {concept.name for concept in others}
    assert len(fed) == len(CONCEPTS) - len(others), "two concepts have one name"


@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.name)
def test_no_source_counts_an_element_twice_or_can_never_be_chosen(concept):
    """A source can never be chosen if an earlier one needs only a part of its elements, for the same industries."""
    seen = set()
    for source in concept.sources:
        together = [*source.elements, *source.plus, *source.minus, *source.less, *source.where]
        assert together
        assert len(together) == len(set(together))
        for industry in source.industries:
            assert (source.taxonomy, source.elements, source.minus, source.where, industry) not in seen
            seen.add((source.taxonomy, source.elements, source.minus, source.where, industry))


@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.name)
def test_every_source_has_its_statement(concept):
    """A sentence that fits a table; and its reservation, if any, is a documented flag."""
    for source in concept.sources:
        assert source.statement.endswith(".")
        assert not {"|", "\n"} & set(source.statement)
        assert source.reservation in {"", *FLAGS}
        assert source.industries


def test_debt_is_borrowings_on_the_balance_sheet():
    """Without separate leases, deposits, payables, repurchase agreements, fair values and principal amounts."""
    elements = {element for table in BORROWINGS.values() for element in table}

    assert [one for one in elements if any(word in one for word in NEVER_DEBT)] == []


def test_cash_belongs_to_the_filer():
    """Without restricted, segregated or customer cash; cash of the flows, which includes it, is no usual line."""
    of_cash = {name: line for name, line in LINES[CURRENT_ASSETS].items() if line.kind in CASH_AND_SECURITIES}

    assert [one for one in of_cash if any(word in one for word in NEVER_CASH)] == []
    assert not of_cash[WITH_RESTRICTED].usual


def test_all_elements_of_the_rules_are_decoded():
    wanted = wanted_elements()

    assert set(wanted) == {US_GAAP, IFRS}
    assert {"Revenues", "MinorityInterest", "InterestExpense", *(set(INDICATORS) - set(IFRS_ONLY))} <= wanted[US_GAAP]
    assert {"Revenue", "NoncontrollingInterests", *IFRS_ONLY} <= wanted[IFRS]
    assert "Liabilities" in wanted[US_GAAP]
    assert not wanted[IFRS] & {"Revenues"}


def test_sources_are_described_in_their_order():
    """With their industries, rule and statement in brackets."""
    described, debt = describe_sources("free_cash_flow").splitlines(), describe_sources("total_debt")

    assert [line.partition(":")[0] for line in described] == ["operating_cash_flow", "capital_expenditure"]
    total = "NetCashProvidedByUsedInOperatingActivities (all; operating-cash-flow.total: Operating cash flow is "
    assert described[0].startswith(f"operating_cash_flow: us-gaap:{total}")
    assert "[+ PaymentsToAcquireOtherPropertyPlantAndEquipment] (all; " in described[1]
    assert "NoninterestIncome - InterestExpense (bank; revenue.bank.interest" in describe_sources("revenue")
    assert [line.partition(":")[0] for line in debt.splitlines()] == [name for name in LINES if name != CURRENT_ASSETS]
    assert "current liabilities: us-gaap:DebtCurrent | us-gaap:LongTermDebtCurrent | " in debt
    assert " | ifrs-full:LongtermBorrowings" in debt
    assert describe_sources("debt_to_fcf") == ""


@pytest.mark.parametrize("industry", INDUSTRIES)
def test_every_industry_has_sources_for_each_item_of_the_statements(industry):
    """The sources of each item and industry, in order of preference."""
    for item in ("revenue", "net_income", "free_cash_flow"):
        assert sources_of(item, industry)
    revenue = [source.elements for _, source in sources_of("revenue", industry)]
    assert ("Revenues",) in revenue
    assert (("InterestIncomeExpenseNet", "NoninterestIncome") in revenue) == (industry == "bank")
