"""The notebook for analysts runs as it stands, and shows the same results as when it was reviewed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PROJECT

NOTEBOOK = PROJECT / "examples" / "analyst.ipynb"
FIGURES = 6


def shown(notebook: dict[str, Any]) -> list[list[Any]]:
    """The texts of each cell's results; of a figure, that there is one."""
    cells = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[output.get("text") or output["data"]["text/plain"] for output in outputs] for outputs in cells]


@pytest.fixture(scope="module")
def ran(synchronized_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The notebook after a run in a folder like the folder of the project; a warning would be an error."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "examples").mkdir()
    copied = shutil.copy(NOTEBOOK, folder / "examples")
    (folder / ".data").mkdir()
    (folder / ".data" / "sample").symlink_to(synchronized_sample)
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.notebooks", copied],
        cwd=PROJECT,
        env={**os.environ, "MPLCONFIGDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    held: dict[str, Any] = json.loads(Path(copied).read_text(encoding="utf-8"))
    return held


def test_the_results_in_the_notebook_are_those_of_the_sample(ran):
    """`make pictures` writes them again."""
    assert shown(ran) == shown(json.loads(NOTEBOOK.read_text(encoding="utf-8")))


def test_each_figure_has_a_picture(ran):
    pictures = [
        output["data"]["image/png"]
        for cell in ran["cells"]
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == FIGURES
    assert all(len(picture) > 5000 for picture in pictures)
