"""The speed of the service, as ratios to the bare framework: `make bench-http`.

Belongs here: the companies, the requests, the load, the frameworks to compare with, and the table of figures. Does not:
tests of the answers (tests.contract, tests.e2e).
"""
