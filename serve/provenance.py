"""Where a value comes from: finding it, and the wording of its parts, for the command and for the pages.

Belongs here: finding symbol, item and period, suggestions for misspelled ones, phrases that both show. Does not: the
arithmetic (warehouse.explanation.explain), the SQL (warehouse.queries.explain_queries), text and pages
(cli.explanation, site.values).
"""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import NoReturn

from serve.errors import CommandError
from warehouse.contract.line_items import ITEM_NAMES, LINE_ITEMS, LineItem
from warehouse.contract.quarters import QUARTER
from warehouse.contract.sections import SECTIONS
from warehouse.explanation.balance_sheet import BalanceSheet, balance_sheet
from warehouse.explanation.explain import Decision, Explanation, FormulaPart, Judgement, Step, days, explanation
from warehouse.explanation.statements import Statement, StatementLine, statements
from warehouse.queries import explain_queries
from warehouse.queries.explain_queries import Holder, Leg, Span
from warehouse.read.reader import OpenBuild
from warehouse.read.unread import UnreadReport, unread_reports

OF_YEAR = re.compile(r"\d{4}Q[1-4]|FY\d{4}")
"""The labels of twelve months and fiscal years."""
LABEL = re.compile(r"\d{4}Q[1-4]|FY\d{4}(?:Q[1-4])?")
ROLES = {
    "capital": "in capital",
    "capital_before": "in capital a year before",
    "divisor": "divides",
    "mean": "averaged",
}
ROLES |= {"divisor_mean": "averaged, divides"}
READ_IN = {"data set": "read in the SEC's data set", "filing": "read in the filing's own XBRL documents"}
SIGNIFICANT = 12
UNITS = {1e6: "millions of ", 1e3: "thousands of ", 1.0: ""}
CURRENCY = re.compile("[A-Z]{3}")


def find(build: OpenBuild, symbol: str, item: str, period: str) -> Explanation:
    """Explain the current value of a symbol's item in a period.

    Args:
        build: the build to query.
        symbol: symbol of common equity in any case, of any share class, also if it is no longer listed.
        item: name of a line item.
        period: a label in any case, or the last day of a period; for a day, trailing twelve months take precedence. A
            balance of a quarter is found under the twelve months that end with it.

    Raises:
        CommandError: the symbol, item or period does not exist; the message names existing ones.
    """
    holder = explain_queries.holder(build, symbol) or _unknown_symbol(build, symbol)
    line = next((line for line in LINE_ITEMS if line.name == item.lower()), None) or _unknown_item(item)
    asked = _asked(period)
    held = explain_queries.spans(build, holder.cik, with_quarters=not OF_YEAR.fullmatch(asked))
    span, *namesakes = [span for span in held if asked in (span.period, span.period_end)] or _absent(
        holder, held, asked
    )
    span = _of_item(span, line, held)
    versions = explain_queries.value_versions(build, holder, span, line.name)
    newest = versions[-1].version if versions else 0
    legs = explain_queries.legs(build, holder, span, line.name, newest)
    return explanation(
        holder,
        line,
        span,
        [other for other in namesakes if other.period == span.period and other.period_end != span.period_end],
        versions,
        legs,
        explain_queries.gap(build, holder, span, line.name),
        explain_queries.repairs(build, holder.cik, _filings(legs)),
        explain_queries.rules(build),
        explain_queries.rules_of(build, holder, span, line.inputs),
        explain_queries.decisions(build, holder.cik),
        explain_queries.proofs(build, holder, span, line.name),
        _sheet(build, holder, span, line.name, legs),
        statements(explain_queries.statement_rows(build, holder.cik, _filings(legs)), legs),
        unread_reports(build, holder.cik),
    )


def _of_item(span: Span, line: LineItem, held: Sequence[Span]) -> Span:
    """The period under which the tables have an item: a quarter has its own flows, and no ratios."""
    if span.kind != QUARTER or line.kind == "flow":
        return span
    if line.kind == "ratio":
        raise CommandError(
            f"{line.name} is a figure of twelve months, not of a quarter; ask for {span.period.removeprefix('FY')}"
        )
    return next((one for one in held if one.kind != QUARTER and one.period_end == span.period_end), span)


def not_read(report: UnreadReport) -> str:
    """A sentence that names an unread report and says why its figures are missing."""
    return f"The {report.form} of {report.filed} is not in the SEC's companyfacts, and its XBRL package is not read."


def _filings(legs: Sequence[Leg]) -> set[str]:
    return {leg.accession for leg in legs if leg.accession}


def _sheet(build: OpenBuild, holder: Holder, span: Span, item: str, legs: Sequence[Leg]) -> BalanceSheet | None:
    """The balance sheet behind a value; None for items without one, or if the build has no table of them."""
    sections = SECTIONS.get(item, ())
    rows = explain_queries.sheet_rows(build, holder.cik, span.period_end, sections) if sections else None
    return None if rows is None else balance_sheet(rows, sections, span.period_end, legs)


def _asked(period: str) -> str:
    """The period as the tables write it: a label, or a day in ISO 8601."""
    label = period.strip().upper()
    if LABEL.fullmatch(label):
        return label
    try:
        return str(date.fromisoformat(label))
    except ValueError:
        raise CommandError(
            f"{period!r} is not a period; expected a label like 2026Q1 (twelve months), FY2025 or FY2025Q4 (a "
            "quarter), or the last day of a period, like 2025-12-27"
        ) from None


