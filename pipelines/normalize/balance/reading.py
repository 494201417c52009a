"""The reading of each balance sheet: which of the stated amounts are its lines, as far as its totals prove it.

Belongs here: the days and totals of a filing, the likeliest lines of a section, and those that add up. Does not: the
arithmetic (solver), the classes of lines and what includes what (elements.lines), debt and cash (proved).

The likeliest lines of a section are those of the filer's balance sheets before; of elements that these do not decide,
those that usually are lines and that no other stated line includes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np
import polars as pl

from pipelines.normalize.arrays import ints
from pipelines.normalize.balance.solver import rounded_by, solutions
from pipelines.normalize.elements.lines import (
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    ELEMENTS,
    INTEREST,
    INTEREST_ON_DEPOSITS,
    LIABILITIES,
    LINES,
    NONCURRENT_LIABILITIES,
    SECTIONS,
    TEMPORARY_EQUITY,
)
from pipelines.normalize.elements.sources import US_GAAP

Day = dict[str, tuple[float, int]]
"""What a filing states for a day: for each element the amount, in units of the currency, and the row of the fact."""

SHOWS_A_BALANCE_SHEET = frozenset(("Assets", "LiabilitiesAndStockholdersEquity"))
"""Elements of which every balance sheet has one; other days of a filing have single balances."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A section of a balance sheet whose lines add up to its total, in each of its columns.

    days: the columns, the filing's own day first; days since 1970.
    totals: the total of each column.
    readings: the sets of lines that add up; usually one. Each line is the group of elements that state its amount.
    """

    section: str
    days: tuple[int, ...]
    totals: tuple[float, ...]
    readings: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Filing:
    """The balance sheets of one filing, by day, and the sections that were read.

    sections: those whose lines add up. open: the others, with their likeliest lines, which do not add up.
    pays_interest_on_deposits_only: whether interest on deposits is all interest, by the last day of a period.
    """

    cik: int
    seq: int
    days: Mapping[int, Day]
    sections: Mapping[str, Reading]
    open: Mapping[str, Reading]
    pays_interest_on_deposits_only: Mapping[int, bool]


def filings(facts: pl.DataFrame) -> Iterator[Filing]:
    """The balance sheets of each filing, read in the order of filing.

    Args:
        facts: typed facts in filing order (facts.order): `cik`, `seq`, `taxonomy`, `tag`, `start`, `end`, `measure`,
            `value`.
    """
    decided: dict[str, dict[str, bool]] = {}
    of_company = None
    interest = _interest(facts)
    for cik, seq, days in _stated(facts):
        if cik != of_company:
            of_company, decided = cik, {section: {} for section in SECTIONS}
        shown = sorted(
            (day for day, stated in days.items() if not stated.keys().isdisjoint(SHOWS_A_BALANCE_SHEET)), reverse=True
        )
        if not shown:
            continue
        totals = {day: section_totals(days[day]) for day in shown}
        sections: dict[str, Reading] = {}
        without_proof: dict[str, Reading] = {}
        for section in SECTIONS:
            columns = [day for day in shown if section in totals[day]][:2]
            if columns and columns[0] == shown[0]:
                adds_up, found = _read(section, columns, days, totals, decided[section])
                (sections if adds_up else without_proof)[section] = found
        of_days = {day: days[day] for day in shown}
        yield Filing(cik, seq, of_days, sections, without_proof, interest.get((cik, seq), {}))


def _stated(facts: pl.DataFrame) -> Iterator[tuple[int, int, dict[int, Day]]]:
    """What each filing states for each day, of the elements of balance sheets."""
    is_line = (
        pl.col("start").is_null()
        & (pl.col("measure") == "money")
        & (pl.col("taxonomy") == US_GAAP)
        & pl.col("tag").is_in(ELEMENTS)
    )
    rows = (
        facts.select("cik", "seq", "tag", "value", "start", "measure", "taxonomy", day=pl.col("end").to_physical())
        .with_row_index("fact")
        .filter(is_line)
        .select("cik", "seq", "day", "tag", "value", "fact")
        .sort("cik", "seq", maintain_order=True)
    )
    begins = np.flatnonzero(np.diff((ints(rows, "cik") << 20) | ints(rows, "seq"), prepend=-1)).tolist()
    columns = [rows[name].to_list() for name in ("cik", "seq", "day", "tag", "value", "fact")]
    for first, last in pairwise([*begins, len(rows)]):
        days: dict[int, Day] = {}
        for day, tag, value, fact in zip(*(column[first:last] for column in columns[2:]), strict=True):
            days.setdefault(day, {})[tag] = (value, fact)
        yield columns[0][first], columns[1][first], days


def _interest(facts: pl.DataFrame) -> dict[tuple[int, int], dict[int, bool]]:
    """Whether interest on deposits is all interest expense: for each filing with it, the last day of each period."""
    names = (INTEREST_ON_DEPOSITS, *dict.fromkeys(name for names in INTEREST for name in names))
    stated = facts.filter(pl.col("start").is_not_null() & pl.col("tag").is_in(names) & (pl.col("taxonomy") == US_GAAP))
    amounts = stated.pivot("tag", index=["cik", "seq", "start", "end"], values="value", aggregate_function="last")
    missing = [name for name in names if name not in amounts.columns]
    amounts = amounts.with_columns(pl.lit(None, pl.Float64).alias(name) for name in missing)
    on_deposits = pl.col(INTEREST_ON_DEPOSITS)
    found: dict[tuple[int, int], dict[int, bool]] = {}
    is_all = pl.any_horizontal(
        pl.sum_horizontal(first, *(-pl.col(name) for name in others), ignore_nulls=False) == on_deposits
        for first, *others in INTEREST
    )
    rows = amounts.drop_nulls(INTEREST_ON_DEPOSITS).select("cik", "seq", pl.col("end").to_physical(), is_all)
    for cik, seq, day, holds in rows.iter_rows():
        of_filing = found.setdefault((cik, seq), {})
        of_filing[day] = bool(holds) and of_filing.get(day, True)
    return found


def section_totals(stated: Day) -> dict[str, float]:
    """The total of each section that a balance sheet has.

    Liabilities are liabilities and equity less all equity where they have no total of their own; a balance sheet
    without total current liabilities is not classified.

    Source: ASC 210-10-45-1, 210-10-45-5 (totals of a balance sheet); us-gaap:Liabilities.
    """

    def amount(*elements: str) -> float | None:
        return next((stated[element][0] for element in elements if element in stated), None)

    totals = {CURRENT_ASSETS: amount("AssetsCurrent"), CURRENT_LIABILITIES: amount("LiabilitiesCurrent")}
    total = amount("Liabilities")
    both = amount("LiabilitiesAndStockholdersEquity")
    if total is None and both is not None:
        equity = amount("StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest")
        of_parent = amount("StockholdersEquity")
        if equity is None and of_parent is not None:
            equity = of_parent + (amount("MinorityInterest") or 0)
        if equity is not None:
            temporary = amount(*TEMPORARY_EQUITY) or 0
            redeemable = amount("RedeemableNoncontrollingInterestEquityCarryingAmount") or 0
            total = both - equity - temporary - (redeemable if redeemable != temporary else 0)
    current = totals[CURRENT_LIABILITIES]
    if current is None:
        totals[LIABILITIES] = total
    else:
        totals[NONCURRENT_LIABILITIES] = amount("LiabilitiesNoncurrent") if total is None else total - current
    return {section: total for section, total in totals.items() if total is not None}


def _read(
    section: str,
    columns: list[int],
    days: Mapping[int, Day],
    totals: Mapping[int, dict[str, float]],
    decided: dict[str, bool],
) -> tuple[bool, Reading]:
    """Whether the lines of a section add up, and the reading.

    It has the lines that add up in both columns, or else on the filing's own day alone; if none do, the likeliest ones.
    `decided` is what the filer's balance sheets before decided for each element, and takes in this one.
    """
    without_proof = []
    for shown in (columns, columns[:1]) if len(columns) > 1 else (columns,):
        of_section = [totals[day][section] for day in shown]
        found, likeliest, groups = _solved(section, _groups(section, [days[day] for day in shown]), of_section, decided)
        if len(found) == 1:
            decided |= {group[0]: is_line for group, is_line in zip(groups, found[0], strict=True)}
        readings = tuple(tuple(compress(groups, one)) for one in found or [likeliest])
        reading = Reading(section, tuple(shown), tuple(of_section), readings)
        if found:
            return True, reading
        without_proof.append(reading)
    return False, without_proof[0]


def _groups(section: str, shown: list[Day]) -> dict[tuple[float, ...], list[str]]:
    """The elements of a section by their amounts in all columns: elements with equal amounts are one candidate."""
    table = LINES[section]
    groups: dict[tuple[float, ...], list[str]] = {}
    for element in sorted({element for stated in shown for element in stated if element in table}):
        amounts = tuple([stated[element][0] if element in stated else 0.0 for stated in shown])
        if any(amounts):
            groups.setdefault(amounts, []).append(element)
    return groups


def _solved(
    section: str,
    groups: Mapping[tuple[float, ...], list[str]],
    totals: list[float],
    decided: Mapping[str, bool],
) -> tuple[list[list[bool]], list[bool], list[tuple[str, ...]]]:
    """The sets of groups that add up, the likeliest set, and the groups, each with its likeliest element first."""
    unit = _unit(groups, totals)
    rounding = [rounded_by(total, unit) for total in totals]
    places = range(len(totals))
    elements = [element for group in groups.values() for element in group]
    attempts = []
    for known in (decided, {}) if decided else (decided,):  # what needs no search is tried first
        lines = _likeliest(section, elements, known)
        again = [tuple(sorted(group, key=lambda one: one not in lines)) for group in groups.values()]
        is_line = [group[0] in lines for group in again]
        sums = (sum([amounts[place] for amounts in compress(groups, is_line)]) for place in places)
        if all(abs(totals[place] - one) <= rounding[place] for place, one in enumerate(sums)):
            return [is_line], is_line, again
        attempts.append((is_line, again))
    likeliest, again = attempts[0]
    most = (sum([amounts[place] for amounts in groups if amounts[place] > 0]) for place in places)
    if any(total > one + within for total, one, within in zip(totals, most, rounding, strict=True)):
        return [], likeliest, again
    return solutions(np.array(list(groups)).T, np.array(likeliest), np.array(totals), unit), likeliest, again


def _likeliest(section: str, elements: Iterable[str], decided: Mapping[str, bool]) -> set[str]:
    """The elements that are likeliest the lines of a section, of those that are stated."""
    table = LINES[section]
    found: dict[str, bool] = {}
    # an element is decided after those that include it
    for element in sorted(elements, key=lambda one: len(table[one].part_of)):
        line = table[element]
        found[element] = decided.get(element, line.usual and not any(found.get(total, False) for total in line.part_of))
    return {element for element, is_line in found.items() if is_line}


def _unit(groups: Iterable[tuple[float, ...]], totals: list[float]) -> float:
    """The rounding unit of a section: the largest power of ten that divides all amounts; at least one."""
    common = math.gcd(*map(int, totals), *(int(amount) for amounts in groups for amount in amounts))
    unit = 1
    while common and not common % (unit * 10):
        unit *= 10
    return float(unit)
