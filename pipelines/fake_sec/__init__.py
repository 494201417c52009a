"""The fake SEC: an HTTP server that answers as EDGAR does, with fictional filings or a mirror, and with faults.

Belongs here: the replacement of the SEC in rehearsals and tests. Does not: the documents of the fictional companies
(sample), reading documents (edgar).
"""
