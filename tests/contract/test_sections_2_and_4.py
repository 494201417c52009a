"""Resources and endpoints, rule by rule: sections 2 and 4 of the specification, against a running server."""

import re

import httpx
import pytest

from tests import builds
from tests.contract.conftest import NOW, Get, assert_error, only_here
from warehouse.contract.line_items import SERVED_NAMES

COMPANY_FIELDS = [
    "symbol",
    "name",
    "exchange",
    "cik",
    "sic",
    "sic_description",
    "currency",
    "first_period_end",
    "last_period_end",
    "data_updated_at",
]
REVISIONS = "/companies/LNTR/financials/revisions"
SEC = "https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK={}&type={}&dateb=&owner=include&count=40"


@pytest.mark.parametrize(
    "path",
    [
        "/companies?search=lantern",  # requested nowhere else: a cached response has the time at which it was made
        *("/companies/LNTR", "/companies/LNTR/financials", REVISIONS, "/companies/LNTR/valuation", "/status"),
    ],
)
def test_2_1_every_success_has_data_and_common_meta(get: Get, path: str) -> None:
    body = get(path).json()
    assert body.keys() == {"data", "meta"}
    common = {name: body["meta"][name] for name in ("source", "api_version", "generated_at")}
    assert common == {"source": "SEC EDGAR", "api_version": "v1", "generated_at": NOW}


def test_2_2_company_has_exactly_its_fields(get: Get) -> None:
    first = get("/companies", search="LNTR").json()["data"][0]
    assert first == {
        "symbol": "LNTR",
        "name": "Lantern Harbor Works, Inc.",
        "exchange": "Nasdaq",
        "cik": "9990000001",
        "sic": "3571",
        "sic_description": "Industrial Machinery and Computer Equipment",
        "currency": "USD",
        "first_period_end": "2024-03-31",
        "last_period_end": "2024-12-31",
        "data_updated_at": "2026-03-02T06:04:00Z",
    }
    assert list(first) == COMPANY_FIELDS


def test_2_2_unknown_fields_are_null_and_the_time_is_that_of_the_build(get: Get) -> None:
    oddity = get("/companies", search="ODDY").json()["data"][0]
    unknown = dict.fromkeys(("name", "sic", "sic_description"))
    assert oddity == {**oddity, **unknown, "data_updated_at": "2026-03-01T06:00:00Z"}


def test_2_3_profile_is_a_company_with_coverage_and_links(get: Get) -> None:
    body = get("/companies/LNTR").json()
    listed = get("/companies", search="LNTR").json()["data"][0]
    assert body["data"] == {
        **listed,
        "fiscal_year_end_month": 12,
        "coverage": {
            "first_period": {"period": "2024Q1", "period_end": "2024-03-31"},
            "last_period": {"period": "2024Q4", "period_end": "2024-12-31"},
            "ttm_periods": 4,
            "annual_periods": 3,
            "line_items": [
                "revenue",
                "net_income",
                "eps_basic",
                "dividends_per_share",
                "free_cash_flow",
                "shares_basic",
                "total_debt",
            ],
        },
        "links": {
            "sec_filings": SEC.format("9990000001", "10-"),
            "financials": "https://data.example.org/v1/companies/LNTR/financials",
            "valuation": "https://data.example.org/v1/companies/LNTR/valuation",
        },
    }
    assert body["meta"].keys() == {"symbol", "source", "api_version", "generated_at"}
    assert body["meta"]["symbol"] == "LNTR"


def test_2_3_coverage_uses_years_if_there_are_no_twelve_months(get: Get) -> None:
    coverage = get("/companies/FJRD").json()["data"]["coverage"]
    assert coverage == {
        "first_period": {"period": "FY2023", "period_end": "2023-12-31"},
        "last_period": {"period": "FY2024", "period_end": "2024-12-31"},
        "ttm_periods": 0,
        "annual_periods": 2,
        "line_items": ["revenue"],
    }


@pytest.mark.parametrize(("symbol", "number", "form"), [("LNTR", 1, "10-"), ("ABCX", 2, "20-F"), ("FJRD", 3, "40-F")])
def test_2_3_link_to_the_filings_follows_the_newest_annual_form(get: Get, symbol: str, number: int, form: str) -> None:
    expected = SEC.format(f"999000000{number}", form)
    assert get(f"/companies/{symbol}").json()["data"]["links"]["sec_filings"] == expected
    assert get(f"/companies/{symbol}/financials").json()["meta"]["filings_url"] == expected