def _unknown_symbol(build: OpenBuild, symbol: str) -> NoReturn:
    known = explain_queries.known_symbols(build)
    kind = known.get(symbol.upper())
    if kind:
        raise CommandError(
            f"{symbol.upper()} is not common equity ({kind}); use the symbol of the company's common shares"
        )
    similar = get_close_matches(symbol.upper(), [name for name, of in known.items() if of == "common"], n=3)
    meant = f"; did you mean {' or '.join(similar)}?" if similar else ""
    fetch = f"`fundamentals sync --symbols {symbol.upper()}` fetches it if it is listed"
    raise CommandError(f"there are no values of symbol {symbol!r}{meant}; {fetch}")


def _unknown_item(item: str) -> NoReturn:
    similar = get_close_matches(item.lower(), ITEM_NAMES, n=1, cutoff=0.5)
    meant = f"did you mean {similar[0]}? " if similar else ""
    raise CommandError(f"there is no line item {item!r}; {meant}the line items are {', '.join(ITEM_NAMES)}")


def _absent(holder: Holder, held: Sequence[Span], asked: str) -> NoReturn:
    labels = [span.period for span in held if span.period != span.period_end]
    labels = [label for label in labels if _form(label) == _form(asked)]
    if LABEL.fullmatch(asked):
        others = f"; ask for another one, such as {held[0].period}" if held else ""
        there = f"there are {labels[-1]} to {labels[0]}" if labels else f"there is no period of this kind{others}"
        raise CommandError(f"{holder.symbol} has no period {asked}; {there}")
    day = date.fromisoformat(asked)
    nearest = min(held, key=lambda span: abs(date.fromisoformat(span.period_end) - day), default=None)
    there = f"the nearest period ends {day_and_label(nearest)}" if nearest else "there is no period"
    raise CommandError(f"{holder.symbol} has no period that ends {asked}; {there}")


def _form(label: str) -> str:
    """A label with 9 in place of each digit, which shows whether it is of a year, a quarter or twelve months."""
    return re.sub(r"\d", "9", label)


def day_and_label(span: Span) -> str:
    """The last day of a period, with its label if it has one."""
    return span.period_end if span.period == span.period_end else f"{span.period_end} ({span.period})"


def about(decision: Decision) -> str:
    """The subject of a rule's decision, in words."""
    if decision.about in ("fact", "repair"):
        verb = "Repair of" if decision.about == "repair" else "Facts of"
        return f"{verb} {decision.name} {ranges(decision.legs)}"
    return {
        "window": f"Twelve months ({decision.name})",
        "value": f"Value of {decision.name}",
        "flag": f"Flag {decision.name}",
        "gap": f"No value ({decision.name})",
    }[decision.about]


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in square brackets, consecutive ones as a range: [1-3] [5]."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(f"[{run[0]}]" if len(run) == 1 else f"[{run[0]}-{run[-1]}]" for run in runs)


def factors(part: FormulaPart, leg: Leg) -> str:
    """The filed figure and its factors; empty if the figure is as filed."""
    factors = ""
    if leg.split_factor != 1:
        old_for_new = 1 / leg.split_factor
        is_divided = leg.split_factor < 1 and abs(old_for_new - round(old_for_new)) < 1e-9 * old_for_new
        factors += f" / {number(round(old_for_new))}" if is_divided else f" x {number(leg.split_factor)}"
    if part.days is not None:
        factors += f" x {number(abs(leg.weight))} days"
    elif abs(leg.weight) != 1:
        factors += f" x {number(abs(leg.weight))}"
    return f"{number(leg.value)}{factors}" if factors else ""


def in_figures(step: Step) -> str:
    """The formula of a step with the figure in place of each name; empty without figures."""
    names = "|".join(re.escape(name) for name in sorted(step.figures, key=len, reverse=True))
    return re.sub(names, lambda found: number(step.figures[found[0]]), step.formula) if names else ""


def sides(judgement: Judgement) -> str:
    """Both sides of an identity; empty if they are not recorded."""
    if judgement.left_side is None or judgement.right_side is None:
        return ""
    return f"{number(judgement.left_side)} and {number(judgement.right_side)}"


def span(leg: Leg) -> str:
    """The day or the days of a fact."""
    return f"on {leg.end}" if leg.start is None else f"{leg.start} to {leg.end}, {days(leg)} days"


def members(member: str | None) -> str:
    """The dimensions of a fact in short, such as RelatedParty; empty for the company as a whole."""
    names = [part.rpartition("=")[2].rpartition(":")[2] for part in (member or "").split(";") if part]
    return ", ".join(name.removesuffix("Member") for name in names)


def of_members(name: str, member: str | None) -> str:
    """The name of a line with its dimensions in brackets."""
    return f"{name} ({members(member)})" if member else name


def read_in(leg: Leg) -> str:
    """Where a fact that companyfacts lacks was read, with the filer's words for it; empty for other facts."""
    place = READ_IN.get(leg.source or "", "")
    return f"“{leg.label}”, {place}" if place and leg.label else place


def columns(statement: Statement) -> list[str]:
    """The column heads of a statement: a day, or the length and the last day of a period."""
    return [f"{column.months} months to {column.end}" if column.months else column.end for column in statement.columns]


def amounts_in(statement: Statement) -> float:
    """The largest of UNITS that divides all amounts of a statement; amounts per share do not count."""
    amounts = [value for line in statement.lines if is_amount(line) for value in line.values if value is not None]
    return next(unit for unit in UNITS if unit == 1 or all(amount % unit == 0 for amount in amounts))


def is_amount(line: StatementLine) -> bool:
    """Whether a line has amounts of money, which are shown in thousands or millions."""
    return bool(CURRENCY.fullmatch(line.unit or ""))


def number(value: float) -> str:
    """A number in groups of three digits: all digits of a whole number, otherwise twelve significant digits."""
    if value == round(value):
        return f"{value:,.0f}"
    return f"{Decimal(f'{value:.{SIGNIFICANT}g}'):,f}"
