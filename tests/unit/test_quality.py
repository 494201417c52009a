"""The quality checks of values against each other and against the filers' own figures."""

from datetime import date, timedelta
from typing import Any

import polars as pl
import pytest

from pipelines.quality import coverage, identities, windows
from pipelines.quality.evidence import FOUND, Evidence
from warehouse.contract.line_items import ITEM_NAMES

CIK = "0000000001"
REVENUES, ASSETS, LIABILITIES = "Revenues", "Assets", "Liabilities"
MILLION = 1_000_000
YEAR_END, PRIOR_END = date(2024, 12, 31), date(2023, 12, 31)
ENDS = [date(2024, 3, 31), date(2024, 6, 30), date(2024, 9, 30), YEAR_END]
STARTS = [date(2024, 1, 1), *(end + timedelta(days=1) for end in ENDS[:-1])]

SCHEMAS: dict[str, dict[str, Any]] = {
    "periods": {"cik": pl.String, "period_end": pl.Date, **dict.fromkeys(ITEM_NAMES, pl.Float64)},
    "year_ends": {"cik": pl.String, "period_end": pl.Date},
    "values": {
        "cik": pl.String,
        "period_end": pl.Date,
        "item": pl.String,
        "version": pl.Int32,
        "method": pl.String,
        "flags": pl.String,
        "cause": pl.String,
    },
    "legs": {
        "cik": pl.String,
        "period_end": pl.Date,
        "item": pl.String,
        "version": pl.Int32,
        "tag": pl.String,
        "start": pl.Date,
        "end": pl.Date,
        "value": pl.Float64,
        "weight": pl.Float64,
        "split_factor": pl.Float64,
        "version_filed": pl.Date,
    },
    "gaps": {"cik": pl.String, "period_end": pl.Date, "item": pl.String, "reason": pl.String},
    "profiles": {"cik": pl.String, "currency": pl.String, "industry": pl.String},
    "facts": {
        "cik": pl.String,
        "tag": pl.String,
        "start": pl.Date,
        "end": pl.Date,
        "value": pl.Float64,
        "accession": pl.String,
        "form_family": pl.String,
        "filed": pl.Date,
        "measure": pl.String,
    },
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "values": {"item": "revenue", "version": 1, "method": "fiscal_year", "flags": "", "cause": "initial"},
    "legs": {"item": "revenue", "version": 1, "weight": 1.0, "split_factor": 1.0, "version_filed": date(2025, 2, 1)},
    "facts": {"accession": "a-1", "form_family": "10-Q", "filed": date(2025, 2, 1), "measure": "money"},
    "profiles": {"currency": "USD", "industry": "general"},
}


def evidence(**tables: list[dict[str, Any]]) -> Evidence:
    """The tables of one company: rows with the columns that matter, others with defaults."""
    made = {}
    for name, columns in SCHEMAS.items():
        rows = [dict.fromkeys(columns) | {"cik": CIK} | DEFAULTS.get(name, {}) | row for row in tables.get(name, [])]
        made[name] = pl.DataFrame(rows, schema=columns)
    return Evidence(**made)


def outcomes(found: pl.DataFrame) -> list[str]:
    assert found.schema == FOUND
    return found["outcome"].to_list()


# --- Four quarters ----------------------------------------------------------------------------------------------


def duration(start: date, end: date, value: float, tag: str = REVENUES, **more: Any) -> dict[str, Any]:
    return {"tag": tag, "start": start, "end": end, "value": value, **more}


def year_leg(value: float, **more: Any) -> dict[str, Any]:
    return {
        "period_end": YEAR_END,
        "tag": f"us-gaap:{REVENUES}",
        "start": STARTS[0],
        "end": YEAR_END,
        "value": value,
        **more,
    }


def of_year(ours: float, facts: list[dict[str, Any]], **value: Any) -> pl.DataFrame:
    """The fiscal year compared with its quarters."""
    return windows.quarters_of_years(
        evidence(
            year_ends=[{"period_end": YEAR_END}],
            values=[{"period_end": YEAR_END, **value}],
            legs=[year_leg(ours)],
            facts=facts,
        )
    )


def quarters(*values: float) -> list[dict[str, Any]]:
    return [duration(start, end, value) for start, end, value in zip(STARTS, ENDS, values, strict=False)]


@pytest.mark.parametrize(("ours", "outcome"), [(100.0, "holds"), (100.5, "holds"), (100.6, "fails"), (99.4, "fails")])
def test_four_quarters_add_up_to_the_year_within_half_a_percent(ours, outcome):
    found = of_year(ours, quarters(10, 20, 30, 40))
    assert found.select("subject", "ours", "other", "outcome").rows() == [(REVENUES, ours, 100.0, outcome)]


