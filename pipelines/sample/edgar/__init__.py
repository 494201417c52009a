"""The simulated filings in EDGAR's formats, and the transport that serves them.

Belongs here: JSON documents, XBRL packages, data sets, bulk files. Does not: their amounts (sample.business).
"""
