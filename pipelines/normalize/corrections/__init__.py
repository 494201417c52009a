"""Corrections of errors in filings that other facts prove: scale, sign and context, and the ledger of corrections."""
