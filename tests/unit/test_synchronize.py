"""The output and the exit status of `fundamentals sync`."""

import errno
import json
import re
import shutil
import sqlite3
from typing import Any

import pytest
import sqlalchemy as sa

import fundamentals
from pipelines.dagster_app import synchronize
from pipelines.sample.business.line import PRETAX
from pipelines.storage.lake import MANIFEST, Lake
from tests.e2e.homes import run_unrecorded
from tests.factories import ASSETS, CASH, NET_INCOME, REVENUE, Row, month_ends
from tests.factories import Filer as Reports
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, EQUITY, Mirror, document, write
from warehouse.build import publish
from warehouse.errors import PublishError

FULL = "No space left on device"


@pytest.fixture
def mirror(tmp_path, monkeypatch) -> Mirror:
    """The documents of a new home, in which synchronizations have no record of Dagster."""
    monkeypatch.setattr(synchronize, "run_recorded", run_unrecorded)
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    return Mirror(tmp_path / "mirror", ALFA, BRAVO, CARGO, ABSENT)


def cells(printed: str) -> dict[str, str]:
    return dict(re.findall(r"│ ([a-z ]+?) +│ +(\S+) │", printed))


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    told = capsys.readouterr().err
    assert "Traceback" not in told
    return told.splitlines()[-1]


def test_a_run_prints_a_short_table(mirror, tmp_path, capsys):
    """Missing pages of older filings are counted, and their company does not fail."""
    for page in mirror.page(BRAVO, 4, 4, 4):
        page.unlink()
    assert synchronize.main(str(mirror.folder), (), False) == 0
    printed = capsys.readouterr()
    told = cells(printed.out)
    assert list(told) == [*synchronize.OF_RUN, "seconds", *synchronize.OF_HOME.values(), "build"]
    assert (told["seen"], told["companies with documents"], told["build"]) == ("4", "3", "published")
    assert printed.out.endswith(f"{tmp_path / 'home/published/warehouse.duckdb'}\n")
    *progress, last = printed.err.splitlines()
    assert [line.split()[0] for line in progress] == ["documents", "facts", "values", "versions"]
    assert "2 pages of older filings could not be read" in last


BALANCES = {
    **{CASH: 400, ASSETS: 5_000, EQUITY: 2_000, "Liabilities": 3_000, "LiabilitiesCurrent": 900},
    **{"AccountsPayableCurrent": 850, "OtherLiabilitiesNoncurrent": 600, "LongTermDebtNoncurrent": 1_500},
}
"""A balance sheet in millions; no line states 50 million of the current liabilities."""
FLOWS = {REVENUE: 1_000, "OperatingIncomeLoss": 300, PRETAX: 250, "IncomeTaxExpenseBenefit": 50, NET_INCOME: 200}


def borrower() -> list[Row]:
    """The facts of eleven reports: the newest 10-Q does not state the only line of debt of its own day."""
    ends = month_ends(2022, 11)
    flows, balances = (
        {tag: [amount * (100 + number) * 1e4 for number in range(len(ends))] for tag, amount in amounts.items()}
        for amounts in (FLOWS, BALANCES)
    )
    left_out = ("LongTermDebtNoncurrent", str(ends[-1]))
    return [row for row in Reports(ends, flows, balances=balances).rows() if (row["tag"], row["end"]) != left_out]


