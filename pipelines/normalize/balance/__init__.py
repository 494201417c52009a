"""Debt and cash: the lines of a balance sheet and how they add up."""
