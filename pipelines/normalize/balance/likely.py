"""The likeliest lines of a section of a balance sheet that its totals do not prove.

Belongs here: which stated amounts are the same line, and which of them usually are lines. Does not: lines that add up
(reading), the classes of lines and which element includes which (elements.lines).
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

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
    """Choose the elements that are most likely the lines of a section, if no set of elements provably adds up to it.

    - Elements with the same amount are one line if one may include the other, or if they are equal in all columns and
      the amount has more than one digit.
    - A total that is less than one of its parts does not include it, and is left out.
    - A total that equals the sum of several parts is no line; the parts are. A total of borrowings that
      equals one of several parts does not include the others.
    - What earlier balance sheets of the filer prove decides first; but a borrowing that was no line before is one if
      the section has no other.
    - An element that exactly equals the remainder of the section's total is added.

    Args:
        section: the section.
        day, days: the day of the balance sheet, and what the filing states for each day.
        decided: for each element, whether earlier balance sheets of the filer prove that it is a line or not.
        totals: the totals of the sections on the day.
        unit: the power of ten to which the amounts of the day are rounded.

    Returns:
        one element for each line that is not zero.
    """
    table, stated = LINES[section], days[day]
    candidates = _candidates(section, day, days, decided, unit)
    if not candidates:
        return ()
    found, borrowings = _chosen(candidates, decided, stated, table)
    likely = [element for element, is_line in found.items() if is_line]
    if not any(table[element].kind == BORROWING for element in likely):
        likely += borrowings
    return (*likely, *_line_equal_to_remainder(stated, likely, found, totals.get(section), unit))


def _candidates(
    section: str, day: int, days: Mapping[int, Day], decided: Mapping[str, bool], unit: float
) -> dict[str, list[str]]:
    """The possible lines by their main element, each with all elements that state it.

    Totals that are less than one of their parts are left out.
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
    first = {min(line, key=lambda one: table[one].rank) if len(line) > 1 else line[0]: line for line in lines}
    totals = (one for one in TOTAL_ELEMENTS.intersection(first) if not decided.get(one))
    below = {one for one in totals if _is_below_part(one, first, stated, table)}
    return {one: line for one, line in first.items() if one not in below}


def _chosen(
    candidates: Mapping[str, list[str]], decided: Mapping[str, bool], stated: Day, table: Mapping[str, Line]
) -> tuple[dict[str, bool], list[str]]:
    """Decide for each possible line whether it is likely one.

    Returns:
        the decision by element, and the likely borrowings, including borrowings that were no lines before.
    """
    found: dict[str, bool] = {}
    borrowings: list[str] = []
    totals = TOTAL_ELEMENTS.intersection(candidates)
    sums = {one: parts for one in totals if (parts := _parts(one, candidates, stated, table))}
    # decide on an element after the elements that include it
    for element in sorted(candidates, key=lambda one: len(table[one].part_of)):
        known = next((decided[one] for one in candidates[element] if one in decided), None)
        is_borrowing = table[element].kind == BORROWING
        is_likely = (known is None or is_borrowing) and _is_likely(element, found, candidates, sums, stated, table)
        if is_likely and is_borrowing:
            borrowings.append(element)
        found[element] = is_likely if known is None else known
        if known:
            found |= dict.fromkeys(table[element].part_of.intersection(found).difference(decided), False)
    return found, borrowings


def _is_likely(
    element: str,
    found: Mapping[str, bool],
    candidates: Mapping[str, list[str]],
    sums: Mapping[str, list[str]],
    stated: Day,
    table: Mapping[str, Line],
) -> bool:
    """Whether an element is likely a line: it usually is one, is no sum of others, and no other line includes it.

    Args:
        sums: the totals that are the sum of several parts, each with these parts.
    """
    containers = table[element].part_of
    return (
        element not in sums
        and any(table[one].usual for one in candidates[element])
        and all(element in parts for total, parts in sums.items() if total in containers)
        and not (containers and _is_within(element, found, candidates, stated, table))
    )


def _lines_of(
    group: list[str], columns: Collection[Day], table: Mapping[str, Line], *, is_short: bool
) -> list[list[str]]:
    """Group elements with equal amounts into lines."""
    lines = [[group[0]]]
    for one in group[1:]:
        of_line = (
            line for line in lines if all(_may_be_one(one, other, columns, table, is_short=is_short) for other in line)
        )
        same = next(of_line, None)
        if same:
            same.append(one)
        else:
            lines.append([one])
    return lines


def _may_be_one(one: str, other: str, columns: Iterable[Day], table: Mapping[str, Line], *, is_short: bool) -> bool:
    """Whether two elements with the same amount may state the same line.

    They may if one may include the other, or if they are equal in all columns and the amount is not so short (SHORT)
    that this may be chance.
    """
    are_equal = all(stated[one][0] == stated[other][0] for stated in columns if one in stated and other in stated)
    return (are_equal and not is_short) or other in table[one].part_of or one in table[other].part_of


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
    names = {*chain.from_iterable(candidates[one] for one in parts)}
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


def _line_equal_to_remainder(
    stated: Day, lines: list[str], found: Mapping[str, bool], total: float | None, unit: float
) -> list[str]:
    """The one element that equals the total less the likeliest lines; empty if no element or several do."""
    remainder = total - sum([stated[one][0] for one in lines]) if total is not None else 0.0
    if remainder < DIGITS * unit:
        return []
    equal = [one for one, is_line in found.items() if not is_line and stated[one][0] == remainder]
    return equal if len(equal) == 1 else []


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
