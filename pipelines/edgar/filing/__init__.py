"""The XBRL of one filing: its instance, schema, linkbases and the files of EDGAR's renderer.

Belongs here: facts and statements as the filer states them. Does not: choosing or fetching filings (edgar.fetch), the
data sets of all filings of a quarter (edgar.decode.data_sets).
"""
