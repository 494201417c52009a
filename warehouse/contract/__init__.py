"""What the published file has: tables, views, line items, codes and their meanings.

Belongs here: definitions, as data. Does not: rows (build), answers to questions (read, queries).
"""
