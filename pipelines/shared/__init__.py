"""Synchronization on several machines: the home in a store, the lease on the store, the cluster, the code in force.

With a single machine, these modules only report that no store and no cluster is set.
"""
