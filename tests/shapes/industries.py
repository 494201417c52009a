"""A report for each row of the table of industries: the SIC code of the filer, and the elements of the industry.

Belongs here: reports generated from the table. Does not: the items of such filers (golden.reports).
"""

from pipelines.normalize.elements.lines import IFRS_PREFIX
from pipelines.normalize.industry.table import TABLE, IndustryRow
from tests.factories import CASH, CASH_FLOW, REVENUE, Row, fact
from tests.shapes import Shape

YEAR = ("2023-01-01", "2023-12-31")
NO_CODE = ""


def code(row: IndustryRow) -> str:
    """The first SIC code of a row; none if the row also applies to filers without one."""
    low = row.codes[0].partition("-")[0]
    return NO_CODE if low == "0000" else low


def report(row: IndustryRow) -> list[Row]:
    """As many elements as the row needs, and a cash flow, which shows the fiscal year."""
    tags = [name.removeprefix(IFRS_PREFIX) for name in row.uses[: row.at_least]]
    return [fact(CASH_FLOW, 9e6, *YEAR), *(fact(tag, 5e6, *YEAR) for tag in tags)]


BANK = [fact(CASH_FLOW, 9e6, *YEAR), fact(CASH, 5e6, None, YEAR[1])]
MAKER = [
    *BANK,
    fact(REVENUE, 50e6, *YEAR),
    fact("PaymentsToAcquireFinanceReceivables", 5e6, *YEAR),
    fact("ProceedsFromCollectionOfFinanceReceivables", 4e6, *YEAR),
]

SHAPES = (
    *(Shape(row.rule, report(row), code(row)) for row in TABLE),
    Shape("industry.withhold.financial-company", BANK, "6022"),
    Shape("industry.withhold.finance-arm", MAKER, "3523"),
    Shape("industry.withhold.shell", BANK, "6770"),
)
