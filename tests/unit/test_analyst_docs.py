"""The page for analysts: its queries, macros and command work on the sample's build, also with an older DuckDB."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest

import fundamentals
from serve import provenance
from tests import builds
from warehouse.build.opening import open_read_only
from warehouse.contract.line_items import LINE_ITEMS, SERVED_NAMES
from warehouse.explanation import explain
from warehouse.queries import explain_queries
from warehouse.read.reader import Warehouse

Row = tuple[Any, ...]
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "analyst.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### (\d+)\. .*$", PAGE, re.MULTILINE)
QUERIES = re.findall(r"^```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
OLDEST = Path(sys.prefix) / "oldest-duckdb"
MACROS = (
    "latest('roic')",
    "growth('gross_profit', 3)",
    "panel(['revenue', 'total_assets'], 'annual')",
    "peers('XQORC')",
    "financials_as_of('2020-06-30')",
    "financials_as_served('9999-12-31T00:00:00Z')",
    "financials_known(NULL, NULL)",
    "restatements('XQCPF')",
    "quarterly('XQORC')",
    "explain('XQORC', 'free_cash_flow', 'FY2024')",
)


@pytest.fixture(scope="module")
def project(synchronized_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the synchronized sample at the same path as in the project."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(synchronized_sample / "published", folder / ".data" / "sample" / "published", symlinks=True)
    return folder


@pytest.fixture(scope="module")
def published(project: Path) -> Path:
    return project / ".data" / "sample" / "published"


def asked(file: Path, sql: str) -> list[Row]:
    with duckdb.connect(file, read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_there_are_twelve_queries() -> None:
    assert [int(number) for number in HEADINGS] == list(range(1, 13))
    assert len(QUERIES) == len(HEADINGS)


@pytest.mark.parametrize("query", QUERIES, ids=HEADINGS)
def test_each_query_runs_unchanged_and_has_rows(published: Path, query: str) -> None:
    assert asked(published / "warehouse.duckdb", query)


def test_the_queries_answer_their_headings(published: Path) -> None:
    """Each result has the rows that only a right query gives."""
    one, margins, history, told, restated, causes, lineage, sums, coverage, survivors, screened, valued = (
        asked(published / "warehouse.duckdb", query) for query in QUERIES
    )
    assert [row[4] for row in one] == sorted((row[4] for row in one), reverse=True)
    assert len({row[1] for row in margins}) == len(margins)
    growth = {row[0]: (row[2], row[3]) for row in history}
    assert growth["2024Q4"][1] == pytest.approx(growth["2024Q4"][0] / growth["2023Q4"][0] - 1)
    assert all(as_told != as_restated for _, _, as_told, as_restated, _ in told)
    assert {row[8].year for row in restated} == {2020}
    assert sum(row[1] for row in causes) == asked(published / "warehouse.duckdb", "SELECT count(*) FROM versions")[0][0]
    assert sum(row[4] for row in lineage) == lineage[0][1]
    assert all(row[10].startswith("https://www.sec.gov/Archives/edgar/data/") for row in lineage)
    assert [row[0] for row in sums if row[2]] == []
    assert [row[0] for row in coverage if row[2] < 1 and row[3] is None] == []
    assert all(companies >= still_listed for _, companies, still_listed, _ in survivors)
    assert all(row[4] >= 0.05 and row[5] >= 0.1 and row[6] <= row[7] <= row[8] for row in screened)
    assert [computed for _, _, computed in valued] == pytest.approx([value for _, value, _ in valued], rel=1e-5)


def test_delisted_companies_are_in_the_survivorship_query(tmp_path: Path) -> None:
    builds.small(tmp_path / "published")
    rows = asked(tmp_path / "published" / "warehouse.duckdb", QUERIES[9])
    assert {row[0]: row[3] for row in rows}[2024] == ["GONE"]


def test_the_python_code_runs_unchanged(project: Path) -> None:
    """Blocks with `.df()` only where pandas is installed, as in the notebook's environment."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    for block in blocks:
        if ".df()" in block and not find_spec("pandas"):
            continue
        ran = subprocess.run([sys.executable, "-c", block], cwd=project, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout


@pytest.mark.parametrize(("item", "years"), [("net_income", 5), ("gross_profit", 1), ("total_assets", 3)])
def test_growth_is_that_of_the_screener(published: Path, item: str, years: int) -> None:
    """For items that no sold business changes; both leave out figures that cannot be compared."""
    grown = asked(published / "warehouse.duckdb", f"SELECT symbol, growth FROM growth('{item}', {years}) ORDER BY 1")
    column = f"{item}_growth_{years}y"
    screened = asked(
        published / "warehouse.duckdb",
        f"SELECT symbol, {column} FROM screener WHERE is_listed AND ttm_{item} IS NOT NULL ORDER BY 1",
    )
    assert [symbol for symbol, _ in grown] == [symbol for symbol, _ in screened]
    rates, others = ([-1.0 if rate is None else rate for _, rate in rows] for rows in (grown, screened))
    assert rates == pytest.approx(others, rel=1e-9)
    assert max(rates) > 0


def test_a_panel_has_the_items_of_financials(published: Path) -> None:
    file, columns = published / "warehouse.duckdb", "symbol, period_end, revenue, total_assets"
    panel = asked(file, f"SELECT {columns} FROM panel(['total_assets', 'revenue'], 'ttm')")
    held = f"SELECT {columns} FROM financials WHERE is_primary AND period_kind = 'ttm' ORDER BY symbol, period_end"
    assert panel == asked(file, held)
    for wrong in ("panel(['revenue', 'gross'], 'ttm')", "panel(['revenue'], 'weekly')", "growth('gross', 1)"):
        with pytest.raises(duckdb.Error, match=r"unknown line items|no such"):
            asked(file, f"FROM {wrong}")


def test_what_r_and_excel_read_is_there(published: Path) -> None:
    """R itself is not needed: its queries have rows, and the files for Excel have the rows of the views."""
    [block] = re.findall(r"^```r\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    queries = re.findall(r'dbGetQuery\(warehouse, "(.*)"\)', block)
    assert len(queries) == 2
    assert all(asked(published / "warehouse.duckdb", query) for query in queries)
    for name in re.findall(r"`(?:\S*/)?(\w+)\.csv`", PAGE):
        [(rows,)] = duckdb.sql(f"SELECT count(*) FROM '{published / 'parquet' / name}.csv'").fetchall()
        assert asked(published / "warehouse.duckdb", f"SELECT count(*) FROM {name}") == [(rows,)]


def test_pandas_is_in_the_environment_of_the_notebook() -> None:
    assert re.search(r"^pandas==", (ROOT / "examples" / "notebook.lock").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_names_every_macro_with_its_parameters(published: Path) -> None:
    shown = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", PAGE, re.MULTILINE))
    held = asked(
        published / "warehouse.duckdb", "SELECT function_name, parameters FROM duckdb_functions() WHERE NOT internal"
    )
    most = {name: max(len(parameters) for each, parameters in held if each == name) for name, _ in held}
    assert {name: len(parameters.split(", ")) for name, parameters in shown.items()} == most


def test_every_table_column_and_macro_has_a_comment_and_the_file_is_read_only(published: Path) -> None:
    file = published / "warehouse.duckdb"
    for kind in ("tables", "columns", "functions"):
        comments = asked(file, f"SELECT comment FROM duckdb_{kind}() WHERE NOT internal")
        assert comments
        assert all(comment for (comment,) in comments)
    assert stat.S_IMODE(file.stat().st_mode) == 0o400


# --- The command ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def every_value(published: Path) -> list[explain.Explanation]:
    """Explanations of all versions of the sample that have a value."""
    with open_read_only(published / "warehouse.duckdb") as connection:
        legs = defaultdict(list)
        for *of, leg in connection.execute(
            "SELECT cik, class_member, period_kind, CAST(period_end AS VARCHAR), item, version, row(leg, operation, "
            'weight, split_factor, value, tag, unit, CAST("start" AS VARCHAR), CAST("end" AS VARCHAR), form, '
            "CAST(filed AS VARCHAR), accession, NULL, concept, rule) FROM lineage ORDER BY ALL"
        ).fetchall():
            legs[tuple(of)].append(explain_queries.Leg(*leg))
        versions = connection.execute(
            "SELECT cik, class_member, period_kind, CAST(period_end AS VARCHAR), item, version, period, value, cause, "
            "method, flags FROM versions WHERE value IS NOT NULL ORDER BY ALL"
        ).fetchall()
    lines = {line.name: line for line in LINE_ITEMS}
    return [
        explain.explanation(
            explain_queries.Holder("XQ", None, cik, "USD"),
            lines[item],
            explain_queries.Span(kind, period, end),
            [],
            [explain_queries.ValueVersion(number, value, True, cause, method, flags, None, None, None, None, None)],
            legs[cik, member, kind, end, item, number],
            None,
            [],
            {},
        )
        for cik, member, kind, end, item, number, period, value, cause, method, flags in versions
    ]


def test_every_value_of_the_sample_follows_from_its_explanation(every_value: list[explain.Explanation]) -> None:
    """To the unit or to six digits, the precision of served values."""
    assert len(every_value) > 5000
    assert {told.item for told in every_value} >= set(SERVED_NAMES)
    apart = []
    for told in every_value:
        rounded = 0.5 if told.unit in ("USD", "shares") else 0.0
        assert told.recomputed is not None
        assert told.value is not None
        if abs(told.recomputed - told.value) > rounded + 5.001e-6 * abs(told.value):
            apart.append((told.item, told.period_end, told.value, told.recomputed))
    assert apart == []


def test_every_amount_has_a_name_and_every_code_a_meaning(every_value: list[explain.Explanation]) -> None:
    """Tags of filings are named by their amounts, and codes have a meaning."""
    unnamed = {(told.item, part.name) for told in every_value for part in told.parts if ":" in part.name}
    assert unnamed == set()
    codes = {
        code
        for told in every_value
        for code in (told.method, *told.flags, *(version.cause for version in told.versions))
        if code
    }
    assert {code.code for code in codes if code.meaning == code.code.replace("_", " ")} == set()


def test_gaps_of_the_sample_have_a_meaning(published: Path) -> None:
    """One gap of each reason."""
    with open_read_only(published / "warehouse.duckdb") as connection:
        found = connection.execute(
            "SELECT reason, any_value((symbol, item, CAST(period_end AS VARCHAR))) FROM gaps "
            "JOIN companies USING (cik) WHERE period_kind = 'ttm' GROUP BY reason"
        ).fetchall()
    warehouse = Warehouse(published)
    with warehouse.build() as build:
        for reason, (symbol, item, period) in found:
            told = provenance.find(build, symbol, item, period)
            assert told.value is None
            assert told.reason is not None
            assert told.reason.code == reason
            assert told.reason.meaning != reason.replace("_", " ")
    warehouse.close()
    assert found


def test_the_command_explains_a_value_of_the_sample(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal and as JSON; the macro gives the same."""
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(project / ".data" / "sample"))
    [words] = re.findall(r"^    fundamentals (explain .*)$", PAGE, re.MULTILINE)
    assert fundamentals.main(words.split()) == 0
    text = capsys.readouterr().out
    assert fundamentals.main([*words.split(), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["item"], told["period"], told["recomputed"]) == ("free_cash_flow", "FY2024", told["value"])
    assert f"{told['value']:,.0f} USD" in text
    file = project / ".data" / "sample" / "published" / "warehouse.duckdb"
    legs = [leg for part in told["parts"] for leg in part["legs"]]
    assert asked(file, "SELECT leg, tag, leg_value, accession FROM explain('XQORC', 'free_cash_flow', 'FY2024')") == [
        (leg["leg"], leg["tag"], leg["value"], leg["accession"]) for leg in legs
    ]
    assert {leg["url"] for leg in legs} == {f"/filings/{leg['accession']}" for leg in legs}
    for leg in legs:
        assert all(words in text for words in (leg["tag"], f"{leg['value']:,.0f}", leg["accession"], leg["url"]))


# --- An older DuckDB --------------------------------------------------------------------------------------------

COUNTED = """
import json, sys
import duckdb

given = json.load(sys.stdin)
with duckdb.connect(given["file"], read_only=True) as connection:
    counts = [len(connection.execute(query).fetchall()) for query in given["queries"]]
json.dump([duckdb.__version__, counts], sys.stdout)
"""


def counted(file: Path, **environment: str) -> tuple[str, list[int]]:
    """The version of DuckDB, and the number of rows of each query and macro."""
    questions = [*QUERIES, *(f"SELECT count(*) FROM {macro} HAVING count(*) > 0" for macro in MACROS)]
    ran = subprocess.run(
        [sys.executable, "-c", COUNTED],
        input=json.dumps({"file": str(file), "queries": questions}),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    version, counts = json.loads(ran.stdout)
    return version, counts


def test_the_oldest_supported_duckdb_opens_the_file(
    published: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """And gives the same results as the current version, on a copy outside of the home."""
    [promised] = re.findall(r"DuckDB from (\d+\.\d+\.\d+) on", PAGE)
    lock = (ROOT / "tests" / "duckdb-1.5.lock").read_text(encoding="utf-8")
    assert lock.startswith(f"duckdb=={promised} ")
    if not OLDEST.is_dir():
        missing = f"DuckDB {promised} is missing: `make test` installs it from tests/duckdb-1.5.lock"
        if request.config.getoption("--strict-skips"):
            pytest.fail(missing)
        pytest.skip(missing)
    alone = shutil.copy(published / "warehouse.duckdb", tmp_path / "copy.duckdb")
    old, new = counted(alone, PYTHONPATH=str(OLDEST)), counted(alone)
    assert (old[0], new[0]) == (promised, duckdb.__version__)
    assert old[1] == new[1]
    assert all(new[1])
