"""The faces of statements: what the lines of a filing's balance sheet, income and cash flow statement decide.

Belongs here: which lines stand in which section of a balance sheet, what the words of a line say that it is, and facts
of filings that companyfacts lacks. Does not: what balance sheets make of their lines (balance), other amounts (facts).
"""
