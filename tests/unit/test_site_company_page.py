"""A company's page from rows of the warehouse: key figures, table, charts, gaps, breaks, the file of its values."""

import csv
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from serve.errors import NotFound
from serve.site.company import company_csv, company_page, key_figures
from serve.site.company.company_page import CompanyData
from serve.site.company.history import History
from serve.site.frame import view
from serve.site.frame.building import KEPT, cached
from serve.site.frame.view import View
from serve.site.text import paths, rendering
from serve.site.text.markdown import Document
from tests import builds
from tests.published import opened
from tests.sites import Read
from tests.texts import anchors, lacking, section, tables
from warehouse.contract import served
from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import CompanyRow
from warehouse.queries import company_queries, page_queries
from warehouse.queries.explain_queries import Holder
from warehouse.queries.page_queries import Break, Gap, Report, Stated

LANTERN = Holder("LNTR", "Lantern", "9990000001", "USD")

FILINGS = "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany"
URL = "https://www.sec.gov/Archives/edgar/data/1/000/index.htm"
PATH = "/companies/ACME"
ACME = CompanyRow(
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


def value(item: str, year: int, number: float, *, kind: str = "annual", quarter: int = 4, **more: Any) -> Stated:
    """One value of a fiscal year or of twelve months, with one version."""
    label = f"FY{year}" if kind == "annual" else f"{year}Q{quarter}"
    ends = ("03-31", "06-30", "09-30", "12-31")
    told = {
        "versions": 1,
        "earlier": None,
        "first": number,
        "cause": "initial",
        "form": "10-K",
        "filed": f"{year + 1}-02-15",
        "url": URL,
    }
    return Stated(item, kind, label, f"{year}-{ends[quarter - 1]}", number, **{**told, **more})


def ttm(item: str, year: int, quarter: int, number: float, **more: Any) -> Stated:
    """One value of twelve months."""
    return value(item, year, number, kind="ttm", quarter=quarter, **more)


STATED = [
    ttm("revenue", 2025, 1, 4.4e9),
    ttm("revenue", 2024, 4, 4.2e9),
    ttm("revenue", 2024, 1, 4e9),
    ttm("net_income", 2025, 1, -1e8),
    ttm("net_income", 2024, 1, 5e7),
    ttm("total_debt", 2024, 1, 7e9),
    ttm("roic", 2025, 1, 0.18),
    ttm("roic", 2024, 1, 0.2),
    value("revenue", 2024, 4.2e9),
    value("revenue", 2023, 4e9, versions=2, earlier=3.9e9, first=3.9e9, cause="restatement"),
    value("revenue", 2022, 3e9, versions=3),
    value("revenue", 2010, 1e9),
    value("net_income", 2024, 4.2e8),
    value("eps_basic", 2024, 4.5),
]
GAPS = [
    Gap("total_debt", "ttm", "2025-03-31", "not_on_balance_sheet"),
    Gap("eps_basic", "ttm", "2025-03-31", "missing_quarter"),
    Gap("eps_basic", "annual", "2023-12-31", "no_tag"),
    Gap("eps_basic", "annual", "2022-12-31", "no_tag"),
    Gap("debt_to_fcf", "annual", "2024-12-31", "unheard_of"),
]
REPORT = Report("10-Q", "2025-05-02", URL)


def page(
    choices: View = view.DEFAULT,
    company: CompanyRow = ACME,
    stated: list[Stated] = STATED,
    breaks: tuple[Break, ...] = (),
    valuation: served.FairValue | served.NoFairValue | None = None,
    newest_filing: str = "2025-06-30",
    industry: str | None = None,
) -> Document:
    """The page of these rows."""
    held = CompanyData(company, stated, GAPS, breaks, REPORT, valuation, industry=industry)
    return company_page.document(
        held,
        choices,
        filings_url=FILINGS,
        published_at="2026-03-02T06:05:00Z",
        updated_at="2026-03-02T06:04:00Z",
        newest_filing=newest_filing,
    )


def rows(document: Document) -> dict[str, tuple[str, ...]]:
    """The rows of the table, after their titles."""
    [table, *_] = tables(section(document.text, "figures"))
    return {title: cells for title, *cells in table}


def head(document: Document) -> list[str]:
    """The heads of the table's columns."""
    [line] = [line for line in document.text.splitlines() if line.startswith("| Period |")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


# --- The first screen -------------------------------------------------------------------------------------------------


def test_the_key_figures_are_those_of_the_newest_period():
    """With the change on a year before: in per cent, or the value where a percentage would mean nothing.

    Where the newest period has no value, the page shows the reason, and no older value as if it were current.
    """
    assert not lacking(
        section(page().text, "newest"),
        f"- **Revenue** [4.40B]({PATH}/revenue/2025Q1) *+10.0%*",
        f"- **Net income** [-100M]({PATH}/net_income/2025Q1) *50.0M a year before*",
        f"- **Return on invested capital** [18.0%]({PATH}/roic/2025Q1) *20.0% a year before*",
        f"- **Total debt** [–]({PATH}/total_debt/2025Q1) *not on the balance sheet*",
        f"- **Dividends per share** [–]({PATH}/dividends_per_share/2025Q1)\n",
    )
    assert "## Trailing twelve months to 2025-03-31 {#newest}" in page().text


def test_key_figures_of_one_unit_have_the_same_decimals():
    """The value a year before, too."""
    stated = [
        ttm("eps_basic", 2025, 1, 1.5),
        ttm("dividends_per_share", 2025, 1, 0.034),
        ttm("dividends_per_share", 2024, 1, -0.5),
    ]
    told = {
        tile[0]: (tile[1].partition("]")[0], tile[2]) for tile in key_figures.tiles(History(stated, []), "A", "USD")
    }
    assert told["Earnings per share, basic"][0] == "[$1.500"
    assert told["Dividends per share"] == ("[$0.034", "-$0.500 a year before")


@pytest.mark.parametrize(
    ("years", "told"), [((2024,), "the only value"), ((2023, 2024), "as in all 2 periods with a value")]
)
def test_zeros_are_told_in_a_line(years, told):
    """In place of a chart."""
    held = [value("revenue", year, 1.0) for year in (2023, 2024)]
    charts = section(page(stated=[*held, *(value("total_debt", year, 0.0) for year in years)]).text, "charts")
    shown = charts.partition("### Total debt")[2].partition("###")[0]
    assert f"[0]({PATH}/total_debt/FY2024) EUR, FY2024, {told}\n" in shown
    assert "![" not in shown


@pytest.mark.parametrize(("newest_filing", "is_old"), [("2025-12-31", False), ("2026-01-02", True)])
def test_old_figures_are_marked(newest_filing, is_old):
    """Compared with the newest filing of any company, because a mirror may be old as a whole."""
    assert ("> These figures are old" in page(newest_filing=newest_filing).text) == is_old


def test_the_head_says_what_the_company_is():
    text = page(company=msgspec.structs.replace(ACME, name="ACME & SONS PLC"), industry="Food").text
    assert text.startswith(
        "# Acme \\& Sons PLC (ACME)\n\nfictional company · NYSE · Food · reports in EUR · fiscal year to December\n"
    )
    newest = f"Newest report: [10-Q of 2025-05-02]({URL}) · [All filings"
    assert not lacking(text, newest, f"[CSV]({PATH}/financials.csv)")


def test_the_industry_of_a_company_without_a_sic_code_is_what_its_statements_show(tmp_path):
    rows = builds.tables()
    rows["companies"] = [each | {"sic_description": None, "industry": "bank"} for each in rows["companies"]]
    builds.publish_small(tmp_path, rows=rows)
    with opened(tmp_path) as build:
        assert company_page.held(build, LANTERN).industry == "bank"
        assert {each.industry for each in company_queries.listed(build)} == {"bank"}


def test_a_fair_value_has_its_range_and_what_it_rests_on():
    grid = [served.GridValue(0.085, growth, number) for growth, number in ((0.015, 90.5), (0.025, 100), (0.035, 120))]
    given = served.Assumptions(0.085, 0.025, 10, 2e9, False, "As reported.", 2e9, 0.0626, "By trend.", 10, "Diluted.")
    valuation = served.FairValue(
        "ACME", "EUR", "2025Q1", "2025-03-31", True, 100.25, given, (), 1, 1, 1, 0.58, 1, None, tuple(grid)
    )
    *shown, rests_on = key_figures.fair_value(valuation)
    assert shown == ["100.25", "90.50 to 120.00"]
    assert "starts from 2.00B EUR (as reported), grows by 6.3% in the first year" in rests_on
    assert "- **Fair value per share** 100.25 *90.50 to 120.00*" in page(valuation=valuation).text
    *shown, rests_on = key_figures.fair_value(msgspec.structs.replace(valuation, currency="USD"))
    assert shown == ["$100.25", "$90.50 to $120.00"]
    assert "starts from $2.00B (as reported)" in rests_on


def test_a_company_without_a_fair_value_says_why():
    reason = served.Reason("stale_data", "The newest report is too old.", ("stale_data",))
    text = page(valuation=served.NoFairValue("ACME", "EUR", "2025Q1", "2025-03-31", False, reason)).text
    assert "*Why there is no fair value: The newest report is too old.*" in text


# --- The table --------------------------------------------------------------------------------------------------------


def test_the_table_has_ten_years_and_the_newest_twelve_months():
    """The newest first; older years on demand."""
    assert head(page()) == ["TTM 2025Q1", "FY2024", "FY2023", "FY2022"]
    assert head(page(View(years="all"))) == ["TTM 2025Q1", "FY2024", "FY2023", "FY2022", "FY2010"]
    assert head(page(View(periods="ttm"))) == ["2025Q1", "2024Q4", "2024Q1"]


def test_every_value_leads_to_its_provenance_and_shows_what_it_was():
    """Units are stated once. A value withdrawn in between has no earlier value to show."""
    assert rows(page())["Revenue"] == [
        f"[4,400]({PATH}/revenue/2025Q1)",
        f"[4,200]({PATH}/revenue/FY2024)",
        f"[4,000]({PATH}/revenue/FY2023) *was 3,900*",
        f"[3,000]({PATH}/revenue/FY2022) *withdrawn before*",
    ]
    caption = "Amounts in millions of EUR, shares in units, per share in EUR, debt to free cash flow in years.*"
    assert caption in page().text


def test_growth_and_margins_are_derived():
    """Growth on the same period a year before; no growth from a loss, or where there is no such period.

    A cell without a number has the mark of its reason.
    """
    document = page()
    table = rows(document)
    assert table["*Revenue growth*"] == ["10.0%", "5.0%", "33.3%", "–¹"]
    assert "> ¹ There is no value of the same period a year before." in document.text
    assert [cell[:1] if cell[:1] == "–" else cell for cell in table["*Net margin*"]] == ["-2.3%", "10.0%", "–", "–"]
    assert "*Free cash flow growth*" not in table


def test_values_of_a_new_filing_are_marked_and_the_mark_is_explained():
    """In words, also in Markdown: with the key figure and in the table, before the earlier value."""
    revised = {"versions": 2, "earlier": 3.9e9, "first": 3.9e9, "is_new": True}
    document = page(
        stated=[*STATED[1:-5], ttm("revenue", 2025, 1, 4.4e9, is_new=True), value("revenue", 2023, 4e9, **revised)]
    )
    legend = "A value marked “new” is from a filing that EDGAR accepted in the 24 hours before this build"
    assert not lacking(
        document.text,
        f"{legend}, which was published 2026-03-02T06:05:00Z.",
        f"- **Revenue** [4.40B]({PATH}/revenue/2025Q1) *new, +10.0%*",
    )
    assert "published <time datetime=" in rendering.page(document).body
    newest, *cells = rows(document)["Revenue"]
    assert newest == f"[4,400]({PATH}/revenue/2025Q1) *new*"
    assert f"[4,000]({PATH}/revenue/FY2023) *new, was 3,900*" in cells
    assert len(re.findall(r"\bnew\b", document.text)) == 4
    assert legend not in page().text


def test_a_filing_is_new_if_it_was_accepted_within_a_day_of_the_build(tmp_path):
    """Of a value with several versions, the newest one counts."""
    now = datetime.now(UTC).replace(tzinfo=None)
    told = builds.tables()
    for row in told["versions"]:
        if row["cik"] == "9990000001" and row["item"] == "revenue" and row["period_end"] == builds.YEAR_END:
            row["known_at"] = now - timedelta(hours=25 if row["period_kind"] == "ttm" or not row["is_current"] else 23)
        elif row["item"] == "total_debt":
            row["known_at"] = None
    builds.publish_small(tmp_path, rows=told)
    with opened(tmp_path) as build:
        new = [(row.item, row.kind, row.period) for row in page_queries.stated(build, LANTERN, {}) if row.is_new]
    assert new == [("revenue", "annual", "FY2024")]


def test_growth_is_left_out_where_only_the_later_year_was_restated():
    """After a spin-off the older year still contains the business that was sold; the reason is under the table."""
    spun_off = [
        value("revenue", 2024, 50.0),
        value("revenue", 2023, 40.0, versions=2, earlier=100.0, first=100.0, filed="2025-02-15"),
        value("revenue", 2022, 95.0),
        value("net_income", 2023, 8.0, versions=2, earlier=9.0, first=9.0, filed="2025-02-15"),
        value("net_income", 2022, 4.0),
    ]
    table = rows(page(stated=spun_off))
    assert table["*Revenue growth*"] == ["25.0%", "–¹", "–²"]
    assert table["*Net income growth*"] == ["–", "100.0%", "–²"]


def test_quarters_before_a_recast_are_no_base_of_growth():
    """General Electric: the year was recast, the twelve months to a quarter end in it were not."""
    stated = [
        ttm("revenue", 2024, 3, 37.0, filed="2025-02-15"),
        ttm("revenue", 2023, 3, 65.0, filed="2023-10-24"),
        value("revenue", 2023, 35.0, versions=2, earlier=68.0, first=68.0, filed="2025-02-15"),
    ]
    assert "*Revenue growth*" not in rows(page(View(periods="ttm"), stated=stated))
    as_before = [*stated[:2], value("revenue", 2023, 67.0, versions=2, earlier=68.0, first=68.0, filed="2025-02-15")]
    assert rows(page(View(periods="ttm"), stated=as_before))["*Revenue growth*"][0] == "-43.1%"


@pytest.mark.parametrize(("restated", "lines"), [(35.0, 2), (67.0, 0)])
def test_lines_part_around_a_recast_year(restated, lines):
    """Twelve months to the quarter ends around the year are as they were, if the year was recast to another scope."""
    recast = {"versions": 2, "earlier": 68.0, "first": 68.0, "filed": "2025-02-15"}
    stated = [
        ttm("revenue", 2024, 1, 69.0, filed="2024-04-24"),
        ttm("revenue", 2023, 4, restated, **recast),
        ttm("revenue", 2023, 3, 65.0, filed="2023-10-24"),
        value("revenue", 2023, restated, **recast),
        *(ttm("net_income", 2023, quarter, 5.0, filed="2023-10-24") for quarter in (3, 4)),
    ]
    document = page(View(periods="ttm"), stated=stated)
    revenue, income = (dict(document.drawings)[item] for item in ("revenue", "net_income"))
    assert [drawing.count('class="break"') for drawing in (revenue, income)] == [lines, 0]
    assert revenue.count("another scope of the business</text>") == min(lines, 1)
    assert ("lines part there" in document.text) == bool(lines)


def test_reasons_of_empty_cells_are_numbered():
    """Below the table, folded; an undocumented code is shown unchanged."""
    cells = rows(page())["Earnings per share, basic"]
    assert [cell.partition("]")[0] for cell in cells] == ["[–²", "[4.50", "[–³", "[–³"]
    assert cells[0] == f"[–²]({PATH}/eps_basic/2025Q1)"
    assert not lacking(
        section(page().text, "figures").partition("> **Why some cells are empty**\n")[2],
        "> ³ The company's filings never state the item",
        r"[no\_tag](/dictionary#gap-no_tag)",
        r"> ⁵ unheard\_of",
    )


def test_figures_are_not_compared_across_a_break():
    """The break is explained, and is a line in the charts."""
    stated = [
        value("revenue", 2024, 4.0, filed="2025-02-15"),
        value("revenue", 2023, 3.0, filed="2025-02-15"),
        value("revenue", 2022, 9.0, filed="2023-02-15"),
    ]
    document = page(stated=stated, breaks=(Break("2025-02-15", "entity"),))
    assert rows(document)["*Revenue growth*"] == ["33.3%", "–¹", "–²"]
    assert not lacking(
        document.text,
        "> ¹ The figures of the year before are of another company",
        "*The filing of 2025-02-15 changes to another company: figures before and after it",
    )
    drawing = dict(document.drawings)["revenue"]
    assert (drawing.count('class="break"'), "another company" in drawing) == (1, True)
    assert "another company" not in page(stated=stated, breaks=(Break("2012-02-15", "entity"),)).text


# --- The charts -------------------------------------------------------------------------------------------------------


def test_every_item_has_a_card():
    """Items without a value come last."""
    document = page(View(periods="ttm"))
    cards = [known for tag, known in Read(rendering.page(document).body).elements if tag == "section"]
    assert [card["aria-labelledby"] for card in cards][:4] == ["revenue", "net_income", "total_debt", "roic"]
    assert {card["aria-labelledby"] for card in cards} == set(SERVED_NAMES) == set(anchors(page().text)[3:])


def test_a_chart_shows_bars_of_years_or_a_line_of_twelve_months():
    """Never both; one mark per value, and a place for each period without one."""
    of_years, of_months = page(View(periods="annual")), page(View(periods="ttm"))
    years, months = (dict(document.drawings)["revenue"] for document in (of_years, of_months))
    assert (years.count('class="bar"'), years.count('class="line"')) == (3, 0)
    assert (months.count('class="bar"'), months.count('class="area"')) == (0, months.count('class="line"'))
    assert (years.count('class="restated"'), "was 3.900B" in years) == (2, True)
    assert not lacking(section(of_months.text, "total_debt"), "7.000B](", "EUR, 2024Q1, no later value")
    assert dict(page(View(years="all")).drawings)["revenue"].count('data-says="No report"') == 11
    assert 'data-note="FY2023. The company&#39;s filings never state' in dict(of_years.drawings)["eps_basic"]


def test_the_text_before_a_chart_shows_its_newest_value():
    document = page()
    assert section(document.text, "revenue").startswith(f"\n[4.200B]({PATH}/revenue/FY2024) EUR, FY2024\n")
    assert "![Revenue: 3 values, 2 restated.](#revenue)" in document.text
    without = [section(document.text, item).strip() for item in ("total_debt", "debt_to_fcf")]
    assert without == ["No value", "No value: unheard of"]
    assert (
        "![Return on invested capital: 1 value, 0 restated.](#roic)"
        in page(View(periods="ttm", years="5"), stated=STATED[6:7]).text
    )
    drawing = dict(document.drawings)["revenue"]
    assert f'{drawing}<p class="unseen">Revenue: 3 values, 2 restated.</p>' in rendering.page(document).body


def test_a_missing_quarter_keeps_its_place():
    """So that the distance between two values is the time between them."""
    history = History([ttm("revenue", 2024, quarter, 1.0) for quarter in (1, 2, 4)], [])
    slots = history.without_holes(history.slots("ttm", None))
    assert [slot.label for slot in slots] == ["2024Q1", "2024Q2", "", "2024Q4"]


# --- Choices ----------------------------------------------------------------------------------------------------------


def test_choices_are_links_that_keep_the_other_choices():
    """The chosen kind is not a link; the usual kind needs no parameter."""
    assert not lacking(
        section(page(View(years="5", scale="log")).text, "figures"),
        f"- **Periods** *Fiscal years* [TTM by quarter]({PATH}?periods=ttm&years=5&scale=log#figures)",
        f"*5 years* [10 years]({PATH}?scale=log#figures) [All years]({PATH}?years=all&scale=log#figures)",
    )


def test_a_choice_that_does_not_exist_is_not_found():
    """Other parameters are ignored."""
    assert view.asked({"years": "all", "x": "y"}) == View(years="all")
    for name in ("periods", "years", "scale"):
        with pytest.raises(NotFound):
            view.asked({name: "<b>"})


def test_a_company_with_years_only_has_no_other_choice():
    """Where the periods that were asked for do not exist, the others are shown."""
    document = page(View(periods="ttm"), stated=[value("revenue", 2024, 1.0)])
    assert head(document) == ["FY2024"]
    parts = ("Fiscal year to 2024-12-31", "- **Periods**", "- **Range**")
    assert lacking(document.text, *parts) == ["- **Periods**"]


def test_a_company_without_values_has_a_page():
    document = page(stated=[])
    assert not list(tables(document.text))
    assert "class=" not in "".join(drawing for _, drawing in document.drawings)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "[x](https://example.org)", "A|B", None])
