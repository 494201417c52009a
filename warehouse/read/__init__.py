"""Reading published builds: the open build, its rows in memory, histories and periods.

Belongs here: connections and what is held in memory. Does not: SQL of single questions (queries).
"""
