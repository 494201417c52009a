"""Debt and cash of every balance sheet: the step that composes them from lines.

Belongs here: the order of the rules for balance sheets, and the frames that the step returns. Does not: any rule
(roles, repeated, debt, instruments, cash, vanished, restated).
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipelines.normalize import arrays
from pipelines.normalize.arrays import NOTHING, SEQ_BITS, Floats, Ints
from pipelines.normalize.balance import (
    cash,
    contradictions,
    debt,
    instruments,
    leases,
    proofs,
    repeated,
    restated,
    roles,
    vanished,
    withdrawn,
)
from pipelines.normalize.balance.before import Before, sheets_before
from pipelines.normalize.balance.element_sets import sets_of
from pipelines.normalize.balance.judged import Judged
from pipelines.normalize.balance.sheets import CASH_LINES, DEBT_LINES, BalanceSheets, as_filed
from pipelines.normalize.balance.sums import Sums, only
from pipelines.normalize.elements import AMOUNT, CONCEPTS
from pipelines.normalize.frames import DECISIONS, PROOFS, counted
from pipelines.normalize.industry.names import INDUSTRIES
from pipelines.normalize.rule import Rule

CONTRADICTED = "total_contradicts_parts"
"""Flag of a sum that the filer's own total contradicts."""

SINGLE_LINES = tuple(
    concept.name for concept in CONCEPTS if concept.instant and concept.name not in (*DEBT_LINES, *CASH_LINES)
)
"""Balance sheet amounts that are one line each: equity and assets."""

COMPOSED = pl.Schema(
    {
        "sum": pl.UInt32(),
        "cik": pl.Int64(),
        "concept": AMOUNT,
        "q": pl.Int32(),
        "seq": pl.Int32(),
        "filed": pl.Date(),
        "amended": pl.Boolean(),
        "regime": pl.Int32(),
        "value": pl.Float64(),
        "grain": pl.Float64(),
        "rule": pl.String(),
        "flag": pl.String(),
    }
)
"""Total debt and cash of each balance sheet that counts: key `sum` (0, 1, ...), also `cik`, `concept`, `q`, `seq`.

`value` in units of the reporting currency, `grain` the power of ten to which it is rounded, `rule` the rule that chose
the lines, `flag` CONTRADICTED or null."""

PARTS = pl.Schema({"sum": pl.UInt32(), "vintage": pl.UInt32(), "rule": pl.String()})
"""The lines of each sum, in their order: `sum` of COMPOSED, `vintage` of the stated amount.

`rule` is the rule that reclassified or added the line (roles), or null."""


@dataclass(frozen=True, slots=True)
class Balances:
    """Debt and cash of the balance sheets of some companies.

    composed: columns of COMPOSED.
    parts: columns of PARTS.
    missed: columns of vanished.MISSED.
    proofs: columns of frames.PROOFS.
    decisions: columns of frames.DECISIONS: reclassified lines, flagged and withheld sums, restatements.
    """

    composed: pl.DataFrame
    parts: pl.DataFrame
    missed: pl.DataFrame
    proofs: pl.DataFrame
    decisions: pl.DataFrame


