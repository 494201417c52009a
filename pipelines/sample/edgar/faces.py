"""The printed statements of a filing: the order of the lines, headings, axes, labels and sums.

Belongs here: the table of the order, and making faces from a filing's facts. Does not: the facts (filings, left_out),
writing faces to files (package, data_sets).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.sample.business.line import Line, Statement
from pipelines.sample.business.sums import ADDENDS, SUMS
from pipelines.sample.edgar.left_out import AXES, OWN, PAR_VALUE, Concept, Pair, Stated, concept_of
from pipelines.sample.filer.traits import Filer

WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

ORDER = (
    # income statement
    *("premiums", "investment_income", "commissions", "rent", "contract_revenue", "gross_revenue", "interest_income"),
    *("interest_expense", "net_interest_income", "revenue", "cost", "gross_profit", "provision", "noninterest_income"),
    *("benefits", "noninterest_expense", "operating_income", "pretax", "tax", "net_income", "eps_basic", "eps_diluted"),
    *("shares_basic", "shares_diluted", "dividends_per_share"),
    # cash flow statement, which begins with net income
    *("operating_cash_flow", "capex", "equipment_on_lease", "wells", "other_property", "buildings_bought"),
    "dividends_paid",
    # balance sheet
    *("cash", "due_from_banks", "interest_bearing_deposits", "margin_deposits", "cash_with_margin"),
    *("cash_with_restricted", "segregated", "short_term_investments", "receivables", "customers_funds"),
    *("fixed_maturities", "trust", "assets", "deposits", "customers_money", "repurchase_agreements", "short_term_debt"),
    *("all_current_debt", "debt_current", "debt", "debt_noncurrent", "long_term_debt", "secured_debt"),
    *("unsecured_debt", "credit_line", "other_liabilities", "liabilities", "equity"),
)
PLACE = {item: float(place) for place, item in enumerate(ORDER)}
"""The place of each line; lines that are not in the table are at the end of their statement."""

OUTFLOWS = frozenset({"capex", "equipment_on_lease", "wells", "other_property", "buildings_bought", "dividends_paid"})
TOTALS = frozenset({"assets", "liabilities"})
"""The lines with a label `Total ...`."""

TITLES = {
    Statement.BALANCE: ("BS", 2, "CONSOLIDATED BALANCE SHEETS"),
    Statement.INCOME: ("IS", 4, "CONSOLIDATED STATEMENTS OF OPERATIONS"),
    Statement.CASH_FLOW: ("CF", 5, "CONSOLIDATED STATEMENTS OF CASH FLOWS"),
}
HEADINGS = {
    "us-gaap": {
        Statement.BALANCE: "StatementOfFinancialPosition",
        Statement.INCOME: "IncomeStatement",
        Statement.CASH_FLOW: "StatementOfCashFlows",
    },
    "ifrs-full": {
        Statement.BALANCE: "StatementOfFinancialPosition",
        Statement.INCOME: "ProfitOrLoss",
        Statement.CASH_FLOW: "StatementOfCashFlows",
    },
}
HALVES = {
    "us-gaap": ("AssetsAbstract", "LiabilitiesAndStockholdersEquityAbstract"),
    "ifrs-full": ("AssetsAbstract", "EquityAndLiabilitiesAbstract"),
}


class Place(NamedTuple):
    """A line, heading, axis or member, below another place (its number; None: on top)."""

    concept: Concept
    below: int | None
    label_role: str = "label"


@dataclass(frozen=True)
class Face:
    """One statement: its places from top to bottom, and total, addend and weight of its sums.

    `number` is the number of the rendered page. The `code` of a parenthetical statement is the code of the statement
    above it.
    """

    code: str
    number: int
    title: str
    places: tuple[Place, ...]
    sums: tuple[tuple[Concept, Concept, int], ...] = ()
    in_brackets: bool = False

    @property
    def concepts(self) -> frozenset[Concept]:
        """All elements, headings, axes and members on the statement."""
        return frozenset(place.concept for place in self.places)

    def shows(self, stated: Stated) -> bool:
        """Whether a fact is on the statement: its element, and all its members."""
        return self.concepts >= {stated.concept, *(concept_of(member) for _, member in stated.members)}


def label(filer: Filer, concept: Concept, role: str = "label") -> str:
    """The filer's label of an element: its name in words, or the label of an own element; `Total ...` for a total.

    Headings end with `[Abstract]`, as in the taxonomies.
    """
    own = {line.element: line.label for line in filer.own_lines}
    words = own.get(concept[1]) or WORDS.sub(" ", concept[1]).capitalize()
    if words.endswith(" abstract"):
        return words.replace(" abstract", " [Abstract]")
    return f"Total {words.lower()}" if role == "totalLabel" else words


def faces(filer: Filer, stated: Sequence[Stated]) -> tuple[Face, ...]:
    """The statements with lines and the parenthetical statement of a filing, in the order of their pages."""
    lines = {(one.fact.taxonomy, one.fact.tag): one.fact.line for one in stated if one.fact.line}
    made = [_face(filer, statement, lines, stated) for statement in Statement]
    return tuple(sorted(filter(None, [*made, _in_brackets(stated)]), key=lambda face: face.number))


def _face(filer: Filer, statement: Statement, lines: Mapping[Concept, Line], stated: Sequence[Stated]) -> Face | None:
    shown = {concept: line for concept, line in lines.items() if line.statement is statement}
    if not shown:
        return None
    if statement is Statement.CASH_FLOW:
        shown |= {concept: line for concept, line in lines.items() if line.item == "net_income"}
    places = PLACE | {line.element: PLACE[line.total] - 0.5 for line in filer.own_lines}
    ordered = sorted(shown.items(), key=lambda row: places.get(row[1].item, len(ORDER)))
    pairs = dict.fromkeys(pair for one in stated if one.concept in shown for pair in one.members)
    taxonomy = next(concept[0] for concept in shown if concept[0] != OWN)
    rows = _Rows(taxonomy, HEADINGS[taxonomy][statement], tuple(pairs))
    halves = HALVES[taxonomy] if statement is Statement.BALANCE else ()
    for concept, line in ordered:
        if halves:
            rows.head(halves[places.get(line.item, len(ORDER)) > PLACE["assets"]])
        rows.add(concept, _label_role(line))
    by_item: dict[str, Concept] = {}
    for concept, line in ordered:
        by_item.setdefault(line.item, concept)
    code, number, title = TITLES[statement]
    return Face(code, number, title, tuple(rows.places), tuple(_sums(filer, by_item)))


class _Rows:
    """Collects the places of a face: its heading, its axis with members, and the lines, below further headings if
    any."""

    def __init__(self, taxonomy: str, heading: str, pairs: Sequence[Pair]) -> None:
        self.taxonomy = taxonomy
        self.places = [Place((taxonomy, f"{heading}Abstract"), None)]
        self.top = self.below = 0
        if pairs:
            axis = pairs[0][0]
            self.places += [Place((taxonomy, f"{heading}Table"), 0), Place(concept_of(axis), 1)]
            self.places += [Place((taxonomy, AXES[axis]), 2)] + [Place(concept_of(member), 3) for _, member in pairs]
            self.top = self.below = len(self.places)
            self.places.append(Place((taxonomy, f"{heading}LineItems"), 1))

    def head(self, name: str) -> None:
        """Add the heading of the next lines."""
        if self.places[self.below].concept[1] != name:
            self.below = len(self.places)
            self.places.append(Place((self.taxonomy, name), self.top))

    def add(self, concept: Concept, label_role: str) -> None:
        """Add a line."""
        self.places.append(Place(concept, self.below, label_role))


def _label_role(line: Line) -> str:
    if line.item in OUTFLOWS:
        return "negatedLabel"
    return "totalLabel" if line.item in TOTALS else "label"


def _sums(filer: Filer, concepts: Mapping[str, Concept]) -> Iterator[tuple[Concept, Concept, int]]:
    """Total, addend and weight of the sums whose lines are all on a statement."""
    totals = dict.fromkeys(line.total for line in filer.own_lines)
    own = [
        (total, dict.fromkeys([*(item for item in ADDENDS[total] if item in concepts), *_own(filer, total)], 1))
        for total in totals
    ]
    found: dict[str, Mapping[str, int]] = {}
    for total, addends in [*own, *SUMS]:
        if concepts.keys() >= {total, *addends}:
            found.setdefault(total, addends)
    for total, addends in found.items():
        for item, weight in addends.items():
            yield concepts[total], concepts[item], weight


def _own(filer: Filer, total: str) -> list[str]:
    return [line.element for line in filer.own_lines if line.total == total]


def _in_brackets(stated: Sequence[Stated]) -> Face | None:
    """The parenthetical statement of the balance sheet: the par value of each class of stock."""
    values = [one for one in stated if one.fact.tag == PAR_VALUE]
    if not values:
        return None
    concept = values[0].concept
    pairs = tuple(dict.fromkeys(pair for one in values for pair in one.members))
    rows = _Rows(concept[0], HEADINGS[concept[0]][Statement.BALANCE], pairs)
    rows.add(concept, "label")
    code, number, title = TITLES[Statement.BALANCE]
    return Face(code, number + 1, f"{title} (Parenthetical)", tuple(rows.places), in_brackets=True)
