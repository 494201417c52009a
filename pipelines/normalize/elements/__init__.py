"""The elements of the taxonomies from which each amount is taken, in order of preference: tables, not code.

Belongs here: tables that other steps derive from the sources. Does not: the sources themselves (sources.toml), how a
source is chosen in a filing (facts), the lines of the balance sheet (lines), how concepts combine into line items
(items, balance).

The value of a concept in a filing comes from the first source of the filer's industry whose elements are all reported
in the filing for the same period. `minus` elements are required too and subtracted; `where` elements are required but
not counted; `plus` elements are added and `less` elements subtracted if present. If an `at_least` element is present
and the sum is smaller, the source is only a part and the next source is tried. Each source is a rule.
"""

import polars as pl

from pipelines.normalize.elements import proving, sources
from pipelines.normalize.elements.lines import (
    BORROWING,
    CASH_AND_SECURITIES,
    FACE_PREFIX,
    FILED_ELEMENTS,
    IFRS_PREFIX,
    LINES,
)
from pipelines.normalize.elements.sources import COVER, IFRS, US_GAAP, Concept, Source, rule_of_source, validity
from pipelines.normalize.industry.table import INDICATORS
from pipelines.normalize.rule import Rule
from warehouse.contract.line_items import LINE_ITEMS

CONCEPTS: tuple[Concept, ...] = sources.concepts()
BY_NAME: dict[str, Concept] = {concept.name: concept for concept in CONCEPTS}

OPTIONS, OPTION_PRICE = (
    f"ShareBasedCompensationArrangementByShareBasedPaymentAwardOptionsOutstanding{what}"
    for what in ("Number", "WeightedAverageExercisePrice")
)
"""The options on the company's shares at an instant, which prove splits (shares.options)."""

MEASURE_SIGN = {"money": 0, "per_share": -1, "shares": 1}
"""How a share basis changes an amount of each measure."""

COMPOSED = {"total_debt": (BORROWING,), "cash_and_equivalents": CASH_AND_SECURITIES}
"""Amounts that are the sum of lines of one balance sheet, and the classes of these lines."""

REPEATING = (
    "cost_of_revenue",
    "cost_of_goods_alone",
    "gross_profit",
    "eps_diluted",
    "eps_diluted_otherwise",
    "stockholders_equity",
)
"""Amounts that result from other amounts of their statement, or repeat them: restating one of these does not count as
a further restatement. No item of the specification uses them."""

AMOUNT = pl.Enum([*BY_NAME, *COMPOSED])
"""The type of column `concept`: every amount that filings state, or that is a sum of balance sheet lines."""
NUMBER_OF = {name: number for number, name in enumerate(AMOUNT.categories)}
"""The number of each amount in AMOUNT."""

OF_SOURCE = pl.DataFrame(
    [
        {"concept": concept.name, "rank": rank, "rule": source.rule, "reservation": source.reservation or None}
        for concept in CONCEPTS
        for rank, source in enumerate(concept.sources)
    ],
    schema_overrides={"concept": AMOUNT, "rank": pl.Int16},
)
"""The rule and the flag of each source: `concept`, `rank` (of the source), `rule`, and `reservation` (flag or null)."""

RULES: tuple[Rule, ...] = tuple(rule_of_source(source) for concept in CONCEPTS for source in concept.sources)
"""The rule of each source, in the order of the concepts and their sources."""
RULES_FILE = sources.TABLE

if without := [item.name for item in LINE_ITEMS if not item.is_served and item.name not in BY_NAME]:
    raise ValueError(f"LINE_ITEMS has {without}, but elements/sources.toml has no amount of this name: add one")

ITEM_CONCEPTS: dict[str, tuple[Concept, ...]] = {
    item.name: tuple(
        concept
        for concept in CONCEPTS
        if concept.item == item.name or (concept.name == item.name and not item.is_served)
    )
    for item in LINE_ITEMS
}
"""The concepts of each line item; items of COMPOSED are sums of balance sheet lines."""


def wanted_elements() -> dict[str, frozenset[str]]:
    """The elements that rules use, by taxonomy; only these are decoded from a companyfacts document."""
    wanted: set[tuple[str, str]] = {
        (source.taxonomy, name) for concept in CONCEPTS for source in concept.sources for name in source.named
    }
    proving_elements = (name for name in proving.ELEMENTS if not name.startswith(FACE_PREFIX))
    others = (*INDICATORS, *FILED_ELEMENTS, *proving_elements, OPTIONS, OPTION_PRICE)
    wanted.update((taxonomy or US_GAAP, name) for taxonomy, _, name in (each.rpartition(":") for each in others))
    return {taxonomy: frozenset(name for of, name in wanted if of == taxonomy) for taxonomy in (US_GAAP, IFRS, COVER)}


def combination(source: Source) -> str:
    """The elements of a source as a sum: `us-gaap:A + B - C [+ D]`; elements in brackets count if present."""
    forms = (
        (" + {}", source.elements),
        (" - {}", source.minus),
        (" [+ {}]", source.plus),
        (" [- {}]", source.less),
        (" [no less than {}]", source.at_least),
        (" [where it is less than {}]", (" + ".join(source.less_than),) if source.less_than else ()),
        (" [where {} is reported]", source.where),
        (" [unless {} is reported]", (" or ".join(source.unless),) if source.unless else ()),
        (" [where it adds up to {}]", (" or ".join(source.totals),) if source.totals else ()),
    )
    parts = "".join(form.format(element) for form, elements in forms for element in elements)
    return f"{source.taxonomy}:{parts.removeprefix(' + ').lstrip()}"


def describe_sources(item: str) -> str:
    """The sources of a line item as text, best source first: column `sources` of table `line_items`.

    For debt and cash, each line of the text is a section of the balance sheet with the elements of its lines. Otherwise
    each line is a concept, `name: source | source`. A source is its combination, followed in brackets by its industries
    and the id and statement of its rule.
    """
    lines = []
    for section, table in LINES.items() if item in COMPOSED else ():
        counted = [name for name, line in table.items() if line.kind in COMPOSED[item]]
        filed = [name for name in counted if not name.startswith(FACE_PREFIX)]
        names = [f"us-gaap:{name}".replace(f"us-gaap:{IFRS_PREFIX}", IFRS_PREFIX) for name in filed]
        lines += [f"{section}: " + " | ".join(names)] if names else []
    for concept in ITEM_CONCEPTS[item]:
        stated = (f"{combination(each)} ({validity(each)}; {each.rule}: {each.statement})" for each in concept.sources)
        lines.append(f"{concept.name}: " + " | ".join(stated))
    return "\n".join(lines)
