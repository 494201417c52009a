"""The registry: every rule, by its id.

Belongs here: collecting the rules of all modules, and retired rules, which decide nothing any more but occur in
published versions and lineage (retired.csv). Does not: any rule that decides (each is declared next to the code that
decides; the rule of an element is its row in elements/sources.toml), which rules rest on a single company (rule_page).

This module imports all steps of the pipeline, so no step imports it.
"""

import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import polars as pl

from pipelines import normalize
from pipelines.normalize.rule import Rule

ROOT = Path(__file__).parents[2]
DECLARATION = re.compile(r"^(\w+) = (?:Rule|_rule)\(", re.MULTILINE)
"""Matches the first line of a rule declaration in a module, with the name of the rule. Rules that a module generates
are in its tuple `RULES` instead."""
RETIRED = Path(__file__).with_name("retired.csv")
REPLACED: dict[str, str] = dict(pl.read_csv(RETIRED).select("rule", "replaced_by").iter_rows())
"""For each retired rule the one that replaced it."""


def collected(files: Iterable[tuple[str, Sequence[Rule]]]) -> tuple[dict[str, Rule], dict[str, str]]:
    """Collect the rules of files, and the file of each rule, both by id.

    Args:
        files: the path of each file and its rules.

    Raises:
        ValueError: two rules have the same id.
    """
    rules: dict[str, Rule] = {}
    places: dict[str, str] = {}
    for file, held in files:
        for rule in held:
            if rules.setdefault(rule.id, rule) is not rule:
                raise ValueError(f"two rules have the id {rule.id!r}: in {places[rule.id]} and in {file}")
            places[rule.id] = file
    return rules, places


def _files() -> Iterator[tuple[str, Sequence[Rule]]]:
    """Each file that declares rules (a module, or its table in RULES_FILE) with its rules, and the retired ones."""
    for found in pkgutil.walk_packages(normalize.__path__, prefix=f"{normalize.__name__}."):
        module = import_module(found.name)
        file = Path(getattr(module, "RULES_FILE", module.__file__ or ""))
        declared = [getattr(module, name) for name in DECLARATION.findall(file.read_text(encoding="utf-8"))]
        yield file.relative_to(ROOT).as_posix(), [*declared, *getattr(module, "RULES", ())]
    source = "the source of the rule that replaced it"
    retired = [
        Rule(old, f"Decides nothing any more: `{new}` replaced it.", source, "compose") for old, new in REPLACED.items()
    ]
    yield RETIRED.relative_to(ROOT).as_posix(), retired


REGISTRY, FILES = collected(_files())
"""Every rule by its id, and the file of each from the project's root: `pipelines/normalize/elements/sources.toml`."""
