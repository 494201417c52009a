"""Reads each balance sheet: finds the stated amounts that are its lines, as far as its totals prove it.

Belongs here: the days of a filing, and the lines of each section that add up. Does not: the arithmetic (solver), totals
(totals), lines without proof (likely), the classes of lines and what includes what (elements.lines), debt and cash.

The likeliest lines of a section are the lines of the filer's earlier balance sheets. An element on which these do not
decide is a likely line if it usually is a line and no other stated line includes it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain, compress, groupby, product
from math import gcd

import msgspec
import numpy as np
import polars as pl

from pipelines.normalize.balance.flows import Flows, flows
from pipelines.normalize.balance.likely import groups_of, likely_lines
from pipelines.normalize.balance.solver import (
    DIGITS,
    OTHER_DIGITS,
    finer_than_others,
    is_mistyped_or_in_other_units,
    rounded_by,
    solutions,
    unit_of,
)
from pipelines.normalize.balance.totals import (
    NOT_STATED,
    Day,
    Terms,
    amount_of,
    apart_from_both_sides,
    section_totals,
    sections_of,
)
from pipelines.normalize.elements.lines import (
    ASSETS,
    BORROWING,
    BOTH_SIDES,
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    ELEMENTS,
    FACE_PREFIX,
    IFRS_PREFIX,
    LINES,
    NET_ASSETS,
    NONCURRENT_LIABILITIES,
    SECTION_TOTALS,
    SECTIONS,
)
from pipelines.normalize.elements.sources import IFRS
from pipelines.normalize.faces.adding_up import Face, FaceSection, face_lines, faces_of
from pipelines.normalize.rule import Rule

TOTALS_OF_BALANCE_SHEETS = "ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet)"

REST_OF_TOTAL = Rule(
    "balance.proved.line-is-the-rest",
    "A line of debt or cash that is not stated is the total less the other lines, if the other column states it in a "
    "similar size, or an earlier filing states exactly what the others leave there.",
    f"{TOTALS_OF_BALANCE_SHEETS}; comparative balance sheets (Regulation S-X Rule 3-01, 10-01(c))",
    "compose",
)

Lines = tuple[tuple[str, ...], ...]
"""The lines of a section, each as the group of elements that state its amount."""

USUAL_SIZE = 2
"""A line that one column lacks is derived as the total less the other lines, if the result is at least half and at most
twice the amount in the other column; outside of these bounds it may be another line."""

_NO_FLOWS = Flows()

LEASES = "OperatingLeaseLiability"
PARTS_OF_LEASES = (
    (CURRENT_LIABILITIES, "OperatingLeaseLiabilityCurrent"),
    (NONCURRENT_LIABILITIES, "OperatingLeaseLiabilityNoncurrent"),
)
"""The elements of the current and the non-current part of operating leases; LEASES is the element of both together."""

SHOWS_A_BALANCE_SHEET = frozenset((*ASSETS, *BOTH_SIDES, NET_ASSETS))
"""Every balance sheet has one of these elements; other days of a filing have only single balances."""

OF_WHOLE_SHEETS = frozenset((*BOTH_SIDES, *(total for section in SECTIONS for total in SECTION_TOTALS[section])))
"""Totals that only balance sheets have: notes on segments have total assets alone."""


class Reading(msgspec.Struct, frozen=True, gc=False):
    """A section of a balance sheet whose lines add up to its total, in each of its columns.

    days: the columns, the filing's own day first; days since 1970.
    readings: the sets of lines that add up; usually one. Each line is the group of elements that state its amount.
    unit: the power of ten to which the amounts are rounded.
    """

    section: str
    days: tuple[int, ...]
    readings: tuple[Lines, ...]
    unit: float


class Filing(msgspec.Struct, frozen=True, gc=False):
    """The balance sheets of one filing, by day, and the sections that were read.

    unit: the power of ten to which all amounts of the filing are rounded. units: the same for the amounts of each day.
    finer: the one amount that is rounded much more finely than all others; None without one (solver.finer_than_others).
    days: the amounts of each day, the newest day first; also derived lines, with NOT_STATED as the row of the fact.
    days_without: the amounts of days without a balance sheet, such as cash at the end of a cash flow statement.
    earlier: for each day the amounts that earlier filings state for it.
    flows: for each day the flows of the periods that end on it.
    face: the sections of the face, with their lines; empty if the face is not known.
    face_sections: the sections whose lines the face shows. If it shows any of liabilities, it counts for all sections
        of liabilities, with or without lines.
    terms: for each day how the total of each section is computed (section_totals). totals: the amounts of the totals.
    derived_lines: for each day and element of a derived line, how it is computed.
    sections: the sections whose lines add up.
    unproved: the columns of each section whose lines do not add up on the filing's own day.
    before: for a section and day that do not add up, the lines that added up in the other column or previous filing.
    likely: for a section and day that do not add up, the likeliest lines.
    """

    cik: int
    seq: int
    unit: float
    units: Mapping[int, float]
    finer: float | None
    days: Mapping[int, Day]
    days_without: Mapping[int, Day]
    earlier: Mapping[int, Mapping[str, float]]
    flows: Mapping[int, Flows]
    terms: Mapping[int, Mapping[str, Terms]]
    totals: Mapping[int, Mapping[str, float]]
    face: Face
    face_sections: tuple[str, ...]
    derived_lines: dict[tuple[int, str], Terms] = {}
    sections: dict[str, Reading] = {}
    unproved: dict[str, list[int]] = {}
    before: dict[tuple[str, int], Lines] = {}
    likely: dict[tuple[str, int], tuple[str, ...]] = {}

    def likely_lines(self, section: str, day: int) -> tuple[str, ...]:
        """The likeliest lines of a section of a day, also if other lines add up."""
        if (section, day) not in self.likely:
            self.likely[section, day] = likely_lines(section, day, self.days, {}, self.totals[day], self.units[day])
        return self.likely[section, day]

    def facts(self, day: int, terms: Terms) -> tuple[tuple[int, float], ...]:
        """The rows of the facts from which amounts of a day are computed, each with its coefficient.

        A derived line consists of the total and the other lines; a fact that is both added and subtracted is left out.
        """
        found: dict[int, float] = {}
        for element, coefficient in terms:
            fact = self.days[day][element][1]
            stated = ((fact, 1.0),) if fact != NOT_STATED else self.facts(day, self.derived_lines[day, element])
            for row, times in stated:
                found[row] = found.get(row, 0.0) + coefficient * times
        return tuple((row, times) for row, times in found.items() if times)


def filings(facts: pl.DataFrame, faces: pl.DataFrame) -> Iterator[Filing]:
    """Read the balance sheets of each filing, in the order of filing.

    Args:
        facts: typed facts in filing order (facts.reports).
        faces: the lines of the sections of faces (faces.facts.FACE_SCHEMA).
    """
    of_flows, of_faces = flows(facts), faces_of(facts, faces)
    for cik, of_company in groupby(_stated(facts), key=lambda filing: filing[0]):
        filer = _Filer()
        for _, seq, days in of_company:
            newest_first = sorted(days, reverse=True)
            sheets = {day: days.pop(day) for day in newest_first if not SHOWS_A_BALANCE_SHEET.isdisjoint(days[day])}
            if sheets:
                of_sheets = {day: of_flows.get((cik, seq, day), _NO_FLOWS) for day in sheets}
                yield filer.filing(cik, seq, sheets, days, of_sheets, of_faces.get((cik, seq), {}))


def _stated(facts: pl.DataFrame) -> Iterator[tuple[int, int, dict[int, Day]]]:
    """The amounts of balance sheet elements that each filing states, by day."""
    is_instant = pl.col("start").is_null() & (pl.col("measure") == "money")
    name = (
        pl.when(pl.col("taxonomy") == IFRS, ~pl.col("tag").str.starts_with(FACE_PREFIX))
        .then(pl.concat_str(pl.lit(IFRS_PREFIX), "tag"))
        .otherwise("tag")
    )
    of_days = (
        facts.select("cik", "seq", "value", "start", "measure", "taxonomy", "tag", "end")
        .with_row_index("fact")
        .filter(is_instant)
        .select("cik", "seq", "value", "fact", tag=name, day=pl.col("end").to_physical())
        .filter(pl.col("tag").is_in(ELEMENTS))
        .group_by("cik", "seq", "day", maintain_order=True)
        .agg("tag", "value", "fact")
        .sort("cik", "seq", maintain_order=True)
    )
    for (cik, seq), of_filing in groupby(of_days.iter_rows(), key=lambda row: row[:2]):
        days: dict[int, Day] = {}
        for *_, day, tags, amounts, rows in of_filing:
            days[day] = _of_one_taxonomy(dict(zip(tags, zip(amounts, rows, strict=True), strict=True)))
        yield cik, seq, days


def _of_one_taxonomy(stated: Day) -> Day:
    """Keep only IFRS elements if total assets are stated under IFRS alone; a few filers use US GAAP in the notes."""
    if ASSETS[1] not in stated or ASSETS[0] in stated:
        return stated
    return {name: one for name, one in stated.items() if name.startswith((IFRS_PREFIX, FACE_PREFIX))}


def _face_sections(face: Face) -> tuple[str, ...]:
    of_liabilities = any(section in face for section in SECTIONS[1:])
    return tuple(section for section in SECTIONS if section in face or (section != CURRENT_ASSETS and of_liabilities))


def _units(days: Mapping[int, Day]) -> tuple[float, dict[int, float], float | None]:
    """The fields `unit`, `units` and `finer` of a filing."""
    divisors = {day: gcd(*[int(amount) for amount, _ in stated.values()]) for day, stated in days.items()}
    unit = unit_of(divisors.values())
    amounts = {amount for stated in days.values() for amount, _ in stated.values()}
    return unit, {day: unit_of([divisor]) for day, divisor in divisors.items()}, finer_than_others(amounts, unit)


class _Filer:
    """Reads the balance sheets of one filer in order, and keeps what the earlier ones show.

    decided: for each section, whether each element is a line.
    lines: for each section, its lines when it last added up. before: the same, of the previous filing only.
    stated: for each day, the amounts that filings state.
    """

    def __init__(self) -> None:
        self.decided: dict[str, dict[str, bool]] = {section: {} for section in SECTIONS}
        self.lines: dict[str, Lines] = {}
        self.before: dict[str, Lines] = {}
        self.stated: dict[int, dict[str, float]] = {}

    def filing(
        self,
        cik: int,
        seq: int,
        days: dict[int, Day],
        others: Mapping[int, Day],
        of_flows: Mapping[int, Flows],
        face: Face,
    ) -> Filing:
        """Read the balance sheets of the next filing; the arguments are fields of Filing (`others`: days_without)."""
        earlier = {day: self.stated.get(day, {}) for day in days}
        if not face:
            _name_leases(days, earlier)
        for day, of_day in days.items():
            self.stated[day] = earlier[day] | {element: amount for element, (amount, _) in of_day.items()}
        terms = {day: section_totals(of_day) for day, of_day in days.items()}
        filing = Filing(
            cik,
            seq,
            *_units(days),
            days,
            others,
            earlier,
            of_flows,
            terms,
            totals={day: {section: amount_of(each, days[day]) for section, each in terms[day].items()} for day in days},
            face=face,
            face_sections=_face_sections(face),
        )
        before, self.before = self.before, {}
        for section in SECTIONS:
            self._read(filing, section, before.get(section, ()))
        self._choose_likely_lines(filing)
        return filing

    def _choose_likely_lines(self, filing: Filing) -> None:
        """Choose the likeliest lines of each section and day whose lines do not add up."""
        proved = {(section, day) for section, read in filing.sections.items() for day in read.days}
        filing.likely.update(
            (
                (section, day),
                likely_lines(section, day, filing.days, self.decided[section], filing.totals[day], filing.units[day]),
            )
            for day, of_day in filing.days.items()
            for section in sections_of(of_day)
            if (section, day) not in proved and (section, day) not in filing.likely
        )

    def _read(self, filing: Filing, section: str, before: Lines) -> None:
        """Read a section, and record in the filing what was read and the columns that do not add up.

        Args:
            before: the lines of the section in the previous filing.
        """
        columns, own = [day for day in filing.days if section in filing.totals[day]][:2], max(filing.days)
        of_face = section in filing.face_sections
        if not of_face and own not in columns:
            return
        found = self._found(filing, section, columns)
        if found:
            filing.sections[section] = found
        unproved = [day for day in columns if not found or day not in found.days]
        if own in unproved:
            filing.unproved[section] = columns
        before = self.before.get(section, before)
        if before and (found or not of_face):
            filing.before.update({(section, day): before for day in unproved})

    def _found(self, filing: Filing, section: str, columns: list[int]) -> Reading | None:
        """The lines of the face, if it is known; otherwise the lines that add up to the total, also with a derived one.

        None if no lines add up.
        """
        of_face = section in filing.face_sections
        found = read_face(filing, section) if of_face else _read(filing, section, columns, self.decided[section])
        if found and len(found.readings) == 1:
            self.lines[section] = self.before[section] = found.readings[0]
        is_open = len(columns) > 1 and (not found or max(filing.days) not in found.days)
        if of_face or not REST_OF_TOTAL.where(is_open):
            return found
        return self._with_derived_line(filing, section, *columns) or found

    def _with_derived_line(self, filing: Filing, section: str, own: int, other: int) -> Reading | None:
        """Read a section with one line that is not stated, and derive it as the total less the others; else None.

        The missing line is the one that the filer's last section that added up has and this one does not. The other
        column must add up with it: either it states the line, and the derived amount has the usual size; or it does not
        state the line, and its other lines leave exactly the amount that an earlier filing stated for that day. Several
        borrowings count as one line.
        """
        stated, of_other = filing.days[own], filing.days[other]
        last = tuple(
            tuple(sorted(group, key=lambda one: (one not in stated, one not in of_other)))
            for group in self.lines.get(section, ())
        )
        lines, missing = stated_lines(last, stated)
        if not _lacks_one_line(section, stated, of_other, lines, missing):
            return None
        totals = filing.totals[own][section], filing.totals[other][section]
        left = totals[0] - sum(stated[line][0] for line in lines)
        left_of_other = totals[1] - sum(of_other[line][0] for line in lines if line in of_other)
        unit = unit_of([*(stated[line][0] for line in lines), *totals])
        is_shown = not stated_lines(missing, of_other)[1]
        amounts = {name: amount for name, (amount, _) in of_other.items()} if is_shown else filing.earlier[other]
        known = _missing_amount(missing, amounts)
        if not known or abs(left_of_other - known) > rounded_by(totals[1], unit) or left <= unit:
            return None
        is_usual = not is_shown or known / USUAL_SIZE <= left <= known * USUAL_SIZE
        if not is_usual or any(_may_be_wrong(stated[line][0], left, unit, of_other.get(line)) for line in lines):
            return None
        for day in (own, other):
            _add_derived_line(filing, section, day, lines, missing)
        return Reading(section, (own, other), (last,), unit)


def _missing_amount(missing: Lines, amounts: Mapping[str, float]) -> float:
    """The sum of lines; zero if one of them is not stated."""
    lines, unknown = stated_lines(missing, amounts)
    return 0.0 if unknown else sum(amounts[line] for line in lines)


def _lacks_one_line(section: str, stated: Day, of_other: Day, lines: tuple[str, ...], missing: Lines) -> bool:
    """Whether one line of a section is missing on the filing's own day, no line is new, and its sides are no other.

    Args:
        of_other: the amounts of the other column.
        lines, missing: the lines of the filer's last section that added up, as far as they are stated, and the others.
    """
    table = LINES[section]
    is_one = len(missing) == 1 or {table[group[0]].kind for group in missing} == {BORROWING}
    new = (
        table[name].usual and table[name].part_of.isdisjoint(lines)
        for name in (stated.keys() & table.keys()) - {*of_other, *lines}
        if stated[name][0]
    )
    is_apart = bool(apart_from_both_sides(stated)) and not apart_from_both_sides(of_other)
    return is_one and not any(new) and not is_apart


def _add_derived_line(filing: Filing, section: str, day: int, lines: Iterable[str], missing: Lines) -> None:
    """Add a missing line to a column, as the total less the stated lines; does nothing if no line is missing."""
    stated = filing.days[day]
    shown, lacking = stated_lines(missing, stated)
    if lacking:
        rest = lacking[0][0]
        others = tuple((line, -1.0) for line in (*lines, *shown) if line in stated)
        filing.derived_lines[day, rest] = *filing.terms[day][section], *others
        stated[rest] = amount_of(filing.derived_lines[day, rest], stated), NOT_STATED


def _name_leases(days: Mapping[int, Day], earlier: Mapping[int, Mapping[str, float]]) -> None:
    """Give operating leases that are tagged as borrowings the elements of leases, in all columns of a filing.

    Amounts are leases if a current and a non-current one add up to the total of operating leases, as this or an earlier
    filing states it.
    """
    for day, stated in days.items():
        leases = stated[LEASES][0] if LEASES in stated else earlier[day].get(LEASES, 0.0)
        if not leases:
            continue
        pairs = product(*(_may_be_leases(stated, *of_section) for of_section in PARTS_OF_LEASES))
        found = next((pair for pair in pairs if sum(stated[name][0] for name in pair) == leases), ())
        named = [(name, lease) for name, (_, lease) in zip(found, PARTS_OF_LEASES, strict=False) if name != lease]
        for column, (name, lease) in product(days.values(), named):
            if name in column and lease not in column:
                column[lease] = column.pop(name)


def _may_be_leases(stated: Day, section: str, lease: str) -> list[str]:
    """The lease element of a section if it is stated, else the section's borrowings, which may be tagged wrongly."""
    borrowings = [name for name in stated if name in LINES[section] and LINES[section][name].kind == BORROWING]
    return [lease] if lease in stated else [name for name in borrowings if stated[name][0]]


