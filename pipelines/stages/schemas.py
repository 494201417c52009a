"""The tables between the stages that are not frames of the rules: their names and columns.

Belongs here: tables of documents and listings, and the names of the tables of values and versions. Does not: the frames
of the rules (normalize.frames), published tables (warehouse.schema).
"""

import polars as pl

TEXT, FLAG, UTC_TIME = pl.String(), pl.Boolean(), pl.Datetime("us", "UTC")

LISTINGS = pl.Schema(
    {
        "cik": TEXT,
        "symbol": TEXT,
        "name": TEXT,
        "exchange": TEXT,
        "position": pl.Int32(),
        "is_listed": FLAG,
        "kind": TEXT,
        "is_primary": FLAG,
    }
)
DOCUMENTS = pl.Schema(
    {
        "cik": TEXT,
        "status": TEXT,
        "facts_digest": TEXT,
        "submissions_digest": TEXT,  # and after it those of the pages of older filings, separated by spaces
        "failure": TEXT,
        "synchronized_at": UTC_TIME,
    }
)
XBRL_FILINGS = pl.Schema(
    {
        "cik": TEXT,
        "accession": TEXT,
        "form": TEXT,
        "filed": pl.Date(),
        "primary_document": TEXT,
        "is_xbrl": FLAG,
        "is_inline": FLAG,
    }
)
"""The filings that may have XBRL; a flag is null where the submissions do not say it."""
DATA_SETS = pl.Schema({"name": TEXT, "address": TEXT, "digest": TEXT, "failure": TEXT})
"""The quarters of the SEC's data sets, newest first: the document in the raw zone, or why it could not be fetched."""
PACKAGES = pl.Schema(
    {
        "cik": TEXT,
        "accession": TEXT,
        "form": TEXT,
        "filed": pl.Date(),
        "file": TEXT,
        "digest": TEXT,
        "failure": TEXT,
    }
)
"""The files of the packages of filings, newest first; a filing of which none is there has one row with the failure."""
REGISTRANTS = pl.Schema({"cik": TEXT, "name": TEXT, "sic": TEXT})
ACCEPTANCES = pl.Schema({"cik": TEXT, "accession": TEXT, "accepted_at": UTC_TIME})
QUARANTINE = pl.Schema({"cik": TEXT, "reason": TEXT, "place": TEXT, "raw_document": TEXT})
REPLAYED, VERSIONS, APPENDED, RECORDED = "replayed", "versions", "appended", "recorded"
VALUE_TABLES = (
    REPLAYED,
    *("periods", "gaps", "splits", "breaks", "repairs", "filings", "latest_shares", "evidence", "decisions", "proofs"),
    *("balance_sheet_lines", "profiles"),
)
"""The frames of Standardized as tables. `profiles` is written last, because its digests mark all tables of a company as
finished. The frame `versions` becomes table `replayed`, because table `versions` is the whole log."""
