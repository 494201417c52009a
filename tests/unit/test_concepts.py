"""The table of taxonomy elements: what an accountant reviews must be complete and without contradictions."""

import pytest

from pipelines.normalize.concepts import (
    BANK_EVIDENCE,
    CONCEPTS,
    IFRS,
    ITEM_CONCEPTS,
    US_GAAP,
    describe_sources,
    wanted_elements,
)
from warehouse.schema import ITEM_NAMES

NEVER_DEBT = ("OperatingLease", "Deposits", "FairValue", "FaceAmount", "Repurchase", "Proceeds", "AccountsPayable")


def test_every_item_of_the_specification_has_its_concepts():
    assert list(ITEM_CONCEPTS) == list(ITEM_NAMES)


def test_every_concept_feeds_an_item():
    fed = {concept.name for concepts in ITEM_CONCEPTS.values() for concept in concepts}

    assert fed == {concept.name for concept in CONCEPTS}
    assert len(fed) == len(CONCEPTS), "two concepts have one name"


@pytest.mark.parametrize("concept", CONCEPTS, ids=lambda concept: concept.name)
def test_no_source_counts_an_element_twice_or_hides_behind_another(concept):
    """A source whose elements an earlier one already takes, for the same industries, could never be chosen."""
    seen = set()
    for source in concept.sources:
        together = [*source.elements, *source.plus, *source.minus]
        assert source.elements
        assert len(together) == len(set(together))
        for industry in source.industries:
            assert (source.taxonomy, source.elements, source.minus, industry) not in seen
            seen.add((source.taxonomy, source.elements, source.minus, industry))


@pytest.mark.parametrize("concept", ITEM_CONCEPTS["total_debt"], ids=lambda concept: concept.name)
def test_debt_is_borrowings_on_the_balance_sheet(concept):
    """No operating leases, deposits, payables, fair values or principal amounts."""
    elements = [element for source in concept.sources for element in (*source.elements, *source.plus)]

    assert [element for element in elements if any(word in element for word in NEVER_DEBT)] == []


def test_all_that_a_rule_reads_is_decoded():
    wanted = wanted_elements()

    assert set(wanted) == {US_GAAP, IFRS}
    assert {"Revenues", "MinorityInterest", "InterestExpense", *BANK_EVIDENCE} <= wanted[US_GAAP]
    assert {"Revenue", "NoncontrollingInterests"} <= wanted[IFRS]
    assert not wanted[IFRS] & {"Revenues"}


def test_sources_are_described_in_their_order():
    described = describe_sources("free_cash_flow").splitlines()

    assert [line.partition(":")[0] for line in described] == ["operating_cash_flow", "capital_expenditure"]
    assert described[0].startswith("operating_cash_flow: us-gaap:NetCashProvidedByUsedInOperatingActivities | us-gaap:")
    assert "[+ PaymentsToAcquireOtherPropertyPlantAndEquipment]" in described[1]
    assert "NoninterestIncome - InterestExpense" in describe_sources("revenue")
    assert describe_sources("debt_to_fcf") == ""
