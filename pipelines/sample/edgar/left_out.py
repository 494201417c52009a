"""The facts and texts of a filing that companyfacts leaves out: of classes of stock, of blocks, of own elements.

Belongs here: computing these facts from the other facts, errors included, so that all facts of a filing agree. Does
not: choosing them for each filer (details, filers), printing them (faces).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import NamedTuple

from pipelines.sample.business.filings import Column, Fact, Filing
from pipelines.sample.business.line import Line, Measure, Statement
from pipelines.sample.business.sums import ACROSS, ADDENDS, SUMS
from pipelines.sample.filer.details import Security
from pipelines.sample.filer.traits import Filer

OWN = "example"
"""The prefix of the filer's own elements and members."""

CLASSES, SEGMENTS = "us-gaap:StatementClassOfStockAxis", "us-gaap:StatementBusinessSegmentsAxis"
AXES = {CLASSES: "ClassOfStockDomain", SEGMENTS: "SegmentDomain"}
COVER_SHARES, PAR_VALUE = "EntityCommonStockSharesOutstanding", "CommonStockParOrStatedValuePerShare"
PAR = 0.01
DIGITS = {"dividends_per_share": "0.0001"}
"""The digits of a figure per share; other figures per share have cents."""

Concept = tuple[str, str]
Pair = tuple[str, str]


class Stated(NamedTuple):
    """A fact with the axes and members of its context."""

    fact: Fact
    members: tuple[Pair, ...] = ()

    @property
    def concept(self) -> Concept:
        """Prefix and name of its element."""
        return self.fact.taxonomy, self.fact.tag


class Text(NamedTuple):
    """A text of the cover page."""

    element: str
    value: str
    members: tuple[Pair, ...] = ()


def concept_of(name: str) -> Concept:
    """Prefix and name of `us-gaap:ClassOfStockDomain`."""
    prefix, _, element = name.partition(":")
    return prefix, element


def stated(filer: Filer, filing: Filing) -> list[Stated]:
    """All numbers of a filing: first the facts of companyfacts, in their order."""
    facts = [*filing.facts, *_own_facts(filer, filing.facts)]
    return [*map(Stated, facts), *_by_class(filer, facts, filing), *_by_block(filer, facts)]


def cover(filer: Filer, filing: Filing) -> list[Text]:
    """The texts of the cover page; the name of the exchange is as in `dei`."""
    texts = {
        "DocumentType": filing.form,
        "AmendmentFlag": str(filing.form.endswith("/A")).lower(),
        "DocumentPeriodEndDate": filing.report_date.isoformat(),
        "EntityRegistrantName": filer.name,
        "EntityCentralIndexKey": filer.cik,
    }
    return [*(Text(element, value) for element, value in texts.items()), *_securities(filer)]


def _securities(filer: Filer) -> Iterator[Text]:
    """Title, symbol and exchange of each security; with members if the filer has several."""
    for security in filer.securities or [_only(filer)]:
        members = _of_class(security) if filer.securities else ()
        yield Text("Security12bTitle", security.title, members)
        if security.symbol:
            yield Text("TradingSymbol", security.symbol, members)
            if filer.exchange:
                yield Text("SecurityExchangeName", filer.exchange.upper(), members)


def _only(filer: Filer) -> Security:
    return Security(member="", title="Common Stock", symbol=filer.symbols[0] if filer.symbols else None)


def _of_class(security: Security) -> tuple[Pair, ...]:
    return ((CLASSES, f"us-gaap:{security.member}"),)


def _own_facts(filer: Filer, facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts of own lines: the remainder of a total after its ordinary lines."""
    amounts, totals = _amounts(facts), dict.fromkeys(line.total for line in filer.own_lines)
    for fact in facts:
        if fact.line is None or fact.column is None or fact.line.item not in totals:
            continue
        column = amounts[fact.line.statement, fact.column]
        # net income is on another statement, in the same column
        column = amounts[Statement.INCOME, fact.column] | column
        lines = [line for line in filer.own_lines if line.total == fact.line.item]
        left = rest = int(fact.value) - sum(column.get(item, 0) for item in ADDENDS[fact.line.item])
        for line in lines:
            value = left if line is lines[-1] else round(rest * line.share / filer.unit) * filer.unit
            left -= value
            own = Line(line.element, line.element, fact.line.statement)
            yield replace(fact, taxonomy=OWN, tag=line.element, value=value, line=own)


def _amounts(facts: Iterable[Fact]) -> dict[tuple[Statement, Column], dict[str, int]]:
    """Money by statement, column and item."""
    amounts: dict[tuple[Statement, Column], dict[str, int]] = defaultdict(dict)
    for fact in facts:
        if fact.line and fact.column and fact.line.measure is Measure.MONEY:
            amounts[fact.line.statement, fact.column][fact.line.item] = int(fact.value)
    return amounts


def _by_class(filer: Filer, facts: Sequence[Fact], filing: Filing) -> Iterator[Stated]:
    """Figures per share, shares and par values of each class of common stock."""
    classes = [security for security in filer.securities if security.part]
    if not classes or not filing.is_periodic:
        return
    for fact in facts:
        if fact.tag == COVER_SHARES or (fact.line and fact.line.measure is Measure.SHARES):
            left = int(fact.value)
            for security in classes:
                mine = left if security is classes[-1] else round(int(fact.value) * security.part)
                left -= mine
                yield Stated(replace(fact, value=round(mine / security.worth)), _of_class(security))
        elif fact.line and fact.line.measure is Measure.PER_SHARE:
            for security in classes:
                yield Stated(replace(fact, value=_worth(fact, security.worth)), _of_class(security))
    for security in classes:
        par = Fact("us-gaap", PAR_VALUE, f"{filer.currency}/shares", None, filing.report_date, PAR)
        yield Stated(par, _of_class(security))


def _worth(fact: Fact, worth: Fraction) -> int | float:
    """A figure per share of the company, multiplied by the worth of a share of a class."""
    assert fact.line
    exact = Decimal(str(fact.value)) * worth.numerator / worth.denominator
    value = exact.quantize(Decimal(DIGITS.get(fact.line.item, "0.01")), ROUND_HALF_UP)
    return int(value) if value == int(value) else float(value)


def _by_block(filer: Filer, facts: Sequence[Fact]) -> Iterator[Stated]:
    """The balance sheet of each block; the sums of the consolidated balance sheet hold for each block, too."""
    amounts = _amounts(facts) if filer.blocks else {}
    for fact in facts:
        if fact.line is None or fact.column is None or (Statement.BALANCE, fact.column) not in amounts:
            continue
        if fact.line.statement is Statement.BALANCE:
            column, left = amounts[Statement.BALANCE, fact.column], int(fact.value)
            for block in filer.blocks:
                is_last = block is filer.blocks[-1]
                value = left if is_last else _share(column, fact.line.item, block.share, filer.unit)
                left -= value
                yield Stated(replace(fact, value=value), ((SEGMENTS, f"{OWN}:{block.member}"),))


def _share(column: dict[str, int], item: str, share: float, unit: int) -> int:
    """A share of an amount in whole units; for a total, the sum of the shares of its addends."""
    for total, addends in (*SUMS, *ACROSS):
        if total == item and column.keys() >= addends.keys():
            return sum(weight * _share(column, addend, share, unit) for addend, weight in addends.items())
    return round(column[item] * share / unit) * unit
