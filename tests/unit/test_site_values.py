"""The page of a value: it says all that the command `explain` prints, for every item and every reason of a gap."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from serve import provenance
from serve.provenance import number
from serve.site.company import values
from serve.site.text import rendering
from serve.site.text.markdown import plain
from tests.browsers import Document as Read
from tests.published import opened
from tests.texts import lacking
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.explanation.explain import Explanation
from warehouse.read.reader import OpenBuild

FILINGS = "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany"
WITH_VERSIONS = (
    "SELECT item, symbol, period FROM versions JOIN companies USING (cik) WHERE value IS NOT NULL "
    "QUALIFY row_number() OVER (PARTITION BY item, period_kind ORDER BY version DESC, cik, period_end) = 1"
)
GAPS = (
    "SELECT item, symbol, CAST(period_end AS VARCHAR) FROM gaps JOIN companies USING (cik) "
    "QUALIFY row_number() OVER (PARTITION BY reason ORDER BY cik, period_end, item) = 1"
)


@pytest.fixture(scope="module")
def build(synchronized_sample: Path) -> Iterator[OpenBuild]:
    with opened(synchronized_sample / "published") as build:
        yield build


def shown(build: OpenBuild, sql: str) -> list[tuple[Explanation, str]]:
    """The explanations of some values with the Markdown of their pages."""
    found = [provenance.find(build, symbol, item, period) for item, symbol, period in build.rows(sql)]
    return [(of, values.document(of, FILINGS, "USD").text) for of in found]


def test_it_says_where_a_value_comes_from(build):
    """The value of most versions of each item: each fact with its filing, rule, identity, and version."""
    pages = shown(build, WITH_VERSIONS)
    assert {of.item for of, _ in pages} >= set(SERVED_NAMES)
    assert max(len(of.versions) for of, _ in pages) > 2
    for of, text in pages:
        assert f"**{number(of.value)}**" in text
        for leg in (leg for part in of.parts for leg in part.legs):
            assert not lacking(text, f"`{leg.tag}`", f"({leg.url or FILINGS})")
        for rule in (each.rule for each in (*of.decisions, *of.judgements)):
            assert not lacking(text, f"[{plain(rule.id)}](/rules/{rule.id})", plain(rule.statement))
        for version in of.versions:
            told = "withdrawn" if version.recorded.value is None else number(version.recorded.value)
            assert not lacking(text, f"| {version.recorded.version} | {told} | ", plain(version.cause.meaning))


def test_the_filing_is_beside_the_fact(build):
    """Before the columns for which a phone must scroll."""
    for _, text in shown(build, WITH_VERSIONS):
        heads = [line for line in text.splitlines() if line.startswith("| Amount |")]
        assert all(line.startswith("| Amount | Fact | Filing | Period |") for line in heads)


def test_it_says_why_there_is_no_value(build):
    """For each reason in the sample, with its entry in the dictionary."""
    pages = shown(build, GAPS)
    assert len({of.reason.code for of, _ in pages}) > 5
    for of, text in pages:
        assert not lacking(text, "**No value**", plain(of.reason.meaning), f"(/dictionary#gap-{of.reason.code})")


def test_its_html_has_a_heading_for_each_part(build):
    """Calculation, rules, identities, versions; all facts are in one table."""
    of, _text = max(shown(build, WITH_VERSIONS), key=lambda page: len(page[0].judgements))
    read = Read(rendering.page(values.document(of, FILINGS, "USD")).body)
    headings = [known["id"] for tag, known in read.elements if tag == "h2"]
    assert headings == ["calculation", "rules", "identities", "versions"]
    assert values.address("A/B", "revenue", "FY2024") == "/companies/A%2FB/revenue/FY2024"
