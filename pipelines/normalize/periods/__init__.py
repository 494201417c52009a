"""Fiscal years, quarters, breaks between companies and standards, predecessors."""
