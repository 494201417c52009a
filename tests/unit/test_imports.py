"""The imports between the modules of the program."""

import ast
import re
from collections import Counter
from collections.abc import Set
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("pipelines", "warehouse", "serve")
SOURCES = (".py", ".sql", ".html", ".csv", ".toml")


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_by(source: str, modules: Set[str]) -> set[str]:
    """The modules among `modules` that a source imports, also within functions and for types only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            members = [f"{node.module}.{each.name}" for each in node.names]
            found |= {name if name in modules else str(node.module) for name in members}
    return found & modules


def test_no_modules_import_each_other() -> None:
    """Otherwise no module of a cycle can be understood without the others; the CycleError names them."""
    paths = {name_of(path): path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    graph = {name: imported_by(path.read_text(), paths.keys()) for name, path in paths.items()}
    assert "warehouse.read.reader" in graph["warehouse.queries.page_queries"]
    TopologicalSorter(graph).prepare()


LAYERED = (
    *("warehouse", "serve", "serve.site"),
    *("pipelines", "pipelines.edgar", "pipelines.normalize", "pipelines.sample", "pipelines.stages"),
)
"""Packages with folders that lie one above the other."""
MOST_MODULES = 15
"""So many modules of a folder can be looked over."""


@pytest.mark.parametrize("package", LAYERED)
def test_no_folders_import_each_other(package: str) -> None:
    """Each folder is understood with the folders below it; modules outside of the folders serve all of them, or
    combine them.
    """
    paths = {name_of(path): path for path in (ROOT / package.replace(".", "/")).rglob("*.py")}
    folder = {name: name.removeprefix(f"{package}.").rpartition(".")[0].partition(".")[0] for name in paths}
    graph: dict[str, set[str]] = {}
    for name, path in paths.items():
        for other in imported_by(path.read_text(), paths.keys()):
            if folder[name] and folder[other] and folder[name] != folder[other]:
                graph.setdefault(folder[name], set()).add(folder[other])
    assert graph
    TopologicalSorter(graph).prepare()


def test_folders_can_be_looked_over() -> None:
    modules = Counter(
        ".".join(path.relative_to(ROOT).parts[:-1])
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.stem != "__init__"
    )
    assert [folder for folder, number in modules.items() if number > MOST_MODULES] == []


def named_elsewhere(docstring: str) -> set[str]:
    """The places in parentheses at which a module's docstring says that other things belong."""
    belongs = next((part for part in docstring.split("\n\n") if part.startswith("Belongs here")), "")
    lists = re.findall(r"\(([^()]*)\)", " ".join(belongs.split()))
    return {name for each in lists for name in re.split(", | and ", each) if re.fullmatch(r"[a-z_]+(\.[a-z_]+)*", name)}


def test_docstrings_send_readers_to_places_that_exist() -> None:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.*") if path.suffix in SOURCES]
    places = {"fundamentals.py"} | {place for path in paths for place in (path.stem, path.name, path.parent.name)}
    named = {
        (name_of(path), name)
        for path in paths
        if path.suffix == ".py"
        for name in named_elsewhere(ast.get_docstring(ast.parse(path.read_text())) or "")
    }
    assert len(named) > len(paths) / 2
    assert sorted((module, name) for module, name in named if {name, name.split(".")[-1]}.isdisjoint(places)) == []
