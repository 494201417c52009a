"""The page `/companies/SYMBOL/ITEM/PERIOD`: where a value comes from.

Belongs here: the parts of an explanation that the page shows. Does not: its text (templates/value.md), finding the
value and its wording (provenance), the arithmetic (warehouse.explanation.explain), access control (mount).
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote

from serve.provenance import (
    ROLES,
    UNITS,
    about,
    amounts_in,
    columns,
    factors,
    in_figures,
    is_amount,
    not_read,
    number,
    of_members,
    ranges,
    read_in,
    sides,
    span,
)
from serve.site.text.figures import TITLES, unit
from serve.site.text.markdown import Document, Markdown, plain, write
from serve.site.text.paths import rule_path, statements_path
from warehouse.contract.fictional import is_fictional
from warehouse.contract.vocabulary import BALANCES, GAPS
from warehouse.explanation.explain import Explanation, FormulaPart, Step
from warehouse.explanation.statements import Statement, StatementLine

ENDS = {"ttm": "twelve months to", "annual": "fiscal year to", "quarter": "fiscal quarter to"}


def address(symbol: str, item: str, period: str) -> str:
    """The path of a value's page; `period` is a label or the last day of the period."""
    return f"/companies/{_quoted(symbol)}/{item}/{_quoted(period)}"


def document(explained: Explanation, filings_url: str, currency: str) -> Document:
    """The page of a value, or of the reason why it is missing.

    Args:
        explained: the provenance, from serve.provenance.find.
        filings_url: address of the list of the company's filings, at the SEC or here, for facts without a known
            address.
        currency: the company's reporting currency.
    """
    rows = [row for part in explained.parts for row in _rows(part, filings_url)]
    text = write(
        "value.md",
        of=explained,
        title=TITLES[explained.item],
        when="balance of" if explained.item in BALANCES else ENDS[explained.kind],
        unit=unit(explained.item, currency),
        company_path=f"/companies/{quote(explained.symbol, safe='')}#{explained.item}",
        others=[(end, address(explained.symbol, explained.item, end)) for end in explained.namesakes],
        parts=explained.parts,
        rows=rows,
        has_factors=any(row.filed for row in rows),
        unread=[(not_read(report), report.accession, report.url or filings_url) for report in explained.unread],
        statements=[_sheet(statement, currency, explained.symbol) for statement in explained.statements],
        steps=[_step(step) for step in explained.steps if step.formula not in step.figures],
        is_rebased=any(leg.split_factor != 1 for part in explained.parts for leg in part.legs),
        is_known=explained.reason is not None and explained.reason.code in GAPS,
        filings_url=filings_url,
        about=about,
        rule_path=rule_path,
        is_fictional=is_fictional(explained.cik),
        number=number,
        sides=sides,
    )
    return Document(text)


class Row(NamedTuple):
    """A row of the calculation: a fact with its share of an amount, or the sum of several facts."""

    name: str
    share: str
    span: str = ""
    tag: str = ""
    filed: str = ""
    filing: str = ""
    url: str = ""
    note: str = ""


class Sheet(NamedTuple):
    """A statement as filed: its name and title, its filing, the heads of the columns of figures, and the lines.

    Each line has its words, with the numbers of the facts of the value, and its figures; figures of the value are
    marked. `whole` is the address of the statement with all columns, at the first marked line.
    """

    name: str
    title: str
    filing: str
    url: str | None
    whole: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def _rows(part: FormulaPart, filings_url: str) -> Iterator[Row]:
    """The rows of one amount of the formula: its facts, and their sum if there are several."""
    name = TITLES.get(part.name.replace(" ", "_"), part.name[:1].upper() + part.name[1:])
    if part.role in ROLES:
        name += f" ({ROLES[part.role]})"
    for leg in part.legs:
        filing = f"{leg.form or 'filing'} of {leg.filed or 'an unknown day'}"
        share = number(part.share(leg))
        tag, url = of_members(leg.tag, leg.member), leg.url or filings_url
        yield Row(f"{name} [{leg.leg}]", share, span(leg), tag, factors(part, leg), filing, url, read_in(leg))
    if len(part.legs) > 1:
        yield Row(f"{name}, sum of {ranges([leg.leg for leg in part.legs])}", number(part.value))


def _sheet(statement: Statement, currency: str, symbol: str) -> Sheet:
    first = next((line.place for line in statement.lines if line.marks), 0)
    unit = amounts_in(statement)
    money = next((line.unit for line in statement.lines if is_amount(line)), currency)
    return Sheet(
        statement.name.lower(),
        f"{statement.name} as filed, in {UNITS[unit]}{money}",
        f"{statement.form or 'filing'} of {statement.filed or 'an unknown day'}",
        statement.url,
        statements_path(symbol, statement.accession, f"{statement.code}-{first}"),
        columns(statement),
        [_line(line, unit) for line in statement.lines],
    )


def _line(line: StatementLine, unit: float) -> tuple[str, Sequence[str]]:
    numbers = "".join(f" [{leg}]" for leg in line.marks)
    words = plain(of_members(line.label, line.member) + numbers)
    cells = [
        "" if value is None else plain(number(value / unit if is_amount(line) else value)) for value in line.values
    ]
    marked = [Markdown(f"**{cell}**") if legs else cell for cell, legs in zip(cells, line.legs, strict=True)]
    mark = Markdown(f"*{words}*") if line.is_heading else Markdown(f"**{words}**") if line.marks else words
    return mark, marked


@lru_cache(10_000)
def _quoted(part: str) -> str:
    return quote(part, safe="")


def _step(step: Step) -> Sequence[str]:
    """The name of the result, the formula in words and in figures, and the result."""
    title = TITLES.get(step.name.replace(" ", "_"), step.name[:1].upper() + step.name[1:])
    return [title, *filter(None, (step.formula, in_figures(step), number(step.value)))]
