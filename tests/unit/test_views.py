"""The views of a build: the screener, on companies that grow as the tests say."""

import csv
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests import builds
from warehouse.build.opening import open_read_only
from warehouse.contract import views
from warehouse.contract.schema import BY_NAME

QUARTERS = [
    date(year, month, day) for year in range(2014, 2025) for month, day in ((3, 31), (6, 30), (9, 30), (12, 31))
]
NEWEST = QUARTERS[-1]
GROWTH = [f"revenue_growth_{years}y" for years in views.SPANS]


def grown(symbol: str, number: int, **changed: Any) -> builds.Rows:
    """Twelve months at each quarter end: revenue grows by a tenth a year, net income is a fifth of it."""
    rows = []
    for place, end in enumerate(QUARTERS):
        revenue = 1000.0 * 1.1 ** ((place - len(QUARTERS) + 1) / 4)
        row = builds.period(
            {"symbol": symbol, "cik": f"{9990000000 + number:010d}"},
            "ttm",
            end,
            place % 4 + 1,
            revenue=revenue,
            net_income=revenue / 5,
            eps_basic=-1.0 if end.year == 2021 else 2.0,
        )
        rows.append({**row, "first_filed": end, "last_filed": end, **changed})
    return rows


def screened(folder: Path, tables: dict[str, builds.Rows], columns: str) -> list[tuple[Any, ...]]:
    """Columns of the screener's row of LNTR, in a build with other rows in some tables."""
    made = builds.publish_small(folder, rows=builds.tables() | tables)
    with open_read_only(folder / made.file) as connection:
        return connection.execute(f"SELECT {columns} FROM screener WHERE symbol = 'LNTR'").fetchall()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """The rows of the screener, by symbol.

    LNTR grows steadily; ABCX lacks the quarter of three years before, has fiscal years of 52 and 53 weeks, and negative
    revenue five years before; FJRD was another company until 2018; ODDY has a fiscal year only; VOID has no period.
    """
    weeks = {NEWEST: date(2024, 12, 28), date(2023, 12, 31): date(2023, 12, 30), date(2014, 12, 31): date(2015, 1, 3)}
    maple = [
        {
            **row,
            "period_end": weeks.get(row["period_end"], row["period_end"]),
            **({"revenue": -1.0} if row["period_end"] == date(2019, 12, 31) else {}),
        }
        for row in grown("ABCX", 2)
        if row["period_end"] != date(2021, 12, 31)
    ]
    year = builds.period({"symbol": "ODDY", "cik": "9990000004"}, "annual", NEWEST, 4, revenue=0.0, free_cash_flow=5.0)
    rows = builds.tables() | {
        "financials": [*grown("LNTR", 1), *grown("LNTR-B", 1, is_primary=False), *maple, *grown("FJRD", 3), year],
        "breaks": [
            {"cik": "9990000003", "accession": f"a{filed.year}", "filed": filed, "kind": "entity"}
            for filed in (date(2016, 5, 1), date(2018, 5, 1))
        ],
    }
    folder = tmp_path_factory.mktemp("views") / "published"
    made = builds.publish_small(folder, rows=rows)
    with open_read_only(folder / made.file) as connection:
        read = connection.execute("FROM screener")
        names = [name for name, *_ in read.description]
        yield {row[0]: dict(zip(names, row, strict=True)) for row in read.fetchall()}


def test_there_is_one_row_for_each_company(found: dict[str, dict[str, Any]]) -> None:
    """Also for a company without periods; sorted by symbol, with the columns of the dictionary in their order."""
    assert list(found) == ["ABCX", "FJRD", "GONE", "LNTR", "ODDY", "VOID"]
    assert list(found["LNTR"]) == list(views.SCREENER.names)
    assert found["VOID"]["ttm_period"] is None


def test_the_newest_periods_and_their_margins(found: dict[str, dict[str, Any]]) -> None:
    lantern, odd = found["LNTR"], found["ODDY"]
    assert (lantern["ttm_period"], lantern["ttm_period_end"], lantern["ttm_filed"]) == ("2024Q4", NEWEST, NEWEST)
    assert (lantern["ttm_revenue"], lantern["ttm_net_margin"]) == (1000.0, 0.2)
    assert (lantern["annual_period"], lantern["ttm_free_cash_flow_margin"]) == (None, None)
    assert (odd["annual_period"], odd["annual_revenue"], odd["annual_free_cash_flow_margin"]) == ("FY2024", 0.0, None)


def test_growth_is_a_year(found: dict[str, dict[str, Any]]) -> None:
    """A tenth over each span; zero for a constant."""
    assert [found["LNTR"][name] for name in GROWTH] == pytest.approx([0.1] * 4)
    assert found["LNTR"]["eps_basic_growth_1y"] == 0


