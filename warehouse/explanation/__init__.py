"""Where a value comes from: its legs, rules and lines of statements, put together from rows.

Belongs here: pure functions on rows. Does not: the SQL (queries), text (serve).
"""
