"""Several machines, played by processes of this one: replicas behind nginx, Redis, PostgreSQL, S3, executors.

Belongs here: what only `make test-scale` runs. Does not: what one process and a home can show (the other folders).
"""
