"""Decisions by the faces of statements: lines of balance sheets, own elements, blocks, zeros, lines of other
statements.

All filings are read in one call; a case is the face of a filing and the expected results. Amounts are in millions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

import polars as pl
import polars.selectors as cs
import pytest

from pipelines.normalize.faces.facts import FACT_COLUMNS, LINE_COLUMNS, Filed
from pipelines.normalize.faces.words import ASSETS_SIDE, LIABILITIES_SIDE, kind_of
from pipelines.normalize.pipeline import standardize
from pipelines.stages.batch.schemas import FILED_FACTS, STATEMENT_LINES
from tests.factories import CASH, CASH_FLOW, NET_INCOME, REVENUE, Row, fact, raw
from tests.shapes.faces import OF_FACES

TEXT = cs.categorical().cast(pl.String)
END, BEFORE, START, FILED_ON = "2023-12-31", "2022-12-31", "2023-01-01", "2024-02-20"
DUE, LIABILITIES, ASSETS, EQUITY, BOTH_SIDES = (
    "LiabilitiesCurrent",
    "Liabilities",
    "Assets",
    "StockholdersEquity",
    "LiabilitiesAndStockholdersEquity",
)
CURRENT_ASSETS, NONCURRENT, MATURITIES = "AssetsCurrent", "LongTermDebtNoncurrent", "LongTermDebtCurrent"
PAYABLE, OTHER, FINANCING = (
    "AccountsPayableCurrent",
    "OtherLiabilitiesNoncurrent",
    "NetCashProvidedByUsedInFinancingActivities",
)
INVESTING, CAPITAL = "NetCashProvidedByUsedInInvestingActivities", "PaymentsToAcquirePropertyPlantAndEquipment"
SEGMENTS = "us-gaap:StatementBusinessSegmentsAxis"
MOTORS, FINANCE = f"{SEGMENTS}=own:MotorsMember", f"{SEGMENTS}=own:FinanceMember"
ELIMINATED = f"{SEGMENTS}=us-gaap:IntersegmentEliminationMember"


@dataclass(frozen=True)
class Line:
    """A line of a statement: the amount of the newest period, and of the period before if it is another one."""

    element: str
    value: float
    before: float | None = None
    label: str = ""
    own: bool = False
    member: str | None = None
    parent: str | None = None
    weight: float = 1.0
    heading: str = ""
    statement: str = "BS"
    taxonomy: str = "us-gaap"
    unit: str = "USD"


def own(element: str, value: float, label: str, **more) -> Line:
    return Line(element, value, label=label, own=True, **more)


def classified(
    current: Sequence[Line], noncurrent: Sequence[Line], *, off: float = 0.0, parents: bool = False
) -> list[Line]:
    """A balance sheet with these liabilities, its totals, and 500 of equity; the sum of current liabilities is wrong
    by `off`.
    """
    due, rest = sum(line.value for line in current), sum(line.value for line in noncurrent)
    due += off
    if parents:
        current = [replace(line, parent=line.parent or DUE) for line in current]
        noncurrent = [replace(line, parent=line.parent or LIABILITIES) for line in noncurrent]
    return [
        Line(CASH, 70.5),
        Line("InventoryNet", 29.5),
        Line(CURRENT_ASSETS, 100),
        Line(ASSETS, due + rest + 500),
        *current,
        Line(DUE, due),
        *noncurrent,
        Line(LIABILITIES, due + rest),
        Line("CommonStockValue", 500),
        Line(EQUITY, 500),
        Line(BOTH_SIDES, due + rest + 500),
    ]


def unclassified(*liabilities: Line, assets: Sequence[Line] = (Line(CASH, 70.5),)) -> list[Line]:
    whole = sum(line.value for line in liabilities)
    return [
        *assets,
        Line(ASSETS, whole + 500),
        *liabilities,
        Line(LIABILITIES, whole),
        Line(EQUITY, 500),
        Line(BOTH_SIDES, whole + 500),
    ]


def with_right_column(wrong: Sequence[Line], right: Sequence[Line]) -> list[Line]:
    """A balance sheet with another column of the year before."""
    return [replace(line, before=before.value) for line, before in zip(wrong, right, strict=True)]


LOAN = own("ShareholderLoan", 12.25, "Loan from a director")
TRADE, DEFERRED = Line(PAYABLE, 31.75), Line(OTHER, 17.125)
PAYABLES = [TRADE, Line("AccruedLiabilitiesCurrent", 9.25)]
FLOWS = [
    Line(CASH_FLOW, 50, statement="CF"),
    Line(INVESTING, -9, statement="CF"),
    Line("ProceedsFromIssuanceOfCommonStock", 5, statement="CF"),
    own("PaymentOfListingCosts", -2, "Costs of listing", statement="CF"),
    Line(FINANCING, 3, statement="CF"),
]

IFRS = [
    Line("CashAndCashEquivalents", 70.5),
    Line("CurrentAssets", 70.5),
    Line("Assets", 620),
    Line("IssuedCapital", 500),
    Line("Equity", 500),
    own("Bonds", 80.25, "Bonds", parent="NoncurrentLiabilities"),
    Line("NoncurrentLiabilities", 80.25, parent="Liabilities"),
    Line("TradeAndOtherCurrentPayables", 27.25, parent="CurrentLiabilities"),
    own("BankLoan", 12.5, "Loan of a bank", parent="CurrentLiabilities"),
    Line("CurrentLiabilities", 39.75, parent="Liabilities"),
    Line("Liabilities", 120),
    Line("EquityAndLiabilities", 620),
]

CASES: dict[str, tuple[list[Line], list[Row], dict[str, float | str | None]]] = {
    # --- own elements -------------------------------------------------------------------------------------------
    "an own loan is debt": (classified([TRADE, LOAN], [Line(NONCURRENT, 40), DEFERRED]), [], {"total_debt": 52.25}),
    "an own note in the non-current liabilities is debt": (
        classified([TRADE], [own("SellerNote", 8.5, "Promissory note, net of discount"), DEFERRED], parents=True),
        [],
        {"total_debt": 8.5},
    ),
    "what is merely due to a related party is none": (
        classified([TRADE, own("DueToDirector", 12.25, "Due to a director")], [DEFERRED]),
        [],
        {"total_debt": 0},
    ),
    "a standard element that is due, and a note by its words": (
        classified([TRADE, Line("DueToRelatedPartiesCurrent", 6.5, label="Notes payable - related party")], [DEFERRED]),
        [],
        {"total_debt": 6.5},
    ),
    "interest on a loan and its deferred costs are none": (
        classified(
            [TRADE, own("LoanInterest", 3.5, "Accrued interest on loans")], [own("Costs", 2.5, "Deferred loan fees")]
        ),
        [],
        {"total_debt": 0},
    ),
    "financed insurance premiums": (
        classified([TRADE, own("Premiums", 3.25, "Insurance premium financing")], [DEFERRED]),
        [],
        {"total_debt": 3.25},
    ),
    "words that say nothing": (
        classified([TRADE, own("Bridge", 9.5, "Bridge")], [DEFERRED]),
        [],
        {"total_debt": "own_element_not_classified"},
    ),
    "immaterial words that say nothing": (
        classified([TRADE, own("Bridge", 0.5, "Bridge"), LOAN], [Line(NONCURRENT, 40), DEFERRED]),
        [],
        {"total_debt": 52.25},
    ),
    # --- calculation and footing --------------------------------------------------------------------------------
    "a wrong calculation and a right footing": (
        classified([TRADE, replace(LOAN, parent=LIABILITIES)], [Line(NONCURRENT, 40), DEFERRED], parents=True),
        [],
        {"total_debt": 52.25},
    ),
    "a right calculation and a wrong place": (
        [
            *classified([TRADE], [DEFERRED], off=LOAN.value)[:-3],
            replace(LOAN, parent=DUE),
            *classified([TRADE], [DEFERRED], off=LOAN.value)[-3:],
        ],
        [],
        {"total_debt": 12.25},
    ),
    "a face that does not foot": (
        classified([TRADE, LOAN], [Line(NONCURRENT, 40), DEFERRED], off=1.5),
        [],
        {"total_debt": 52.25},
    ),
    "a heading says no more than that they are liabilities": (
        classified([TRADE, own("Bridge", 9.5, "Bridge", heading="Current liabilities:")], [DEFERRED]),
        [],
        {"total_debt": "own_element_not_classified"},
    ),
    "a heading that says what its lines are": (
        classified(
            [
                TRADE,
                own("OfRelated", 10, "Related parties", heading="Notes payable:"),
                own("OfOthers", 12, "Other", heading="Notes payable:"),
            ],
            [DEFERRED],
        ),
        [],
        {"total_debt": 22},
    ),
    "members on the face, and the whole in the notes": (
        classified(
            [
                TRADE,
                Line("NotesPayableCurrent", 5, member="us-gaap:RelatedPartyAxis=us-gaap:RelatedPartyMember"),
                Line("NotesPayableCurrent", 10, member="us-gaap:RelatedPartyAxis=us-gaap:NonrelatedPartyMember"),
            ],
            [DEFERRED],
            off=1.5,
        ),
        [fact("NotesPayableCurrent", 15e6, None, END, filed=FILED_ON)],
        {"total_debt": 15},
    ),
    "gross, less what is current, and net, without a calculation": (
        [
            *classified([TRADE, Line(MATURITIES, 20)], [])[:-4],
            own("Gross", 100, "Term loan"),
            own("Current", 20, "Less: current portion of loan"),
            DEFERRED,
            Line(LIABILITIES, TRADE.value + 100 + DEFERRED.value),
            Line("CommonStockValue", 500),
            Line(EQUITY, 500),
            Line(BOTH_SIDES, TRADE.value + 100 + DEFERRED.value + 500),
        ],
        [],
        {"total_debt": 100},
    ),
    "a column that does not foot, beside one that does": (
        with_right_column(
            classified([TRADE, LOAN], [Line(NONCURRENT, 40), DEFERRED], off=1.5),
            classified([TRADE, LOAN], [Line(NONCURRENT, 40), DEFERRED]),
        ),
        [],
        {"total_debt": "debt_not_footing"},
    ),
    "a line below all totals": (
        [
            *classified([TRADE, LOAN], [Line(NONCURRENT, 40), DEFERRED], off=4.75),
            Line("AccruedLiabilitiesCurrent", 4.75),
        ],
        [],
        {"total_debt": 52.25},
    ),
    "an element of the notes is no line of the face": (
        classified([TRADE, Line("NotesPayableCurrent", 24)], [Line(NONCURRENT, 40), DEFERRED], parents=True),
        [fact("NotesAndLoansPayableCurrent", 27e6, None, END, filed=FILED_ON)],
        {"total_debt": 64},
    ),
    "maturities of the notes inside accrued liabilities": (
        classified(PAYABLES, [Line(NONCURRENT, 40), DEFERRED], parents=True),
        [fact(MATURITIES, 6.5e6, None, END, filed=FILED_ON)],
        {"total_debt": 46.5},
    ),
    "own lines under IFRS, in another order": (
        [line if line.own else replace(line, taxonomy="ifrs-full") for line in IFRS],
        [],
        {"total_debt": 92.75, "cash_and_equivalents": 70.5},
    ),
    "a face after a filing whose face is not known": (
        classified([TRADE, LOAN], [Line(NONCURRENT, 40), DEFERRED]),
        [
            fact(tag, amount * 1e6, None, END, filed="2024-02-12")
            for tag, amount in {"LoansPayableCurrent": 33, DUE: 44, LIABILITIES: 101.125, ASSETS: 601.125}.items()
        ],
        {"total_debt": 52.25},
    ),
    # --- zeros --------------------------------------------------------------------------------------------------
    "a face without a borrowing": (
        classified(PAYABLES, [DEFERRED]),
        [],
        {"total_debt": 0, "cash_and_equivalents": 70.5},
    ),
    "a face of unclassified liabilities without a borrowing": (
        unclassified(Line("AccountsPayableCurrentAndNoncurrent", 31.75), own("Prizes", 4.5, "Prize liability")),
        [],
        {"total_debt": 0},
    ),
    "a face without a borrowing, and one in the notes": (
        classified(PAYABLES, [DEFERRED]),
        [fact("LoansPayableCurrent", 2.5e6, None, END, filed=FILED_ON)],
        {"total_debt": 2.5},
    ),
    "no dividends among financing activities with an own line": (
        [*classified(PAYABLES, [DEFERRED]), *FLOWS],
        [],
        {"dividends_per_share": 0},
    ),
    "a dividend on common and preferred stock": (
        [
            *classified(PAYABLES, [DEFERRED]),
            *FLOWS[:-1],
            own("Both", -1, "Dividends paid on common and preferred stock", statement="CF"),
            Line(FINANCING, 2, statement="CF"),
        ],
        [],
        {"dividends_per_share": None},
    ),
    "a dividend under an own element": (
        [
            *classified(PAYABLES, [DEFERRED]),
            *FLOWS[:-1],
            own("Special", -1, "Special dividends paid", statement="CF"),
            Line(FINANCING, 2, statement="CF"),
        ],
        [],
        {"dividends_per_share": None},
    ),
    # --- blocks and columns -------------------------------------------------------------------------------------
    "debt by business": (
        classified(
            [TRADE, Line("DebtCurrent", 4.5, member=MOTORS), Line("DebtCurrent", 36.25, member=FINANCE)],
            [
                Line("LongTermDebtAndCapitalLeaseObligations", 15.5, member=MOTORS),
                Line("LongTermDebtAndCapitalLeaseObligations", 66.5, member=FINANCE),
                DEFERRED,
            ],
        ),
        [],
        {"total_debt": 122.75},
    ),
    "debt by business, less what is eliminated": (
        unclassified(
            Line("NotesPayable", 19.5, member=MOTORS),
            Line("NotesPayable", 14.75, member=FINANCE),
            Line("NotesPayable", -2.25, member=ELIMINATED),
            Line("OtherLiabilities", 60),
        ),
        [],
        {"total_debt": 32},
    ),
    "cash and treasury bills by business": (
        unclassified(
            Line("OtherLiabilities", 60),
            assets=[
                Line(CASH, 28.25, member=MOTORS),
                Line(CASH, 1.5, member=FINANCE),
                own("Bills", 12.5, "Short-term investments in U.S. Treasury Bills", member=MOTORS),
            ],
        ),
        [],
        {"cash_and_equivalents": 42.25},
    ),
    "members beside the whole count once": (
        [*classified([TRADE, Line("DebtCurrent", 40.75)], [DEFERRED]), Line("DebtCurrent", 36.25, member=FINANCE)],
        [],
        {"total_debt": 40.75},
    ),
    # --- cash ---------------------------------------------------------------------------------------------------
    "a line of cash under the element with restricted cash": (
        [
            Line(
                "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents",
                36.75,
                label="Cash and cash equivalents",
            ),
            Line("InventoryNet", 3.25),
            Line(CURRENT_ASSETS, 40),
            *classified(PAYABLES, [DEFERRED])[3:],
        ],
        [fact("RestrictedCash", 5e6, None, END, filed=FILED_ON)],
        {"cash_and_equivalents": 36.75},
    ),
    "own securities among the current assets": (
        [
            Line(CASH, 20),
            own("Fund", 7.5, "Money market fund"),
            own("Gold", 2.5, "Investment in gold"),
            Line(CURRENT_ASSETS, 30),
            *classified(PAYABLES, [DEFERRED])[3:],
        ],
        [],
        {"cash_and_equivalents": 27.5},
    ),
    # --- other statements ---------------------------------------------------------------------------------------
    "a line basic and diluted is both": (
        [
            own("LossPerShare", -0.65e-6, "Net loss per share, basic and diluted", statement="IS", unit="USD/shares"),
            own("AverageShares", 3.4, "Weighted average shares, basic and diluted", statement="IS", unit="shares"),
        ],
        [fact(NET_INCOME, -2.21e6, START, END, filed=FILED_ON)],
        {"eps_basic": -0.65e-6, "shares_basic": 3.4, "shares_diluted": 3.4},
    ),
    "own revenue": ([own("NetSalesOfShop", 75, "Net sales", statement="IS")], [], {"revenue": 75}),
    "a part of revenue, and the total in the notes": (
        [Line("RevenueFromContractWithCustomerExcludingAssessedTax", 90, statement="IS")],
        [fact(REVENUE, 100e6, START, END, filed=FILED_ON)],
        {"revenue": 100},
    ),
    "a part of an own total of revenue": (
        [
            Line("RevenueFromContractWithCustomerExcludingAssessedTax", 90, parent="AllTurnover", statement="IS"),
            own("AllTurnover", 100, "Total revenues", statement="IS"),
        ],
        [],
        {"revenue": 100},
    ),
    "own capital expenditure": (
        [
            Line(CASH_FLOW, 50, statement="CF"),
            own("Buying", -9, "Purchases of property and equipment", statement="CF"),
            Line(INVESTING, -9, statement="CF"),
        ],
        [],
        {"free_cash_flow": 41},
    ),
    "revenue of a note": (
        [Line("RevenueFromContractWithCustomerExcludingAssessedTax", 75, parent="GrossProfit", statement="IS")],
        [fact(REVENUE, 6e6, START, END, filed=FILED_ON)],
        {"revenue": 75},
    ),
}


def cik_of(name: str) -> str:
    return f"{9990001000 + [*CASES].index(name):010d}"


def rows_of(cik: str, lines: Sequence[Line]) -> list[dict[str, object]]:
    """The lines as table `statement_lines` has them."""
    found = []
    for place, line in enumerate(lines):
        if line.heading:
            heading = {"cik": cik, "accession": f"{cik}-10-K-{FILED_ON}", "source": "filing", "statement": "BS"}
            words = {"line": 10 * place - 1, "label": line.heading, "element": "Abstract", "abstract": True}
            found.append({**heading, **words, "own": False, "negated": False})
        is_instant = line.statement == "BS"
        found.append(
            {
                "cik": cik, "accession": f"{cik}-10-K-{FILED_ON}", "source": "filing", "statement": line.statement,
                "line": 10 * place, "label": line.label or line.element, "element": line.element,
                "taxonomy": None if line.own else line.taxonomy, "own": line.own, "abstract": False, "negated": False,
                "member": line.member, "parent": line.parent, "weight": line.weight if line.parent else None,
                "unit": line.unit, "start": None if is_instant else date.fromisoformat(START),
                "end": date.fromisoformat(END), "value": line.value * 1e6,
            }
        )  # fmt: skip
        if line.before is not None:
            found.append({**found[-1], "end": date.fromisoformat(BEFORE), "value": line.before * 1e6})
    return found


@pytest.fixture(scope="module")
def found():
    """All cases, one company each: companyfacts has the standard elements without members."""
    facts: list[Row] = []
    lines: list[dict[str, object]] = []
    for name, (face, notes, _) in CASES.items():
        cik = cik_of(name)
        of_face = [
            fact(
                line.element,
                amount * 1e6,
                None if line.statement == "BS" else START,
                end,
                filed=FILED_ON,
                unit=line.unit,
                taxonomy=line.taxonomy,
            )
            for line in face
            for amount, end in ((line.value, END), (line.before, BEFORE))
            if amount is not None and not line.own and not line.member
        ]
        of_all = [fact(NET_INCOME, 40e6, START, END, filed=FILED_ON), *notes, *of_face]
        facts += [
            {**row, "cik": cik, "accession": f"{cik}-10-K-{row['filed']}"}
            for row in {(row["tag"], row["end"], row["filed"]): row for row in of_all[::-1]}.values()
        ]
        lines += rows_of(cik, face)
    stated = pl.DataFrame(lines, schema=dict(STATEMENT_LINES)).select(LINE_COLUMNS).with_columns(TEXT)
    nothing = FILED_FACTS.to_frame().select(FACT_COLUMNS).with_columns(TEXT)
    filings = pl.DataFrame(schema={"cik": pl.String, "accession": pl.String, "form": pl.String, "filed": pl.Date})
    return standardize(raw(facts), filed=Filed(nothing, stated, filings))


def test_financed_premiums_are_flagged(found):
    """They are debt, which a reader may see otherwise."""
    of = found.versions.filter(pl.col("cik") == cik_of("financed insurance premiums"), item="total_debt")
    assert of["flags"].to_list() == ["includes_financed_premiums"]


def test_each_rule_of_faces_decides_for_one_of_them(found):
    """A rule that decides for no filing would go."""
    assert {*OF_FACES} <= {*found.decisions["rule"]}


@pytest.mark.parametrize("name", CASES)
def test_the_face_decides(found, name):
    """The value of each item, or the reason why there is none."""
    cik = cik_of(name)
    of_year = (pl.col("cik") == cik) & (pl.col("period_end") == date.fromisoformat(END))
    values = dict(found.versions.filter(of_year).select("item", "value").iter_rows())
    reasons = dict(found.gaps.filter(pl.col("cik") == cik).select("item", "reason").iter_rows())

    for item, expected in CASES[name][2].items():
        if isinstance(expected, str):
            assert reasons.get(item) == expected
        else:
            assert values.get(item) == (None if expected is None else pytest.approx(expected * 1e6)), reasons.get(item)


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        *((label, "borrowing") for label in (
            "Notes payable", "Loan", "Current portion of long-term debt", "Senior debentures", "Bonds", "Mortgages",
            "Term loan", "Line of credit", "Credit facility", "Commercial paper", "Advances from the Federal Bank",
            "Borrowings under utility money pool", "Warehouse facilities", "Floor plan", "Factoring arrangement",
            "Notes payable, including accrued interest", "Convertible notes (net of deferred costs)",
            "Notes payable and accrued interest", "Long-term debt and finance leases", "Notes 5.75% due 2030",
            "Accounts receivable securitization facility", "Liability for factored receivables",
            "Convertible promissory note, fair value option", "Long-term obligations", "Convertible Notes 2024",
        )),
        *((label, "other") for label in (
            "Interest payable", "Deferred revenue", "Notes receivable", "Due to related parties", "Bank acceptances",
            "Supplier finance obligations", "Securities loaned", "Operating lease liabilities", "Warrant liability",
            "Accrued expenses (Note 8)", "Other liabilities (see Notes 3 and 4)", "Trade notes payable",
            "Advances from related parties", "Loan commitments", "Mortgage escrow deposits", "Loans in process",
            "Accrued interest on notes and leases", "Funding agreements", "Stock to be issued for notes",
        )),
        ("Bridge", "unknown"), ("Accounts and notes payable", "unknown"), ("Financing obligations", "unknown"),
    ],
)  # fmt: skip
def test_the_words_of_a_liability_say_what_it_is(label, kind):
    """Reviewed words; references to notes and deducted amounts do not count."""
    assert kind_of(LIABILITIES_SIDE, label) == kind


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Cash and cash equivalents", "cash"), ("Restricted cash", "restricted"),
        ("Certificates of deposit", "security"), ("Cash surrender value", "other"), ("Digital assets", "other"),
        ("Cash held in trust", "restricted"), ("Fixed deposits", "security"), ("Due from banks", "cash"),
    ],
)  # fmt: skip
def test_the_words_of_an_asset_say_what_it_is(label, kind):
    """Restricted cash and assets of another kind are not cash."""
    assert kind_of(ASSETS_SIDE, label) == kind
