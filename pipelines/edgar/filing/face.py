"""Finds the balance sheet, income statement and cash flow statement of one filing, line by line.

Belongs here: recognizing the role of each statement, and the lines of its presentation with labels, totals and members.
Does not: reading the files (linkbases, renderer, instance), and the values of a line: they are the facts with its
element and its members.

Statements of comprehensive income, statements of equity and parenthetical statements are left out. A combined statement
of operations and comprehensive income is the income statement.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from pipelines.edgar.decode.columns import Columns
from pipelines.edgar.errors import DocumentError
from pipelines.edgar.filing.linkbases import Linkbases, Relation
from pipelines.edgar.filing.markup import Concept

BALANCE_SHEET, INCOME_STATEMENT, CASH_FLOW_STATEMENT = "BS", "IS", "CF"

MOST_LINES = 10_000
"""Most lines of one role: a hundred times the maximum in 125 real packages. An element may be below several others, so
n relations can make 2ⁿ lines."""

MOST_VALUES = 200_000
"""Most values on the lines of all statements, by member and period: 290 times the maximum in 125 real packages. Many
lines may have the same element, so n facts can make n² values."""

DEFINITION = re.compile(r"\s*[\d.]+\s*-\s*(\w+)\s*-\s*(.*)", re.DOTALL)
"""The definition of a role: `{number} - {group} - {title}` (EDGAR Filer Manual 6.7.12)."""

NO_STATEMENT = re.compile("parenthetical|details?$|tables?$|policies|disclosure")
COMPREHENSIVE = re.compile("comprehensive(income|earnings|loss|gain|deficit|or|and)*")
EQUITY = re.compile("equity|deficit|deficiency|capital|changesin")


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a kind of statement is recognized: by its title, and by elements that hardly any other statement has."""

    code: str
    title: re.Pattern[str]
    elements: frozenset[str]
    enough: int
    """The number of these elements that is enough without a matching title; with the title, one is enough."""


KINDS = (
    _Kind(
        BALANCE_SHEET,
        re.compile("balancesheet|financialposition|financialcondition|statements?ofcondition|assetsandliabilities"),
        frozenset({"Assets", "Liabilities", "LiabilitiesAndStockholdersEquity", "EquityAndLiabilities", "AssetsNet"}),
        2,
    ),
    _Kind(
        CASH_FLOW_STATEMENT,
        re.compile("cashflow"),
        frozenset(
            f"NetCashProvidedByUsedIn{activity}Activities{operations}"
            for activity in ("Operating", "Investing", "Financing")
            for operations in ("", "ContinuingOperations")
        )
        | {f"CashFlowsFromUsedIn{activity}Activities" for activity in ("Operating", "Investing", "Financing")},
        2,
    ),
    _Kind(
        INCOME_STATEMENT,
        re.compile("operations|income|earnings|profit|loss|revenue"),
        frozenset(
            {
                "NetIncomeLoss",
                "ProfitLoss",
                "NetIncomeLossAvailableToCommonStockholdersBasic",
                "IncomeLossFromContinuingOperations",
                "IncomeTaxExpenseBenefit",
                "IncomeTaxExpenseContinuingOperations",
                "OperatingIncomeLoss",
                "OperatingExpenses",
                "Revenues",
                "Revenue",
                "RevenueFromContractWithCustomerExcludingAssessedTax",
                "SalesRevenueNet",
                "InterestExpense",
                "NoninterestExpense",
                "NetInvestmentIncome",
                "EarningsPerShareBasic",
                "EarningsPerShareDiluted",
                "EarningsPerShareBasicAndDiluted",
                "BasicEarningsLossPerShare",
                "WeightedAverageNumberOfSharesOutstandingBasic",
            }
        ),
        4,
    ),
)


@dataclass(slots=True)
class StatementLines(Columns):
    """Lines of the three statements, in the order of the presentation.

    `line` counts from 0, the heading of the whole statement. As in the SEC's data sets, axes, members and elements
    without a fact are counted, but have no row. `label` is the filer's label on the statement; it is missing if the
    filing has no labels. `label_role` is the last part of the label's role: `totalLabel`, `periodStartLabel`. A
    `negated` line is printed with the opposite sign. `members` are the dimensions of the line's facts on the statement,
    as in StatedFacts; empty text stands for facts without dimensions. `abstract` lines are headings. `parent` is the
    total to which the calculation of the same role adds the line, `weight` times.
    """

    cik: list[str] = field(default_factory=list)
    accession: list[str] = field(default_factory=list)
    statement: list[str] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    taxonomy: list[str] = field(default_factory=list)
    element: list[str] = field(default_factory=list)
    abstract: list[bool] = field(default_factory=list)
    label: list[str | None] = field(default_factory=list)
    label_role: list[str | None] = field(default_factory=list)
    negated: list[bool] = field(default_factory=list)
    members: list[list[str]] = field(default_factory=list)
    parent_taxonomy: list[str | None] = field(default_factory=list)
    parent: list[str | None] = field(default_factory=list)
    weight: list[float | None] = field(default_factory=list)


class _Position(NamedTuple):
    """One position in the presentation of a role: an element, and the elements above it."""

    concept: Concept
    label_role: str = ""
    above: tuple[Concept, ...] = ()

    @property
    def axis(self) -> Concept | None:
        """The axis to which this position belongs as a member."""
        return next((concept for concept in self.above if concept[1].endswith("Axis")), None)


