"""The types of concepts and sources: an amount that filers report, and its sources in order of preference.

Belongs here: the fields of a source, its rule, and short constructors. Does not: any concept (income, cash_flow,
per_share, cash, totals, debt, loans), how a source is chosen in a filing (facts).
"""

from dataclasses import dataclass
from typing import Literal

from pipelines.normalize.industry.names import INDUSTRIES, Industry
from pipelines.normalize.rule import Rule

Measure = Literal["money", "per_share", "shares"]

US_GAAP = "us-gaap"
IFRS = "ifrs-full"

Elements = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Footing:
    """The lines of a statement with which a source must add up to a total; otherwise it does not count.

    totals: the total, under any of these elements; an outflow is negative.
    paid, received: the other outflows and inflows, as positive amounts; all that are stated count.
    """

    totals: Elements
    paid: Elements
    received: Elements

    @property
    def elements(self) -> Elements:
        """All of its elements."""
        return (*self.totals, *self.paid, *self.received)


@dataclass(frozen=True, slots=True)
class Source:
    """Elements that together report a concept; each source is a rule.

    rule: its id, dotted; it never changes its meaning.
    statement: one plain sentence: what is taken, and when.
    authority: the paragraph that justifies it (the rule's `source`); empty: the taxonomy's definition of the elements.
    elements: all are required and added.
    plus: added if present.
    minus: required and subtracted.
    less: subtracted if present.
    at_least: if one of these is present and the sum is smaller, the sum is only a part, and the next source is tried.
    where: required but not counted: they show that the source applies to the filer.
    only_zero: the source counts only if its sum is exactly zero: it proves that there is no such amount.
    footing: the source counts only if it, an outflow, adds up to a total with other lines.
    measure: of the elements, if it is another than that of the concept.
    reservation: the flag of a value from this source.
    """

    rule: str
    statement: str
    authority: str = ""
    elements: Elements = ()
    plus: Elements = ()
    minus: Elements = ()
    less: Elements = ()
    at_least: Elements = ()
    where: Elements = ()
    reservation: str = ""
    taxonomy: str = US_GAAP
    industries: tuple[Industry, ...] = INDUSTRIES
    only_zero: bool = False
    footing: Footing | None = None
    measure: Measure | None = None

    @property
    def counted(self) -> Elements:
        """The elements whose amounts enter the value."""
        return (*self.elements, *self.plus, *self.minus, *self.less)


@dataclass(frozen=True, slots=True)
class Concept:
    """An amount that filers report over a duration or at an instant, with its sources in order of preference.

    in_notes: notes of annual reports use these elements for other amounts too; then the source that interim reports
        also use is the line of the statement.
    """

    name: str
    measure: Measure
    instant: bool
    sources: tuple[Source, ...]
    can_be_negative: bool = True
    in_notes: bool = False


def us(
    *elements: str,
    rule: str,
    statement: str,
    source: str = "",
    plus: Elements = (),
    minus: Elements = (),
    less: Elements = (),
    at_least: Elements = (),
    where: Elements = (),
    reservation: str = "",
    of: tuple[Industry, ...] = INDUSTRIES,
    but: tuple[Industry, ...] = (),
) -> Source:
    """A us-gaap source, of some industries (`of`) or of all but some (`but`)."""
    return Source(
        rule, statement, source, elements, plus, minus, less, at_least, where, reservation, US_GAAP, _without(of, but)
    )


def ifrs(
    *elements: str,
    rule: str,
    statement: str,
    source: str = "",
    plus: Elements = (),
    minus: Elements = (),
    less: Elements = (),
    at_least: Elements = (),
    of: tuple[Industry, ...] = INDUSTRIES,
    but: tuple[Industry, ...] = (),
) -> Source:
    """An ifrs-full source, of some industries (`of`) or of all but some (`but`)."""
    industries = _without(of, but)
    return Source(rule, statement, source, elements, plus, minus, less, at_least, taxonomy=IFRS, industries=industries)


def rule_of_source(source: Source) -> Rule:
    """The rule of a source: it selects one element, or composes an amount from several."""
    defined = ", ".join(source.counted)
    return Rule(
        id=source.rule,
        statement=source.statement,
        source=source.authority or f"{source.taxonomy} taxonomy: definition of {defined}",
        action="select" if len(source.counted) == 1 else "compose",
        applies=_filers(source),
    )


def validity(source: Source) -> str:
    """The industries for which a source applies, in words: `all`, `bank, reit`, `all but bank`."""
    others = [industry for industry in INDUSTRIES if industry not in source.industries]
    if not others:
        return "all"
    shown = source.industries if len(source.industries) <= len(others) else others
    words = ", ".join(industry.replace("_", " ") for industry in shown)
    return words if shown is source.industries else f"all but {words}"


def _filers(source: Source) -> str:
    industries = validity(source)
    filers = "all filers" if industries == "all" else f"industries: {industries}"
    return f"{filers} under IFRS" if source.taxonomy == IFRS else filers


def _without(of: tuple[Industry, ...], but: tuple[Industry, ...]) -> tuple[Industry, ...]:
    return tuple(industry for industry in of if industry not in but)
