"""How data is asked: the read-only HTTP interface over the published build. Never writes a table."""