def statement_lines(
    links: Linkbases, stated: Mapping[Concept, Mapping[str, int]], cik: str, accession: str, place: str
) -> StatementLines:
    """The lines of the filing's statements, from one role for each statement.

    Args:
        links: the linkbases of the filing.
        stated: the count of each element's numbers, by their dimensions.
        cik, accession: the values of the first columns.
        place: the name of the filing in errors.

    Raises:
        DocumentError: a statement with more than MOST_LINES lines, or more than MOST_VALUES values.
    """
    lines, values = StatementLines(), 0
    for statement, role in statement_roles(links, stated).items():
        positions = _positions(links.presentation[role], f"{place}, {role}")
        totals = _totals(links.calculation.get(role, ()), {position.concept for position in positions})
        axes = _axes(positions)
        shown = {
            concept: sorted(each for each in stated.get(concept, ()) if _is_within(each, axes))
            for concept in {position.concept for position in positions}
        }
        sizes = {concept: sum(stated[concept][each] for each in members) for concept, members in shown.items()}
        if (values := values + sum(sizes[position.concept] for position in positions)) > MOST_VALUES:
            raise DocumentError(f"has more than {MOST_VALUES:,} values", f"{place}, {role}")
        for number, (concept, label_role, above) in enumerate(positions):
            members = shown[concept]
            is_heading = concept[1].endswith("Abstract")
            # an element with nil facts only is a line without a number
            if not (members or is_heading or stated.get(concept) == {}):
                continue
            total = totals.get(concept)
            lines.append(
                cik,
                accession,
                statement,
                number,
                len(above),
                *concept,
                is_heading,
                _label(links.labels.get(concept, {}), label_role),
                label_role or None,
                "negated" in label_role.lower(),
                members,
                *(total.parent if total else (None, None)),
                total.weight if total else None,
            )
    return lines


def statement_roles(links: Linkbases, stated: Mapping[Concept, Mapping[str, int]]) -> dict[str, str]:
    """The roles of the three statements, by the statement's code; a statement that is not recognized is missing.

    Of several roles of one kind, a role with a matching title comes first, then one with enough of the elements, then
    the first in the order of the definitions, which is the statement of the whole group of companies.
    """
    best: dict[str, tuple[tuple[bool, int], str]] = {}
    for role in sorted(links.presentation, key=lambda role: links.titles.get(role, "")):
        group, title = _title(links.titles.get(role), role)
        if NO_STATEMENT.search(title) or group not in ("statement", ""):
            continue
        concepts = {concept for relation in links.presentation[role] for concept in (relation.parent, relation.child)}
        elements = {concept[1] for concept in concepts & stated.keys()}
        for kind in KINDS:
            says, found = _says(kind, title), min(len(elements & kind.elements), kind.enough)
            if found and (says or (group and found == kind.enough)):
                if kind.code not in best or (says, found) > best[kind.code][0]:
                    best[kind.code] = (says, found), role
                break
    return {code: role for code, (_, role) in best.items()}


def _title(definition: str | None, role: str) -> tuple[str, str]:
    """Group and title of a role in lower case, letters only; without a definition, the end of its address."""
    match = DEFINITION.fullmatch(definition or "")
    group, title = match.groups() if match else ("", definition or role.rpartition("/")[2])
    return group.lower(), re.sub("[^a-z]", "", title.lower())


def _says(kind: _Kind, title: str) -> bool:
    if kind.code == INCOME_STATEMENT:
        return bool(kind.title.search(COMPREHENSIVE.sub("", title))) and not EQUITY.search(title)
    return bool(kind.title.search(title))


def _positions(relations: Sequence[Relation], place: str) -> list[_Position]:
    """The presentation of a role from top to bottom, headings and axes included."""
    below: dict[Concept, list[Relation]] = {}
    for relation in sorted(relations, key=attrgetter("order")):
        below.setdefault(relation.parent, []).append(relation)
    children = {relation.child for relation in relations}
    roots = dict.fromkeys(relation.parent for relation in relations if relation.parent not in children)
    positions: list[_Position] = []
    waiting = [_Position(root) for root in reversed(roots)]
    while waiting:
        positions.append(position := waiting.pop())
        if len(positions) > MOST_LINES:
            raise DocumentError(f"has more than {MOST_LINES:,} lines", place)
        path = (*position.above, position.concept)
        waiting += (
            _Position(relation.child, relation.label_role, path)
            for relation in reversed(below.get(position.concept, ()))
            if relation.child not in path
        )
    return positions


def _axes(positions: Sequence[_Position]) -> dict[str, set[str]]:
    """The axes of a statement, with the members below each."""
    axes: dict[str, set[str]] = {":".join(at.concept): set() for at in positions if at.concept[1].endswith("Axis")}
    for at in positions:
        if axis := at.axis:
            axes[":".join(axis)].add(":".join(at.concept))
    return axes


def _is_within(dimensions: str, axes: Mapping[str, set[str]]) -> bool:
    """Whether a statement with these axes includes all members; an axis without listed members has typed members."""
    for pair in dimensions.split(";") if dimensions else ():
        axis, _, member = pair.partition("=")
        if axis not in axes or (axes[axis] and member not in axes[axis]):
            return False
    return True


def _totals(calculation: Sequence[Relation], on_face: set[Concept]) -> dict[Concept, Relation]:
    """The total to which each element is added; of several totals, one on the face of the statement, then the first."""
    totals: dict[Concept, Relation] = {}
    for relation in sorted(calculation, key=lambda relation: relation.parent not in on_face):
        totals.setdefault(relation.child, relation)
    return totals


def _label(labels: Mapping[str, str], label_role: str) -> str | None:
    """The label of this role; if missing, of the same role without `negated`, then the standard label."""
    plain = re.sub("^negated", "", label_role)
    plain = plain[:1].lower() + plain[1:]
    return labels.get(label_role) or labels.get(plain) or labels.get(f"{plain}Label") or labels.get("label")
