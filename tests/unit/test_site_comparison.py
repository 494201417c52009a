"""The comparison of companies: symbols, values by fiscal year, currencies, charts."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from serve.site.company import comparison
from serve.site.company.history import History
from serve.site.frame.directory import Directory, directory
from serve.site.text import comparison_charts, rendering
from serve.site.text.comparison_charts import Point
from serve.site.text.markdown import Document
from tests import builds
from tests.published import opened
from tests.sites import Read
from tests.texts import anchors, lacking, section, tables
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import CompanyRow, FinancialPeriod, Values
from warehouse.queries.company_queries import Listed
from warehouse.queries.page_queries import Gap, Stated
from warehouse.read.reader import OpenBuild

INDUSTRY = {"sic": "4412", "sic_description": "Transport"}
MANY = [f"AB{letter}" for letter in "DEFGHI"]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBuild]:
    """The small build with companies of one industry, and a company that changed its fiscal year."""
    folder: Path = tmp_path_factory.mktemp("home") / "published"
    rows = builds.tables()
    rows["companies"] += [
        builds.company(symbol, 20 + n, name=f"Ship {symbol}", **INDUSTRY) for n, symbol in enumerate(MANY)
    ]
    with_gaps = [("ABE", "9990000021", date(year, 12, 31), 1.0) for year in (2019, 2020, 2022, 2024)]
    of_one_year = [("ABD", "9990000020", date(2024, month, 31), revenue) for month, revenue in ((3, 8.0), (12, 9.0))]
    rows["financials"] += [
        builds.period({"symbol": symbol, "cik": cik}, "annual", end, 4, revenue=revenue)
        for symbol, cik, end, revenue in with_gaps + of_one_year
    ]
    builds.publish_small(folder, rows=rows)
    with opened(folder) as build:
        yield build


def page(build: OpenBuild, symbols: str) -> Document:
    return comparison.document(build, directory(build), symbols)


def test_companies_are_compared_item_by_item(build):
    """Newest twelve months and fiscal years of each, in the order asked for; values lead to where they come from."""
    text = page(build, "fjrd, LNTR").text
    assert text.startswith("# FJRD and LNTR\n")
    assert tuple(anchors(text)) == SERVED_NAMES
    [rows] = tables(section(text, "revenue"))
    assert rows == [
        ("Newest", "–", "[4.00K](/companies/LNTR/revenue/2024Q4) *was 3.90K*"),
        (
            "FY2024",
            "[7](/companies/FJRD/revenue/FY2024) *0.0%*",
            "[4.00K](/companies/LNTR/revenue/FY2024) *0.0%* *was 4.10K*",
        ),
        ("FY2023", "[7](/companies/FJRD/revenue/FY2023)", "[4.00K](/companies/LNTR/revenue/FY2023) *0.0%*"),
        ("FY2022", "–", "[4.00K](/companies/LNTR/revenue/FY2022)"),
    ]
    expected = {"Currency": ("EUR", "USD"), "Net margin": ("–", "2.5%"), "Fiscal year ends in": ("December",) * 2}
    assert {name: tuple(values) for name, *values in next(tables(text))}.items() >= expected.items()
    assert "No period has a value." in section(text, "roic")


def test_newest_figures_are_of_the_newest_year_or_say_why_there_is_none():
    """As on the page of the company; each leads to its own page."""
    company = CompanyRow("SHP", None, None, "0000000021", None, None, "USD", "2021-12-31", None, None, 12)
    value = {"value": 2.0, "versions": 1, "earlier": None, "first": 2.0, "cause": None}
    filed = {"form": None, "filed": None, "url": None}
    stated = [
        Stated(item, kind, period, end, **value, **filed)
        for item, kind, period, end in (
            ("revenue", "ttm", "2025Q1", "2025-03-31"),
            ("total_debt", "annual", "FY2024", "2024-12-31"),
            ("eps_basic", "annual", "FY2021", "2021-12-31"),
        )
    ]
    gaps = [Gap("roic", "ttm", "2025-03-31", "no_tag")]
    newest = FinancialPeriod("2025Q1", "2025-03-31", 2025, 1, Values(revenue=2.0))
    held = comparison.ComparedCompany(company, newest, {}, History(stated, gaps))
    shown = {name: cell for name, [cell] in comparison._overview([held])}
    expected = {
        "Revenue": "[2](/companies/SHP/revenue/2025Q1)",
        "Total debt": "[2](/companies/SHP/total_debt/FY2024) *FY2024*",
        "Earnings per share, basic": "–",
        "Return on invested capital": "[–](/companies/SHP/roic/2025Q1) *not stated in the filings*",
    }
    assert shown.items() >= expected.items()


def test_values_per_share_of_all_companies_have_the_same_decimals(tmp_path):
    """In the table, in the earlier value, and where a reader points at the chart."""
    rows = builds.tables()
    of = {"symbol": "ABCX", "cik": "9990000002"}
    for year, dividend in ((2023, 0.034), (2024, 0.04)):
        rows["financials"].append(builds.period(of, "annual", date(year, 12, 31), 4, dividends_per_share=dividend))
    builds.publish_small(tmp_path, rows=rows)
    with opened(tmp_path) as build:
        document = page(build, "ABCX,LNTR")
    table = next(tables(section(document.text, "dividends_per_share")))
    shown = {label: values[0].partition("]")[0] for label, *values in table}
    assert (shown["FY2024"], shown["FY2023"]) == ("[0.040", "[0.034")
    assert "ABCX FY2024: 0.040 USD per share" in dict(document.drawings)["dividends_per_share"]


def test_different_currencies_are_stated_and_have_their_own_charts(build):
    """Amounts of different currencies are on no common scale; numbers without currency are."""
    document, one = page(build, "LNTR,FJRD,ABCX"), page(build, "LNTR,ABCX")
    assert "report in different currencies: USD, EUR. Amounts are not converted." in document.text
    parts = ("| LNTR (USD) | FJRD (EUR) | ABCX (USD) |", "In each company's currency.")
    assert not lacking(section(document.text, "revenue"), *parts)
    assert "| LNTR | FJRD | ABCX |" in section(document.text, "roic")
    drawing = dict(document.drawings)["revenue"]
    assert (drawing.count("<svg"), ">EUR</text>" in drawing) == (2, True)
    assert "different currencies" not in one.text
    assert "In USD." in section(one.text, "revenue")
    assert dict(one.drawings)["revenue"].count("<svg") == 1


def test_a_chart_shows_the_values_of_the_table(build):
    drawing = dict(page(build, "LNTR,FJRD").drawings)["revenue"]
    assert (drawing.count('class="mark"'), drawing.count('class="restated"')) == (5, 1)
    told = ("FJRD FY2024: 7 EUR", "LNTR FY2024: 4.000K USD, was 4.100K")
    assert not lacking(drawing, *(f"<title>{each}</title>" for each in told))


def test_an_index_begins_with_the_first_common_year(build):
    """All companies are 100 there, in one chart of all currencies; figures that cannot be indexed stay as they are."""
    document = comparison.document(build, directory(build), "LNTR,FJRD", comparison.INDEXED)
    assert "Chart: FY2023 = 100." in section(document.text, "revenue")
    drawing = dict(document.drawings)["revenue"]
    lines = re.findall(r'class="line" d="M([^"]*)"', drawing)
    assert (drawing.count("<svg"), len(lines)) == (1, 2)
    heights = {point.split()[1] for line in lines for point in re.split("[ML]", line) if point}
    assert heights == {f"{comparison_charts.TOP:.1f}"}  # 4,000 and 7 are both 100, in all years
    assert "[Amounts](/compare?symbols=LNTR,FJRD)" in document.text
    assert "There is no index: in no fiscal year all have a positive value." in section(document.text, "free_cash_flow")


def test_a_year_without_a_value_is_a_gap(build):
    """The line is interrupted where another company has a year; a year that no company has is not a row."""
    document = page(build, "ABE,LNTR")
    line = dict(document.drawings)["revenue"].partition('class="series s1"')[2].partition("</g>")[0]
    assert (line.count('class="mark"'), line.partition('d="')[2].partition('"')[0].count("M")) == (4, 3)
    [rows] = tables(section(document.text, "total_debt"))
    assert [label for label, *_ in rows] == ["Newest", "FY2024", "FY2023", "FY2022"]


def test_of_two_years_with_one_label_the_later_counts(build):
    """After a change of fiscal year."""
    [rows] = tables(section(page(build, "ABD").text, "revenue"))
    assert rows[1] == ("FY2024", "[9](/companies/ABD/revenue/FY2024)")


def test_an_unknown_symbol_leads_to_close_matches(build):
    """The links compare each of them with the companies that were found; a name leads to its company too."""
    text = page(build, "FJRD,LNRT,maple,<b>").text
    assert text.startswith("# Compare FJRD\n")
    assert not lacking(
        text,
        "No company with the symbol LNRT is covered.",
        "[LNTR](/compare?symbols=FJRD,LNTR)",
        "[ABCX](/compare?symbols=FJRD,ABCX)",
        "No company with the symbol \\<b\\> is covered. [The list of companies](/companies)",
    )


def test_at_most_five_companies_are_compared(build):
    document = page(build, ",".join(MANY))
    assert "at most 5 companies: ABI is left out" in document.text
    assert document.search.value == "ABD, ABE, ABF, ABG, ABH"
    assert "similar company" not in document.text


def test_companies_can_be_removed_and_added(build):
    """Others of the same industry, one symbol of each company; the links keep the rest."""
    similar = "Add a similar company (by SIC code and size): [ABE](/compare?symbols=ABF,ABD,ABE), "
    parts = (r"([remove](/compare?symbols=ABF))", similar, "LNTR")
    assert lacking(page(build, "ABF,ABD").text, *parts) == ["LNTR"]


def test_peers_share_the_industry_and_come_in_the_order_of_size():
    """Four digits of the SIC code before three; a division that is shared is not enough, another currency is last."""

    def row(symbol: str, sic: str | None, revenue: float | None = 1e9, currency: str = "USD") -> Listed:
        return Listed(symbol, symbol, None, None, f"cik {symbol}", currency, None, None, revenue, None, None, None, sic)

    of = Directory(
        [
            row("AAPL", "3571", 400e9),
            row("CAT", "3531", 60e9),
            row("TINY", "3571", 1e6),
            row("EUR", "3571", 400e9, "EUR"),
            row("DELL", "3571", 90e9),
            row("STX", "3572", 350e9),
            row("NONE", None),
        ]
    )
    assert [each.symbol for each in comparison._peers(of, ["AAPL"])] == ["DELL", "TINY", "EUR", "STX"]
    assert comparison._peers(of, ["NONE"]) == []


def test_a_comparison_has_one_address(build):
    """To which the same symbols in another spelling lead; unknown symbols keep theirs, with the notice."""
    assert page(build, "fjrd, LNTR.B,").address == "/compare?symbols=FJRD,LNTR-B"
    assert page(build, "FJRD,LNTR-B").address == ""
    assert page(build, "fjrd,nope").address == page(build, ",".join(MANY)).address == page(build, " ").address == ""


def test_without_symbols_the_page_says_what_it_is_for(build):
    document = page(build, " , ")
    assert document.text.startswith("# Compare companies\n")
    assert "(/compare?symbols=LNTR,LNTR-B)" in document.text
    assert not anchors(document.text)


def test_notices_before_the_legend_have_no_marks(build):
    """Each company of the legend has its mark."""
    shown = rendering.page(page(build, "LNTR,FJRD,nope")).body
    before, _, legend = shown.partition('<ul class="legend">')
    assert [part.count("<svg") for part in (before, legend.partition("</ul>")[0])] == [0, 2]
    assert [known["class"] for tag, known in Read(legend).elements if tag == "g"][:2] == ["series s1", "series s2"]


def test_a_missing_value_interrupts_the_line():
    points = [Point(f"202{n}-12-31", value, "") for n, value in enumerate((1.0, 2.0, None, 4.0))]
    drawn = comparison_charts.chart({2: points}, ("2020-12-31", "2023-12-31"), str)
    [path] = [known["d"] for tag, known in Read(drawn).elements if tag == "path" and known["class"] == "line"]
    assert (path.count("M"), path.count("L")) == (2, 1)
    assert drawn.count('class="mark"') == 3
    assert comparison_charts.chart({}, ("", ""), str) == ""
