"""Interest-bearing borrowings of a classified balance sheet, and totals of them.

Belongs here: elements of debt at an instant, current and not. Does not: instruments on lines of their own (loans), how
lines add up (balances).

Never debt, whatever the industry: operating leases (`OperatingLease...`), deposits, repurchase agreements and federal
funds, payables to customers and suppliers; nor are principal (`DebtInstrumentFaceAmount`), fair values
(`LongTermDebtFairValue`), schedules of maturities and limits of facilities amounts on the balance sheet.
"""

from pipelines.normalize.elements.sources import Concept, ifrs, us

FINANCE_LEASES = "includes_finance_leases"
PRINCIPAL = "may_be_principal"

DEBT_NONCURRENT = Concept(
    "debt_noncurrent",
    "money",
    instant=True,
    sources=(
        us(
            "LongTermDebtNoncurrent",
            plus=("NotesPayableRelatedPartiesNoncurrent",),
            why="carrying amount without finance leases; debt to related parties is a line of its own",
            but=("bank",),
        ),
        us(
            "LongTermDebtAndCapitalLeaseObligations",
            plus=("NotesPayableRelatedPartiesNoncurrent",),
            reservation=FINANCE_LEASES,
            why="non-current despite its label; finance leases are on the same line",
            but=("bank",),
        ),
        us(
            "ConvertibleDebtNoncurrent",
            plus=("SeniorLongTermNotes", "LongTermNotesPayable", "LongTermLineOfCredit", "UnsecuredLongTermDebt"),
            why="instruments on lines of their own",
            but=("bank",),
        ),
        us(
            "ConvertibleLongTermNotesPayable",
            plus=("SeniorLongTermNotes", "LongTermLoansPayable", "LongTermLineOfCredit"),
            why="convertible notes, and what is beside them",
            but=("bank",),
        ),
        us(
            "SeniorLongTermNotes",
            plus=(
                "SubordinatedLongTermDebt",
                "LongTermLineOfCredit",
                "LongTermLoansPayable",
                "SecuredLongTermDebt",
                "OtherLongTermDebtNoncurrent",
            ),
            why="senior notes, and what is on other lines",
            but=("bank",),
        ),
        us(
            "LongTermNotesPayable",
            plus=("LongTermLineOfCredit",),
            why="notes, and a revolving credit beside them",
            but=("bank",),
        ),
        us("LongTermNotesAndLoans", why="notes and loans on one line", but=("bank",)),
        us("UnsecuredLongTermDebt", plus=("SecuredLongTermDebt",), why="by security", but=("bank",)),
        us("SecuredLongTermDebt", why="all of it secured", but=("bank",)),
        us("LongTermLineOfCredit", why="a revolving credit only", but=("bank",)),
        us("LongTermLoansPayable", why="loans only", but=("bank",)),
        us("LongTermLoansFromBank", why="bank loans only", but=("bank",)),
        us("NotesPayableToBankNoncurrent", why="the same under another element", but=("bank",)),
        us("MediumtermNotesNoncurrent", why="medium-term notes only", but=("bank",)),
        us("OtherLongTermDebtNoncurrent", why="the only line", but=("bank",)),
        ifrs(
            "LongtermBorrowings",
            at_least=("NoncurrentPortionOfNoncurrentBondsIssued",),
            why="all borrowings, unless they are fewer than the bonds beside them",
        ),
        ifrs(
            "NoncurrentPortionOfNoncurrentBondsIssued",
            plus=("LongtermBorrowings", "NoncurrentPortionOfNoncurrentLoansReceived"),
            why="bonds and loans on lines of their own",
        ),
        ifrs("NoncurrentPortionOfNoncurrentBorrowings", why="borrowings that are not current, IAS 1.69"),
    ),
)

DEBT_NONCURRENT_BESIDE = Concept(
    "debt_noncurrent_beside",
    "money",
    instant=True,
    sources=(
        us("ConvertibleDebtNoncurrent", why="convertible debt", but=("bank",)),
        us("ConvertibleLongTermNotesPayable", why="convertible notes", but=("bank",)),
        us("SeniorLongTermNotes", why="senior notes", but=("bank",)),
        us("LongTermNotesPayable", why="notes", but=("bank",)),
        us("LongTermLoansPayable", why="loans", but=("bank",)),
        us("SecuredLongTermDebt", why="secured debt", but=("bank",)),
        us("OtherLongTermDebtNoncurrent", why="other debt", but=("bank",)),
        us("LongTermLineOfCredit", why="a revolving credit", but=("bank",)),
    ),
)
"""A part of long-term debt in the notes of most, a line beside it on the balance sheet of some."""

