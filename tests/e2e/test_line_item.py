"""A line item is declared once: after one more row in a copy of the program, every part except the interface has the
item, in a new home and in an existing one.

Belongs here: the row, and the parts that must have the item without any other edit. Does not: the values of line items.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import httpx
import pytest

from pipelines.storage.home import PROJECT
from tests.e2e.homes import ended, run_as_process
from tests.servers import active_key, as_process
from tests.sites import Site

ROW = """    LineItem(
        "pretax_income",
        "Income before tax",
        "flow",
        "currency",
        "Income before tax.",
        "as filed",
        is_served=False,
    ),
"""
LAST = "    ),\n)\nITEM_NAMES"
NAME = "pretax_income"
SYMBOL = "XQLNT"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with one more row in its table of line items."""
    folder = tmp_path_factory.mktemp("program")
    for name in ("pipelines", "warehouse", "serve"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("fundamentals.py", "dagster.yaml"):
        shutil.copy(PROJECT / name, folder)
    items = folder / "warehouse" / "contract" / "line_items.py"
    text = items.read_text(encoding="utf-8")
    assert text.count(LAST) == 1
    items.write_text(text.replace(LAST, LAST.replace(")\nITEM", f"{ROW})\nITEM")), encoding="utf-8")
    return folder


@pytest.fixture(scope="module", params=["new", "existing"])
def home(request: pytest.FixtureRequest, program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of the sample that the copy has synchronized; an existing one has been synchronized without the item."""
    folder = tmp_path_factory.mktemp("home")
    for each in [PROJECT, program] if request.param == "existing" else [program]:
        run(each, folder, "sync", "--source", "sample", "--symbols", SYMBOL)
    return folder


def run(program: Path, home: Path, *arguments: str) -> str:
    """The output of a command of the copy."""
    return ended(run_as_process(home, *arguments, program=program, FUNDAMENTALS_FILINGS="off")).stdout


@pytest.fixture
def ask(home: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(home / "published" / "warehouse.duckdb", read_only=True) as connection:
        yield connection


def test_the_warehouse_has_the_item(ask: duckdb.DuckDBPyConnection) -> None:
    """Tables, macros and views: values, filing dates, versions, growth, and the steps to a value."""
    rows = ask.execute(f"SELECT {NAME}, {NAME}_filed FROM financials WHERE {NAME} IS NOT NULL").fetchall()
    assert len(rows) > 10
    assert all(filed for _, filed in rows)
    of_macro = ask.execute(f"SELECT {NAME}, {NAME}_filed FROM financials_as_served(now()) WHERE {NAME} IS NOT NULL")
    assert sorted(of_macro.fetchall()) == sorted(rows)
    [(value, period)] = ask.execute(f"SELECT value, period FROM latest('{NAME}')").fetchall()
    [(of_screener, growth)] = ask.execute(f"SELECT ttm_{NAME}, {NAME}_growth_1y FROM screener").fetchall()
    assert value == of_screener
    assert growth is not None
    assert ask.execute(f"SELECT DISTINCT item FROM explain('{SYMBOL}', '{NAME}', '{period}')").fetchall() == [(NAME,)]
    assert ask.execute("SELECT unit FROM line_items WHERE name = ?", [NAME]).fetchall() == [("currency",)]
    with pytest.raises(duckdb.Error, match="no such line item"):
        ask.execute("FROM latest('pretax')")


def test_a_command_explains_it(program: Path, home: Path, ask: duckdb.DuckDBPyConnection) -> None:
    [(period,)] = ask.execute(f"SELECT period FROM latest('{NAME}')").fetchall()
    assert "BeforeIncomeTaxes" in run(program, home, "explain", SYMBOL, NAME, period)


def test_the_pages_have_the_item_and_the_interface_does_not(
    program: Path, home: Path, ask: duckdb.DuckDBPyConnection
) -> None:
    [(period,)] = ask.execute(f"SELECT period FROM latest('{NAME}')").fetchall()
    key = {"X-Api-Key": active_key(home)}
    with as_process(home, program=program) as served, httpx.Client(base_url=served.address, headers=key) as client:
        answer = client.get(f"/v1/companies/{SYMBOL}/financials").raise_for_status().json()
        assert NAME not in str(answer)
        assert client.get(f"/v1/companies/{SYMBOL}/financials", params={"items": NAME}).status_code == 422
        header = client.get(f"/companies/{SYMBOL}/financials.csv").raise_for_status().text.partition("\r\n")[0]
        assert header.split(",")[-1] == f"{NAME}_filed"
        described = client.get("/v1/openapi.json").raise_for_status().text
        assert '"free_cash_flow"' in described
        assert f'"{NAME}"' not in described
        with Site(served.address, home).signed_in() as reader:
            assert "Income before tax" in reader.get(f"/companies/{SYMBOL}.md").raise_for_status().text
            for suffix in ("", ".md"):
                assert reader.get(f"/companies/{SYMBOL}/{NAME}/{period}{suffix}").status_code == 200