def test_2_5_period_has_exactly_its_fields_and_whole_numbers_are_integers(get: Get) -> None:
    response = get("/companies/LNTR/financials", limit=1)
    assert response.json()["data"] == [
        {
            "period": "2024Q4",
            "period_end": "2024-12-31",
            "fiscal_year": 2024,
            "fiscal_quarter": 4,
            "values": {"revenue": 4000, "net_income": 100, "eps_basic": 1.25, "shares_basic": 80},
        }
    ]
    assert '"revenue":4000,' in response.text
    year = get("/companies/LNTR/financials", limit=1, period="annual")
    [period] = year.json()["data"]
    assert (period["period"], period["fiscal_quarter"]) == ("FY2024", 4)
    assert '{"revenue":4000,"dividends_per_share":0,"free_cash_flow":-50.5,"total_debt":410000000000}' in year.text


def test_2_5_meta_of_financials(get: Get) -> None:
    meta = get("/companies/fjrd/financials", period="annual", items="revenue,roic", limit=1).json()["meta"]
    assert meta == {
        "symbol": "FJRD",
        "currency": "EUR",
        "period": "annual",
        "items": ["revenue", "roic"],
        "count": 1,
        "filings_url": SEC.format("9990000003", "40-F"),
        "source": "SEC EDGAR",
        "api_version": "v1",
        "generated_at": NOW,
    }


def symbols(get: Get, **parameters: object) -> list[str]:
    return [company["symbol"] for company in get("/companies", **parameters).json()["data"]]


def test_4_1_lists_covered_companies_by_symbol(get: Get) -> None:
    """Including other share classes; without delisted symbols and symbols without a period."""
    assert symbols(get) == ["ABCX", "FJRD", "LNTR", "LNTR-B", "ODDY"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        *(({"search": search}, ["LNTR", "LNTR-B"]) for search in ("lntr", "HARBOR w")),
        *(({"search": search}, ["ABCX"]) for search in ("%", "_", "e_s")),
        ({"search": "FJÖRD"}, ["FJRD"]),
        *(({"search": search}, []) for search in ("BCX", "'; DROP TABLE companies; --", "\\")),
        ({"exchange": "nasdaq"}, ["LNTR", "LNTR-B"]),
        ({"exchange": "NASD"}, []),
        ({"exchange": "nyse", "search": "lantern"}, []),
    ],
)
def test_4_1_search_is_a_ticker_prefix_or_part_of_the_name_literally_exchange_the_whole_name_without_case(
    get: Get, asked: dict[str, str], found: list[str]
) -> None:
    assert symbols(get, **asked) == found


def test_4_1_pages(get: Get) -> None:
    pages = [get("/companies", per_page=2, page=page).json() for page in (1, 2, 3, 4)]
    assert [[company["symbol"] for company in page["data"]] for page in pages] == [
        ["ABCX", "FJRD"],
        ["LNTR", "LNTR-B"],
        ["ODDY"],
        [],
    ]
    assert pages[2]["meta"].items() >= {"page": 3, "per_page": 2, "total": 5, "last_page": 3}.items()
    nothing = get("/companies", search="nobody").json()["meta"]
    assert nothing.items() >= {"page": 1, "per_page": 50, "total": 0, "last_page": 1}.items()


@pytest.mark.parametrize("symbol", ["LNTR", "lntr", "LnTr"])
def test_4_2_and_4_3_symbol_is_case_insensitive(get: Get, symbol: str) -> None:
    assert get(f"/companies/{symbol}").json()["meta"]["symbol"] == "LNTR"
    assert get(f"/companies/{symbol}/financials").json()["meta"]["symbol"] == "LNTR"


def test_4_2_class_sibling_shares_the_data(get: Get) -> None:
    first, second = (get(f"/companies/{symbol}/financials").json()["data"] for symbol in ("LNTR", "LNTR-B"))
    assert first == second


@pytest.mark.parametrize(
    "symbol",
    [
        *("NOPE", "GONE", "VOID", "ODDY"),  # unknown, delisted, or without any period or value
        *("LNTR%00", "%FF", "LNTR%0A", "..%5C", "%C5%BF", "L" * 999),  # malformed
    ],
)
@pytest.mark.parametrize("path", ["", "/financials", "/financials/revisions", "/valuation"])
def test_4_2_to_4_5_company_not_covered_is_404(get: Get, symbol: str, path: str) -> None:
    assert_error(get(f"/companies/{symbol}{path}"), 404, "not_found")


