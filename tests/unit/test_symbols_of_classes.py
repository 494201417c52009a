"""Two symbols of one company with classes of stock that earn differently: the results for readers, clients and
analysts.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from serve import provenance
from tests.published import opened
from warehouse.contract.line_items import ITEMS_BY_CLASS, SERVED_NAMES
from warehouse.contract.served import CompanyRow, FairValue
from warehouse.queries import explain_queries, page_queries
from warehouse.read.reader import OpenBuild

SYMBOLS = ("XQTR-A", "XQTR-B")
ALL = {"since": None, "until": None, "limit": 400}


@pytest.fixture(scope="module")
def build(synchronized_sample: Path) -> Iterator[OpenBuild]:
    with opened(synchronized_sample / "published") as build:
        yield build


@pytest.fixture(scope="module")
def classes(build: OpenBuild) -> list[CompanyRow]:
    found = [build.memory.company(symbol) for symbol in SYMBOLS]
    assert None not in found
    return [company for company in found if company]


def test_fair_values_are_in_the_ratio_of_what_the_classes_earn(build: OpenBuild, classes: list[CompanyRow]) -> None:
    """Both are divided by all shares: of a share of class A is worth two of class B."""
    a, b = (build.memory.valuation(company) for company in classes)
    assert isinstance(a, FairValue)
    assert isinstance(b, FairValue)
    assert a.fair_value_per_share / b.fair_value_per_share == pytest.approx(2, rel=0.01)


def test_amounts_per_share_are_of_the_class_and_others_of_the_company(build: OpenBuild) -> None:
    rows = build.rows(
        f"SELECT {', '.join(SERVED_NAMES)} FROM financials WHERE symbol IN $symbols AND period = 'FY2024' "
        "ORDER BY symbol",
        {"symbols": SYMBOLS},
    )
    a, b = (dict(zip(SERVED_NAMES, row, strict=True)) for row in rows)
    assert a["eps_basic"] / b["eps_basic"] == pytest.approx(2, rel=0.01)
    assert a["shares_basic"] != b["shares_basic"]
    assert [name for name in SERVED_NAMES if name not in ITEMS_BY_CLASS and a[name] != b[name]] == []


def test_revisions_gaps_and_current_values_are_those_of_the_symbol(build: OpenBuild, classes: list[CompanyRow]) -> None:
    """A period and item is listed once; class B has no amounts per share before its first report by class."""
    for company in classes:
        revised = build.memory.revisions(company.symbol, SERVED_NAMES, **ALL)
        keys = [(revision.item, revision.period, revision.period_end) for revision in revised]
        assert len(keys) == len(set(keys))
        stated = page_queries.stated(build, company, {})
        values = {(row.item, row.kind, row.period_end) for row in stated}
        assert len(values) == len(stated)
        missing = [(gap.item, gap.kind, gap.period_end) for gap in page_queries.gaps(build, company)]
        assert len(missing) == len(set(missing))
        assert values.isdisjoint(missing)
    earned = [
        {row.period_end for row in page_queries.stated(build, company, {}) if row.item == "eps_basic"}
        for company in classes
    ]
    assert earned[0] > earned[1]


def test_an_explanation_has_the_facts_of_the_class(build: OpenBuild) -> None:
    told = [provenance.find(build, symbol, "eps_basic", "FY2024") for symbol in SYMBOLS]
    holders = [explain_queries.holder(build, symbol) for symbol in SYMBOLS]
    members = []
    for holder in holders:
        assert holder
        [span] = [span for span in explain_queries.spans(build, holder.cik) if span.period == "FY2024"]
        members.append({leg.member for leg in explain_queries.legs(build, holder, span, "eps_basic", 1)})
    assert [each.recomputed for each in told] == [each.value for each in told]
    assert members == [
        {f"us-gaap:StatementClassOfStockAxis=us-gaap:CommonClass{letter}Member"} for letter in ("A", "B")
    ]
    assert build.rows("SELECT leg_value FROM explain('XQTR-B', 'eps_basic', 'FY2024')") == [(told[1].value,)]


def test_known_values_are_those_of_the_symbol(build: OpenBuild) -> None:
    """Macro financials_as_of has the row of each symbol once, with the values of its class."""
    asked = "SELECT symbol, eps_basic FROM {} WHERE period = 'FY2024' AND symbol IN $symbols ORDER BY symbol"
    tables = ("financials_as_of('2027-01-01')", "financials")
    known, held = (build.rows(asked.format(table), {"symbols": SYMBOLS}) for table in tables)
    assert known == held != []
