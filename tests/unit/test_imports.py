"""The imports between the modules of the program."""

import ast
from collections.abc import Set
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("pipelines", "warehouse", "serve")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_by(source: str, modules: Set[str]) -> set[str]:
    """Those of some modules that a module imports, also within functions and for types only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            members = [f"{node.module}.{each.name}" for each in node.names]
            found |= {name if name in modules else str(node.module) for name in members}
    return found & modules


def test_no_modules_import_each_other() -> None:
    """Otherwise none of them can be understood without the others; the CycleError names them."""
    paths = {name_of(path): path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    graph = {name: imported_by(path.read_text(), paths.keys()) for name, path in paths.items()}
    assert "warehouse.reader" in graph["warehouse.queries"]
    TopologicalSorter(graph).prepare()
