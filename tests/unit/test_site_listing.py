"""The list of companies: found, filtered and sorted in memory; its table, form and links."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from serve.site.frame.directory import Directory, close_matches, directory
from serve.site.lists import listing
from serve.site.text import rendering
from serve.site.text.markdown import Document
from tests import builds
from tests.published import opened
from tests.sites import Read
from tests.texts import lacking, tables
from warehouse.queries.company_queries import Listed
from warehouse.read.reader import OpenBuild

ACME = Listed(
    symbol="ACME",
    name="Acme & Sons",
    exchange="NYSE",
    industry="Trade",
    cik="0000000042",
    currency="USD",
    period="2024Q4",
    period_end="2024-12-31",
    revenue=4_000.0,
    net_income=1_000.0,
    free_cash_flow=None,
    roic=0.18,
    growth=0.25,
    debt_to_fcf=1.5,
    gross_profit=1_600.0,
    operating_income=1_200.0,
)


def row(symbol: str, **values: Any) -> Listed:
    """A company like ACME, with other values."""
    return msgspec.structs.replace(ACME, symbol=symbol, **values)


ROWS = [
    row("BIG", name="Biggest Harbor", revenue=9_000.0, exchange="Nasdaq", cik="0000000420"),
    ACME,
    row("ACM-B", name="Beacon", revenue=100.0, net_income=-50.0, industry=None),
    row("LOSS", name="The Acme Loss", revenue=0.0, roic=None, cik="0000000007"),
    row("NONE", name=None, revenue=None, net_income=None, exchange=None),
    row("YEN", name="Yen Harbors", currency="JPY", revenue=7e12, cik="0000000009"),
]
OF = Directory(ROWS)
ASKED = dict.fromkeys(listing.ASKED, "")


def symbols(rows: list[Listed]) -> list[str]:
    return [row.symbol for row in rows]


def page(rows: list[Listed], near: tuple[Listed, ...] = (), number: int = 1, **asked: str) -> Document:
    return listing.document(OF, rows, near, {**ASKED, **asked}, number)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("acme", ["ACME", "LOSS"]),
        ("ACM.B", ["ACM-B"]),
        ("acm", ["ACME", "ACM-B", "LOSS"]),
        ("harbor", ["BIG", "YEN"]),
        ("arbor", ["BIG", "YEN"]),
        ("42", ["ACME", "ACM-B", "NONE", "BIG"]),
        ("CIK 0000000420", ["BIG"]),
        ("acme & so", ["ACME"]),
        ("cik", []),
        ("%", []),
        ("  ", []),
    ],
)
def test_a_company_is_found_by_symbol_name_or_cik(text, found):
    """The symbol itself first, then beginnings of symbols, of names, of words; then the largest."""
    assert symbols(OF.found(text)) == found


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", ["ACM-B", "ACME", "BIG", "LOSS", "NONE", "YEN"]),
        ("-symbol", ["YEN", "NONE", "LOSS", "BIG", "ACME", "ACM-B"]),
        ("name", ["ACME", "ACM-B", "BIG", "NONE", "LOSS", "YEN"]),
        ("-revenue", ["BIG", "ACME", "ACM-B", "LOSS", "NONE", "YEN"]),
        ("revenue", ["LOSS", "ACM-B", "ACME", "BIG", "NONE", "YEN"]),
        ("net_margin", ["ACM-B", "YEN", "BIG", "ACME", "LOSS", "NONE"]),
        ("exchange", ["BIG", "ACM-B", "ACME", "LOSS", "YEN", "NONE"]),
    ],
)
def test_companies_are_sorted(sort, order):
    """Missing values come last in either order; amounts are sorted within their currency, the most common first."""
    assert symbols(OF.chosen("", "", "", sort)) == order


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (("", "Nasdaq", "", ""), ["BIG"]),
        (("", "", "Trade", "symbol"), ["ACME", "BIG", "LOSS", "NONE", "YEN"]),
        (("harbor", "NYSE", "", ""), ["YEN"]),
        (("acm", "", "", "-symbol"), ["LOSS", "ACME", "ACM-B"]),
    ],
)
def test_companies_are_filtered_by_exchange_and_industry(asked, found):
    """Also companies that a search found, which stay in the order of the search."""
    assert symbols(OF.chosen(*asked)) == found


@pytest.mark.parametrize(
    ("bounds", "found"),
    [
        ({"net_margin_min": "20"}, ["ACME"]),
        ({"net_margin_max": "0"}, ["ACM-B"]),
        ({"gross_margin_min": "40", "operating_margin_max": "30"}, ["ACME"]),
        ({"growth_min": "25", "growth_max": "25"}, ["ACM-B", "ACME", "BIG", "LOSS", "NONE", "YEN"]),
        ({"roic_max": "17.9"}, []),
        ({"roic_min": "18", "debt_to_fcf_max": "1.5"}, ["ACM-B", "ACME", "BIG", "NONE", "YEN"]),
        ({"debt_to_fcf_min": "1.6"}, []),
        ({"revenue_min": "0.004", "revenue_max": "0.009"}, ["ACME", "BIG"]),
        ({"net_income_max": "-0.00005"}, ["ACM-B"]),
    ],
)
def test_companies_are_filtered_by_figures(bounds, found):
    """In per cent, years and millions, with both ends; a company without the figure is left out."""
    assert symbols(listing.chosen(OF, {**ASKED, **bounds})) == found


def test_the_filters_stay_in_the_address():
    """When the list is sorted, turned over and downloaded; the form is open and has them."""
    shown = page(ROWS * 20, net_margin_min="-5.5", sort="-roic")
    assert not lacking(
        shown.text,
        "(/companies?sort=roic&net_margin_min=-5.5)",
        "/companies.csv?sort=-roic&net_margin_min=-5.5",
        "/companies?sort=-roic&net_margin_min=-5.5&page=2",
    )
    assert shown.search
    assert shown.search.bounds[0].values == ("-5.5", "")


def test_the_list_has_a_row_for_each_company():
    """Short amounts; the symbol leads to the company's page, each value to where it comes from."""
    text = page([ACME]).text
    assert "\n\nCompanies:\n\n| [Symbol]" in text
    [[first, *_]] = tables(text)
    values = {"revenue": "4.00K", "net_income": "1.00K", "roic": "18.0%", "debt_to_fcf": "1.5"}
    revenue, income, roic, debt = (f"[{shown}](/companies/ACME/{item}/2024Q4)" for item, shown in values.items())
    assert first == (
        *("[ACME](/companies/ACME)", r"Acme \& Sons", revenue, income, "25.0%", "–", roic),
        *("25.0%", debt, "USD", "2024-12-31", "NYSE", "*Trade*"),
    )


