"""The columns of filed facts as they are decoded from companyfacts.

Belongs here: their types, which the stage of facts needs too. Does not: which facts count (reports).
"""

import polars as pl

RAW_SCHEMA = pl.Schema(
    {
        "cik": pl.String,
        "taxonomy": pl.String,
        "tag": pl.String,
        "unit": pl.String,
        "start": pl.String,
        "end": pl.String,
        "value": pl.Float64,
        "accession": pl.String,
        "fy": pl.Int32,
        "form": pl.String,
        "filed": pl.String,
    }
)
"""One row a fact as filed: the columns of the decoder of companyfacts."""
