"""Interest-bearing borrowings of a classified balance sheet, and totals of them.

Belongs here: elements of debt at an instant, current and noncurrent. Does not: instruments of unclassified balance
sheets (loans), how lines add up (balance).

Never debt, whatever the industry: operating leases (`OperatingLease...`), deposits, repurchase agreements and federal
funds, payables to customers and suppliers. Principal (`DebtInstrumentFaceAmount`), fair values
(`LongTermDebtFairValue`), schedules of maturities and limits of facilities are not amounts of the balance sheet.
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us

INCLUDES_FINANCE_LEASES = "includes_finance_leases"
MAY_BE_PRINCIPAL = "may_be_principal"


def not_banks(
    *elements: str,
    rule: str,
    statement: str,
    plus: tuple[str, ...] = (),
    minus: tuple[str, ...] = (),
    reservation: str = "",
    source: str = "",
) -> Source:
    """A us-gaap source of classified debt: banks have no current and noncurrent parts."""
    return us(
        *elements,
        rule=rule,
        statement=statement,
        source=source,
        plus=plus,
        minus=minus,
        reservation=reservation,
        but=("bank",),
    )


NONCURRENT_INSTRUMENTS = (
    "ConvertibleDebtNoncurrent",
    "ConvertibleSubordinatedDebtNoncurrent",
    "ConvertibleLongTermNotesPayable",
    "SeniorLongTermNotes",
    "MediumtermNotesNoncurrent",
    "NotesPayableToBankNoncurrent",
    "OtherLongTermNotesPayable",
    "LongTermNotesPayable",
    "LongTermLoansFromBank",
    "OtherLoansPayableLongTerm",
    "LongTermLoansPayable",
    "LongTermNotesAndLoans",
    "LongTermLineOfCredit",
    "SecuredLongTermDebt",
    "UnsecuredLongTermDebt",
    "SubordinatedLongTermDebt",
    "CommercialPaperNoncurrent",
    "ConstructionLoanNoncurrent",
    "LongTermPollutionControlBond",
    "LongTermTransitionBond",
    "JuniorSubordinatedDebentureOwedToUnconsolidatedSubsidiaryTrustNoncurrent",
    "OtherLongTermDebtNoncurrent",
)
CURRENT_INSTRUMENTS = (
    "ConvertibleDebtCurrent",
    "ConvertibleSubordinatedDebtCurrent",
    "ConvertibleNotesPayableCurrent",
    "SeniorNotesCurrent",
    "MediumtermNotesCurrent",
    "OtherNotesPayableCurrent",
    "NotesPayableCurrent",
    "SecuredDebtCurrent",
    "UnsecuredDebtCurrent",
    "SubordinatedDebtCurrent",
    "LongTermCommercialPaperCurrent",
    "LongTermConstructionLoanCurrent",
    "FederalHomeLoanBankAdvancesCurrent",
    "OtherLongTermDebtCurrent",
)
SHORT_TERM_INSTRUMENTS = (
    "CommercialPaper",
    "BridgeLoan",
    "ConstructionLoan",
    "ShortTermBankLoansAndNotesPayable",
    "ShortTermNonBankLoansAndNotesPayable",
    "NotesPayableToBankCurrent",
    "LoansPayableToBankCurrent",
    "OtherLoansPayableCurrent",
    "LoansPayableCurrent",
    "LinesOfCreditCurrent",
    "OtherShortTermBorrowings",
)
"""Borrowings by instrument on a classified balance sheet; which of them is part of another says containment."""

DEBT_NONCURRENT = Concept(
    "debt_noncurrent",
    "money",
    instant=True,
    sources=(
        not_banks(
            "LongTermDebtNoncurrent",
            plus=("NotesPayableRelatedPartiesNoncurrent",),
            rule="debt.noncurrent.long-term-debt",
            statement="Noncurrent debt is the carrying amount of long-term debt without finance leases, plus "
            "noncurrent notes to related parties, which are a separate line.",
        ),
        not_banks(
            "LongTermDebtAndCapitalLeaseObligations",
            plus=("NotesPayableRelatedPartiesNoncurrent",),
            reservation=INCLUDES_FINANCE_LEASES,
            rule="debt.noncurrent.with-finance-leases",
            statement="Where finance leases are on the same line, noncurrent debt is that line plus noncurrent notes "
            "to related parties, and the value is flagged.",
        ),
        not_banks(
            plus=NONCURRENT_INSTRUMENTS,
            rule="debt.noncurrent.instruments",
            statement="Where no line states all long-term debt, noncurrent debt is the sum of the instruments that are "
            "stated as noncurrent; one that is part of another (elements/containment.py) is not added.",
            source="Regulation S-X Rule 5-02.22 (bonds, mortgages and other long-term debt are stated separately)",
        ),
        ifrs(
            "LongtermBorrowings",
            at_least=("NoncurrentPortionOfNoncurrentBondsIssued",),
            rule="debt.noncurrent.ifrs.borrowings",
            statement="Under IFRS noncurrent debt is long-term borrowings, unless they are less than the noncurrent "
            "bonds, which shows that bonds are a separate line.",
        ),
        ifrs(
            "NoncurrentPortionOfNoncurrentBondsIssued",
            plus=("LongtermBorrowings", "NoncurrentPortionOfNoncurrentLoansReceived"),
            rule="debt.noncurrent.ifrs.bonds-and-loans",
            statement="Under IFRS, where bonds and loans are separate lines, noncurrent debt is their sum.",
        ),
    ),
)

DEBT_NONCURRENT_ALONE = Concept(
    "debt_noncurrent_alone",
    "money",
    instant=True,
    sources=(
        not_banks(
            "LongTermDebtNoncurrent",
            rule="debt.noncurrent-alone.long-term-debt",
            statement="Long-term debt is also read without notes to related parties, which are part of it if the "
            "filer's own total shows that.",
        ),
        not_banks(
            "LongTermDebtAndCapitalLeaseObligations",
            reservation=INCLUDES_FINANCE_LEASES,
            rule="debt.noncurrent-alone.with-finance-leases",
            statement="Where finance leases are on the same line, that line is also read without notes to related "
            "parties.",
        ),
    ),
)
"""For most filers notes to related parties are a separate line next to long-term debt, for some a part of it."""

DEBT_NONCURRENT_WITH_LEASES = Concept(
    "debt_noncurrent_with_leases",
    "money",
    instant=True,
    sources=(
        not_banks(
            "LongTermDebtAndCapitalLeaseObligations",
            reservation=INCLUDES_FINANCE_LEASES,
            rule="debt.noncurrent-with-leases.line",
            statement="The line of long-term debt and finance leases is also read where long-term debt without leases "
            "is stated: if the current part includes them, so does the noncurrent one.",
        ),
    ),
)

DEBT_NONCURRENT_LESS_LEASES = Concept(
    "debt_noncurrent_less_leases",
    "money",
    instant=True,
    sources=tuple(
        not_banks(
            "LongTermDebtAndCapitalLeaseObligations",
            minus=(element,),
            rule=rule,
            statement=f"The line of long-term debt and finance leases less {words} is compared with long-term debt "
            "without leases: if they are equal, both elements state one borrowing.",
        )
        for element, rule, words in (
            (
                "CapitalLeaseObligationsNoncurrent",
                "debt.noncurrent-less-leases.capital-leases",
                "noncurrent capital leases",
            ),
            (
                "FinanceLeaseLiabilityNoncurrent",
                "debt.noncurrent-less-leases.finance-leases",
                "noncurrent finance leases",
            ),
        )
    ),
)
"""A proof only: no sum contains it."""

DEBT_NONCURRENT_INSTRUMENT = Concept(
    "debt_noncurrent_instrument",
    "money",
    instant=True,
    sources=tuple(
        not_banks(
            element,
            rule=rule,
            statement=f"Noncurrent {words} may be a separate line next to long-term debt, or a part of it; of several "
            "such lines the first reported one is used.",
        )
        for element, rule, words in (
            ("ConvertibleDebtNoncurrent", "debt.noncurrent-instrument.convertible-debt", "convertible debt"),
            ("ConvertibleLongTermNotesPayable", "debt.noncurrent-instrument.convertible-notes", "convertible notes"),
            ("SeniorLongTermNotes", "debt.noncurrent-instrument.senior-notes", "senior notes"),
            ("LongTermNotesPayable", "debt.noncurrent-instrument.notes", "notes payable"),
            ("LongTermLoansPayable", "debt.noncurrent-instrument.loans", "loans"),
            ("SecuredLongTermDebt", "debt.noncurrent-instrument.secured", "secured debt"),
            ("OtherLongTermDebtNoncurrent", "debt.noncurrent-instrument.other", "other debt"),
            ("LongTermLineOfCredit", "debt.noncurrent-instrument.credit-line", "lines of credit"),
        )
    ),
)
"""For most filers a part of long-term debt in the notes, for some a separate line of the balance sheet next to it."""

DEBT_NONCURRENT_BY_INSTRUMENT = Concept(
    "debt_noncurrent_by_instrument",
    "money",
    instant=True,
    sources=(
        not_banks(
            plus=NONCURRENT_INSTRUMENTS,
            rule="debt.noncurrent-by-instrument.sum",
            statement="The sum of the noncurrent instruments is also read where a line states long-term debt: the "
            "noncurrent liabilities may prove that it is the debt, or stands beside that line.",
        ),
    ),
)

DEBT_CURRENT_MATURITIES = Concept(
    "debt_current_maturities",
    "money",
    instant=True,
    sources=(
        not_banks(
            "LongTermDebtCurrent",
            rule="debt.current-maturities.long-term-debt",
            statement="Current maturities are the current part of long-term debt without finance leases.",
        ),
        not_banks(
            "LongTermDebtAndCapitalLeaseObligationsCurrent",
            reservation=INCLUDES_FINANCE_LEASES,
            rule="debt.current-maturities.with-finance-leases",
            statement="Where finance leases are on the same line, current maturities are that line and the value is "
            "flagged.",
        ),
        not_banks(
            plus=CURRENT_INSTRUMENTS,
            rule="debt.current-maturities.instruments",
            statement="Where no line states all maturities, current maturities are the sum of the instruments that are "
            "stated as current; one that is part of another (elements/containment.py) is not added.",
            source="Regulation S-X Rule 5-02.19 and 5-02.20",
        ),
        ifrs(
            "CurrentPortionOfLongtermBorrowings",
            plus=("CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued",),
            rule="debt.current-maturities.ifrs.borrowings",
            statement="Under IFRS, otherwise, current maturities are the current portion of long-term borrowings; "
            "current bonds are a part of it, unless they are larger.",
        ),
        ifrs(
            "CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued",
            rule="debt.current-maturities.ifrs.bonds",
            statement="Under IFRS, where nothing else is stated, current maturities are current bonds.",
        ),
    ),
)

DEBT_CURRENT_BY_INSTRUMENT = Concept(
    "debt_current_by_instrument",
    "money",
    instant=True,
    sources=(
        not_banks(
            plus=CURRENT_INSTRUMENTS,
            rule="debt.current-by-instrument.sum",
            statement="The sum of the current instruments is also read where a line states the current maturities: the "
            "current liabilities may prove that it is the debt, or stands beside that line.",
        ),
    ),
)

DEBT_CURRENT_INSTRUMENT = Concept(
    "debt_current_instrument",
    "money",
    instant=True,
    sources=tuple(
        not_banks(
            element,
            rule=rule,
            statement=f"Current {words} may be a separate line next to the current maturities, or a part of them; of "
            "several such lines the first reported one is used.",
        )
        for element, rule, words in (
            ("ConvertibleDebtCurrent", "debt.current-instrument.convertible-debt", "convertible debt"),
            ("ConvertibleNotesPayableCurrent", "debt.current-instrument.convertible-notes", "convertible notes"),
            ("SeniorNotesCurrent", "debt.current-instrument.senior-notes", "senior notes"),
            ("UnsecuredDebtCurrent", "debt.current-instrument.unsecured", "unsecured debt"),
        )
    ),
)
"""For most filers a part of the current maturities in the notes, for some a separate line of the balance sheet."""

DEBT_SHORT_TERM = Concept(
    "debt_short_term",
    "money",
    instant=True,
    sources=(
        us(
            "ShortTermBorrowings",
            rule="debt.short-term.borrowings",
            statement="Short-term borrowings are the filer's own line of them.",
        ),
        us(
            "NotesAndLoansPayableCurrent",
            plus=("LinesOfCreditCurrent",),
            # measured: the notes and loans of the one filer that states both include its commercial paper
            at_least=("LoansPayableCurrent", "CommercialPaper"),
            rule="debt.short-term.notes-and-loans",
            statement="Where current notes and loans are one line, it is the short-term borrowings, with credit lines "
            "that are another line.",
        ),
        us(
            plus=SHORT_TERM_INSTRUMENTS,
            rule="debt.short-term.instruments",
            statement="Where no line states all short-term borrowings, they are the sum of commercial paper, credit "
            "lines, loans and other short-term borrowings; one that is part of another (elements/containment.py) is "
            "not added.",
            source="Regulation S-X Rule 5-02.19 (amounts payable to banks, to others, and for commercial paper)",
        ),
        us(
            "NotesPayableRelatedPartiesClassifiedCurrent",
            of=("shell",),
            rule="debt.short-term.shell-related-party-notes",
            statement="A shell company's short-term borrowings are the notes that its sponsor has lent.",
        ),
        ifrs(
            "ShorttermBorrowings",
            rule="debt.short-term.ifrs.borrowings",
            statement="Under IFRS short-term borrowings are those due within a year.",
        ),
    ),
)

DEBT_SHORT_TERM_LOANS = Concept(
    "debt_short_term_loans",
    "money",
    instant=True,
    sources=tuple(
        us(
            element,
            rule=rule,
            statement=f"{words} may be a separate line next to short-term borrowings, or a part of them.",
        )
        for element, rule, words in (
            ("LoansPayableCurrent", "debt.short-term-loans.loans", "Current loans"),
            ("LinesOfCreditCurrent", "debt.short-term-loans.credit-lines", "Current credit lines"),
        )
    ),
)
"""For most filers a part of short-term borrowings in the notes, for some a separate line of the balance sheet."""

DEBT_SHORT_TERM_BY_INSTRUMENT = Concept(
    "debt_short_term_by_instrument",
    "money",
    instant=True,
    sources=(
        us(
            plus=("CommercialPaper", "ShortTermBankLoansAndNotesPayable", "OtherShortTermBorrowings"),
            rule="debt.short-term-by-instrument.sum",
            statement="Short-term borrowings by instrument are commercial paper, bank loans and notes, and other "
            "short-term borrowings, as far as reported.",
        ),
    ),
)
"""Short-term borrowings by instrument, used if the line of short-term borrowings includes the current maturities."""

DEBT_NOTES_CURRENT = Concept(
    "debt_notes_current",
    "money",
    instant=True,
    sources=(
        not_banks(
            "NotesPayableCurrent",
            rule="debt.current-notes.notes-payable",
            statement="Current notes payable are short-term borrowings where the current maturities are another line.",
        ),
    ),
)

DEBT_CURRENT = Concept(
    "debt_current",
    "money",
    instant=True,
    sources=(
        not_banks(
            "DebtCurrent",
            rule="debt.current.total",
            statement="Current debt is the line of current maturities and short-term borrowings together.",
        ),
    ),
)

DEBT_LONG_TERM = Concept(
    "debt_long_term",
    "money",
    instant=True,
    sources=(
        us(
            "LongTermDebt",
            rule="debt.long-term.total",
            statement="Long-term debt is the carrying amount including current maturities.",
        ),
        us(
            "LongTermDebtAndCapitalLeaseObligationsIncludingCurrentMaturities",
            reservation=INCLUDES_FINANCE_LEASES,
            rule="debt.long-term.with-finance-leases",
            statement="Where finance leases are on the same line, long-term debt is that line including current "
            "maturities, and the value is flagged.",
        ),
        us(
            "LongTermDebtNoncurrent",
            of=("bank",),
            rule="debt.long-term.bank-noncurrent",
            statement="A bank that tags its long-term debt as noncurrent has no current part; the line is its whole "
            "long-term debt.",
        ),
        us(
            "UnsecuredLongTermDebt",
            of=("bank",),
            rule="debt.long-term.bank-unsecured",
            statement="Where a bank reports only unsecured long-term debt, it is its long-term debt.",
        ),
        us(
            "SeniorLongTermNotes",
            of=("bank",),
            rule="debt.long-term.bank-senior-notes",
            statement="Where a bank reports only senior long-term notes, they are its long-term debt.",
        ),
    ),
)

DEBT_LONG_TERM_WITH_RELATED_PARTIES = Concept(
    "debt_long_term_with_related_parties",
    "money",
    instant=True,
    sources=(
        not_banks(
            "LongTermDebt",
            "NotesPayableRelatedPartiesNoncurrent",
            rule="debt.long-term-with-related-parties.sum",
            statement="Long-term debt is also read with noncurrent notes to related parties, which are a separate line "
            "if the liabilities have room for both.",
        ),
    ),
)

DEBT_ALL = Concept(
    "debt_all",
    "money",
    instant=True,
    sources=(
        us(
            "DebtLongtermAndShorttermCombinedAmount",
            reservation=MAY_BE_PRINCIPAL,
            rule="debt.total.combined",
            statement="The filer's own total of long-term and short-term debt is read where no parts are reported; "
            "the value is flagged because some filers report principal under it.",
        ),
        us(
            "DebtAndCapitalLeaseObligations",
            reservation=INCLUDES_FINANCE_LEASES,
            rule="debt.total.with-finance-leases",
            statement="Otherwise the filer's own total of debt is that with finance leases, and the value is flagged.",
        ),
        ifrs(
            "Borrowings",
            but=("bank",),
            rule="debt.total.ifrs.borrowings",
            statement="Under IFRS total debt is the total of borrowings; a bank's is one line of several.",
            source="IFRS 7.8(g), IAS 1.54(m)",
        ),
    ),
)
