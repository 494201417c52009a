"""Which elements of liabilities are part of which: the order by which no amount is counted twice.

Belongs here: totals and their parts, and the pairs that filers use as separate lines. Does not: which elements belong
to which amount (debt, loans), what follows for the amounts of a filing (facts.repetitions, balance.debt).

Source: calculation links of the US GAAP taxonomies of 2008 to 2025 (FASB) in the statements of financial position,
classified; under IFRS the definition of the element: current bonds are a current portion of borrowings.
"""

PARTS: dict[str, tuple[str, ...]] = {
    "LongTermNotesAndLoans": ("LongTermNotesPayable", "LongTermLoansPayable"),
    "LongTermNotesPayable": (
        "MediumtermNotesNoncurrent",
        "SeniorLongTermNotes",
        "ConvertibleLongTermNotesPayable",
        "NotesPayableToBankNoncurrent",
        "OtherLongTermNotesPayable",
    ),
    "LongTermLoansPayable": ("LongTermLoansFromBank", "OtherLoansPayableLongTerm"),
    "NotesAndLoansPayableCurrent": ("NotesPayableCurrent", "LoansPayableCurrent"),
    "NotesPayableCurrent": (
        "MediumtermNotesCurrent",
        "SeniorNotesCurrent",
        "ConvertibleNotesPayableCurrent",
        "NotesPayableToBankCurrent",
        "OtherNotesPayableCurrent",
    ),
    "LoansPayableCurrent": ("LoansPayableToBankCurrent", "OtherLoansPayableCurrent"),
    "Deposits": ("InterestBearingDepositLiabilities", "NoninterestBearingDepositLiabilities"),
    "AccountsPayableAndAccruedLiabilitiesCurrent": ("AccountsPayableCurrent", "AccruedLiabilitiesCurrent"),
    "AccruedLiabilitiesAndOtherLiabilities": ("OtherLiabilities",),
    "CurrentPortionOfLongtermBorrowings": ("CurrentBondsIssuedAndCurrentPortionOfNoncurrentBondsIssued",),
}
"""The parts of each total, as far as rules use both."""

SEPARATE = frozenset(
    (
        ("NotesPayableCurrent", "ConvertibleNotesPayableCurrent"),
        ("LongTermNotesPayable", "ConvertibleLongTermNotesPayable"),
    )
)
"""Pairs (total, part) that filers use as separate lines unless the parts add up to the total: notes and convertible
notes. Measured: three of the four filers that state both for current liabilities."""


def all_parts(total: str) -> frozenset[str]:
    """The parts of a total, and the parts of these."""
    found = PARTS.get(total, ())
    return frozenset(found).union(*(all_parts(part) for part in found))