FULL_YEAR, NINE_MONTHS = duration(STARTS[0], YEAR_END, 100), duration(STARTS[0], ENDS[2], 60)


FOUR = quarters(10, 20, 30, 40)


@pytest.mark.parametrize(
    ("ours", "facts", "cause", "expected"),
    [
        # an unfiled fourth quarter is the year less nine months: they are the sum of their quarters
        (100, [*quarters(10, 20, 30), FULL_YEAR, NINE_MONTHS], "initial", ["holds"]),
        (100, [*quarters(10, 20, 35), FULL_YEAR, NINE_MONTHS], "initial", ["fails"]),
        (100, [*quarters(10, 20, 30), FULL_YEAR], "initial", []),
        # a restated year is not compared with older quarters
        (200, FOUR, "initial", ["fails"]),
        (200, FOUR, "precision", ["fails"]),
        (200, FOUR, "restatement", ["flagged"]),
        # with a missing quarter nothing is compared
        *((100, FOUR[:gone] + FOUR[gone + 1 :], "initial", []) for gone in range(4)),
    ],
)
def test_a_year_is_compared_with_quarters_that_were_filed_for_it(ours, facts, cause, expected):
    assert outcomes(of_year(ours, facts, cause=cause)) == expected


def test_quarters_of_different_lengths_are_consecutive():
    """Three quarters of twelve weeks and one of sixteen, as retailers have."""
    ends = [date(2024, 1, 7) + timedelta(weeks=n) for n in (12, 24, 36, 52)]
    starts = [date(2024, 1, 8), *(end + timedelta(days=1) for end in ends[:-1])]
    facts = [duration(start, end, 25) for start, end in zip(starts, ends, strict=True)]
    found = windows.quarters_of_years(
        evidence(
            year_ends=[{"period_end": ends[-1]}],
            values=[{"period_end": ends[-1]}],
            legs=[year_leg(100, period_end=ends[-1], start=starts[0], end=ends[-1])],
            facts=facts,
        )
    )
    assert outcomes(found) == ["holds"]


def test_the_last_filed_quarter_is_used():
    later = duration(STARTS[1], ENDS[1], 25, accession="a-2", filed=date(2025, 5, 1))
    assert of_year(105, [later, *quarters(10, 20, 30, 40)])["other"].to_list() == [105]


WINDOW = date(2024, 9, 30)


def window_legs(*, prior_tag: str = REVENUES) -> list[dict[str, Any]]:
    """The last year 90, nine months 60, the nine months before 50: twelve months of 100."""
    nine_before = (date(2023, 1, 1), date(2023, 9, 30))
    return [
        {"tag": f"us-gaap:{tag}", "start": start, "end": end, "value": value, "weight": weight, "period_end": WINDOW}
        for tag, start, end, value, weight in (
            (prior_tag, date(2023, 1, 1), PRIOR_END, 90.0, 1.0),
            (REVENUES, STARTS[0], WINDOW, 60.0, 1.0),
            (prior_tag, *nine_before, 50.0, -1.0),
        )
    ]


def two_ways(fourth: float, legs: list[dict[str, Any]], **value: Any) -> list[str]:
    before = duration(date(2023, 10, 1), PRIOR_END, fourth)
    return outcomes(
        windows.two_ways(
            evidence(
                year_ends=[{"period_end": PRIOR_END}],
                values=[{"period_end": WINDOW, "method": "year_to_date", **value}],
                legs=legs,
                facts=[before, *quarters(10, 20, 30)],
            )
        )
    )


CAPITAL_EXPENDITURE = [{**leg, "weight": -leg["weight"], "item": "free_cash_flow"} for leg in window_legs()]


@pytest.mark.parametrize(
    ("fourth", "legs", "value", "expected"),
    [
        (40, window_legs(), {}, ["holds"]),
        (50, window_legs(), {}, ["fails"]),
        (50, window_legs(), {"flags": "weeks_53"}, ["fails"]),
        (50, window_legs(), {"flags": "weeks_53,before_recast"}, ["flagged"]),
        # a value computed from quarters is not compared with them, nor one whose element changes within its window
        (50, window_legs(), {"method": "four_quarters"}, []),
        (50, window_legs(prior_tag="SalesRevenueNet"), {}, []),
        # an amount that enters free cash flow with a negative sign is compared as filed
        (40, CAPITAL_EXPENDITURE, {"item": "free_cash_flow"}, ["holds"]),
    ],
)
def test_two_ways_to_twelve_months_agree_or_the_window_is_flagged(fourth, legs, value, expected):
    assert two_ways(fourth, legs, **value) == expected


# --- The filer's own twelve months ------------------------------------------------------------------------------


