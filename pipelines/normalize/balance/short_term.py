"""Short-term borrowings among the elements of current debt.

Belongs here: the list of these elements. Does not: the debt that they are part of (debt).
"""

from pipelines.normalize.elements.lines import CURRENT_LIABILITIES, LINES

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
