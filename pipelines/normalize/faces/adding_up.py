"""The lines of a section of a balance sheet with a known face: which lines are shown for a day, and which add up.

Belongs here: the choice between the calculation of the filing and the place of a line, and subtotals among the lines.
Does not: the section of a line (faces.sheets), the lines of a section of a filing without statements (balance.reading).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import polars as pl

from pipelines.normalize.faces.sheets import BELOW_TOTALS, CALCULATION, FROM_CASH, PLACE

Way = tuple[tuple[str, str | None], ...]
"""The lines of a section by one way, in their order: the name of the line and, for a line of some members, the name of
the line of the whole company."""

WAYS = (CALCULATION, PLACE, FROM_CASH)
"""The ways to find the lines of a section, the preferred one first."""


@dataclass(frozen=True, slots=True)
class FaceSection:
    """A section of a face.

    ways: its lines by each of WAYS, without ways that find the same lines.
    below: lines below all totals, which have no place in a section: one of them may be missing in this section.
    """

    ways: tuple[Way, ...] = ((),)
    below: tuple[str, ...] = ()


Face = Mapping[str, FaceSection]
"""The sections of a face."""

Stated = Mapping[str, tuple[float, int]]
"""The amounts that a filing states for a day: for each element the amount, and the row of the fact."""

FEWEST_UNITS, LARGE = 100, 1_000
"""Rounded lines may differ from a total of at least a hundred units by one unit a line, at most MOST_APART units. Lines
hardly ever add up to a sum of a thousand units by chance."""
MOST_APART = 5


def faces_of(facts: pl.DataFrame, faces: pl.DataFrame) -> dict[tuple[int, int], Face]:
    """The face of each filing, by `cik` and `seq`.

    Args:
        facts: typed facts in filing order.
        faces: the lines of the sections of faces (faces.facts.FACE_SCHEMA).
    """
    if not faces.height:
        return {}
    filings = facts.select("cik", "accession", "seq").unique(["cik", "accession"])
    rows = faces.join(filings, on=["cik", "accession"], maintain_order="left")
    found: dict[tuple[int, int], Face] = {}
    of_filing = rows.select("cik", "seq", "section", "way", "name", "whole").iter_rows()
    for key, of_one in groupby(of_filing, key=lambda row: row[:2]):
        sections: dict[str, dict[str, list[tuple[str, str | None]]]] = {}
        for _, _, section, way, name, whole in of_one:
            sections.setdefault(section, {}).setdefault(way, []).append((name, whole))
        found[key] = {
            section: FaceSection(ways, tuple(name for name, _ in lines.get(BELOW_TOTALS, ())))
            for section, lines in sections.items()
            if (ways := _ways_of(lines))
        }
    return found


def _ways_of(lines: Mapping[str, Sequence[tuple[str, str | None]]]) -> tuple[Way, ...]:
    """The different ways of a section, with each line once."""
    ways = (tuple(dict.fromkeys(lines[way])) for way in WAYS if way in lines)
    return tuple(dict.fromkeys(ways))


def face_lines(
    section: FaceSection, days: Mapping[int, Stated], totals: Mapping[int, float | None], unit: float
) -> tuple[dict[int, tuple[str, ...]], tuple[int, ...]]:
    """The lines that are shown for each day, and the days on which they add up to the total.

    The way is taken by which the lines of the newest day add up, or else the lines of most days. All days that add up
    have the same lines; a line without an amount on a day does not count for this day.

    Args:
        section: the section.
        days: the amounts that the filing states for each day, the newest first.
        totals: the total of the section on each day.
        unit: the power of ten to which the amounts are rounded.
    """
    best: tuple[tuple[bool, int], dict[int, tuple[str, ...]], tuple[int, ...]] | None = None
    newest = max(days)
    for choice in (choice for way in section.ways for choice in _choices(way)):
        every_line = {day: tuple(_stated_of(choice, stated)) for day, stated in days.items()}
        shown = {
            day: lines if totals[day] is None else _drop_subtotals(lines, days[day], unit)
            for day, lines in every_line.items()
        }
        found = {
            day: lines
            for day, stated in days.items()
            if (lines := _adding_up(every_line[day], section.below, stated, totals[day], unit)) is not None
            or (lines := _adding_up(shown[day], section.below, stated, totals[day], unit)) is not None
        }
        first = next(iter(found.values()), ())
        every = tuple(dict.fromkeys((*first, *(name for lines in found.values() for name in lines))))
        add_up = tuple(day for day, lines in found.items() if {*lines} == {name for name in every if name in days[day]})
        worth = newest in add_up, len(add_up)
        if best is None or worth > best[0]:
            best = worth, shown | found | dict.fromkeys(add_up, every), add_up
    assert best, "there is a way"
    return best[1], best[2]


def _choices(way: Way) -> Iterable[tuple[Way, bool]]:
    """A way with lines of members only where the line of the whole is not stated; if it has any, also with all."""
    yield way, False
    if any(whole for _, whole in way):
        yield way, True


def _stated_of(choice: tuple[Way, bool], stated: Stated) -> Iterable[str]:
    """The names of the lines for which a filing states an amount of a day."""
    way, has_members = choice
    for name, whole in way:
        if name in stated and (has_members or whole is None or whole not in stated):
            yield name


def _adding_up(
    lines: Sequence[str], below: Iterable[str], stated: Stated, total: float | None, unit: float
) -> tuple[str, ...] | None:
    """The lines that add up to a total, or None: all lines, all but a subtotal, or all and one line below the totals.

    A subtotal is the sum of the lines directly before or after it. A line below all totals counts if it is exactly the
    missing amount.
    """
    if total is None:
        return None
    amounts = [stated[name][0] for name in lines]
    apart = min(len(lines), MOST_APART) * unit if abs(total) >= FEWEST_UNITS * unit else 0.0
    more = sum(amounts) - total
    if abs(more) <= apart:
        return tuple(lines)
    for at, amount in enumerate(amounts):
        if abs(amount - more) <= apart and _is_sum(amounts, at, apart):
            return tuple(name for place, name in enumerate(lines) if place != at)
    lacking = [name for name in below if name in stated and name not in lines and stated[name][0] == -more]
    return (*lines, lacking[0]) if len(lacking) == 1 else None


def _drop_subtotals(lines: Sequence[str], stated: Stated, unit: float) -> tuple[str, ...]:
    """Drop lines that are exactly the sum of two or more lines directly before them."""
    kept: list[str] = []
    amounts: list[float] = []
    for name in lines:
        amount = stated[name][0]
        if abs(amount) < LARGE * unit or not _is_sum([*amounts, amount], len(amounts), 0.0):
            kept.append(name)
            amounts.append(amount)
    return tuple(kept)


def _is_sum(amounts: Sequence[float], at: int, apart: float) -> bool:
    """Whether an amount is the sum of two or more amounts directly before or after it."""
    before, after = amounts[:at][::-1], amounts[at + 1 :]
    return any(
        abs(sum(run[:number]) - amounts[at]) <= apart for run in (before, after) for number in range(2, len(run) + 1)
    )