def stated_lines(lines: Lines, stated: Container[str]) -> tuple[tuple[str, ...], Lines]:
    """Find the stated element of each line, and the lines without a stated element."""
    found = [next((element for element in group if element in stated), None) for group in lines]
    missing = tuple(group for group, line in zip(lines, found, strict=True) if line is None)
    return tuple(line for line in found if line is not None), missing


def _may_be_wrong(line: float, difference: float, unit: float, of_other: tuple[float, int] | None) -> bool:
    """Whether the difference between a total and its lines may be the error of one line.

    It may if the line is negative, mistyped or in other units, or repeats the amount of the other column.
    """
    repeats = of_other is not None and of_other[0] == line >= DIGITS * unit
    return line < 0 or repeats or is_mistyped_or_in_other_units(line, difference, unit, OTHER_DIGITS)


def is_balance_sheet(filing: Filing, day: int) -> bool:
    """Whether a day has a balance sheet, and not only total assets in a note, such as a note on segments."""
    own = max(filing.days)
    return (
        day == own or OF_WHOLE_SHEETS.isdisjoint(filing.days[own]) or not OF_WHOLE_SHEETS.isdisjoint(filing.days[day])
    )


def read_face(filing: Filing, section: str) -> Reading | None:
    """Read a section from the face, for the columns in which its lines add up; None if they do not add up in any.

    In a column where they do not add up, they become the likely lines.
    """
    totals = {day: filing.totals[day].get(section) for day in filing.days}
    shown, days = face_lines(filing.face.get(section, FaceSection()), filing.days, totals, filing.unit)
    filing.likely.update(
        ((section, day), tuple(name for name in lines if filing.days[day][name][0]))
        for day, lines in shown.items()
        if day not in days
    )
    return Reading(section, days, (tuple((name,) for name in shown[days[0]]),), filing.unit) if days else None


