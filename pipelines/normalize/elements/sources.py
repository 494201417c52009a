"""Concepts and their sources: reads and checks the reviewed table sources.toml.

Belongs here: the fields of a concept and of a source, the generated statements of sources, the rule of a source. Does
not: tables that other steps derive (the package itself), how a source is chosen in a filing (facts).

sources.toml has a table for each concept, with its sources in order of preference; a name of `lists` among elements
stands for the elements of that list. The fields are defined in Concept and Source. A source without `statement` gets
one from the names of its elements; a source that depends on a condition needs its own.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from pipelines.normalize import reviewed
from pipelines.normalize.industry.table import INDUSTRIES, Industry
from pipelines.normalize.reviewed import TableError
from pipelines.normalize.rule import Rule
from warehouse.contract.line_items import ITEM_NAMES

TABLE = Path(__file__).with_suffix(".toml")
Taxonomy = Literal["us-gaap", "ifrs-full", "dei"]
US_GAAP: Taxonomy = "us-gaap"
IFRS: Taxonomy = "ifrs-full"
COVER: Taxonomy = "dei"
"""Document and entity information: the elements of the cover page."""
MOST_WORDS = 40
"""The most words of a statement, because it is read once."""

Measure = Literal["money", "per_share", "shares"]
Elements = tuple[Annotated[str, msgspec.Meta(pattern="^[A-Z][A-Za-z0-9]+$")], ...]


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Elements that together report a concept; each source is a rule.

    rule: the id of its rule, dotted; it never changes its meaning.
    taxonomy: the taxonomy of the elements.
    industries_of, except_for: the industries to which the source applies, and those that are excepted; `of` and `but`
        in the table.
    elements: all are required and added.
    plus: added if present.
    minus: required and subtracted.
    less: subtracted if present.
    at_least: if one of these is present and the sum is smaller, the sum is only a part, and the next source is tried.
    less_than: required but not counted: the source counts only if its sum is less than the sum of these.
    where: required but not counted: they show that the source applies to the filer.
    unless: the source counts only if its filing states none of these, for any day or period.
    only_zero: the source counts only if its sum is exactly zero, which proves that there is no amount of this kind.
    totals: the source counts only if its sum equals one of these amounts. With `paid` or `received` the sum is an
        outflow instead, and must add up with these other lines of its statement to one of the totals, in which an
        outflow is negative.
    paid, received: these other outflows and inflows, as positive amounts; all that are stated count.
    measure: the measure of the elements; in the table only if it differs from the measure of the concept.
    reservation: the flag of a value from this source.
    source: the paragraph that justifies it; empty: the taxonomy's definition of the elements.
    statement: one plain sentence: what is taken, and when.
    """

    rule: str
    taxonomy: Taxonomy = US_GAAP
    industries_of: tuple[Industry, ...] = msgspec.field(default=INDUSTRIES, name="of")
    except_for: tuple[Industry, ...] = msgspec.field(default=(), name="but")
    elements: Elements = ()
    plus: Elements = ()
    minus: Elements = ()
    less: Elements = ()
    at_least: Elements = ()
    less_than: Elements = ()
    where: Elements = ()
    unless: Elements = ()
    only_zero: bool = False
    totals: Elements = ()
    paid: Elements = ()
    received: Elements = ()
    measure: Measure | None = None
    reservation: str = ""
    source: str = ""
    statement: str = ""

    def __post_init__(self) -> None:
        """Refuse a source that counts no element, or has an element twice."""
        together = (*self.counted, *self.where)
        if not self.counted or len(together) > len(set(together)):
            raise ValueError("no element is counted, or one comes twice")

    @property
    def counted(self) -> Elements:
        """The elements whose amounts enter the value."""
        return (*self.elements, *self.plus, *self.minus, *self.less)

    @property
    def named(self) -> Elements:
        """All elements that the source names."""
        conditions = (*self.at_least, *self.less_than, *self.where, *self.unless, *self.totals)
        return (*self.counted, *conditions, *self.paid, *self.received)

    @property
    def is_conditional(self) -> bool:
        """Whether the source depends on more than the presence of its elements, so that it needs its own statement."""
        conditions = (self.at_least, self.less_than, self.where, self.unless, self.totals)
        return bool(any(conditions) or self.only_zero or self.reservation)

    @property
    def industries(self) -> tuple[Industry, ...]:
        """The industries to which the source applies."""
        return tuple(industry for industry in self.industries_of if industry not in self.except_for)


