"""The output and the exit status of `fundamentals sync`."""

import re

import pytest

from pipelines import synchronize
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, Mirror


@pytest.fixture
def mirror(tmp_path, monkeypatch) -> Mirror:
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "100")
    return Mirror(tmp_path / "mirror", ALFA, BRAVO, CARGO, ABSENT)


def cells(printed: str) -> dict[str, str]:
    return dict(re.findall(r"│ ([a-z ]+?) +│ +(\S+) │", printed))


def test_a_run_prints_a_short_table(mirror, tmp_path, capsys):
    assert synchronize.main(str(mirror.folder), (), False) == 0
    printed = capsys.readouterr()
    told = cells(printed.out)
    assert list(told) == [*(name.replace("_", " ") for name in synchronize.COUNTS), "seconds", "build"]
    assert (told["seen"], told["with documents"], told["build"]) == ("4", "3", "published")
    assert printed.out.endswith(f"{tmp_path / 'home/published/warehouse.duckdb'}\n")
    assert [line.split()[0] for line in printed.err.splitlines()] == ["documents", "facts", "values"]


def test_an_error_is_one_line(mirror, capsys):
    assert synchronize.main("nowhere", (), False) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"fundamentals sync: nowhere is not a directory; .*\n", printed.err)


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


def test_a_long_list_of_reasons_is_shortened(mirror, capsys, monkeypatch):
    monkeypatch.setattr(synchronize, "SHOWN_REASONS", 1)
    for filer in (ALFA, BRAVO):
        mirror.facts(filer).write_text("{")
    assert synchronize.main(str(mirror.folder), (), False) == 0
    assert capsys.readouterr().err.count("quarantined: CIK") == 1


def test_a_build_that_is_held_back_is_a_failure(mirror, capsys):
    for filer in (ALFA, BRAVO, CARGO):
        mirror.facts(filer).write_text("{")
    assert synchronize.main(str(mirror.folder), (), False) == 1
    printed = capsys.readouterr()
    assert cells(printed.out)["build"] == "unchanged"
    assert "fundamentals sync: nothing was published: few_are_quarantined: 3 of 3 " in printed.err
