"""The registry: every rule, by its id.

Belongs here: collecting the rules of all modules. Does not: any rule (each is declared next to the code that decides;
the rule of an element is its row in elements/sources.toml), which rules rest on a single company (rule_page).

No step of the pipeline imports this module, which imports all of them.
"""

import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType

from pipelines import normalize
from pipelines.normalize.rule import Rule

ROOT = Path(__file__).parents[2]
DECLARATION = re.compile(r"^(\w+) = (?:Rule|_rule)\(", re.MULTILINE)
"""The first line of a rule in the file of a module, with the name of the rule. Rules that a module generates instead
are in its tuple `RULES`."""


def collected(files: Iterable[tuple[str, Sequence[Rule]]]) -> tuple[dict[str, Rule], dict[str, str]]:
    """The rules of some files, and the file of each, both by id.

    Args:
        files: the path of each file and its rules.

    Raises:
        ValueError: two rules have one id.
    """
    rules: dict[str, Rule] = {}
    places: dict[str, str] = {}
    for file, held in files:
        for rule in held:
            if rules.setdefault(rule.id, rule) is not rule:
                raise ValueError(f"two rules have the id {rule.id!r}: in {places[rule.id]} and in {file}")
            places[rule.id] = file
    return rules, places


def _held(module: ModuleType) -> tuple[str, Sequence[Rule]]:
    """The file in which a module's rules are written, the module itself or a table beside it, and the rules."""
    file = Path(getattr(module, "RULES_FILE", module.__file__ or ""))
    declared = [getattr(module, name) for name in DECLARATION.findall(file.read_text(encoding="utf-8"))]
    return file.relative_to(ROOT).as_posix(), [*declared, *getattr(module, "RULES", ())]


def _registry() -> tuple[Mapping[str, Rule], Mapping[str, str]]:
    found = pkgutil.walk_packages(normalize.__path__, prefix=f"{normalize.__name__}.")
    rules, files = collected(_held(import_module(one.name)) for one in found if one.name != __name__)
    return MappingProxyType(rules), MappingProxyType(files)


REGISTRY, FILES = _registry()
"""Every rule by its id, and the file of each from the project's root: `pipelines/normalize/elements/sources.toml`."""
