"""Revisions, rule by rule: sections 2.6 and 4.4 of the specification, against a running server."""

from tests import builds
from tests.contract.conftest import NOW, Get, assert_error
from warehouse.contract.line_items import SERVED_NAMES

PATH = "/companies/{}/financials/revisions"
FIRST = "2026-02-01T06:00:00Z"
LATER = "2026-03-01T06:00:00Z"


def pairs(get: Get, symbol: str = "LNTR", **parameters: str | int) -> list[tuple[str, str]]:
    return [(row["period"], row["item"]) for row in get(PATH.format(symbol), **parameters).json()["data"]]


def test_2_6_revision_has_exactly_its_fields_and_whole_numbers_are_integers(get: Get) -> None:
    response = get(PATH.format("LNTR"), limit=1)
    assert response.json()["data"] == [
        {
            "period": "2024Q4",
            "period_end": "2024-12-31",
            "item": "revenue",
            "current_value": 4000,
            "versions": [
                {"version": 1, "value": 3900, "current": False, "recorded_at": None},
                {"version": 2, "value": 4000, "current": True, "recorded_at": FIRST},
            ],
        }
    ]
    assert '"current_value":4000,"versions":[{"version":1,"value":3900,' in response.text


def test_2_6_meta_of_revisions(get: Get) -> None:
    body = get(PATH.format("lntr"), items="roic,revenue", to="2023-12-31").json()
    assert body["meta"] == {
        "symbol": "LNTR",
        "currency": "USD",
        "items": ["roic", "revenue"],
        "count": 1,
        "source": "SEC EDGAR",
        "api_version": "v1",
        "generated_at": NOW,
    }
    assert get(PATH.format("FJRD")).json()["meta"]["currency"] == "EUR"


def test_2_6_versions_ascend_with_the_times_of_recording(get: Get) -> None:
    [revenue] = get(PATH.format("LNTR"), items="revenue", limit=2).json()["data"][1:]
    assert revenue == {
        "period": "FY2024",
        "period_end": "2024-12-31",
        "item": "revenue",
        "current_value": 4000,
        "versions": [
            {"version": 1, "value": 3900.5, "current": False, "recorded_at": None},
            {"version": 2, "value": 4100, "current": False, "recorded_at": FIRST},
            {"version": 3, "value": 4000, "current": True, "recorded_at": LATER},
        ],
    }


def test_2_6_a_withdrawn_value_is_null_and_its_versions_are_listed(get: Get) -> None:
    [roic] = get(PATH.format("LNTR"), items="roic").json()["data"]
    versions = [{"version": 1, "value": 0.2, "current": False, "recorded_at": FIRST}]
    assert roic == {**roic, "current_value": None, "versions": versions}
    values = get("/companies/LNTR/financials", period="annual", to="2023-12-31", limit=1).json()["data"][0]["values"]
    assert "roic" not in values


def test_2_6_a_restored_value_is_current_and_numbers_stay(get: Get) -> None:
    """Zero is a value; the version that withdrew is not listed."""
    [dividends] = get(PATH.format("LNTR"), items="dividends_per_share").json()["data"]
    assert dividends["current_value"] == 0
    assert [(v["version"], v["value"], v["current"]) for v in dividends["versions"]] == [(1, 0.5, False), (3, 0, True)]


def test_2_6_current_value_is_the_one_of_financials(get: Get) -> None:
    for kind in ("ttm", "annual"):
        periods = get("/companies/LNTR/financials", period=kind).json()["data"]
        values = {(row["period"], item): value for row in periods for item, value in row["values"].items()}
        for row in get(PATH.format("LNTR")).json()["data"]:
            if row["period"].startswith("FY") == (kind == "annual"):
                assert row["current_value"] == values.get((row["period"], row["item"]))


def test_4_4_only_pairs_that_changed_newest_period_first_ttm_before_annual_items_as_specified(get: Get) -> None:
    assert pairs(get) == [
        ("2024Q4", "revenue"),
        ("2024Q4", "eps_basic"),
        ("FY2024", "revenue"),
        ("FY2023", "roic"),
        ("FY2022", "dividends_per_share"),
    ]


def test_4_4_items_select_and_do_not_order(get: Get) -> None:
    chosen = get(PATH.format("LNTR"), items="eps_basic,revenue").json()
    assert [(row["period"], row["item"]) for row in chosen["data"]] == [
        ("2024Q4", "revenue"),
        ("2024Q4", "eps_basic"),
        ("FY2024", "revenue"),
    ]
    assert chosen["meta"]["items"] == ["eps_basic", "revenue"]
    assert get(PATH.format("LNTR")).json()["meta"]["items"] == list(SERVED_NAMES)


def test_4_4_from_and_to_include_their_day_and_mean_the_period_end(get: Get) -> None:
    assert pairs(get, **{"from": "2023-12-31", "to": "2023-12-31"}) == [("FY2023", "roic")]
    assert pairs(get, **{"from": "2024-01-01", "to": "2024-12-30"}) == []
    assert pairs(get, to="2022-12-31") == [("FY2022", "dividends_per_share")]
    assert len(pairs(get, **{"from": "2024-12-31"})) == 3


def test_4_4_limit_counts_pairs_50_by_default_and_200_at_most(get: Get) -> None:
    whole = [
        (period["period"], item)
        for period in get("/companies/ABCX/financials", limit=40).json()["data"]
        for item in SERVED_NAMES
        if item in builds.MAPLE
    ]
    assert pairs(get, "ABCX") == whole[:50]
    assert pairs(get, "ABCX", limit=200) == whole
    assert get(PATH.format("ABCX"), limit=7).json()["meta"]["count"] == 7  # 201: test_4_a_malformed_value


def test_4_4_nothing_revised_is_an_empty_array(get: Get) -> None:
    body = get(PATH.format("FJRD")).json()
    assert (body["data"], body["meta"]["count"]) == ([], 0)


def test_4_4_class_sibling_shares_the_revisions_under_its_own_symbol(get: Get) -> None:
    first, second = (get(PATH.format(symbol)).json() for symbol in ("LNTR", "LNTR-B"))
    assert first["data"] == second["data"]
    assert second["meta"]["symbol"] == "LNTR-B"


def test_4_4_period_is_not_a_parameter(get: Get) -> None:
    details = assert_error(get(PATH.format("LNTR"), period="ttm"), 422, "invalid_parameter")
    assert details.keys() == {"period"}
    assert "items, from, to, limit" in details["period"]
