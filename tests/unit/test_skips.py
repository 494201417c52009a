"""The lines of a test run: running tests with their usual time, and each reason for skipped tests, once."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.conftest import PROJECT
from tests.progress import MINUTES, expected

TESTS = """
import pytest

@pytest.mark.parametrize("number", range({}))
def test_without_documents(number):
    pytest.skip("the documents are missing")

def test_also_without_documents():
    pytest.skip("the documents are missing")

def test_without_a_program():
    pytest.skip("the program is missing")
"""


def test_each_reason_is_named_once(tmp_path: Path) -> None:
    """Also of several files and processes, with the number of tests."""
    for number in (1, 2):
        (tmp_path / f"test_{number}.py").write_text(TESTS.format(20 * number), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--numprocesses=2", "--config-file", str(PROJECT / "pyproject.toml")]
    command += ["--rootdir", str(tmp_path), "-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    told = [line for line in done.stdout.splitlines() if "SKIPPED" in line]
    assert told == ["SKIPPED 62 tests: the documents are missing", "SKIPPED 2 tests: the program is missing"]


def test_the_first_run_says_about_how_long_it_takes() -> None:
    """For make test and make test-whole; for single files the time is not known."""
    with (PROJECT / "pyproject.toml").open("rb") as file:
        folders = tomllib.load(file)["tool"]["pytest"]["ini_options"]["testpaths"]
    assert set(MINUTES) == {tuple(folders), ("tests/e2e",)}
    assert expected(folders) == f"about {MINUTES[tuple(folders)]} minutes on two idle cores"
    assert expected(["tests/unit/test_skips.py"]) == "how long is known after the first run"
