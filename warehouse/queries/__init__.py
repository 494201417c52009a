"""The questions that are asked of an open build, one module for each subject.

Belongs here: SQL and the types of its rows. Does not: the connection (read), text and JSON (serve).
"""
