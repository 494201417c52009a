"""Effect of the thresholds of the rules: each at half and at twice its value, for the companies of a home.

Belongs here: finding the thresholds, running the rules with another value, and the page docs/thresholds.md. Does not:
any threshold (each stands next to its rule, with its meaning).

A threshold at which no value moves over a range separates two groups that lie far apart; one at which many move has to
be justified by its source.
"""

import ast
import math
import pkgutil
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType

import polars as pl
from rich.progress import track

from pipelines import normalize
from pipelines.normalize import pipeline
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake

PAGE = Path(__file__).resolve().parents[2] / "docs" / "thresholds.md"
KEY = ["cik", "q", "item"]
STEPS = pipeline.STEPS[: 1 + [step.name for step in pipeline.STEPS].index("line items")]
"""The steps that lead to the values of the items."""
OWN = [step.run for step in STEPS if step.run.__module__ == pipeline.__name__]
"""Steps that put together functions of several modules."""
SAME = 1e-6
NO_THRESHOLD = (
    "_BITS",
    "_DIGITS",
    "DAYS_SINCE",
    "NOTHING",
    "UNDECIDED",
    "UNKNOWN",
    "HAS_RETURN",
    "WORDS",
    "BITS",
    "NO_YEAR",
)
"""Ends of names of numbers that decide nothing: widths of keys, digits of a text, codes."""


@dataclass(frozen=True)
class Threshold:
    """A named number of a module of the rules, with its docstring."""

    module: ModuleType
    name: str
    value: float
    meaning: str

    def at(self, factor: float) -> float:
        """The number times a factor; a whole number stays one, and at least 1."""
        changed = self.value * factor
        return max(1, math.floor(changed + 0.5)) if isinstance(self.value, int) else changed


def thresholds() -> Iterator[Threshold]:
    """Every number with a name in capitals and a docstring, in the modules of the rules."""
    for found in pkgutil.walk_packages(normalize.__path__, prefix=f"{normalize.__name__}."):
        module = import_module(found.name)
        body = ast.parse(Path(str(module.__file__)).read_text()).body
        for statement, following in pairwise(body):
            if not (isinstance(statement, ast.Assign) and isinstance(following, ast.Expr)):
                continue
            target = statement.targets[0]
            text = following.value
            if not (isinstance(target, ast.Name) and isinstance(text, ast.Constant) and isinstance(text.value, str)):
                continue
            value = getattr(module, target.id)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            is_named = target.id.isupper() and not target.id.startswith("_") and not target.id.endswith(NO_THRESHOLD)
            if is_number and is_named:
                yield Threshold(module, target.id, value, " ".join(text.value.split()))


def values(frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The current values of the companies of a home."""
    newest = frames["values"].sort("seq").group_by(KEY, maintain_order=True).last().select(*KEY, "value")
    return newest.drop_nulls("value")  # a withdrawn value does not count


def moved(before: pl.DataFrame, after: pl.DataFrame) -> int:
    """How many values differ, or are there on one side only."""
    both = before.join(after, on=KEY, how="full", coalesce=True, suffix="_after")
    same = (pl.col("value") - pl.col("value_after")).abs() <= SAME * pl.col("value").abs()
    return both.filter(~same.fill_null(value=False)).height


def first_steps() -> dict[str, int]:
    """For each module of the rules, the number of the first step that is in it or imports it."""
    imports = {}
    for found in pkgutil.walk_packages(normalize.__path__, prefix=f"{normalize.__name__}."):
        nodes = ast.walk(ast.parse(Path(str(import_module(found.name).__file__)).read_text()))
        named = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
        imports[found.name] = {node.module for node in named} | {
            f"{node.module}.{alias.name}" for node in named for alias in node.names
        }
    first: dict[str, int] = {}
    for number, step in enumerate(STEPS):
        used = [getattr(pipeline, name, None) for name in step.run.__code__.co_names] if step.run in OWN else [step.run]
        reached = {each.__name__ if isinstance(each, ModuleType) else getattr(each, "__module__", "") for each in used}
        asked = list(reached)
        while asked:
            new = imports.get(asked.pop(), set()) - reached
            reached |= new
            asked += new
        for name in reached:
            first.setdefault(name, number)
    return first


class Runs:
    """The rules with other thresholds: the steps before the first one that a threshold can change are run once."""

    def __init__(self) -> None:
        lake = Lake(Home.from_environment().tables)
        self.frames: dict[str, pl.DataFrame] = {
            "raw": lake.read("facts"),
            "accepted": lake.read("acceptances"),
            "registrants": lake.read("registrants"),
        }
        self.frames |= pipeline.run(STEPS, dict(self.frames))
        self.before = values(self.frames)
        self.first = first_steps()

    def with_another(self, module: str, name: str, factor: float) -> str:
        """The number of values that move with a threshold times a factor, wherever it was imported."""
        threshold = next(each for each in thresholds() if (each.module.__name__, each.name) == (module, name))
        holders = [
            each
            for place, each in sys.modules.items()
            if place.startswith(normalize.__name__) and getattr(each, name, None) is threshold.value
        ]
        for each in holders:
            setattr(each, name, threshold.at(factor))
        try:
            first = min(self.first.get(each.__name__, len(STEPS)) for each in holders)
            made = pipeline.run(STEPS[first:], dict(self.frames))
            return f"{moved(self.before, values(self.frames | made)):,}"
        except (ArithmeticError, LookupError, ValueError, pl.exceptions.PolarsError) as error:
            return type(error).__name__
        finally:
            for each in holders:
                setattr(each, name, threshold.value)


@cache
def _runs() -> Runs:
    """The runs of this process."""
    return Runs()


def _with_another(asked: tuple[str, str, float]) -> str:
    return _runs().with_another(*asked)


def main() -> None:
    """Write the page."""
    found, before = list(thresholds()), _runs().before
    asked = [(each.module.__name__, each.name, factor) for each in found for factor in (0.5, 2.0)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
        counts = list(track(workers.map(_with_another, asked), description="thresholds", total=len(asked)))
    rows = zip(found, counts[::2], counts[1::2], strict=True)
    companies = before["cik"].n_unique()
    lines = [
        "# Thresholds",
        "",
        f"Each number that a rule compares with, and how many of the {before.height:,} current values of {companies}",
        "companies of a mirror of EDGAR move if it is halved or doubled. Where none moves, the number separates groups",
        "that lie far apart, or no company of this mirror comes near it; a number that is read at import shows 0, too.",
        "Written by `make thresholds`.",
        "",
        "| threshold | value | what it separates | at half | at twice |",
        "|---|---|---|---|---|",
    ]
    for each, half, twice in rows:
        place = each.module.__name__.removeprefix("pipelines.normalize.")
        meaning = each.meaning.replace("|", "/")
        lines.append(f"| `{place}.{each.name}` | {each.value:g} | {meaning} | {half} | {twice} |")
    PAGE.write_text("\n".join(lines) + "\n")
    print(f"{PAGE}: {len(found)} thresholds")


if __name__ == "__main__":
    main()
