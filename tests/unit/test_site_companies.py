"""A company's page from rows of the warehouse: charts, tables, links and gaps."""

from typing import Any

import msgspec
import pytest

from serve.site import companies, rendering
from serve.site.markdown import Document
from tests import builds
from tests.sites import Read
from tests.texts import anchors, section, tables
from warehouse import page_queries
from warehouse.page_queries import Gap, Stated
from warehouse.queries import Company
from warehouse.reader import Warehouse
from warehouse.schema import ITEM_NAMES

FILINGS = "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany"
URL = "https://www.sec.gov/Archives/edgar/data/1/000/index.htm"
ACME = Company(
    symbol="ACME",
    name="Acme & Sons",
    exchange="NYSE",
    cik="9990000001",
    sic=None,
    sic_description=None,
    currency="EUR",
    fiscal_year_end_month=12,
    first_period_end="2023-12-31",
    last_period_end="2024-12-31",
    data_updated_at=None,
)


def value(item: str, kind: str, year: int, number: float, **more: Any) -> Stated:
    """One value of a fiscal year with one version, from a filing of the build."""
    label = f"FY{year}" if kind == "annual" else f"{year}Q4"
    told = {
        "versions": 1,
        "earlier": None,
        "cause": "initial",
        "form": "10-K",
        "filed": f"{year + 1}-02-15",
        "url": URL,
    }
    return Stated(item=item, kind=kind, period=label, period_end=f"{year}-12-31", value=number, **{**told, **more})


STATED = [
    value("revenue", "ttm", 2024, 4_000.5),
    value("revenue", "ttm", 2023, 3_000.0, versions=2, earlier=2_900.0, cause="restatement"),
    value("revenue", "annual", 2024, 4_000.5),
    value("revenue", "annual", 2023, 3_000.0, versions=3, cause="unheard_of", url=None),
    value("roic", "ttm", 2024, 0.18),
]
GAPS = [
    Gap("roic", "ttm", "no_total_debt", 1, "2023-12-31", "2023-12-31"),
    Gap("roic", "annual", "no_total_debt", 2, "2023-12-31", "2024-12-31"),
    Gap("debt_to_fcf", "ttm", "unheard_of", 2, "2023-12-31", "2024-12-31"),
]


def page(company: Company = ACME) -> Document:
    """The page of these rows."""
    return companies.document(company, STATED, GAPS, FILINGS, "2026-03-02T06:04:00Z")


def told(item: str) -> str:
    """The text of one item."""
    return section(page().text, item)


def test_every_item_has_a_card_in_the_order_of_the_specification():
    assert tuple(anchors(page().text)) == ITEM_NAMES
    cards = [known for tag, known in Read(rendering.page(page()).body).elements if tag == "section"]
    assert cards == [{"class": "chart", "aria-labelledby": item} for item in ITEM_NAMES]


def test_every_value_is_in_a_table_and_links_to_its_provenance_and_its_filing():
    """If the filing is not in the build, to the list of the company's filings."""
    ttm, annual = tables(told("revenue"))
    of = "/companies/ACME/revenue"
    assert [row[1] for row in ttm] == [f"[4,000.5]({of}/2024Q4)", f"[3,000]({of}/2023Q4)"]
    assert [row[1] for row in annual] == [f"[4,000.5]({of}/FY2024)", f"[3,000]({of}/FY2023)"]
    assert [row[3].partition("](")[2] for row in (*ttm, *annual)] == [f"{url})" for url in (URL, URL, URL, FILINGS)]
    assert ttm[0][3].startswith("[10-K 2025-02-15](")


def test_restated_values_are_marked_with_earlier_value_and_cause():
    """In the table with a mark and text; a value withdrawn in between has no earlier value to show."""
    ttm, annual = tables(told("revenue"))
    assert ttm[0][4] == annual[0][4] == ""
    assert ttm[1][4] == "◆ was 2,900, 2 versions. An amended or later filing states another figure."
    assert annual[1][4] == r"◆ withdrawn before, 3 versions. unheard of"


