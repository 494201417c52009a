"""The likeliest lines of a section of a balance sheet that its totals do not prove.

Belongs here: which stated amounts are the same line, and which of them usually are lines. Does not: lines that add up
(reading), the classes of lines and which element includes which (elements.lines).
"""

from collections.abc import Iterable, Mapping

from pipelines.normalize.balance.solver import DIGITS, SAME
from pipelines.normalize.balance.totals import Day
from pipelines.normalize.elements.lines import BORROWING, LINES, TOTAL_ELEMENTS, Line

SHORT = 10
"""Amounts of fewer units have one digit and are often equal by chance."""


def likely_lines(
    section: str,
    day: int,
    days: Mapping[int, Day],
    decided: Mapping[str, bool],
    totals: Mapping[str, float],
    unit: float,
) -> tuple[str, ...]:
    """Find the likeliest lines of a section that its total does not prove, as elements; none of them is zero.

    A total is at least the sum of its parts. A smaller amount does not include them; if a total equals one of several
    parts, the others are separate lines. Elements with the same amount are one line, unless another column shows that
    they are two, or the amount has few digits. An element that was no line before is one if it is the only borrowing.

    Args:
        section: the section.
        day, days: the day of the balance sheet, and what the filing states for each day.
        decided: for each element, whether earlier balance sheets of the filer prove that it is a line or not.
        totals: the totals of the sections on the day.
        unit: the power of ten to which the amounts of the day are rounded.
    """
    table, stated = LINES[section], days[day]
    lines = [
        line
        for group in groups_of(section, [stated]).values()
        for line in (
            _lines_of(group, days.values(), table, is_short=abs(stated[group[0]][0]) < SHORT * unit)
            if len(group) > 1
            else [group]
        )
    ]
    first = {line[0] if len(line) == 1 else min(line, key=lambda one: table[one].rank): line for line in lines}
    below = {
        one
        for one in TOTAL_ELEMENTS.intersection(first)
        if not decided.get(one) and _is_below_part(one, first, stated, table)
    }
    candidates = {one: group for one, group in first.items() if one not in below}
    found: dict[str, bool] = {}
    borrowings: list[str] = []
    sums = {
        one: parts
        for one in TOTAL_ELEMENTS.intersection(candidates)
        if (parts := _parts(one, candidates, stated, table))
    }
    for element in sorted(candidates, key=lambda one: len(table[one].part_of)):
        known = next((decided[one] for one in candidates[element] if one in decided), None)
        is_borrowing, containers = table[element].kind == BORROWING, table[element].part_of
        is_likely = (
            (known is None or is_borrowing)
            and element not in sums
            and any(table[one].usual for one in candidates[element])
            and all(element in parts for total, parts in sums.items() if total in containers)
            and not (containers and _is_within(element, found, candidates, stated, table))
        )
        if is_likely and is_borrowing:
            borrowings.append(element)
        found[element] = is_likely if known is None else known
        if known:
            found |= dict.fromkeys((one for one in containers & found.keys() if one not in decided), False)
    likely = [element for element, is_line in found.items() if is_line]
    if borrowings and not any(table[element].kind == BORROWING for element in likely):
        likely += borrowings
    return (*likely, *_line_filling_the_remainder(stated, likely, found, totals.get(section), unit))


def _lines_of(
    group: list[str], columns: Iterable[Day], table: Mapping[str, Line], *, is_short: bool
) -> list[list[str]]:
    """Group elements with equal amounts into lines.

    Two elements may state the same line if one may include the other, or if they are equal in all columns and the
    amount is not so short (SHORT) that this may be chance.
    """

    def may_be_one(one: str, other: str) -> bool:
        are_equal = all(stated[one][0] == stated[other][0] for stated in columns if one in stated and other in stated)
        return (are_equal and not is_short) or other in table[one].part_of or one in table[other].part_of

    lines: list[list[str]] = []
    for one in group:
        same = next((line for line in lines if all(may_be_one(one, other) for other in line)), None)
        if same:
            same.append(one)
        else:
            lines.append([one])
    return lines


def _is_within(
    element: str,
    found: Mapping[str, bool],
    candidates: Mapping[str, list[str]],
    stated: Day,
    table: Mapping[str, Line],
) -> bool:
    """Whether one of the lines that were found includes an element."""
    containers, least = table[element].part_of, stated[element][0] * (1 - SAME)
    return any(
        is_line
        and not containers.isdisjoint(candidates[one])
        and stated[one][0] >= least
        and not _is_one_of_several(one, candidates, table)
        for one, is_line in found.items()
    )


def _parts(total: str, candidates: Mapping[str, list[str]], stated: Day, table: Mapping[str, Line]) -> list[str]:
    """The usual lines that a total includes, if two or more of them add up to it; else empty."""
    parts = [one for one in candidates if total in table[one].part_of and table[one].usual]
    names = {name for one in parts for name in candidates[one]}
    parts = [one for one in parts if table[one].part_of.isdisjoint(names - {*candidates[one]})]
    return parts if len(parts) > 1 and sum(stated[one][0] for one in parts) == stated[total][0] else []


def _is_below_part(total: str, candidates: Iterable[str], stated: Day, table: Mapping[str, Line]) -> bool:
    """Whether a total is less than a line that it would include, and so must be something else."""
    return any(
        total in table[one].part_of
        and table[one].usual
        and table[one].kind == table[total].kind
        and stated[one][0] * (1 - SAME) > stated[total][0]
        for one in candidates
    )


def _line_filling_the_remainder(
    stated: Day, lines: list[str], found: Mapping[str, bool], total: float | None, unit: float
) -> list[str]:
    """The element that exactly fills what the likeliest lines leave of the total, if only one does; else empty."""
    left = total - sum([stated[one][0] for one in lines]) if total is not None else 0.0
    if left < DIGITS * unit:
        return []
    filling = [one for one, is_line in found.items() if not is_line and stated[one][0] == left]
    return filling if len(filling) == 1 else []


def _is_one_of_several(total: str, candidates: Mapping[str, list[str]], table: Mapping[str, Line]) -> bool:
    """Whether a line of debt that may include others equals one of them, while more of them are stated.

    Some filers state under long-term debt only the non-current part, and the current part as another line.
    """
    has_parts = any(total in table[one].part_of for one in candidates)
    repeats = table[total].kind == BORROWING and any(one != total and table[one].usual for one in candidates[total])
    return repeats and has_parts


def groups_of(section: str, shown: list[Day]) -> dict[tuple[float, ...], list[str]]:
    """Group the elements of a section by their amounts in all columns: equal elements are one candidate."""
    table = LINES[section]
    groups: dict[tuple[float, ...], list[str]] = {}
    elements = sorted(set().union(*[table.keys() & stated.keys() for stated in shown]))
    columns = [[stated[element][0] if element in stated else 0.0 for element in elements] for stated in shown]
    for element, amounts in zip(elements, zip(*columns, strict=True), strict=True):
        if any(amounts):
            groups.setdefault(amounts, []).append(element)
    return groups
