"""The sections of a balance sheet in which the lines of a balance item stand.

Belongs here: the sections by their names, as table `balance_sheet_lines` has them. Does not: which elements are lines
of a section (pipelines.normalize.elements), choosing and grouping the rows of a balance sheet (balance_sheet).
"""

SECTIONS: dict[str, tuple[str, ...]] = {
    "total_debt": ("current liabilities", "noncurrent liabilities", "liabilities"),
    "cash_and_equivalents": ("current assets",),
}
"""The sections with the lines of an item: column `section` of table `balance_sheet_lines`. `liabilities` is the section
of a balance sheet that is not classified.
"""
TOTAL = "total"
"""The class of a row of table `balance_sheet_lines` that is the total of its section."""
