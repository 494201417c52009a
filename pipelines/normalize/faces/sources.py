"""The sources of a filed fact: companyfacts, a data set of the SEC, or the filing itself.

Belongs here: their names in the legs of a version, and the columns of data that only filings have. Does not: which
source counts (facts).
"""

import polars as pl

COMPANYFACTS, DATA_SET, FILING = SOURCES = ("companyfacts", "data set", "filing")

COVERS = pl.Schema(dict.fromkeys(("cik", "accession", "symbol", "member", "title"), pl.String))
"""A symbol on the cover of a report, the dimensions under which it stands there, and the title of the security."""
