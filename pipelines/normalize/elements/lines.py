"""The lines of balance sheets by section, with their class and the totals that include them: balance_sheet.csv.

Belongs here: reading and checking the table. Does not: which elements of one balance sheet are its lines
(balance.reading), the sources of other amounts (the other modules of this folder).

Columns of the table:

- `section`: the total to which the line belongs, one of SECTIONS. `liabilities` is for balance sheets that are not
  classified, as of banks and brokers. It also contains the lines of the other two sections of liabilities that it does
  not list itself, because a filer may leave out the totals of current and non-current liabilities.
- `class`: one of CLASSES. Only a borrowing is debt; only cash and securities are cash.
- `element`: of the US GAAP taxonomy, or with the prefix `ifrs-full:` of the IFRS taxonomy.
- `usual`: `yes` if the element is usually a line of the balance sheet; `no` if it usually is a detail in the notes, and
  is a line only where the totals add up with it.
- `part_of`: other elements of the section that include the element if both are stated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import polars as pl

SECTIONS = (CURRENT_ASSETS, CURRENT_LIABILITIES, NONCURRENT_LIABILITIES, LIABILITIES) = (
    "current assets",
    "current liabilities",
    "noncurrent liabilities",
    "liabilities",
)

CASH, SECURITY, BORROWING = "cash", "security", "borrowing"
CASH_AND_SECURITIES = (CASH, SECURITY)
COUNTED = (BORROWING, CASH, SECURITY)
"""The classes of lines that are debt or cash."""
RESTRICTED, DEPOSIT, OTHER, UNKNOWN = "restricted", "deposit", "other", "unknown"
CLASSES = (
    CASH,
    SECURITY,
    RESTRICTED,
    BORROWING,
    "finance lease",
    "operating lease",
    DEPOSIT,
    "repo",
    "payable",
    OTHER,
)


@dataclass(frozen=True, slots=True)
class Line:
    """An element that can be a line of a section.

    kind: its class, one of CLASSES, or UNKNOWN for a line of a face.
    part_of: all elements that include it, directly or through other elements.
    rank: order of preference among elements with the same amount: usual lines first, then lines of debt and cash.
    """

    kind: str
    usual: bool
    part_of: frozenset[str]
    rank: tuple[bool, bool, int, str]


def _lines(rows: Mapping[str, Mapping[str, str]]) -> dict[str, Line]:
    """The lines of a section by element.

    Raises:
        ValueError: elements include each other, or an element of `part_of` is not a line of the section.
    """
    direct = {element: row["part_of"].split() for element, row in rows.items()}
    if unknown := set().union(*direct.values()) - rows.keys():
        raise ValueError(f"balance_sheet.csv: {sorted(unknown)} include lines of a section, and are no line of it")
    part_of: dict[str, frozenset[str]] = {}
    for element in TopologicalSorter(direct).static_order():
        part_of[element] = frozenset(direct[element]).union(*(part_of[total] for total in direct[element]))
    found = {}
    for element, row in rows.items():
        kind, is_usual = row["class"], row["usual"] == "yes"
        rank = (not is_usual, kind not in COUNTED, len(part_of[element]), element)
        found[element] = Line(kind, is_usual, part_of[element], rank)
    return found


_ROWS = pl.read_csv(Path(__file__).with_name("balance_sheet.csv"), infer_schema=False).fill_null("")
_IS_KNOWN = pl.col("section").is_in(SECTIONS) & pl.col("class").is_in(CLASSES) & pl.col("usual").is_in(["yes", "no"])
if _WRONG := _ROWS.filter(~_IS_KNOWN | pl.struct("section", "element").is_duplicated()).rows():
    raise ValueError(f"balance_sheet.csv: {_WRONG} come twice, or have an unknown section, class or `usual`")

_BY_SECTION = {
    section: {row["element"]: row for row in _ROWS.filter(pl.col("section") == section).iter_rows(named=True)}
    for section in SECTIONS
}
_BY_SECTION[LIABILITIES] = {
    **_BY_SECTION[NONCURRENT_LIABILITIES],
    **_BY_SECTION[CURRENT_LIABILITIES],
    **_BY_SECTION[LIABILITIES],
}

PREMIUMS = "financed premiums"
"""Borrowings that finance insurance premiums; some filers count them as payables."""
_OF_LIABILITIES = {BORROWING: 120, PREMIUMS: 8, UNKNOWN: 48, OTHER: 240}
MOST_FACE_LINES: dict[str, dict[str, int]] = {
    CURRENT_ASSETS: {CASH: 16, SECURITY: 48, RESTRICTED: 24, OTHER: 240},
    **dict.fromkeys((CURRENT_LIABILITIES, NONCURRENT_LIABILITIES, LIABILITIES), _OF_LIABILITIES),
}
"""For each section and class, how many lines on the face of a balance sheet may have an element that is not in the
table."""

FACE_PREFIX = "face:"
"""The prefix of the name of a face line whose element is not in the table."""


def face_line(section: str, kind: str, number: int) -> str:
    """The name, in place of an element, of a line on the face of a balance sheet whose element is not in the table."""
    return f"{FACE_PREFIX}{section}:{kind}:{number}"


def _with_face_lines(section: str) -> dict[str, Line]:
    """The lines of a section by element, including face lines; LIABILITIES has the face lines of all its sections."""
    of_sections = SECTIONS[1:] if section == LIABILITIES else (section,)
    own = {
        (name := face_line(of, kind, number)): Line(
            BORROWING if kind == PREMIUMS else kind, usual=True, part_of=frozenset(), rank=(True, True, 0, name)
        )
        for of in of_sections
        for kind, places in MOST_FACE_LINES[of].items()
        for number in range(places)
    }
    return _lines(_BY_SECTION[section]) | own


LINES = {section: _with_face_lines(section) for section in SECTIONS}
"""For each section its lines by element; LIABILITIES includes the lines of the other two sections of liabilities."""

BORROWINGS: dict[str, dict[str, Line]] = {
    section: {element: line for element, line in table.items() if line.kind == BORROWING}
    for section, table in LINES.items()
}
"""For each section its lines that are borrowings, by element."""

SHORT_TERM = frozenset(
    element
    for element, line in LINES[CURRENT_LIABILITIES].items()
    if not {element, *line.part_of}.isdisjoint(
        (
            "ShortTermBorrowings",
            "ifrs-full:ShorttermBorrowings",
            "NotesAndLoansPayableCurrent",
            "NotesAndLoansPayable",
        )
    )
)
"""The elements of current debt that are short-term borrowings, not maturities of long-term debt."""

DEPOSITS = frozenset(element for element, line in LINES[LIABILITIES].items() if line.kind == DEPOSIT)
"""The elements of deposits that a bank takes."""

IFRS_PREFIX = "ifrs-full:"
"""The prefix of elements of the IFRS taxonomy in the table."""

SECTION_TOTALS = {
    CURRENT_ASSETS: ("AssetsCurrent", "ifrs-full:CurrentAssets"),
    CURRENT_LIABILITIES: ("LiabilitiesCurrent", "ifrs-full:CurrentLiabilities"),
    NONCURRENT_LIABILITIES: ("LiabilitiesNoncurrent", "ifrs-full:NoncurrentLiabilities"),
    LIABILITIES: ("Liabilities", "ifrs-full:Liabilities"),
}
"""The total of each section, under either set of standards."""
ASSETS = ("Assets", "ifrs-full:Assets")
BOTH_SIDES = ("LiabilitiesAndStockholdersEquity", "ifrs-full:EquityAndLiabilities")
"""Liabilities and equity together, which equal the assets."""

NET_ASSETS = "AssetsNet"
"""The element that investment companies state instead of equity."""

LONG_TERM_DEBT = ("LongTermDebt", "LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities")
"""Long-term debt with its current maturities: a total in the notes of a classified balance sheet."""
ALL_DEBT = ("DebtLongtermAndShorttermCombinedAmount", "DebtAndCapitalLeaseObligations", "ifrs-full:Borrowings")
"""The filer's own total of all debt."""
TOTAL_ELEMENTS = frozenset(
    (
        *LONG_TERM_DEBT,
        *ALL_DEBT[:2],
        "LongTermDebtAndCapitalLeaseObligations",
        "LongTermDebtAndCapitalLeaseObligationsCurrent",
        "DebtCurrent",
        "CashCashEquivalentsAndShortTermInvestments",
        "CashCashEquivalentsAndFederalFundsSold",
    )
)
"""Elements that are totals by definition. Other elements that can include a line, such as notes, may also be a separate
line."""
PRINCIPAL = "DebtInstrumentCarryingAmount"
BANK_OVERDRAFTS = "BankOverdrafts"

