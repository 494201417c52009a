"""The pipeline step that computes debt and cash of all balance sheets.

Belongs here: the frames that the step takes and returns. Does not: any rule (reading, cash, debt, evidence,
statements).
"""

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby

import numpy as np
import polars as pl
from msgspec.structs import replace

from pipelines.normalize import arrays
from pipelines.normalize.balance import reading, sections
from pipelines.normalize.balance.cash import cash, cash_at_end_of_flows
from pipelines.normalize.balance.debt.composed import debt
from pipelines.normalize.balance.evidence import supported
from pipelines.normalize.balance.reading import Filing, is_balance_sheet
from pipelines.normalize.balance.sheets import GROUPS, History
from pipelines.normalize.balance.statements import Place, effective_values
from pipelines.normalize.balance.values import ADDS_UP, OF_FACE, OF_LINES, Known, Value, is_of_face
from pipelines.normalize.frames import CHOSE, FRAMES, HOLDS, WITHHELD_OUTCOME, counted
from pipelines.normalize.rule import Rule


def balances(
    facts: pl.DataFrame, placed: pl.DataFrame, of_facts: pl.DataFrame, of_industry: pl.DataFrame, faces: pl.DataFrame
) -> tuple[pl.DataFrame, ...]:
    """Compute total debt and cash of each balance sheet; a later filing counts only if it restates the value.

    Args:
        of_industry: `cik`, `seq`, `industry` of every filing (classification.industries).
        facts: typed facts in filing order (facts.reports).
        placed: vintages on the grid (calendar.on_grid); only the days, filings and repairs of instants are used.
        of_facts: `vintage` and `fact` of every stated amount, including amounts that corrections left out.
        faces: the lines of the sections of faces (faces.facts.FACE_SCHEMA).

    Returns:
        the frames composed (its vintages are numbered after the stated ones), lines_of_balances, missed, proofs,
        decisions and section_lines.
    """
    repairs = _repairs(facts, placed, of_facts)
    industries = {(cik, seq): name for cik, seq, name in of_industry.select("cik", "seq", "industry").iter_rows()}
    days = placed.filter(pl.col("n") == 0).unique(["cik", "seq", "end"], keep="first", maintain_order=True)
    places = days.select("cik", "seq", pl.col("end").to_physical(), "q", "filed", "amended", "regime")
    of_day = {(cik, seq, day): (q, *of_filing) for cik, seq, day, q, *of_filing in places.iter_rows()}
    of_filing = {(cik, seq): place for (cik, seq, _), place in of_day.items()}
    values: list[Value] = []
    lines: list[sections.Row] = []
    for _, of_company in groupby(reading.filings(_corrected(facts, repairs), faces), key=lambda filing: filing.cik):
        filings = list(of_company)
        values += _values(filings, industries)
        lines += sections.rows(filings)
    found = [(value, place) for value in values if (place := _placed(value, of_day, of_filing))]
    found.sort(key=lambda one: (_key(one), one[0].seq, one[0].is_proved, one[0].day))
    taken: list[tuple[Value, Place]] = []
    missed: list[tuple[Value, Place]] = []
    decided: list[tuple[Rule, int]] = []
    for _, group in groupby(found, key=_key):
        of_one = list(group)
        counts, rules = effective_values(of_one)
        decided += rules
        taken += counts
        if not counts or counts[-1][0].value is None:
            missed += [one for one in of_one if one[0].value is None][-1:]
    first = int(arrays.ints(of_facts, "vintage").max(initial=-1)) + 1
    return (*_frames(taken, missed, decided, repairs, first), _frame("section_lines", lines))


def _key(of: tuple[Value, Place]) -> tuple[int, int, str]:
    value, (quarter, *_) = of
    return value.cik, quarter, value.item


def _repairs(facts: pl.DataFrame, placed: pl.DataFrame, of_facts: pl.DataFrame) -> dict[int, float]:
    """The facts of instants that corrections changed, each with its factor; the factor is zero if they left it out."""
    day = ["cik", "seq", "end"]
    instants = placed.filter(pl.col("n") == 0)
    single = of_facts.filter(pl.len().over("vintage") == 1).select("vintage", "fact")
    of_day = facts.select(*day, "start")[arrays.ints(single, "fact")]
    changed = (
        pl.concat([single, of_day], how="horizontal")
        .filter(pl.col("start").is_null())
        .join(instants.select("vintage", "repair"), on="vintage", how="left")
        .filter(pl.col("repair").is_null() | (pl.col("repair") != 1))
        .join(instants, on=day, how="semi")
    )
    return dict(changed.select("fact", pl.col("repair").fill_null(0.0)).sort("fact", "repair").iter_rows())


