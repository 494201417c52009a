"""The faces of statements: balance sheets, income and cash flow statements line by line, as filings show them.

Belongs here: the section of each line of a balance sheet, the class of a line by its words, and facts of filings that
companyfacts lacks. Does not: the amounts that follow from the lines of balance sheets (balance), other amounts (facts).
"""