@pytest.mark.parametrize("asked", [{"gross_margin_min": "40"}, {"sort": "-gross_margin"}])
def test_a_margin_that_is_filtered_or_sorted_by_has_a_column(asked):
    """Gross and operating margin have none otherwise, with which the list would be wider than a screen."""
    text = page([ACME], **asked).text
    assert lacking(text, "| [Gross margin](/companies?sort=", "Operating margin") == ["Operating margin"]
    [[first, *_]] = tables(text)
    assert first[4:6] == ("40.0%", "25.0%")
    assert "Gross margin" not in page([ACME]).text


def test_headings_sort_by_their_column():
    """The heading of the sorted column says so to a screen reader, and leads to the other order."""
    assert not lacking(
        page(ROWS, search="a&b", sort="-revenue").text,
        "[Revenue](/companies?search=a%26b&sort=revenue)\u00a0↓",
        "[Net income](/companies?search=a%26b&sort=-net_income) |",
        "[Name](/companies?search=a%26b&sort=name) |",
        "cannot be compared",
    )
    assert "cannot be compared" not in page(ROWS, sort="name").text
    heads = [known for tag, known in Read(rendering.page(page(ROWS, sort="-revenue")).body).elements if tag == "th"]
    assert [known["aria-sort"] for known in heads if "aria-sort" in known] == ["descending"]


