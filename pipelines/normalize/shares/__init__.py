"""Splits, share bases and the newest share counts."""
