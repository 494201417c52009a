"""The lines of a section of a balance sheet whose face is known: which of them are shown for a day, and add up.

Belongs here: the choice between the calculation of the filing and the place of a line, and subtotals among the lines.
Does not: the section of a line (faces.sheets), the reading of sections without a face (reading).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import polars as pl

from pipelines.normalize.balance.solver import DIGITS
from pipelines.normalize.balance.totals import Day

Way = tuple[tuple[str, str | None], ...]
"""The lines of a section by one way, in their order: the name, and of a line of some members that of all of them."""
Face = Mapping[str, tuple[Way, ...]]
"""The sections of a face, each with its lines by either way."""

FEWEST_UNITS = DIGITS / 10
"""Lines that are rounded may be apart from a total of a hundred units or more by one unit a line, five at most."""
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
            section: tuple(dict.fromkeys(tuple(dict.fromkeys(lines)) for lines in ways.values()))
            for section, ways in sections.items()
        }
    return found


def face_lines(
    ways: Sequence[Way], columns: Sequence[Day], totals: Sequence[float | None], unit: float
) -> tuple[list[tuple[str, ...]], list[bool]]:
    """The lines that each column shows, and whether they add up to its total, by the way by which most columns do.

    Args:
        ways: the lines of the section, in their order.
        columns: what the filing states for each day, its own day first.
        totals: of the section, of each column.
        unit: the power of ten to which the amounts are rounded.
    """
    best: tuple[list[tuple[str, ...]], list[bool]] | None = None
    for lines in (choice for way in ways for choice in _choices(way)):
        shown = [tuple(lines_of(lines, stated)) for stated in columns]
        found = [_adding_up(one, stated, total, unit) for one, stated, total in zip(shown, columns, totals, strict=True)]
        result = [of_day if of_day is not None else one for of_day, one in zip(found, shown, strict=True)], [
            of_day is not None for of_day in found
        ]
        if best is None or (result[1][0], sum(result[1])) > (best[1][0], sum(best[1])):
            best = result
    assert best, "a section has lines"
    return best


def _choices(way: Way) -> Iterable[tuple[Way, bool]]:
    """Lines of some members only where the line of all of them is not stated; or besides it."""
    yield way, False
    if any(whole for _, whole in way):
        yield way, True


def lines_of(choice: tuple[Way, bool], stated: Day) -> Iterable[str]:
    """The names of the lines that a column states."""
    way, has_members = choice
    for name, whole in way:
        if name in stated and (has_members or whole is None or whole not in stated):
            yield name


def _adding_up(lines: Sequence[str], stated: Day, total: float | None, unit: float) -> tuple[str, ...] | None:
    """The lines that add up to a total: all, or without one that is the sum of those before or after it."""
    if total is None or not lines:
        return None
    amounts = [stated[name][0] for name in lines]
    apart = min(len(lines), MOST_APART) * unit if abs(total) >= FEWEST_UNITS * unit else 0.0
    more = sum(amounts) - total
    if abs(more) <= apart:
        return tuple(lines)
    for at, amount in enumerate(amounts):
        if abs(amount - more) <= apart and _is_sum(amounts, at, apart):
            return tuple(name for place, name in enumerate(lines) if place != at)
    return None


def _is_sum(amounts: Sequence[float], at: int, apart: float) -> bool:
    """Whether an amount is the sum of two or more amounts directly before or after it."""
    before, after = amounts[:at][::-1], amounts[at + 1 :]
    return any(
        abs(sum(run[:number]) - amounts[at]) <= apart for run in (before, after) for number in range(2, len(run) + 1)
    )
