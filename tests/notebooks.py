"""Runs a notebook cell by cell, without Jupyter: `python -m tests.notebooks NOTEBOOK` keeps the results in its file.

Belongs here: running the code cells of a notebook in one namespace, and their results in the notebook format. Does not:
the contents of the notebook (examples), comparing the results (its test).
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

Cell = dict[str, Any]
Output = dict[str, Any]
DPI = 80


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook with the results of its code cells; they run in the folder of the process."""
    mpl.use("agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            cell = {**cell, "execution_count": number, "outputs": _outputs(cell, names, number)}
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(cell: Cell, names: dict[str, Any], number: int) -> list[Output]:
    """Run a cell; returns its output, the value of its last line, and its figures."""
    from matplotlib import pyplot as plt

    source = "".join(cell["source"])
    code = ast.parse(source, f"cell {number}")
    # as in Jupyter, the value of a line that ends in a semicolon is not shown
    last = code.body.pop() if isinstance(code.body[-1], ast.Expr) and not source.endswith(";") else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, f"cell {number}", "exec"), names)
        value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names) if last else None
    outputs: list[Output] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(True)
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
    for figure in map(plt.figure, plt.get_fignums()):
        held = io.BytesIO()
        figure.savefig(held, format="png", dpi=DPI, metadata={"Software": None})
        picture = base64.b64encode(held.getvalue()).decode()
        data = {"image/png": picture, "text/plain": [f"<Figure with {len(figure.axes)} Axes>"]}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    plt.close("all")
    return outputs


def main() -> None:
    """Run the notebook in its folder, and replace it by itself with its results."""
    path = Path(sys.argv[1])
    notebook = json.loads(path.read_text(encoding="utf-8"))
    folder = Path.cwd()
    os.chdir(path.parent)
    done = run(notebook)
    os.chdir(folder)
    path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
