"""How pages write: Markdown, numbers, tables, charts, code and addresses.

Belongs here: forms of text. Does not: which text a page has (the other folders).
"""