def _corrected(facts: pl.DataFrame, repairs: Mapping[int, float]) -> pl.DataFrame:
    """Apply the corrections to the facts; a fact that they left out gets an empty element, which no table contains."""
    factor = pl.Series(np.ones(len(facts)))
    factor[list(repairs)] = list(repairs.values())
    tag = pl.when(pl.Series(factor != 0)).then(pl.col("tag")).otherwise(pl.lit(""))
    return facts.with_columns(value=pl.col("value") * factor, tag=tag)


def _placed(
    value: Value, of_day: Mapping[tuple[int, int, int], Place], of_filing: Mapping[tuple[int, int], Place]
) -> Place | None:
    """The place of a value: its quarter end and its filing; None if its day is no quarter end."""
    stated = of_day.get((value.cik, value.seq if value.withdraws is None else value.withdraws, value.day))
    by = of_filing.get((value.cik, value.seq))
    return (stated[0], *by[1:]) if stated and by else None


def _values(filings: Iterable[Filing], industries: Mapping[tuple[int, int], str]) -> Iterator[Value]:
    """Compute the values of all days of a company's filings, and withhold them where a check requires it."""
    history = History()
    for filing in filings:
        history.industry = industries.get((filing.cik, filing.seq), "")
        found: dict[tuple[str, int], Value] = {}
        for day in sorted(filing.days):
            of_day = _of_day(filing, day, ChainMap(found, history.values))
            found |= {(value.item, day): value for value in of_day if value}
        yield from filter(None, (cash_at_end_of_flows(filing, day) for day in filing.days_without))
        yield from supported([*found.values()], filing, history)


def _of_day(filing: Filing, day: int, known: Known) -> tuple[Value | None, ...]:
    """Cash and debt of a day; without a balance sheet, only cash, and only if the filer has no securities."""
    if is_balance_sheet(filing, day):
        values = cash(filing, day), debt(filing, day, known)
        return tuple(
            replace(value, of_face=True) if value and is_of_face(filing, value.item) else value for value in values
        )
    own, securities = cash(filing, max(filing.days)), GROUPS["securities"]
    is_alone = own and own.elements.isdisjoint(securities.names | securities.elements)
    return (cash(filing, day),) if is_alone else ()


def _frame(name: str, rows: Iterable[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(list(zip(*rows, strict=True)), schema=FRAMES[name].types, orient="col")


def _frames(
    taken: list[tuple[Value, Place]],
    missed: list[tuple[Value, Place]],
    decided: list[tuple[Rule, int]],
    repairs: Mapping[int, float],
    first: int,
) -> tuple[pl.DataFrame, ...]:
    rows, lines, judgements = [], [], []
    for vintage, (one, (q, filed, amended, regime)) in enumerate(taken, first):
        of_filing = (filed, amended, regime, one.value, one.grain, one.rule.id)
        rows.append((one.cik, one.item, q, one.seq, *of_filing, vintage, 0, 0))
        lines += [
            (
                vintage,
                fact,
                coefficient,
                (OF_FACE if one.of_face else OF_LINES).id,
                one.flag,
                repairs.get(fact, 1.0),
                one.cik,
                one.seq,
                one.item,
            )
            for fact, coefficient in one.facts
        ]
        of_value = (one.cik, q, one.item, one.seq)
        if one.is_proved:
            judgements.append((*of_value, one.rule.id, CHOSE, one.value, one.value))
        judgements += [(*of_value, ADDS_UP[name].id, HOLDS, of_lines, total) for name, of_lines, total in one.sections]
    judgements += [
        (one.cik, q, one.item, one.seq, one.rule.id, WITHHELD_OUTCOME, *(one.sides or (None, None)))
        for one, (q, *_) in missed
    ]
    companies: dict[Rule, list[int]] = {
        rule: [one.cik for one, _ in taken if one.of_face == of_face for _ in one.facts]
        for rule, of_face in ((OF_LINES, False), (OF_FACE, True))
    }
    for rule, cik in chain(decided, ((one.rule, one.cik) for one, _ in (*taken, *missed))):
        companies.setdefault(rule, []).append(cik)
    return (
        _frame("composed", rows),
        _frame("lines_of_balances", lines),
        _frame("missed", ((one.cik, q, one.item, one.reason, one.rule.id) for one, (q, *_) in missed)),
        _frame("proofs", judgements),
        counted((rule, np.array(ciks)) for rule, ciks in companies.items()),
    )
