"""Sources of documents: the SEC over HTTP, mirror directories, bulk files, the sample.

Belongs here: answering a request for one document. Does not: which documents are requested, and storing them
(edgar.fetch).
"""