def balances(placed: pl.DataFrame, of_industry: pl.DataFrame) -> Balances:
    """Total debt and cash of each balance sheet, without later filings that do not restate them.

    Args:
        placed: vintages on the grid (calendar.on_grid), of which instants are used: `cik`, `q`, `seq`, `n`, `concept`,
            `rank`, `end`, `vintage`, `value`, `grain`, `used`, `filed`, `amended`, `regime`.
        of_industry: `cik`, `seq`, `industry` of every filing, sorted by `cik`, `seq` (classification.industries).
    """
    sheets = as_filed(placed)
    if not len(sheets):
        return Balances(*(schema.to_frame() for schema in (COMPOSED, PARTS, vanished.MISSED, PROOFS, DECISIONS)))
    decided = [*leases.leave_out(sheets), *repeated.leave_out(sheets), *roles.reclassify(sheets)]
    industry = _industry(sheets, of_industry)
    found = vanished.disappeared(sheets)
    before = sheets_before(sheets)
    composed, parts, missed = [COMPOSED.to_frame()], [PARTS.to_frame()], [vanished.missed(sheets, found)]
    proved = [PROOFS.to_frame()]
    for item, compose, rules in (
        ("total_debt", debt.total_debt, debt.COMPOSING),
        ("cash_and_equivalents", cash.cash_and_equivalents, cash.COMPOSING),
    ):
        sums, of_sums = compose(sheets, vanished.is_served(sheets, found, item))
        judged = _judged(sheets, before, sums, item, industry)
        of_contradictions, withheld = _withheld(sheets, sums, judged, item)
        missed.append(withheld)
        all_sums, of_sheets = sums, contradictions.is_of_balance_sheet(judged)
        sums, stands = only(sums, of_sheets), judged.contradiction[of_sheets] == NOTHING
        counts, of_filings = _as_first_stated(sheets, sums, item)
        counts = counts[stands[counts]]
        agrees = (debt if item == "total_debt" else cash).total_agrees(sheets, all_sums)
        proved.append(proofs.judgements(sheets, item, judged, all_sums, sums, counts, rules, agrees))
        decided += [*of_sums, *of_contradictions, *of_filings]
        if len(counts):
            of_item, of_lines = _frames(sheets, sums, counts, item, rules, number=sum(map(len, composed)))
            composed.append(of_item)
            parts.append(of_lines)
            is_proven = np.isin(sums.rule, [rules.index(rule) for rule in debt.PROVEN if rule in rules])
            gone = withdrawn.withdrawals(sheets, before, sums, counts, is_proven, item)
            rows, of_gaps, of_rules = _withdrawn(sheets, sums.sheet[counts], gone, item, sum(map(len, composed)))
            composed.append(rows)
            missed.insert(0, of_gaps)
            decided += of_rules
    decided += [(each.watched.rule, sheets.cik[each.sheets]) for each in found]
    missed.append(_without_notes(sheets, found))
    # the first reason of a day is given; what is no balance sheet is the weakest
    is_no_sheet = pl.col("rule").is_in([each.rule.id for each in contradictions.OF_NO_SHEET])
    reasons = pl.concat(missed).sort(is_no_sheet, maintain_order=True)
    return Balances(pl.concat(composed), pl.concat(parts), reasons, pl.concat(proved), _counted(decided))


def _industry(sheets: BalanceSheets, of_industry: pl.DataFrame) -> Ints:
    """For each sheet the place of its filer's industry in INDUSTRIES."""
    filing = (arrays.ints(of_industry, "cik") << SEQ_BITS) | arrays.ints(of_industry, "seq")
    industry = arrays.ints(of_industry.select(pl.col("industry").cast(pl.Enum(INDUSTRIES)).to_physical()), "industry")
    found: Ints = industry[np.searchsorted(filing, (sheets.cik << SEQ_BITS) | sheets.seq)]
    return found


def _judged(sheets: BalanceSheets, before: Before, sums: Sums, item: str, industry: Ints) -> Judged:
    """The judgement of the sums of an item by the rest of the balance sheet."""
    if item != "total_debt":
        return contradictions.of_cash(sheets, before, sums)
    is_proven = np.isin(sums.rule, [debt.COMPOSING.index(rule) for rule in debt.PROVEN])
    is_likely = sums.rule == debt.COMPOSING.index(instruments.LARGEST_SUM)
    totals = debt.filer_totals(sheets, sums)
    return contradictions.of_debt(sheets, before, sums, totals, is_proven, is_likely, industry)


