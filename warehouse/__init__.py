"""The published data: the tables of a build, publishing it, opening it and querying it.

This package is the contract between `pipelines`, which produces the data, and `serve`, which serves it; it imports
neither of them.
"""