def test_the_pages_of_a_long_list_link_to_each_other():
    """The links keep the filters of the request."""
    text = page([ACME] * 220, number=3, search="a&b <c>", sort="name").text
    of_page = "page](/companies?search=a%26b+%3Cc%3E&sort=name&page="
    numbers = {"First": 1, "Previous": 2, "Next": 4, "Last": 5}
    assert not lacking(
        text,
        "220 symbols of 1 company found for “a\\&b \\<c\\>”; page 3 of 5.",
        *(f"[{name} {of_page}{number})" for name, number in numbers.items()),
    )
    [rows] = tables(text)
    assert len(rows) == listing.PAGE
    one = page([ACME]).text
    assert one.startswith("# Companies\n\n1 symbol of 1 company covered.\n")
    assert " page](" not in one


def test_the_form_keeps_what_was_asked_for():
    """With the number of companies of each exchange and industry."""
    search = page(ROWS, search="x", exchange="NYSE", sort="-roic").search
    assert (search.value, search.kept) == ("x", (("sort", "-roic"),))
    assert [choice.value for choice in search.choices] == ["NYSE", "", ""]
    exchange, industry, _ = (choice.options for choice in search.choices)
    assert exchange == (("Nasdaq", "Nasdaq (1)"), ("NYSE", "NYSE (4)"))
    assert industry == (("Trade", "Trade (5)"),)


def test_a_search_without_results_shows_similar_companies():
    assert not lacking(
        page([], (ACME,), search="zzz").text,
        "0 symbols found for “zzz”.",
        "The most similar companies are these.",
        "[ACME](/companies/ACME)",
    )
    nothing = page([], search="zzz").text
    assert not list(tables(nothing))
    assert "none is similar. [All companies](/companies)." in nothing


def test_an_unknown_exchange_is_answered_with_those_that_exist():
    text = page([], exchange="FOO").text
    assert "on an exchange of this name. There are: Nasdaq, NYSE." in text
    assert "There are:" not in page([], exchange="NYSE").text


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBuild]:
    """The small build, in which LNTR has a preferred share."""
    folder: Path = tmp_path_factory.mktemp("home") / "published"
    preferred = {"symbol": "LNTR-PA", "cik": "9990000001", "name": "Lantern", "exchange": "NYSE", "kind": "preferred"}
    builds.publish_small(folder, rows={**builds.tables(), "securities": [preferred]})
    with opened(folder) as build:
        yield build


def test_covered_companies_have_the_figures_of_their_newest_period(build):
    """The largest first; a company without twelve months has no figures."""
    rows = directory(build).rows
    assert symbols(rows) == ["LNTR", "LNTR-B", "ABCX", "ODDY", "FJRD"]
    assert directory(build) is directory(build)
    figures = ("period", "period_end", "currency", "revenue", "net_income", "free_cash_flow", "net_margin")
    assert [[getattr(row, name) for name in figures] for row in (rows[0], rows[-1])] == [
        ["2024Q4", "2024-12-31", "USD", 4_000.0, 100.0, None, 0.025],
        [None, "2024-12-31", "EUR", None, None, None, None],
    ]


@pytest.mark.parametrize(
    ("text", "symbol"), [("LNTR-PA", "LNTR"), ("lntr.pa", "LNTR"), ("LNRT", "LNTR"), ("lanturn harbor", "LNTR")]
)
def test_a_text_that_no_company_has_leads_to_similar_ones(build, text, symbol):
    """To the issuer of another security, to a similar symbol, to a similar name."""
    assert close_matches(build, text)[0].symbol == symbol


def test_a_text_that_is_like_nothing_leads_to_nothing(build):
    assert close_matches(build, "qqqqqq") == []