def test_names_are_escaped(name):
    """A company without a name is shown by its symbol."""
    document = page(company=msgspec.structs.replace(ACME, name=name, symbol="a/b?#%"))
    assert paths.company_path("A/B?#%") == "/companies/A%2FB%3F%23%25"
    assert rendering.page(document).title.unescape().startswith(f"{name or 'a/b?#%'} (")


# --- The file ---------------------------------------------------------------------------------------------------------


def test_the_file_has_every_value_with_every_digit():
    """One row a period, newest first; a missing value is empty."""
    stated = [value("revenue", 2024, 4_000.5), ttm("roic", 2024, 4, 0.18), value("net_income", 2023, 7.0)]
    first, second, third = csv.DictReader(company_csv.text(ACME, stated).splitlines())
    assert first.items() >= {"period_kind": "ttm", "roic": "0.18", "revenue": ""}.items()
    assert second.items() >= {"period": "FY2024", "period_end": "2024-12-31", "revenue": "4000.5"}.items()
    assert third.items() >= {"symbol": "ACME", "currency": "EUR", "net_income": "7"}.items()


def test_no_cell_of_the_file_is_a_formula():
    """A spreadsheet would calculate a text that begins with = or +."""
    text = company_csv.text(msgspec.structs.replace(ACME, symbol="=A1"), [value("net_income", 2024, -7.0)])
    [row] = csv.DictReader(text.splitlines())
    assert (row["symbol"], row["net_income"]) == ("'=A1", "-7")