TEMPORARY_EQUITY = ("TemporaryEquityCarryingAmount", "TemporaryEquityCarryingAmountAttributableToParent")
REDEEMABLE = "RedeemableNoncontrollingInterestEquityCarryingAmount"
TOTALS = (
    *(element for total in SECTION_TOTALS.values() for element in total),
    *ASSETS,
    *BOTH_SIDES,
    NET_ASSETS,
    "StockholdersEquity",
    "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",
    "MinorityInterest",
    "ifrs-full:Equity",
    *TEMPORARY_EQUITY,
    REDEEMABLE,
)
"""The totals of the sections, the totals from which they can be computed, and the equity that is subtracted."""

RESTRICTED_NONCURRENT = ("RestrictedCashNoncurrent", "RestrictedCashAndCashEquivalentsNoncurrent")
NOTES = (*LONG_TERM_DEBT, *ALL_DEBT, PRINCIPAL, BANK_OVERDRAFTS, *RESTRICTED_NONCURRENT, "LongTermInvestments")
"""Amounts in the notes that are compared with the lines of the balance sheet."""

INTEREST_ON_DEPOSITS = "InterestExpenseDeposits"
INTEREST_BY_DEPOSIT = (
    "InterestExpenseDemandDepositAccounts",
    "InterestExpenseDomesticDepositLiabilitiesChecking",
    "InterestExpenseDomesticDepositLiabilitiesDemand",
    "InterestExpenseDomesticDepositLiabilitiesMoneyMarket",
    "InterestExpenseDomesticDepositLiabilitiesSavings",
    "InterestExpenseDomesticDepositLiabilitiesTimeDeposit",
    "InterestExpenseMoneyMarketDeposits",
    "InterestExpenseNOWAccountsMoneyMarketAccountsAndSavingsDeposits",
    "InterestExpenseSavingsDeposits",
    "InterestExpenseTimeDeposits",
    "InterestExpenseTimeDeposits100000OrMore",
    "InterestExpenseTimeDepositsLessThan100000",
)
"""Interest by kind of deposit, for a bank that does not state the sum."""
INTEREST = (
    ("InterestExpense",),
    ("InterestExpenseOperating",),
    ("InterestAndDividendIncomeOperating", "InterestIncomeExpenseNet"),
)
"""Total interest expense of a bank: one element, or the first element less the second."""

