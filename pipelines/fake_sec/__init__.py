"""The fake SEC: an HTTP server that answers as EDGAR does, with fictional filings or a mirror, and with faults.

Belongs here: what stands in for the SEC in rehearsals and in tests. Does not: the documents of the fictional companies
(sample), reading any document (edgar).
"""