class Concept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An amount that filers report over a duration or at an instant, with its sources in order of preference.

    item: the line item that it is part of.
    compared_with: the amount that this one proves or contradicts; a concept without `item` is then in no value.
    label: its name in statements, if it differs from `name` in words.
    measure: the measure of its elements; money if not given.
    instant: whether it is stated for a day, as in a balance sheet, and not for a period.
    can_be_negative: false if a part is never more than the whole, as for capital expenditure. If the difference of two
        amounts is below zero, such as a year less its nine months, the two then follow different definitions.
    in_notes: whether notes of annual reports use these elements for other amounts too; the source that interim reports
        also use is then the line of the statement.
    """

    name: str
    sources: tuple[Source, ...]
    item: str = ""
    compared_with: str = ""
    label: str = ""
    measure: Measure = "money"
    instant: bool = False
    can_be_negative: bool = True
    in_notes: bool = False

    def __post_init__(self) -> None:
        """Refuse an unknown line item."""
        if self.item not in ("", *ITEM_NAMES):
            raise ValueError(f"no line item has the name {self.item!r}")


def concepts(text: str | None = None) -> tuple[Concept, ...]:
    """The concepts of the table, in its order.

    Args:
        text: a table in the form of sources.toml; None: that file.

    Raises:
        TableError: a field, element, industry or item is unknown, missing or of another type; an element or an id comes
            twice; a source needs a statement of its own, or a shorter one.
    """
    found = tuple(_concept(name, row) for name, row in reviewed.tables(TABLE, text).items())
    rules = Counter(source.rule for concept in found for source in concept.sources)
    if twice := [rule for rule, count in rules.items() if count > 1]:
        raise TableError(f"{TABLE.name}: more than one source has the rule {', '.join(twice)}")
    return found


def _concept(name: str, row: dict[str, Any]) -> Concept:
    """A concept of the table; its sources get a statement and the measure of the concept if they have none."""
    sources: list[Source] = []
    concept = reviewed.row(Concept, {**row, "name": name, "sources": ()}, f"{TABLE.name}: {name}")
    for fields in row.get("sources", ()):
        at = f"{TABLE.name}: source {fields.get('rule')!r} of {name}"
        source = reviewed.row(Source, fields, at)
        is_first = source.taxonomy not in [each.taxonomy for each in sources]
        if not source.statement and source.is_conditional:
            raise TableError(f"{at} needs a statement that says when it counts")
        statement = source.statement or _statement(concept, source, is_first=is_first)
        if len(statement.split()) > MOST_WORDS:
            raise TableError(f"{at} needs a statement of at most {MOST_WORDS} words: {statement}")
        sources.append(msgspec.structs.replace(source, statement=statement, measure=source.measure or concept.measure))
    return msgspec.structs.replace(concept, sources=tuple(sources))


def _statement(concept: Concept, source: Source, *, is_first: bool) -> str:
    """The generated statement of a source: the names of its elements in words, and their use."""
    signed = (
        (" plus ", source.elements),
        (" less ", source.minus),
        (" plus any ", source.plus),
        (" less any ", source.less),
    )
    amount = "".join(f'{sign}"{name}"' for sign, elements in signed for name in elements).removeprefix(" plus ")
    words = re.sub("(?<=[a-z])(?=[A-Z])", " ", amount).lower()
    begin = {
        (US_GAAP, True): "The",
        (US_GAAP, False): "Otherwise the",
        (IFRS, True): "Under IFRS the",
        (IFRS, False): "Otherwise, under IFRS, the",
    }
    name = concept.label or concept.name.replace("_", " ")
    proves = f"is compared with {concept.compared_with}" if concept.compared_with else ""
    use = " and ".join(filter(None, (f"counts as {name}" if concept.item or not proves else "", proves)))
    return f"{begin[source.taxonomy, is_first]} amount of {words} {use}."


def rule_of_source(source: Source) -> Rule:
    """The rule of a source: it selects one element, or composes an amount from several."""
    industries = validity(source)
    filers = "all filers" if industries == "all" else f"industries: {industries}"
    return Rule(
        id=source.rule,
        statement=source.statement,
        source=source.source or f"{source.taxonomy} taxonomy: definition of {', '.join(source.counted)}",
        action="select" if len(source.counted) == 1 else "compose",
        applies=f"{filers} under IFRS" if source.taxonomy == IFRS else filers,
    )


def validity(source: Source) -> str:
    """The industries to which a source applies, in words: `all`, `bank, reit`, `all but bank`."""
    others = [industry for industry in INDUSTRIES if industry not in source.industries]
    if len(source.industries) <= len(others):
        return ", ".join(source.industries).replace("_", " ")
    return f"all but {', '.join(others)}".replace("_", " ") if others else "all"