# --- The queries ------------------------------------------------------------------------------------------------------


def test_current_values_come_with_the_value_before_and_their_filing(tmp_path):
    """From the last version of each period and item; a withdrawn one has no value, a restored one an earlier value."""
    builds.small(tmp_path)
    with opened(tmp_path) as build:
        stated = page_queries.stated(build, LANTERN, page_queries.reports(build, "9990000001"))
        assert page_queries.sources(build) == {}

    def told(item: str, kind: str, period: str, *fields: str) -> list[object]:
        [row] = [row for row in stated if (row.item, row.kind, row.period) == (item, kind, period)]
        return [getattr(row, field) for field in fields]

    amounts, of_filing = ("value", "earlier", "first", "versions"), ("form", "filed", "cause", "url")
    assert told("revenue", "annual", "FY2024", *amounts) == [4000.0, 4100.0, 3900.5, 3]
    filing = ["10-Q", "2025-05-15", "method", "/filings/9990000001-25-000002"]
    assert told("revenue", "annual", "FY2024", *of_filing) == filing
    assert told("dividends_per_share", "annual", "FY2022", "value", "earlier", "versions") == [0.0, 0.5, 3]
    assert told("revenue", "ttm", "2024Q1", "value", "earlier", "versions", "url") == [1000.0, None, 1, None]
    assert ("roic", "annual", "FY2023") not in {(row.item, row.kind, row.period) for row in stated}


