"""What the data is: the tables, the published build, and how it is opened and queried.

The contract between `pipelines` (which makes the data) and `serve` (which answers from it); imports neither.
"""
