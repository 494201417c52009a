"""The comparison with a vendor's values: matching of periods, counted comparisons, and the listed differences."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from tests import accuracy, builds

FINANCIALS = pl.DataFrame(
    [
        ("AAA", "1", "annual", date(2024, 9, 28), 1000.0, 5.0),
        ("AAA", "1", "annual", date(2023, 9, 30), 900.0, None),
        ("AAA", "1", "ttm", date(2024, 9, 28), 1000.0, 5.0),
    ],
    schema=["symbol", "cik", "period_kind", "period_end", "revenue", "eps_basic"],
    orient="row",
)


def asked(*rows: tuple[str, str, date, str, float, bool]) -> pl.DataFrame:
    names = ["symbol", "period_kind", "period_end", "item", "value", "answerable"]
    return accuracy.compared(pl.DataFrame(rows, schema=names, orient="row"), FINANCIALS)


@pytest.mark.parametrize(
    ("end", "ours"), [(date(2024, 9, 30), 1000.0), (date(2024, 10, 8), 1000.0), (date(2024, 10, 9), None)]
)
def test_periods_match_within_ten_days(end, ours):
    assert asked(("AAA", "annual", end, "revenue", 1000.0, True))["ours"].to_list() == [ours]


def test_periods_match_by_kind_company_and_item():
    end = date(2023, 9, 30)
    rows = asked(
        ("AAA", "annual", end, "revenue", 900.0, True),
        ("AAA", "ttm", end, "revenue", 900.0, True),
        ("BBB", "annual", end, "revenue", 900.0, True),
        ("AAA", "annual", end, "eps_basic", 4.0, True),
    ).sort("symbol", "period_kind", "item", descending=True)
    assert rows["ours"].to_list() == [None, None, 900.0, None]


@pytest.mark.parametrize(("value", "within"), [(1000.0, True), (1005.0, True), (995.1, True), (1005.1, False)])
def test_half_a_percent_of_the_vendors_value_counts_as_equal(value, within):
    rows = asked(("AAA", "annual", date(2024, 9, 28), "revenue", value, True))
    assert rows["within"].to_list() == [within]


def test_comparable_values_count_and_all_others_are_shown():
    end = date(2024, 9, 28)
    table = accuracy.counted(
        asked(
            ("AAA", "annual", end, "revenue", 1000.0, True),
            ("AAA", "annual", end, "revenue", 2000.0, True),
            ("AAA", "annual", date(2020, 9, 30), "revenue", 1.0, True),
            ("AAA", "annual", end, "revenue", 1000.0, False),
            ("AAA", "annual", end, "revenue", 7.0, False),
            ("AAA", "ttm", end, "eps_basic", 5.0, True),
        )
    )
    assert table.rows() == [
        ("revenue", "annual", 5, 3, 2, 1, 2, 1, pytest.approx(1 / 3)),
        ("eps_basic", "ttm", 1, 1, 1, 1, 0, 0, 1.0),
        ("all", "", 6, 4, 3, 2, 2, 1, 0.5),
    ]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path))
    return tmp_path


def vendor(home: Path, *rows: str) -> list[str]:
    path = home / "vendor.csv"
    head = "symbol,cik,period_kind,period_end,item,value,answerable"
    path.write_text("\n".join([head, *rows]), encoding="utf-8")
    return ["--vendor", str(path)]


def test_a_missing_file_and_an_empty_home_are_errors(home, capsys):
    assert accuracy.main(["--vendor", str(home / "none.csv")]) == 1
    told = capsys.readouterr().err
    assert all(words in told for words in ("none.csv", "VENDOR=FILE.csv", "make quality"))
    assert accuracy.main(vendor(home)) == 1
    assert "nothing is published" in capsys.readouterr().err


def test_a_home_of_other_companies_is_an_error(home, capsys):
    builds.small(home / "published")
    assert accuracy.main(vendor(home, "AAPL,320193,annual,2024-12-31,revenue,5,1")) == 1
    assert "holds none of the companies" in capsys.readouterr().err


def test_the_published_build_is_compared_and_differences_are_listed_with_their_legs(home, capsys):
    builds.small(home / "published")
    rows = [
        "LNTR,1,ttm,2024-12-31,revenue,4000,1",
        "LNTR,1,annual,2024-12-31,revenue,4400,1",
        "LNTR,1,annual,2020-06-30,revenue,4000,0",
    ]
    assert accuracy.main([*vendor(home, *rows), "--list"]) == 0
    printed = capsys.readouterr().out
    assert "2 values are not the vendor's" in printed
    [differs] = [line for line in printed.splitlines() if "4,400" in line]
    assert "0.9091" in differs
    assert "sum us-gaap/Revenues" in differs
    [absent] = [line for line in printed.splitlines() if "2020-06-30" in line]
    assert accuracy.NO_PERIOD in absent
    [total] = [line for line in printed.splitlines() if line.split()[:1] == ["all"]]
    assert total.split() == ["all", "3", "2", "2", "1", "0", "0", "50.0", "%"]
