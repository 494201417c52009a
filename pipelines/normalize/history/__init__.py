"""History: the versions of each value, the log of versions, and why values changed."""
