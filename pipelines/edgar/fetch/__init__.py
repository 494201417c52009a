"""Fetching: which documents are requested from a source, and the raw zone that stores them as received.

Belongs here: plans of downloads, requests, the raw zone. Does not: sources (edgar.source), formats (edgar.decode,
edgar.filing).
"""
