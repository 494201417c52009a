"""Errors of filings that other facts prove: scale, sign and context, and the ledger of them."""
