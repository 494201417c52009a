"""Periods: fiscal years, quarters, breaks between companies or standards, predecessors."""