def _withheld(
    sheets: BalanceSheets, sums: Sums, judged: Judged, item: str
) -> tuple[list[tuple[Rule, Ints]], pl.DataFrame]:
    """Each rule that withholds with the CIK of its sums, and the quarter ends: columns of vanished.MISSED."""
    is_found = judged.contradiction != NOTHING
    sheet, found = sums.sheet[is_found], judged.contradiction[is_found]
    # the newest reason of a day is given; what is no balance sheet is the weakest
    strongest_last = np.argsort(contradictions.is_of_balance_sheet(judged)[is_found], kind="stable")
    sheet, found = sheet[strongest_last], found[strongest_last]
    decided = [(each.rule, sheets.cik[sheet[found == number]]) for number, each in enumerate(judged.table)]
    if not len(sheet):
        return [], vanished.MISSED.to_frame()
    withheld = (
        pl.DataFrame({"cik": sheets.cik[sheet], "q": sheets.q[sheet]}, schema={"cik": pl.Int64, "q": pl.Int32})
        .with_columns(
            item=pl.lit(item),
            reason=pl.Series([each.reason for each in judged.table])[found],
            rule=pl.Series([each.rule.id for each in judged.table])[found],
        )
        .unique(["cik", "q"], keep="last", maintain_order=True)
    )
    return decided, withheld


def _withdrawn(
    sheets: BalanceSheets, values: Ints, gone: list[withdrawn.Withdrawal], item: str, number: int
) -> tuple[pl.DataFrame, pl.DataFrame, list[tuple[Rule, Ints]]]:
    """The values that later filings disprove: columns of COMPOSED (without a value) and of vanished.MISSED, and rules.

    A later filing that states the balance again disproves nothing.

    Args:
        values: the sheets with a value.
        number: `sum` of the first row.
    """
    rows, gaps, decided = [COMPOSED.to_frame()], [vanished.MISSED.to_frame()], []
    key = (sheets.cik << 40) | (sheets.q << 20) | sheets.seq
    taken = key[values]
    for each in gone:
        day = (sheets.cik[each.value] << 40) | (sheets.q[each.value] << 20) | sheets.seq[each.by]
        _, first = np.unique(day, return_index=True)
        kept = first[~np.isin(day[first], taken)]
        taken = np.concatenate([taken, day[kept]])
        value, by = each.value[kept], each.by[kept]
        of_filing = sheets.keys[by].select("seq", "filed", "amended", "regime")
        names = {"item": item, "reason": each.reason, "rule": each.rule.id}
        of_day = sheets.keys[value].select("cik", "q")
        row = pl.concat([of_day, of_filing], how="horizontal").with_columns(
            (number + pl.int_range(pl.len())).cast(pl.UInt32).alias("sum"),
            pl.lit(item, AMOUNT).alias("concept"),
            value=pl.lit(None, pl.Float64),
            grain=pl.lit(None, pl.Float64),
            rule=pl.lit(each.rule.id),
            flag=pl.lit(None, pl.String),
        )
        number += len(kept)
        rows.append(row.select(COMPOSED.names()))
        gaps.append(of_day.unique(maintain_order=True).with_columns(pl.lit(text).alias(n) for n, text in names.items()))
        decided.append((each.rule, sheets.cik[value]))
    return pl.concat(rows), pl.concat(gaps), decided


def _without_notes(sheets: BalanceSheets, found: list[vanished.Disappeared]) -> pl.DataFrame:
    """The quarter ends whose debt is withheld because of larger notes: columns of vanished.MISSED."""
    rows = debt.withheld_for_notes(sheets, vanished.is_served(sheets, found, "total_debt"))
    texts = {"item": "total_debt", "reason": "notes_exceed_current_debt", "rule": debt.CURRENT_BESIDE_LARGER_NOTES.id}
    return (
        pl.DataFrame({"cik": sheets.cik[rows], "q": sheets.q[rows]}, schema={"cik": pl.Int64, "q": pl.Int32})
        .unique(maintain_order=True)
        .with_columns(pl.lit(text, pl.String).alias(name) for name, text in texts.items())
    )


def _counted(decided: list[tuple[Rule, Ints]]) -> pl.DataFrame:
    """The decisions of a list that may name a rule more than once."""
    of_rule: dict[Rule, list[Ints]] = {}
    for rule, ciks in decided:
        if len(ciks):
            of_rule.setdefault(rule, []).append(ciks)
    return counted((rule, np.concatenate(ciks)) for rule, ciks in of_rule.items())


