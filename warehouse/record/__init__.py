"""What else a home records that the service and the doctor read: Dagster's schedule, the follower, the service.

Belongs here: reading these records. Does not: writing them (pipelines), builds (build).
"""