DEBT_CURRENT_MATURITIES = Concept(
    "debt_current_maturities",
    "money",
    instant=True,
    sources=(
        us("LongTermDebtCurrent", why="current maturities of long-term debt", but=("bank",)),
        us(
            "LongTermDebtAndCapitalLeaseObligationsCurrent",
            reservation=FINANCE_LEASES,
            why="with finance leases",
            but=("bank",),
        ),
        us(
            "ConvertibleDebtCurrent",
            plus=("SeniorNotesCurrent", "NotesPayableCurrent", "SecuredDebtCurrent"),
            why="instruments on lines of their own",
            but=("bank",),
        ),
        us("ConvertibleNotesPayableCurrent", plus=("NotesPayableCurrent",), why="the same for notes", but=("bank",)),
        us(
            "SeniorNotesCurrent",
            plus=("SecuredDebtCurrent",),
            why="senior notes, and mortgages beside them",
            but=("bank",),
        ),
        us(
            "NotesPayableCurrent",
            plus=("SecuredDebtCurrent",),
            why="notes, and secured debt beside them",
            but=("bank",),
        ),
        us("SecuredDebtCurrent", plus=("UnsecuredDebtCurrent",), why="by security", but=("bank",)),
        us("UnsecuredDebtCurrent", why="all of it unsecured", but=("bank",)),
        us("MediumtermNotesCurrent", why="medium-term notes only", but=("bank",)),
        us("OtherLongTermDebtCurrent", why="the only line", but=("bank",)),
        ifrs(
            "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued",
            plus=("CurrentPortionOfLongtermBorrowings", "CurrentPortionOfNoncurrentLoansReceived"),
            why="bonds and loans on lines of their own",
        ),
        ifrs("CurrentPortionOfLongtermBorrowings", why="maturities of all borrowings"),
    ),
)

DEBT_CURRENT_BESIDE = Concept(
    "debt_current_beside",
    "money",
    instant=True,
    sources=(
        us("ConvertibleDebtCurrent", why="convertible debt that is due", but=("bank",)),
        us("ConvertibleNotesPayableCurrent", why="convertible notes that are due", but=("bank",)),
        us("SeniorNotesCurrent", why="senior notes that are due", but=("bank",)),
    ),
)
"""A part of the maturities in the notes of most, a line beside them on the balance sheet of some."""

DEBT_SHORT_TERM = Concept(
    "debt_short_term",
    "money",
    instant=True,
    sources=(
        us("ShortTermBorrowings", why="the parent of commercial paper and bank loans"),
        us(
            "CommercialPaper",
            plus=("OtherShortTermBorrowings", "LoansPayableCurrent"),
            why="commercial paper, and what is beside it",
        ),
        us("OtherShortTermBorrowings", why="no commercial paper"),
        us("ShortTermBankLoansAndNotesPayable", why="bank loans and notes"),
        us("LoansPayableCurrent", why="loans only"),
        us("NotesAndLoansPayableCurrent", why="notes and loans on one line"),
        us("LinesOfCreditCurrent", why="a revolving credit only"),
        us("NotesPayableToBankCurrent", why="bank loans only"),
        us("NotesPayableRelatedPartiesClassifiedCurrent", why="what the sponsor has lent", of=("shell",)),
        ifrs("ShorttermBorrowings", why="borrowings of less than a year"),
    ),
)

DEBT_SHORT_TERM_TOLD = Concept(
    "debt_short_term_told",
    "money",
    instant=True,
    sources=(
        us(
            plus=("CommercialPaper", "ShortTermBankLoansAndNotesPayable", "OtherShortTermBorrowings"),
            why="short-term borrowings by instrument",
        ),
    ),
)
"""What short-term borrowings are, where the maturities are on one line with them."""

DEBT_NOTES_CURRENT = Concept(
    "debt_notes_current",
    "money",
    instant=True,
    sources=(us("NotesPayableCurrent", why="short-term notes, where the maturities are another line", but=("bank",)),),
)

DEBT_CURRENT = Concept(
    "debt_current",
    "money",
    instant=True,
    sources=(
        us("DebtCurrent", why="maturities and short-term borrowings together", but=("bank",)),
        ifrs("CurrentBorrowingsAndCurrentPortionOfNoncurrentBorrowings", why="the same, IAS 1.69"),
    ),
)

DEBT_LONG_TERM = Concept(
    "debt_long_term",
    "money",
    instant=True,
    sources=(
        us("LongTermDebt", why="long-term debt with its current maturities"),
        us(
            "LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities",
            reservation=FINANCE_LEASES,
            why="with finance leases",
        ),
        us("LongTermDebtNoncurrent", why="banks have no current part", of=("bank",)),
        us("UnsecuredLongTermDebt", why="the same, all of it unsecured", of=("bank",)),
        us("SeniorLongTermNotes", why="the same, all of it senior notes", of=("bank",)),
    ),
)

DEBT_ALL = Concept(
    "debt_all",
    "money",
    instant=True,
    sources=(
        us(
            "DebtLongtermAndShorttermCombinedAmount",
            reservation=PRINCIPAL,
            why="the filer's own total, where no part is shown; principal for some",
        ),
        us("DebtAndCapitalLeaseObligations", reservation=FINANCE_LEASES, why="the same with finance leases"),
        ifrs("Borrowings", why="IFRS 7.8(g), IAS 1.54(m)", but=("bank",)),
    ),
)