def own(stated: float, *, versions: tuple[tuple[float, date], ...] = ((100e6, date(2024, 11, 1)),), **more: Any):
    end = more.pop("end", WINDOW)
    fact = duration(end - timedelta(days=365), end, stated, filed=date(2024, 11, 1), **more)
    return windows.own_twelve_months(
        evidence(
            year_ends=[{"period_end": PRIOR_END}, {"period_end": YEAR_END}],
            values=[{"period_end": WINDOW, "version": len(versions)}],
            legs=[
                year_leg(value, period_end=WINDOW, start=date(2023, 10, 1), end=WINDOW, version=n, version_filed=filed)
                for n, (value, filed) in enumerate(versions, 1)
            ],
            facts=[fact],
        )
    )


THEN, LATER = (100e6, date(2024, 11, 1)), (150e6, date(2025, 2, 1))


@pytest.mark.parametrize(
    ("stated", "more", "expected"),
    [
        # two rounding units
        (100e6, {}, ["holds"]),
        (102e6, {}, ["holds"]),
        (103e6, {}, ["fails"]),
        (100_002_000.0, {}, ["holds"]),
        (100_003_000.0, {}, ["fails"]),
        # fiscal years and annual reports are not compared
        (100e6, {"end": date(2024, 12, 28)}, []),
        (100e6, {"form_family": "10-K"}, []),
        # the value of then or of now, and no other
        (100e6, {"versions": (THEN, LATER)}, ["holds"]),
        (150e6, {"versions": (THEN, LATER)}, ["holds"]),
        (120e6, {"versions": (THEN, (120e6, date(2025, 2, 1)), (150e6, date(2025, 5, 1)))}, ["fails"]),
    ],
)
def test_the_filers_own_twelve_months_match_the_value_of_then_or_of_now(stated, more, expected):
    assert outcomes(own(stated, **more)) == expected


# --- Within a period --------------------------------------------------------------------------------------------


def balance(tag: str, value: float, end: date = YEAR_END) -> dict[str, Any]:
    return {"tag": tag, "start": None, "end": end, "value": value}


@pytest.mark.parametrize(
    ("net_income", "value", "expected"),
    [
        (200, {}, ["holds"]),
        (206, {}, ["holds"]),  # two per cent, and two cents of a hundred shares
        (207, {}, ["fails"]),
        (-200, {}, ["fails"]),
        (207, {"flags": "attributable_to_parent"}, ["flagged"]),
        (207, {"method": "net_income_over_shares"}, []),
    ],
)
def test_eps_times_shares_is_net_income_within_two_percent_and_the_rounding_of_cents(net_income, value, expected):
    row = {"period_end": YEAR_END, "eps_basic": 2.0, "shares_basic": 100.0, "net_income": net_income}
    how = [{"period_end": YEAR_END, "item": item, **value} for item in ("eps_basic", "net_income", "shares_basic")]
    assert outcomes(identities.earnings_per_share(evidence(periods=[row], values=how))) == expected


@pytest.mark.parametrize(
    ("diluted", "outcome"), [(101.0, "holds"), (100.0, "holds"), (99.95, "holds"), (99.0, "fails")]
)
def test_diluted_shares_are_not_below_basic_ones(diluted, outcome):
    row = {"period_end": YEAR_END, "shares_basic": 100.0, "shares_diluted": diluted}
    assert outcomes(identities.diluted_shares(evidence(periods=[row]))) == [outcome]


@pytest.mark.parametrize(("assets", "expected"), [(100.0, ["holds"]), (99.0, ["fails"]), (0.0, [])])
def test_cash_is_within_assets_of_the_same_day(assets, expected):
    row = {"period_end": YEAR_END, "cash_and_equivalents": 100.0}
    other_day = balance(ASSETS, 1.0, date(2024, 12, 20))
    found = identities.cash_within_assets(evidence(periods=[row], facts=[balance(ASSETS, assets), other_day]))
    assert outcomes(found) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({LIABILITIES: 100.0, ASSETS: 300.0}, ["holds"]),
        ({LIABILITIES: 90.0, ASSETS: 300.0}, ["fails"]),
        ({LIABILITIES: 90.0}, []),
        ({LIABILITIES: 90.0, ASSETS: 300.0, "StockholdersEquity": 100.0}, ["fails"]),
        ({ASSETS: 300.0, "StockholdersEquity": 200.0}, ["holds"]),
        ({ASSETS: 300.0, "Equity": 210.0}, ["fails"]),
        ({ASSETS: 300.0}, []),
    ],
)
def test_debt_is_within_liabilities_as_filed_or_as_left_over(facts, expected):
    row = {"period_end": YEAR_END, "total_debt": 100.0}
    found = identities.debt_within_liabilities(
        evidence(periods=[row], facts=[balance(tag, value) for tag, value in facts.items()])
    )
    assert outcomes(found) == expected