def test_gaps_breaks_and_the_newest_report_are_read(tmp_path):
    rows = builds.tables()
    gap = {"cik": "9990000001", "item": "roic", "reason": "no_equity"}
    rows["gaps"] = [{**gap, "period_kind": "ttm", "period_end": end} for end in builds.QUARTER_ENDS[:2]]
    rows["breaks"] = [{"cik": "9990000001", "accession": "1", "filed": builds.YEAR_END, "kind": "entity", "rule": None}]
    builds.publish_small(tmp_path, rows=rows)
    with opened(tmp_path) as build:
        gaps = sorted(page_queries.gaps(build, LANTERN), key=lambda gap: gap.period_end)
        assert gaps == [Gap("roic", "ttm", end, "no_equity") for end in ("2024-03-31", "2024-06-30")]
        assert page_queries.breaks(build, "9990000001") == [Break("2024-12-31", "entity")]
        reports = [page_queries.newest(page_queries.reports(build, cik)) for cik in ("9990000001", "none")]
        assert reports == [Report("10-Q", "2025-05-15", "/filings/9990000001-25-000002"), None]


def test_a_figure_without_twelve_months_is_that_of_the_newest_year():
    """With its label; a year that ended more than a year before the newest period is not shown."""
    assert f"- **Earnings per share, basic** [4.50]({PATH}/eps_basic/FY2024) *FY2024*" in section(page().text, "newest")
    old = [*(each for each in STATED if each.item != "eps_basic"), value("eps_basic", 2023, 4.5)]
    shown = section(page(stated=old).text, "newest")
    assert f"- **Earnings per share, basic** [–]({PATH}/eps_basic/2025Q1) *not stated for these twelve months*" in shown


def test_a_page_is_made_once_for_a_build_and_what_is_asked(tmp_path):
    """The oldest one is forgotten when many are kept; another build has its own."""
    builds.small(tmp_path)
    made = []

    def page_of(asked: int) -> Document:
        return cached(build, asked, lambda: made.append(asked) or Document(str(asked)))

    for _ in range(2):
        with opened(tmp_path) as build:
            texts = [page_of(asked).text for asked in (1, 2, 1, *range(3, KEPT + 2), 2, 1)]
            assert texts[-3:] == [str(KEPT + 1), "2", "1"]
    assert made == [*range(1, KEPT + 2), 1] * 2
