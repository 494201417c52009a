"""Several machines, played by processes of this one: replicas behind nginx, Redis, PostgreSQL, S3, executors.

Belongs here: tests that only `make test-scale` runs. Does not: tests that need one process and one home (the other
folders).
"""