def _read(filing: Filing, section: str, columns: list[int], decided: dict[str, bool]) -> Reading | None:
    """Find the lines of a section that add up in both columns, or else in one of them; None if no lines do.

    `decided` says for each element whether earlier balance sheets prove it to be a line; it is updated with this one.
    """
    for days in (columns, columns[:1], columns[1:]) if len(columns) > 1 else (columns,):
        totals = [filing.totals[day][section] for day in days]
        amounts = groups_of(section, [filing.days[day] for day in days])
        unit = unit_of(chain(totals, *amounts))
        found, groups = _solved(section, amounts, totals, unit, decided)
        if len(found) == 1:
            decided |= {group[0]: is_line for group, is_line in zip(groups, found[0], strict=True)}
        if found:
            return Reading(section, tuple(days), tuple(tuple(compress(groups, one)) for one in found), unit)
    return None


def _solved(
    section: str,
    groups: Mapping[tuple[float, ...], list[str]],
    totals: list[float],
    unit: float,
    decided: Mapping[str, bool],
) -> tuple[list[list[bool]], Lines]:
    """The sets of groups that add up to the totals, and the groups, each with its likeliest element first.

    Both are empty if no set adds up.
    """
    elements = [element for group in groups.values() for element in group]
    attempts: list[tuple[list[bool], set[str]]] = []
    for known in (decided, {}) if decided else (decided,):  # try the likeliest lines before any search
        lines = _likeliest(section, elements, known)
        if attempts and lines == attempts[0][1]:
            break
        is_line = [not lines.isdisjoint(group) for group in groups.values()]
        if _add_up(list(compress(groups, is_line)), totals, unit):
            return [is_line], _likeliest_first(groups, lines)
        attempts.append((is_line, lines))
    if not groups or len(totals) < 2:
        return [], ()
    likeliest, lines = attempts[0]
    found = solutions(np.array(list(groups)).T, np.array(likeliest), np.array(totals), unit)
    return found, _likeliest_first(groups, lines) if found else ()


def _add_up(amounts: list[tuple[float, ...]], totals: list[float], unit: float) -> bool:
    """Whether the amounts of lines add up to the total in each column."""
    return all(
        abs(total - sum([of_line[column] for of_line in amounts])) <= rounded_by(total, unit)
        for column, total in enumerate(totals)
    )


def _likeliest_first(groups: Mapping[tuple[float, ...], list[str]], lines: set[str]) -> Lines:
    """The groups, with the elements of each that are likely lines before the others."""
    return tuple(tuple(sorted(group, key=lambda one: one not in lines)) for group in groups.values())


def _likeliest(section: str, elements: Iterable[str], decided: Mapping[str, bool]) -> set[str]:
    """Choose from the stated elements the likeliest lines of a section."""
    table = LINES[section]
    found: set[str] = set()
    # decide on an element after the elements that include it
    for element in sorted(elements, key=lambda one: len(table[one].part_of)):
        line = table[element]
        if decided.get(element, line.usual and found.isdisjoint(line.part_of)):
            found.add(element)
    return found
