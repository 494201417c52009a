"""Cash at an instant, as other steps compare it: the line of the balance sheet, and cash of the cash flow statement.

Belongs here: cash that proves or contradicts other amounts. Does not: the line item, which is read from the balance
sheet (lines, balance.cash).
"""

from pipelines.normalize.elements.sources import Concept, ifrs, us

WITH_RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"

CASH = Concept(
    "cash",
    "money",
    instant=True,
    sources=(
        us(
            "CashAndCashEquivalentsAtCarryingValue",
            rule="cash.balance-sheet",
            statement="Cash is the line of cash and cash equivalents on the balance sheet.",
        ),
        us(
            "CashCashEquivalentsAndFederalFundsSold",
            rule="cash.total.bank-with-federal-funds-sold",
            statement="Otherwise cash is the total of cash, cash equivalents and federal funds sold.",
        ),
        us(
            "CashAndDueFromBanks",
            rule="cash.due-from-banks",
            statement="Otherwise cash is the line of cash and due from banks.",
            source="Regulation S-X Rule 9-03.1",
        ),
        us("Cash", rule="cash.only-line", statement="Where the element for cash alone is the only one, it is cash."),
        ifrs(
            "CashAndCashEquivalents",
            rule="cash.ifrs.balance-sheet",
            statement="Under IFRS cash is the line of cash and cash equivalents.",
            source="IAS 1.54(i)",
        ),
    ),
)

CASH_OF_FLOWS = Concept(
    "cash_of_flows",
    "money",
    instant=True,
    sources=(
        us(
            WITH_RESTRICTED,
            rule="cash.of-flows.with-restricted",
            statement="The cash flow statement's cash at the end of the period is never less than the cash of the "
            "balance sheet, because it includes restricted cash.",
            source="ASC 230-10-45-4, 230-10-50-8",
        ),
    ),
)
