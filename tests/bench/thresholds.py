"""What the thresholds of the rules decide: each at half and at twice its value, on the companies of a home.

Belongs here: finding the thresholds, running the rules with another value, and the page docs/thresholds.md. Does not:
any threshold (each stands beside its rule, with its meaning).

A threshold at which no value moves over a range separates two groups that lie far apart; one at which many move has to
be justified by its source.
"""

import ast
import math
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import polars as pl
from rich.progress import track

from pipelines import normalize
from pipelines.home import Home
from pipelines.lake import Lake
from pipelines.normalize.pipeline import standardize

PAGE = Path(__file__).resolve().parents[2] / "docs" / "thresholds.md"
KEY = ["cik", "period_end", "item"]
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
    """A named number of a module of the rules, and what its docstring says."""

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


def values(lake: Lake) -> pl.DataFrame:
    """The current values of the companies of a home."""
    accepted, registrants = lake.read("acceptances"), lake.read("registrants")
    found = standardize(
        lake.read("facts"), accepted.select("accession", "accepted_at"), registrants.select("cik", "sic")
    )
    newest = found.versions.group_by(KEY, maintain_order=True).last().select(*KEY, "value")
    return newest.drop_nulls("value")  # a withdrawn value is none


def moved(before: pl.DataFrame, after: pl.DataFrame) -> int:
    """How many values differ, or are there on one side only."""
    both = before.join(after, on=KEY, how="full", coalesce=True, suffix="_after")
    same = (pl.col("value") - pl.col("value_after")).abs() <= SAME * pl.col("value").abs()
    return both.filter(~same.fill_null(value=False)).height


def with_another(threshold: Threshold, value: float, lake: Lake, before: pl.DataFrame) -> str:
    """The number of values that move with another value of a threshold, wherever it was imported."""
    holders = [
        module
        for name, module in sys.modules.items()
        if name.startswith(normalize.__name__) and getattr(module, threshold.name, None) is threshold.value
    ]
    for module in holders:
        setattr(module, threshold.name, value)
    try:
        return f"{moved(before, values(lake)):,}"
    except (ArithmeticError, LookupError, ValueError, pl.exceptions.PolarsError) as error:
        return type(error).__name__
    finally:
        for module in holders:
            setattr(module, threshold.name, threshold.value)


def main() -> None:
    """Write the page."""
    lake = Lake(Home.from_environment().tables)
    before = values(lake)
    rows = [
        (each, *(with_another(each, each.at(factor), lake, before) for factor in (0.5, 2)))
        for each in track(list(thresholds()), description="thresholds")
    ]
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
    print(f"{PAGE}: {len(rows)} thresholds")


if __name__ == "__main__":
    main()
