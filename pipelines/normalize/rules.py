"""The registry: every rule, by its id.

Belongs here: collecting the rules of all modules. Does not: any rule (each is in the tuple `RULES` next to the code
that decides; the rule of an element is its row in elements), which rules rest on a single company (rule_page).

No step of the pipeline imports this module, which imports all of them.
"""

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType, ModuleType

from pipelines import normalize
from pipelines.normalize import elements
from pipelines.normalize.elements import cash, cash_flow, income, per_share, totals, witnesses
from pipelines.normalize.elements.sources import Concept
from pipelines.normalize.rule import Rule

RULE_OF_RANK = elements.RULE_OF_RANK
"""The rule of an element source, for joins: `concept`, `rank` (of the source within its concept), `rule`."""

ELEMENT_TABLES = (income, cash_flow, per_share, cash, totals, witnesses)
"""The modules whose concepts contain the rules of elements."""


def collected(modules: Iterable[tuple[str, Sequence[Rule]]]) -> tuple[dict[str, Rule], dict[str, str]]:
    """The rules of some modules, and the module of each, both by id.

    Args:
        modules: the name of each module and what its tuple of rules holds. A rule may be in several tuples, for a
            module can repeat those of others; it belongs to the shortest.

    Raises:
        ValueError: two rules have one id.
    """
    rules: dict[str, Rule] = {}
    places: dict[str, str] = {}
    for module, held in sorted(modules, key=lambda one: len(one[1])):
        for rule in held:
            if rules.setdefault(rule.id, rule) is not rule:
                raise ValueError(f"two rules have the id {rule.id!r}: in {places[rule.id]} and in {module}")
            places.setdefault(rule.id, module)
    return rules, places


def statement(rule: str) -> str:
    """The statement of a rule.

    Raises:
        KeyError: there is no rule with this id.
    """
    return REGISTRY[rule].statement


def path(rule: str) -> str:
    """The file of a rule, relative to the project's root: `pipelines/normalize/elements/income.py`.

    Raises:
        KeyError: there is no rule with this id.
    """
    return MODULES[rule].replace(".", "/") + ".py"


def _modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(normalize.__path__, prefix=f"{normalize.__name__}.")
    return [import_module(one.name) for one in found if one.name != __name__]


def _rules_of(module: ModuleType) -> list[Rule]:
    return [rule for rule in getattr(module, "RULES", ()) if isinstance(rule, Rule)]


def _rules_of_elements() -> list[tuple[str, list[Rule]]]:
    """Each table of elements with its rules, in the order of its concepts."""
    by_id = {rule.id: rule for rule in elements.RULES}
    return [
        (table.__name__, [by_id[source.rule] for concept in _concepts(table) for source in concept.sources])
        for table in ELEMENT_TABLES
    ]


def _concepts(table: ModuleType) -> list[Concept]:
    """The concepts of a module, single or in tuples, each once."""
    found = []
    for value in vars(table).values():
        found += [one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Concept)]
    return list(dict.fromkeys(found))


def _registry() -> tuple[Mapping[str, Rule], Mapping[str, str]]:
    others = [(module.__name__, _rules_of(module)) for module in _modules() if module is not elements]
    rules, places = collected([*_rules_of_elements(), *others])
    return MappingProxyType(rules), MappingProxyType(places)


REGISTRY, MODULES = _registry()
"""Every rule by its id, and the module of each."""
