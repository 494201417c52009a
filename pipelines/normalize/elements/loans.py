"""Borrowings by instrument, as balance sheets without current and noncurrent parts report them.

Belongs here: elements of instruments. Does not: debt of classified balance sheets (debt), the other liabilities that
prove which instruments are the debt (liabilities), which of the lines add up (balance.instruments).
"""

from pipelines.normalize.elements.liabilities import line
from pipelines.normalize.elements.sources import Concept, ifrs, us

DEBT_ADVANCES = line(
    "debt_advances",
    us(
        "AdvancesFromFederalHomeLoanBanks",
        rule="debt.advances.federal-home-loan-banks",
        statement="Advances are those of the Federal Home Loan Banks.",
    ),
    us(
        "FederalHomeLoanBankAdvancesLongTerm",
        rule="debt.advances.long-term",
        statement="Where only long-term Federal Home Loan Bank advances are reported, they are the advances.",
    ),
    us(
        "LongtermFederalHomeLoanBankAdvancesNoncurrent",
        rule="debt.advances.long-term-noncurrent",
        statement="Otherwise advances are long-term Federal Home Loan Bank advances tagged as noncurrent.",
    ),
)

DEBT_SUBORDINATED = line(
    "debt_subordinated",
    us(
        "SubordinatedDebt",
        rule="debt.subordinated.debt",
        statement="Subordinated debt is the line of subordinated notes.",
    ),
    us(
        "SubordinatedLongTermDebt",
        rule="debt.subordinated.long-term",
        statement="Otherwise subordinated debt is the line of subordinated long-term debt.",
    ),
    us(
        "SurplusNotes",
        rule="debt.subordinated.surplus-notes",
        statement="An insurer's subordinated debt is the surplus notes that it issues for its capital.",
    ),
    ifrs(
        "SubordinatedLiabilities",
        rule="debt.subordinated.ifrs.liabilities",
        statement="Under IFRS subordinated debt is subordinated liabilities, which banks report.",
    ),
)

DEBT_JUNIOR = line(
    "debt_junior",
    us(
        "JuniorSubordinatedDebentureOwedToUnconsolidatedSubsidiaryTrust",
        rule="debt.junior.trust-debentures",
        statement="Junior subordinated debt is the debentures owed to trusts that issued trust preferred securities.",
    ),
    us(
        "JuniorSubordinatedNotes",
        rule="debt.junior.notes",
        statement="Otherwise junior subordinated debt is the line of junior subordinated notes.",
    ),
    us(
        "JuniorSubordinatedLongTermNotes",
        rule="debt.junior.long-term-notes",
        statement="Otherwise junior subordinated debt is the line of long-term junior subordinated notes.",
    ),
)

DEBT_NOTES = line(
    "debt_notes",
    us(
        "NotesPayable",
        rule="debt.notes.notes-payable",
        statement="Notes are the line of notes payable, which includes mortgages where these are not a separate line.",
    ),
    us(
        "SeniorNotes",
        plus=("ConvertibleNotesPayable",),
        rule="debt.notes.senior-and-convertible",
        statement="Otherwise notes are senior notes plus convertible notes, if any.",
    ),
    us(
        "ConvertibleNotesPayable",
        rule="debt.notes.convertible-notes",
        statement="Where convertible notes are the only line, they are the notes.",
    ),
    us(
        "ConvertibleDebt",
        rule="debt.notes.convertible-debt",
        statement="Where convertible debt is the only line, it is the notes.",
    ),
    us(
        "NotesAndLoansPayable",
        rule="debt.notes.notes-and-loans",
        statement="Where notes and loans are one line, it is the notes.",
    ),
    us(
        "OtherNotesPayable",
        rule="debt.notes.other",
        statement="Where other notes payable are the only line, they are the notes.",
    ),
    ifrs(
        "NotesAndDebenturesIssued",
        of=("bank",),
        rule="debt.notes.ifrs.notes-and-debentures",
        statement="Under IFRS a bank's notes are the notes and debentures issued.",
        source="IFRS 7.8(g)",
    ),
    ifrs(
        "BondsIssued",
        of=("bank",),
        rule="debt.notes.ifrs.bonds",
        statement="Under IFRS, otherwise, a bank's notes are the bonds issued.",
    ),
)

DEBT_SECURED = line(
    "debt_secured",
    us(
        "SecuredDebt",
        rule="debt.secured.total",
        statement="Secured debt is the line of mortgages and other secured debt.",
    ),
)

DEBT_UNSECURED = line(
    "debt_unsecured",
    us(
        "UnsecuredDebt",
        rule="debt.unsecured.total",
        statement="Unsecured debt is the line of unsecured notes or term loans.",
    ),
)

DEBT_BANK_LOANS = line(
    "debt_bank_loans",
    us("LoansPayable", rule="debt.bank-loans.loans-payable", statement="Bank loans are the line of term loans."),
    us(
        "LoansPayableToBank",
        rule="debt.bank-loans.loans-to-banks",
        statement="Otherwise bank loans are the line of loans payable to banks.",
    ),
)

DEBT_OTHER = line(
    "debt_other",
    us(
        "OtherBorrowings",
        rule="debt.other.borrowings",
        statement="Other borrowings are a separate line, or the total of the other instruments.",
    ),
    us(
        "OtherLongTermDebt",
        rule="debt.other.long-term",
        statement="Otherwise other borrowings are the line of other long-term debt.",
    ),
    us(
        "WarehouseAgreementBorrowings",
        rule="debt.other.warehouse-agreements",
        statement="A mortgage lender's other borrowings are those under warehouse agreements, which it owes until it "
        "sells the loans.",
    ),
    ifrs(
        "Borrowings",
        of=("bank",),
        rule="debt.other.ifrs.bank-borrowings",
        statement="Under IFRS a bank's other borrowings are the line of borrowings next to bonds and notes.",
    ),
)

DEBT_REVOLVER = line(
    "debt_revolver",
    us(
        "LineOfCredit",
        of=("reit",),
        rule="debt.revolver.reit-line-of-credit",
        statement="A real estate company's line of credit is the amount drawn, a line of its balance sheet.",
    ),
)

DEBT_CREDIT_LINE = line(
    "debt_credit_line",
    us(
        "LineOfCredit",
        but=("reit",),
        rule="debt.credit-line.line-of-credit",
        statement="A line of credit is the amount drawn, but some filers tag the limit with this element; so it counts "
        "only where the liabilities prove it.",
    ),
    us(
        "NotesPayableRelatedPartiesClassifiedCurrent",
        but=("shell",),
        rule="debt.credit-line.related-party-notes",
        statement="Otherwise current notes to related parties are read in its place: some filers state them as a line "
        "of their own, others as a part of another; so they count only where the liabilities prove them.",
    ),
)

DEBT_BY_INSTRUMENT: tuple[Concept, ...] = (
    DEBT_ADVANCES,
    DEBT_SUBORDINATED,
    DEBT_JUNIOR,
    DEBT_NOTES,
    DEBT_SECURED,
    DEBT_UNSECURED,
    DEBT_BANK_LOANS,
    DEBT_REVOLVER,
    DEBT_OTHER,
    DEBT_CREDIT_LINE,
)
