"""Making and publishing a build: its file, copies, digests, the pointer to it, and the record of runs.

Belongs here: whatever writes or verifies a build. Does not: reading it for answers (read, queries).
"""