def test_debt_whose_only_line_is_not_stated_is_published_with_its_legs(mirror, capsys):
    """It consists of the total and the other lines, and return on capital follows from its own legs."""
    write(mirror.facts(ALFA), document(ALFA, borrower()))
    assert synchronize.main(str(mirror.folder), ("ALFA",), False) == 0
    capsys.readouterr()

    def explained(item: str) -> dict[str, Any]:
        assert fundamentals.main(["explain", "ALFA", item, "2024-09-30", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["recomputed"] == pytest.approx(told["value"], rel=1e-5)
        return told

    debt, roic = explained("total_debt"), explained("roic")
    legs = {leg["tag"]: leg["value"] * leg["weight"] / 1e6 for part in debt["parts"] for leg in part["legs"]}
    lines = {"Liabilities": 3_300, "LiabilitiesCurrent": -990, "OtherLiabilitiesNoncurrent": -660}
    assert (debt["value"], legs) == (1_650e6, {f"us-gaap:{tag}": amount for tag, amount in lines.items()})
    capital = {part["name"] for part in roic["parts"] if part["role"] == "capital"}
    assert capital == {"total debt", "equity", "cash and equivalents"}


def test_an_error_is_one_line(mirror, capsys):
    assert synchronize.main("nowhere", (), False) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert printed.err.startswith("fundamentals sync: nowhere is not a directory; ")


def test_companies_that_were_not_updated_are_listed(mirror, tmp_path, capsys):
    """A full run lists all of them; a run for some symbols lists only these and fails."""
    mirror.facts(BRAVO).write_text("{")
    mirror.facts(CARGO).unlink()
    mirror.facts(CARGO).symlink_to(tmp_path / "home" / "home.json")

    def told(*symbols: str) -> tuple[int, list[str]]:
        status = synchronize.main(str(mirror.folder), symbols, False)
        lines = capsys.readouterr().err.splitlines()
        return status, [line for line in lines if "CIK" in line]

    status, lines = told()
    assert status == synchronize.SOME_FAILED
    assert [line[:27] for line in lines] == ["quarantined: CIK 0000000102", "failed: CIK 0000000103: htt"]
    assert all(line.endswith("; its previous values stay") for line in lines)
    assert told("ALFA") == (0, [])
    assert told("alfa", "brvo") == (1, lines[:1])
    assert synchronize.main(str(mirror.folder), ("CRGO",), False) == 1


def test_a_build_that_is_held_back_is_a_failure(mirror, capsys, monkeypatch):
    """A long list of reasons is shortened."""
    monkeypatch.setattr(synchronize, "SHOWN_REASONS", 1)
    for filer in (ALFA, BRAVO, CARGO):
        mirror.facts(filer).write_text("{")
    assert synchronize.main(str(mirror.folder), (), False) == 1
    printed = capsys.readouterr()
    assert (cells(printed.out)["build"], printed.err.count("quarantined: CIK")) == ("unchanged", 1)
    assert "fundamentals sync: nothing was published: few_are_quarantined: 3 of 3 " in printed.err


# --- damage and full disks


def test_damaged_tables_are_made_again(synchronized, same_mirror):
    """Also rows that no new document concerns, and that Polars would read without an error."""
    lake = Lake(synchronized.tables)
    damaged = ("facts", "replayed", "documents", "listings")
    whole = {name: lake.read(name) for name in damaged}
    for path in (path for name in damaged for path, _ in lake.files(name)):
        path.write_bytes(bytes(byte ^ 1 for byte in path.read_bytes()))
    manifest = synchronized.tables / "gaps" / MANIFEST
    manifest.write_bytes(manifest.read_bytes()[:-1])
    assert synchronize.main(str(same_mirror.folder), (), False) == 0
    assert all(lake.read(name).equals(rows) for name, rows in whole.items() if name != "documents")
    assert lake.read("documents")["cik"].equals(whole["documents"]["cik"])
    assert lake.holds("gaps")


def test_a_damaged_record_of_runs_is_one_line_that_says_what_to_do(synchronized, same_mirror, capsys):
    history = synchronized.dagster / "history"
    for file in (history / "runs.db", history / "runs" / "index.db"):
        whole = shutil.copytree(history, synchronized.root / "copy")
        file.write_bytes(b"garbage, not a database" * 500)
        assert synchronize.main(str(same_mirror.folder), (), False) == 1
        assert last_line(capsys) == (
            f"fundamentals sync: {history}: file is not a database; delete the folder: it has only the record of "
            "earlier runs, and the next synchronization makes a new one"
        )
        shutil.rmtree(history)
        whole.rename(history)
    shutil.rmtree(history)
    assert synchronize.main(str(same_mirror.folder), (), False) == 0


def test_a_disk_that_fills_while_dagster_writes_is_one_line(synchronized, same_mirror, capsys):
    """SQLite itself refuses to let its files grow."""

    def is_full(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA max_page_count = 1")

    sa.event.listen(sa.pool.Pool, "connect", is_full)
    try:
        assert synchronize.main(str(same_mirror.folder), (), False) == 1
    finally:
        sa.event.remove(sa.pool.Pool, "connect", is_full)
    assert last_line(capsys) == (
        f"fundamentals sync: {synchronized.dagster / 'history'}: database or disk is full; free space on the disk, and "
        "synchronize again"
    )


@pytest.mark.parametrize(
    ("of", "name", "error", "said"),
    [
        # DuckDB's message names the file, and no error number
        (publish, "record", PublishError(f'table rules: Could not write file "x.duckdb.wal": {FULL}'), FULL),
        (Lake, "write", OSError(errno.ENOSPC, FULL, "facts"), f"[Errno 28] {FULL}: 'facts'"),
    ],
    ids=["while the build is written", "elsewhere"],
)
def test_a_disk_that_fills_is_one_line(synchronized, same_mirror, capsys, monkeypatch, of, name, error, said):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(of, name, fail)
    assert synchronize.main(str(same_mirror.folder), (), False) == 1
    line = last_line(capsys)
    assert line.startswith(f"fundamentals sync: {synchronized.root}: ") is isinstance(error, OSError)
    assert line.endswith(f"{said}; free space on the disk, and synchronize again")
