"""The shape of a concept: an amount that filers state, and the elements that state it, best first.

Belongs here: what a source can say, and short ways to write one. Does not: any concept (income, per_share, cash_flow,
balance_sheet, cash, debt, loans).
"""

from dataclasses import dataclass
from typing import Literal

from pipelines.normalize.industry.classification import INDUSTRIES, Industry

Measure = Literal["money", "per_share", "shares"]

US_GAAP = "us-gaap"
IFRS = "ifrs-full"

Elements = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Elements that together state a concept, and why they do.

    elements: all are needed, and added up.
    plus: added where present.
    minus: needed too, and taken off.
    less: taken off where present.
    at_least: a sum that is smaller than one of these is a part of it and no total.
    where: needed too, and not counted: what shows that the filer is of the kind meant.
    reservation: the flag of a value that comes from it.
    """

    elements: Elements
    why: str
    plus: Elements = ()
    minus: Elements = ()
    less: Elements = ()
    at_least: Elements = ()
    where: Elements = ()
    reservation: str = ""
    taxonomy: str = US_GAAP
    industries: tuple[Industry, ...] = INDUSTRIES


@dataclass(frozen=True, slots=True)
class Concept:
    """An amount that filers state: over a duration or at an instant, with its sources, best first.

    in_notes: notes of annual reports state other amounts under these elements, so that the source that interim reports
        state too is the line of the statement.
    """

    name: str
    measure: Measure
    instant: bool
    sources: tuple[Source, ...]
    can_be_negative: bool = True
    in_notes: bool = False


def us(
    *elements: str,
    why: str,
    plus: Elements = (),
    minus: Elements = (),
    less: Elements = (),
    at_least: Elements = (),
    where: Elements = (),
    reservation: str = "",
    of: tuple[Industry, ...] = INDUSTRIES,
    but: tuple[Industry, ...] = (),
) -> Source:
    """A us-gaap source, of some industries or of all but some."""
    return Source(elements, why, plus, minus, less, at_least, where, reservation, US_GAAP, _without(of, but))


def ifrs(
    *elements: str,
    why: str,
    plus: Elements = (),
    at_least: Elements = (),
    of: tuple[Industry, ...] = INDUSTRIES,
    but: tuple[Industry, ...] = (),
) -> Source:
    """An ifrs-full source, of some industries or of all but some."""
    return Source(elements, why, plus, at_least=at_least, taxonomy=IFRS, industries=_without(of, but))


def _without(of: tuple[Industry, ...], but: tuple[Industry, ...]) -> tuple[Industry, ...]:
    return tuple(industry for industry in of if industry not in but)
