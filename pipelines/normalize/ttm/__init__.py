"""Twelve months: the amounts known after each filing, and trailing twelve months computed from them."""