def single_lines(placed: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Equity and assets of each balance sheet, without later filings that do not restate them.

    Args:
        placed: as for balances.

    Returns:
        the rows of `placed` that count, sorted by `cik`, `concept`, `q` and `seq`; and columns of frames.DECISIONS.
    """
    lines = placed.filter(pl.col("concept").is_in(SINGLE_LINES)).sort("cik", "concept", "q", "seq", maintain_order=True)
    if lines.is_empty():
        return lines, DECISIONS.to_frame()
    cik, seq = arrays.ints(lines, "cik"), arrays.ints(lines, "seq")
    nowhere = np.zeros(len(cik), dtype=np.bool_)
    counts, decided = restated.restatements(
        begins=arrays.starts(cik, arrays.ints(lines, "concept"), arrays.ints(lines, "q")),
        seq=seq,
        amended=arrays.flags(lines, "amended"),
        value=arrays.floats(lines, "value"),
        elements=sets_of(arrays.ints(lines, "used")),
        nonzero_lines=np.ones(len(cik), dtype=np.int64),
        is_short_term=nowhere,
        is_filer_total=nowhere,
    )
    return lines.filter(counts), _counted([(rule, cik[holds]) for rule, holds in decided.items()])


def _as_first_stated(sheets: BalanceSheets, sums: Sums, item: str) -> tuple[Ints, list[tuple[Rule, Ints]]]:
    """The places of the sums that count, and each rule with the CIK of the sums that it decided."""
    cik = sheets.cik[sums.sheet]
    if not len(cik):
        return np.arange(0), []
    counts, decided = restated.restatements(
        begins=arrays.starts(cik, sheets.q[sums.sheet]),
        seq=sheets.seq[sums.sheet],
        amended=arrays.flags(sheets.keys, "amended")[sums.sheet],
        value=sums.value,
        elements=sums.elements,
        nonzero_lines=sums.nonzero_lines,
        is_short_term=sums.is_short_term,
        is_filer_total=sums.is_filer_total,
        cash_beside_securities=_cash_beside_securities(sheets, sums) if item != "total_debt" else None,
    )
    return np.flatnonzero(counts), [(rule, cik[holds]) for rule, holds in decided.items()]


def _cash_beside_securities(sheets: BalanceSheets, sums: Sums) -> Floats:
    """The cash of each sum that is cash and short-term investments; NaN for other sums."""
    has = sums.rule == cash.COMPOSING.index(cash.CASH_AND_SECURITIES)
    has &= sheets.value("short_term_investments")[sums.sheet] > 0
    return np.where(has, sheets.value("cash")[sums.sheet], np.nan)


def _frames(
    sheets: BalanceSheets, sums: Sums, counts: Ints, concept: str, rules: tuple[Rule, ...], number: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The sums that count and their lines: columns of COMPOSED and PARTS.

    Args:
        counts: the places of the sums that count.
        rules: the list in which Sums.rule is a place.
        number: `sum` of the first row.
    """
    ids = pl.Series([rule.id for rule in rules])
    of_lines = pl.Series([*(rule.id for rule in roles.RULES), None])  # the last for NOTHING
    composed = sheets.keys[sums.sheet[counts]].select(
        (number + pl.int_range(pl.len())).cast(pl.UInt32).alias("sum"),
        "cik",
        pl.lit(concept, AMOUNT).alias("concept"),
        "q",
        "seq",
        "filed",
        "amended",
        "regime",
        pl.Series("value", sums.value[counts]),
        pl.Series("grain", sums.grain[counts]),
        ids[sums.rule[counts]].alias("rule"),
        pl.when(pl.Series(sums.contradicted[counts])).then(pl.lit(CONTRADICTED)).alias("flag"),
    )
    place = np.full(len(sums.sheet), -1, dtype=np.int64)
    place[counts] = number + np.arange(len(counts))
    of_part = place[sums.part_sum]
    kept = of_part >= 0
    reclassified = sheets.reclassified[sums.part_line[kept], sums.sheet[sums.part_sum[kept]]]
    parts = pl.DataFrame(
        {
            "sum": of_part[kept],
            "vintage": sheets.stated.vintage[sums.part_row[kept]],
            "rule": of_lines[np.where(reclassified < 0, len(roles.RULES), reclassified)],
        },
        schema=PARTS,
    )
    return composed, parts
