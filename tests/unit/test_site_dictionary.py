"""The data dictionary page: every item, every element, every code of a value."""

import pytest

from pipelines.normalize.balance import evidence
from pipelines.normalize.classes.symbols import REASON as CLASS_NOT_STATED
from pipelines.normalize.corrections.footing import IDENTITIES
from pipelines.normalize.elements import describe_sources
from pipelines.normalize.history.causes import CAUSES
from pipelines.normalize.industry.classification import WITHOUT_MEANING
from pipelines.normalize.items import gaps
from pipelines.normalize.items.earnings import ONE_CLASS_REASON
from serve.site.reference import dictionary_page
from serve.site.text import rendering
from serve.site.text.markdown import plain
from tests.sites import Read
from tests.texts import anchors, first_cells, lacking, section, tables
from tests.unit.test_versions import reasons_of_items
from warehouse.contract import vocabulary
from warehouse.contract.line_items import ITEM_NAMES, SERVED_ITEMS
from warehouse.contract.reasons import NO_FAIR_VALUE

SOURCES = {item: text for item in ITEM_NAMES if (text := describe_sources(item))}
PAGE = dictionary_page.document(SOURCES)
WITHHELD = (
    "no_preferred_dividends",
    "eps_of_other_shares",
    "elements_differ",
    "mixed_basis",
    "ways_contradict",
    "year_in_dispute",
    "contradicted_by_parts",
    "contradicted_by_filing",
    *(identity.reason for identity in IDENTITIES),
)
"""Reasons with which items.line_items, items.earnings, ttm.windows and corrections withhold an item."""


@pytest.mark.parametrize("item", SERVED_ITEMS, ids=lambda item: item.name)
def test_every_item_has_its_meaning_formula_reasons_and_elements(item):
    """Under its own heading, whose anchor is the item's name."""
    told = section(PAGE.text, item.name)

    assert not lacking(told, item.meaning, item.unit, plain(item.formula))
    for code, gap in vocabulary.GAPS.items():
        assert (f"](#gap-{code})" in told) == (item.name in gap.items)
    elements = [row[1] for table in tables(told) for row in table]
    stated = [
        source for line in SOURCES.get(item.name, "").splitlines() for source in line.split(": ", 1)[1].split(" | ")
    ]
    assert elements == [f"`{source.partition(' (')[0]}`" for source in stated]


def test_industries_and_reasons_are_in_the_rows_of_their_elements():
    """From column `sources` of a build: in brackets, the industries first."""
    sources = (
        "revenue: us-gaap:A (bank; both halves (net)) | us-gaap:B [+ C] (all but reit; x; y)\nother: us-gaap:D (all; )"
    )
    page = dictionary_page.document({"revenue": sources})
    revenue, other = tables(section(page.text, "revenue"))
    assert revenue == [
        ("1", "`us-gaap:A`", "bank", "both halves (net)"),
        ("2", "`us-gaap:B [+ C]`", "all but reit", "x; y"),
    ]
    assert other == [("1", "`us-gaap:D`", "all", "")]


def test_without_a_build_the_elements_are_left_out():
    """Without a build the page has everything else."""
    assert "us-gaap" not in dictionary_page.document({}).text


@pytest.mark.parametrize(
    ("kind", "codes"),
    [
        ("gap", vocabulary.GAPS),
        ("cause", vocabulary.CAUSES),
        ("method", vocabulary.METHODS),
        ("flag", vocabulary.FLAGS),
        ("reason", NO_FAIR_VALUE),
    ],
)
def test_every_code_has_a_row_that_links_can_lead_to(kind, codes):
    assert {f"{kind}-{code}" for code in codes} <= set(Read(rendering.page(PAGE).body).ids)
    assert {f"`{code}`" for code in codes} <= first_cells(PAGE.text)


def test_reasons_of_gaps_are_those_that_the_rules_give():
    """All reasons in the tables of the rules, and no other, with their items."""
    of_items = set(WITHOUT_MEANING.select("reason", "item").iter_rows())
    of_items |= {(each.reason, each.item) for each in evidence.EVIDENCE} | reasons_of_items()
    reasons = {
        *gaps.REASONS,
        *gaps.OF_QUARTERS.reasons,
        *WITHHELD,
        "negative_fcf",
        gaps.LEFT_OUT,
        CLASS_NOT_STATED,
        ONE_CLASS_REASON,
    }
    reasons |= {vocabulary.NOT_IN_COMPANYFACTS, *gaps.OF_QUARTERS.reasons}
    reasons |= {reason for reason, _ in of_items}

    assert set(vocabulary.GAPS) == reasons
    assert reasons >= gaps.GAPS.keys()
    for reason, item in of_items:
        assert item in vocabulary.GAPS[reason].items


def test_causes_are_those_that_the_rules_give():
    """The causes of the table of causes, and the two causes of this service."""
    assert set(vocabulary.CAUSES) == {cause.name for cause in CAUSES} | {"method", "source", "correction"}


def test_splits_and_revisions_are_explained():
    """Each under its own heading."""
    assert {"splits", "revisions", "gaps", "no-fair-value"} <= set(anchors(PAGE.text))
    assert not lacking(PAGE.text, "four-for-one", "recorded_at")
