"""The sections of a balance sheet: which of them the items that are balances consist of lines of.

Belongs here: the sections by their names, as table `balance_sheet_lines` has them. Does not: which elements are lines
of a section (pipelines.normalize.elements), choosing and grouping the rows of a balance sheet (balance_sheet).
"""

SECTIONS: dict[str, tuple[str, ...]] = {
    "total_debt": ("current liabilities", "noncurrent liabilities", "liabilities"),
    "cash_and_equivalents": ("current assets",),
}
"""The sections that an item consists of lines of: column `section` of table `balance_sheet_lines`. `liabilities` are
those of a balance sheet that is not classified."""
TOTAL = "total"
"""The class of a row of table `balance_sheet_lines` that is the total of its section."""
