"""The fictional filers: their calendars, their traits, and the filings of the next day.

Belongs here: who files, and what makes a filer hard to read. Does not: amounts (sample.business).
"""