@pytest.mark.parametrize(
    ("symbol", "advice"),
    [
        ("lntr.b", "Ask for LNTR-B."),
        ("LNRT", "Did you mean LNTR?"),
        ("FJD", "Did you mean FJRD?"),
        ("ABCXX", "Did you mean ABCX?"),
        ("NOPE", "GET /companies?search=NAME finds companies by name."),
        ("%C5%BF", "GET /companies?search=NAME finds companies by name."),
    ],
)
def test_7_the_message_of_a_404_says_what_to_ask_for(get: Get, symbol: str, advice: str) -> None:
    """In the message only: `details` are of `invalid_parameter`."""
    error = get(f"/companies/{symbol}").json()["error"]
    assert error["message"] == f"No company with this symbol is covered. {advice}"


def test_4_3_rule_1_newest_first(get: Get) -> None:
    ends = [period["period_end"] for period in get("/companies/LNTR/financials").json()["data"]]
    assert ends == ["2024-12-31", "2024-09-30", "2024-06-30", "2024-03-31"]


def test_4_3_rule_2_a_period_without_any_requested_value_is_left_out(get: Get) -> None:
    """They do not count towards the limit either."""
    body = get("/companies/LNTR/financials", items="eps_basic,roic", limit=3).json()
    assert [period["period"] for period in body["data"]] == ["2024Q4", "2024Q3", "2024Q1"]
    assert body["meta"]["count"] == 3
    assert get("/companies/LNTR/financials", items="roic").json()["data"] == []
    years = get("/companies/LNTR/financials", period="annual").json()["data"]
    assert [period["period"] for period in years] == ["FY2024", "FY2023", "FY2022"]


def test_4_3_rule_3_an_item_without_a_value_is_omitted_and_zero_is_not(get: Get) -> None:
    body = get("/companies/LNTR/financials", items="dividends_per_share,roic", period="annual").json()
    assert body["data"][0]["values"] == {"dividends_per_share": 0}


def test_4_3_items_are_in_the_requested_order_all_eleven_by_default(get: Get) -> None:
    assert get("/companies/LNTR/financials").json()["meta"]["items"] == list(SERVED_NAMES)
    body = get("/companies/LNTR/financials", items="eps_basic,revenue", limit=1).json()
    assert body["meta"]["items"] == ["eps_basic", "revenue"]
    assert list(body["data"][0]["values"]) == ["eps_basic", "revenue"]


def test_4_3_from_and_to_include_their_day(get: Get) -> None:
    for first, last, periods in (("06-30", "09-30", ["2024Q3", "2024Q2"]), ("07-01", "09-29", [])):
        body = get("/companies/LNTR/financials", **{"from": f"2024-{first}", "to": f"2024-{last}"}).json()
        assert [period["period"] for period in body["data"]] == periods


def test_4_3_limit_is_20_by_default_and_40_at_most(get: Get) -> None:
    assert get("/companies/ABCX/financials").json()["meta"]["count"] == 20
    assert get("/companies/ABCX/financials", limit=40).json()["meta"]["count"] == 40  # 41: test_4_a_malformed_value


def test_4_6_status_needs_no_key_and_has_the_freshness_of_the_data(client: httpx.Client) -> None:
    response = client.get("/status")
    assert response.status_code == 200
    only_here("the age of the data is that of the small build at noon")
    assert response.json()["data"] == {
        "status": "up",
        "build": "b1",
        "last_synchronized_at": builds.SYNCHRONIZATION["finished_at"],
        "age_seconds": 5 * 3600 + 55 * 60,
        "newest_filing": "2025-05-15",
        "companies": 4,
        "quarantined": 0,
        "next_synchronization_at": "2026-03-03T11:00:00Z",
        "reason": None,
    }
    assert not [name for name in response.headers if name.startswith("x-ratelimit")]


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/nothing", "/companies/", "/companies/LNTR/", "/companies/LNTR/nothing", "/status/", "/Companies"),
        *("/companies/LNTR/valuation/", f"{REVISIONS}/", "/financials/revisions", "/companies//financials/revisions"),
        *("/status%0A", "/companies/LNTR/financials%0A", "/%FF", "/companies/%2F", "/../../etc/passwd"),
    ],
)
def test_4_7_any_other_path_is_404_with_or_without_a_key(client: httpx.Client, key: str, path: str) -> None:
    for method, headers in (("GET", {}), ("GET", {"X-Api-Key": key}), ("DELETE", {})):
        assert_error(client.request(method, path, headers=headers), 404, "not_found")


@pytest.mark.parametrize("path", ["/favicon.ico", "/v2/companies"])
def test_4_7_outside_of_the_version_too(client: httpx.Client, path: str) -> None:
    root = re.sub("/v1/?$", "", str(client.base_url))
    assert_error(client.get(root + path), 404, "not_found")
