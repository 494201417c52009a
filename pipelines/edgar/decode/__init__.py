"""Decoders of EDGAR's documents: companyfacts, submissions, lists, indexes, feeds and data sets.

Belongs here: formats, and checks that a document has its format. Does not: the XBRL of one filing (edgar.filing),
fetching documents (edgar.fetch).
"""
