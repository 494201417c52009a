"""Versions of values: replay, log and causes."""