def test_growth_needs_two_positive_amounts_and_the_same_quarter(found: dict[str, dict[str, Any]]) -> None:
    """Fiscal years of 52 and 53 weeks have the same quarter some days apart."""
    assert found["LNTR"]["eps_basic_growth_3y"] is None
    assert [found["ABCX"][name] for name in GROWTH] == [pytest.approx(0.1), None, None, pytest.approx(0.1)]


def test_growth_does_not_compare_two_companies(found: dict[str, dict[str, Any]]) -> None:
    """Only facts filed after the last break count, also where a later filing restated an older period."""
    assert [found["FJRD"][name] for name in GROWTH] == [*[pytest.approx(0.1)] * 3, None]


def test_debt_cash_and_shares_grow_too(tmp_path: Path) -> None:
    who, same = {"symbol": "LNTR", "cik": "9990000001"}, {"cash_and_equivalents": 0.0, "shares_basic": 8.0}
    rows = [
        builds.period(who, "ttm", end, 4, total_debt=debt, **same)
        for end, debt in ((date(2023, 12, 31), 100.0), (NEWEST, 150.0))
    ]
    grown = "total_debt_growth_1y, cash_and_equivalents_growth_1y, shares_basic_growth_1y"
    assert screened(tmp_path, {"financials": rows}, grown) == [(pytest.approx(0.5), None, 0.0)]


@pytest.mark.parametrize(("first", "filed", "grows"), [(100.0, 2025, False), (62.0, 2025, True), (100.0, 2024, True)])
def test_growth_is_not_shown_across_a_recast(tmp_path: Path, first: float, filed: int, grows: bool) -> None:
    """Fiscal year 2023 was recast from 100 to 60 after the twelve months to September 2023 were filed (GE)."""
    who = {"symbol": "LNTR", "cik": "9990000001"}
    year = builds.period(who, "annual", date(2023, 12, 31), 4, revenue=60.0)
    rows = [
        {**builds.period(who, "ttm", date(ended, 9, 30), 3, revenue=revenue), "revenue_filed": revenue_filed}
        for ended, revenue, revenue_filed in ((2023, 98.0, date(2023, 10, 24)), (2024, 65.0, date(2025, 2, 3)))
    ]
    recast_at = date(2025, 2, 3) if filed == 2025 else date(2023, 10, 1)
    of_year = [
        builds.version(year, "revenue", 1, first, date(2024, 2, 2), None, "initial", is_current=False),
        builds.version(year, "revenue", 2, 60.0, recast_at, None, "restatement", is_current=True),
    ]
    found = screened(tmp_path, {"financials": [*rows, year], "versions": of_year}, "revenue_growth_1y")
    assert found == [(pytest.approx(65 / 98 - 1) if grows else None,)]


def test_named_financials_have_the_company_in_each_row(tmp_path: Path) -> None:
    """The rows of the table, in its order."""
    made = builds.small(tmp_path)
    with open_read_only(tmp_path / made.file) as connection:
        columns = ", ".join(f"named.{column.name}" for column in BY_NAME["financials"].columns)
        named = connection.execute(f"SELECT {columns} FROM financials_named AS named").fetchall()
        assert named == connection.execute("FROM financials").fetchall()
        found = connection.execute("SELECT DISTINCT name, sic FROM financials_named WHERE symbol = 'ABCX'").fetchall()
    assert found == [("100% Maple_Syrup Co", "2060")]


TIMES = """
import sys
sys.modules["pytz"] = None  # as if it were not installed
import duckdb
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    for (table,) in connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall():
        connection.execute(f'FROM "{table}"').fetchall()
"""


def test_all_tables_are_read_without_pytz(tmp_path: Path) -> None:
    """DuckDB's client needs this package for times with a time zone; the times of the tables are in UTC, without
    one.
    """
    made = builds.small(tmp_path)
    subprocess.run([sys.executable, "-c", TIMES, str(tmp_path / made.file)], check=True)


def test_no_text_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    """A spreadsheet would calculate texts that begin like a formula."""
    names = ["=1+1", "+1", "-1", "@A1", "plain"]
    rows = [builds.company(f"S{place}", place, name=name) for place, name in enumerate(names)]
    builds.publish_small(tmp_path, rows=builds.tables() | {"companies": rows})
    with (tmp_path / "parquet/screener.csv").open(encoding="utf-8") as stream:
        held = [row["name"] for row in csv.DictReader(stream)]
    assert held == ["'=1+1", "'+1", "'-1", "'@A1", "plain"]


def test_a_fair_value_or_the_reasons(found: dict[str, dict[str, Any]]) -> None:
    assert (found["LNTR"]["meaningful"], found["LNTR"]["fair_value_per_share"]) == (True, 17.0)
    assert found["ABCX"]["reason_codes"] == ["negative_free_cash_flow", "too_volatile"]
    assert found["GONE"]["meaningful"] is None
