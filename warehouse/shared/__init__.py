"""What several machines need: the object store, and taking over files from it.

Who runs one machine needs none of these modules.
"""
