"""What several machines need to synchronize: the home in a store, the lease on it, the cluster, the code in force.

Who runs one machine needs none of these modules, except that they say that there is no store.
"""