def test_the_chart_shows_only_values_of_the_table():
    """One mark per value; a restated value has its own mark, also on a bar."""
    drawing = dict(page().drawings)["revenue"]
    assert drawing.count('class="bar"') == 2
    assert drawing.count('class="dot"') == 1
    assert drawing.count('class="restated"') == 2
    assert drawing.count(f'href="{URL}"') == 3
    assert "3,000 EUR, restated, was 2,900" in drawing
    assert "![Revenue: 4 values, 2 restated.](#revenue)" in told("revenue")
    shown = rendering.page(page()).body
    assert f'{drawing}<p class="unseen">Revenue: 4 values, 2 restated.</p>' in shown


def test_the_newest_value_has_unit_and_currency():
    """Except ratios."""
    assert told("revenue").startswith("\n**4 K** EUR, 2024Q4\n")
    assert told("roic").startswith("\n**18 %**, 2024Q4\n")
    assert told("eps_basic").strip() == "No period has a value."


def test_gaps_are_shown_with_their_reasons():
    """For both kinds of period in one sentence; an undocumented code is shown unchanged."""
    assert (
        "**No value** for 1 quarter end (2023-12-31) and 2 fiscal years (2023-12-31 to 2024-12-31). "
        r"There is no total debt on that day. [no\_total\_debt](/dictionary#gap-no_total_debt)"
    ) in told("roic")
    assert r"unheard\_of" in told("debt_to_fcf")


def test_an_item_without_values_has_neither_chart_nor_table():
    assert not list(tables(told("debt_to_fcf")))
    assert "![" not in told("debt_to_fcf")
    assert "debt_to_fcf" not in dict(page().drawings)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "[x](https://example.org)", "A|B", None])
def test_names_are_escaped(name):
    """A company's name is shown unchanged; a company without a name is shown by its symbol."""
    document = page(msgspec.structs.replace(ACME, name=name, symbol="A/B?#%"))
    assert rendering.page(document).title.unescape() == f"{name or 'A/B?#%'} (A/B?#%)"


def test_current_values_come_with_the_value_before_and_their_filing(tmp_path):
    """From the last version of each period and item; a withdrawn one has no value, a restored one an earlier value."""
    builds.small(tmp_path / "published")
    warehouse = Warehouse(tmp_path / "published")
    with warehouse.build() as build:
        found = {(row.item, row.kind, row.period): row for row in page_queries.stated(build, "9990000001")}
        sources = page_queries.sources(build)
    warehouse.close()

    restated = found["revenue", "annual", "FY2024"]
    assert (restated.value, restated.earlier, restated.versions) == (4000.0, 4100.0, 3)
    assert (restated.form, restated.filed, restated.cause) == ("10-Q", "2025-05-15", "method")
    assert restated.url == "https://filings.example.org/1/2"
    back = found["dividends_per_share", "annual", "FY2022"]
    assert (back.value, back.earlier, back.versions) == (0.0, 0.5, 3)
    first = found["revenue", "ttm", "2024Q1"]
    assert (first.value, first.earlier, first.versions, first.url) == (1000.0, None, 1, None)
    assert ("roic", "annual", "FY2023") not in found
    assert list(dict.fromkeys(item for item, _, _ in found)) == [
        item for item in ITEM_NAMES if any(item == key[0] for key in found)
    ]
    assert sources == {}


def test_gaps_are_counted_by_item_kind_and_reason(tmp_path):
    """With the first and the last period end."""
    rows = builds.tables()
    gap = {"cik": "9990000001", "item": "roic", "reason": "no_equity"}
    ends = [("ttm", builds.QUARTER_ENDS[2]), ("ttm", builds.QUARTER_ENDS[0]), ("annual", builds.YEAR_END)]
    rows["gaps"] = [{**gap, "period_kind": kind, "period_end": end} for kind, end in ends]
    builds.publish_small(tmp_path / "published", rows=rows)
    warehouse = Warehouse(tmp_path / "published")
    with warehouse.build() as build:
        found = page_queries.gaps(build, "9990000001")
    warehouse.close()

    assert found == [
        Gap("roic", "ttm", "no_equity", 2, "2024-03-31", "2024-09-30"),
        Gap("roic", "annual", "no_equity", 1, "2024-12-31", "2024-12-31"),
    ]
