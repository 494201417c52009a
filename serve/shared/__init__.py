"""What several machines need to serve: following the store, accounts and limits that replicas share.

Who runs one machine needs none of these modules.
"""
