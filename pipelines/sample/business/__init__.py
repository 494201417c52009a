"""The simulated business of a filer: its books, its filings with their errors, and the true values.

Belongs here: amounts, dates and forms. Does not: documents in EDGAR's formats (sample.edgar).
"""
