"""Identities: what must hold between figures, and what follows if it does not."""