SHORT_TERM = "ShortTermBorrowings"


@pytest.mark.parametrize(
    ("own_total", "legs", "expected"),
    [
        (100.0, {"LongTermDebt": 100.0}, ["holds"]),
        (98.1, {"LongTermDebt": 100.0}, ["holds"]),
        (95.0, {"LongTermDebt": 100.0}, ["fails"]),
        (80.0, {"LongTermDebt": 80.0, SHORT_TERM: 20.0}, ["holds"]),
        (70.0, {"LongTermDebt": 80.0, SHORT_TERM: 20.0}, ["fails"]),
        (50.0, {"DebtLongtermAndShorttermCombinedAmount": 100.0}, []),
    ],
)
def test_debt_is_the_filers_own_total_with_or_without_short_term_borrowings(own_total, legs, expected):
    at = {"period_end": YEAR_END, "item": "total_debt"}
    found = identities.debt_as_filed(
        evidence(
            periods=[{"period_end": YEAR_END, "total_debt": 100.0}],
            values=[at],
            legs=[{**at, "tag": f"us-gaap:{tag}", "value": value, "end": YEAR_END} for tag, value in legs.items()],
            facts=[balance("DebtLongtermAndShorttermCombinedAmount", own_total)],
        )
    )
    assert outcomes(found) == expected


# --- Coverage ---------------------------------------------------------------------------------------------------


def test_the_newest_period_has_every_item_that_its_industry_has():
    found = coverage.newest_period(
        evidence(
            periods=[
                {"period_end": YEAR_END, "revenue": 1.0},
                {"period_end": PRIOR_END, "revenue": 1.0, "net_income": 1.0},
            ],
            gaps=[
                {"period_end": YEAR_END, "item": "net_income", "reason": "missing_quarter"},
                {"period_end": YEAR_END, "item": "debt_to_fcf", "reason": "negative_fcf"},
            ],
            profiles=[{}],
        )
    )
    told = {row["subject"]: (row["outcome"], row["flags"]) for row in found.iter_rows(named=True)}
    expected = {
        "revenue general": ("holds", None),
        "net_income general": ("fails", "missing_quarter"),
        "debt_to_fcf general": ("flagged", "negative_fcf"),
    }
    assert (len(told), told | expected) == (len(ITEM_NAMES), told)


def test_the_newest_period_has_every_item_that_recent_ones_have():
    """Items that an older period had, or that no period has, are not expected."""
    found = coverage.kept_items(
        evidence(
            periods=[
                {"period_end": YEAR_END, "revenue": 3.0},
                {"period_end": date(2024, 9, 30), "revenue": 2.0},
                {"period_end": PRIOR_END, "revenue": 1.0, "net_income": 1.0, "debt_to_fcf": 2.0},
                {"period_end": date(2022, 12, 31), "net_income": 0.5, "eps_basic": 1.0},
                {"period_end": date(2022, 9, 30), "total_debt": 1.0},
            ],
            gaps=[{"period_end": YEAR_END, "item": "debt_to_fcf", "reason": "negative_fcf"}],
            profiles=[{}],
        )
    )
    assert {row["subject"]: (row["ours"], row["other"], row["outcome"]) for row in found.iter_rows(named=True)} == {
        "revenue": (3.0, 2.0, "holds"),
        "net_income": (None, 1.0, "fails"),
        "eps_basic": (None, 1.0, "fails"),
        "debt_to_fcf": (None, 2.0, "flagged"),
    }
    assert {row["period_end"] for row in found.iter_rows(named=True)} == {YEAR_END}


def test_coverage_is_counted_by_item_and_industry():
    rows = [
        {"cik": cik, "subject": f"{item} {industry}", "outcome": outcome}
        for cik, industry, item, outcome in (
            ("1", "bank", "roic", "flagged"),
            ("2", "general", "roic", "holds"),
            ("3", "general", "roic", "fails"),
            ("1", "bank", "revenue", "holds"),
            ("2", "general", "revenue", "holds"),
            ("3", "general", "revenue", "holds"),
        )
    ]
    counted = coverage.by_industry(pl.DataFrame(rows))
    assert counted.rows() == [
        ("revenue", "all", 3, 1.0),
        ("revenue", "bank", 1, 1.0),
        ("revenue", "general", 2, 1.0),
        ("roic", "all", 3, pytest.approx(1 / 3)),
        ("roic", "bank", 1, 0.0),
        ("roic", "general", 2, 0.5),
    ]
    shown = coverage.across(counted)
    assert shown.columns == ["item", "all (3)", "bank (1)", "general (2)"]
    assert shown.rows() == [("revenue", "100 %", "100 %", "100 %"), ("roic", "33 %", "0 %", "50 %")]
