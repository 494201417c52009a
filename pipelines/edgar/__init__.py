"""Extract: fetches documents from a source exactly as EDGAR serves them, stores them in the raw zone, and decodes them.

Belongs here: `source` (where documents come from), `fetch` (which are requested, and how they are stored), `decode` and
`filing` (their formats). Does not: tables of their rows (stages), any rule (normalize).
"""