INTEREST_ON_DEBT = (
    "InterestExpense",
    "InterestExpenseDebt",
    "InterestExpenseDebtExcludingAmortization",
    "InterestExpenseLongTermDebt",
    "InterestExpenseShortTermBorrowings",
    "InterestExpenseBorrowings",
    "InterestExpenseNonoperating",
    "InterestExpenseOperating",
    "InterestExpenseOther",
    "InterestExpenseRelatedParty",
    "InterestAndDebtExpense",
    "InterestCostsIncurred",
    "InterestPaid",
    "InterestPaidNet",
    "InterestPaidCapitalized",
    "InterestPaidIncludingCapitalizedInterestOperatingAndInvestingActivities",
    "AmortizationOfFinancingCosts",
    "AmortizationOfFinancingCostsAndDiscounts",
    "AmortizationOfDebtDiscountPremium",
    "GainsLossesOnExtinguishmentOfDebt",
)
"""Expenses and payments that show that a filer has or had debt."""

INTEREST_OF_CLASS = {
    "InterestExpenseSubordinatedNotesAndDebentures": "FederalHomeLoanBank",
    "InterestExpenseJuniorSubordinatedDebentures": "FederalHomeLoanBank",
    "InterestExpenseFederalHomeLoanBankAndFederalReserveBankAdvancesLongTerm": "Subordinated",
    "InterestExpenseFederalHomeLoanBankAndFederalReserveBankAdvancesShortTerm": "Subordinated",
}
"""For each element of interest on one class of a bank's debt, a word in the names of debt elements of another class."""

ELEMENTS: frozenset[str] = frozenset((*TOTALS, *NOTES, INTEREST_ON_DEPOSITS)).union(
    *LINES.values(), *INTEREST, INTEREST_ON_DEBT, INTEREST_BY_DEPOSIT, INTEREST_OF_CLASS
)
"""All elements that the reading of balance sheets uses, and the names of face lines."""

FILED_ELEMENTS = frozenset(element for element in ELEMENTS if not element.startswith(FACE_PREFIX))
"""All elements that the reading of balance sheets uses, without face lines."""
