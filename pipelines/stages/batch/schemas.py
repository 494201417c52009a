"""Names and columns of the tables between the stages that are not frames of the rules.

Belongs here: tables of documents and listings, and the names of the tables of values and versions. Does not: the frames
of the rules (normalize.frames), published tables (warehouse.contract.schema).
"""

import polars as pl

TEXT, FLAG, UTC_TIME = pl.String(), pl.Boolean(), pl.Datetime("us", "UTC")
NAME, DAY, NUMBER = pl.Categorical(), pl.Date(), pl.Float64()
"""A NAME is text that many rows share, and is stored once."""

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
        "submissions_digest": TEXT,  # followed by the digests of the pages of older filings, separated by spaces
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
"""The filings that may have XBRL; a flag is null if the submissions do not state it."""
DATA_SETS = pl.Schema({"name": TEXT, "address": TEXT, "digest": TEXT, "failure": TEXT})
"""The quarters of the SEC's data sets, newest first: the digest in the raw zone, or the reason why it is missing."""
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
"""The files of the packages of filings, newest first; a filing without any file has one row with the failure."""
REGISTRANTS = pl.Schema({"cik": TEXT, "name": TEXT, "sic": TEXT, "succeeded": DAY})
"""`succeeded`: the day of the company's first notice of succession, null if it filed none."""
ACCEPTANCES = pl.Schema({"cik": TEXT, "accession": TEXT, "accepted_at": UTC_TIME})
FED, SERVED = "feed_filings", "served_filings"
FEED_FILINGS = pl.Schema({"cik": TEXT, "accession": TEXT, "form": TEXT, "filed": pl.Date(), "accepted_at": UTC_TIME})
"""Reports that the feed named; this table is their only record until the submissions of the company list them."""
SERVED_FILINGS = pl.Schema({"cik": TEXT, "accession": TEXT, "in_companyfacts": FLAG})
"""The newest filings of the published build."""
QUARANTINE = pl.Schema({"cik": TEXT, "reason": TEXT, "place": TEXT, "raw_document": TEXT})
DECODED_FILINGS = pl.Schema({"cik": TEXT, "accession": TEXT, "digest": TEXT})
"""The filings whose packages were decoded or found unreadable, with the digest of the files and the code."""
UNREAD_FILINGS = pl.Schema({"name": TEXT, "accession": TEXT, "cik": TEXT, "reason": TEXT, "digest": TEXT})
"""Data sets (`name`) and filings (`accession`, `cik`) that cannot be decoded, with the digest of the document and the
code; empty if the raw zone is damaged: then the document is read again."""
FILED_FACTS = pl.Schema(
    {
        "cik": TEXT,
        "accession": NAME,
        "source": NAME,
        "taxonomy": NAME,
        "element": NAME,
        "own": FLAG,
        "unit": NAME,
        "start": DAY,
        "end": DAY,
        "quarters": pl.Int16(),
        "value": NUMBER,
        "decimals": NUMBER,
        "member": NAME,
        "label": NAME,
    }
)
STATEMENT_LINES = pl.Schema(
    {
        "cik": TEXT,
        "accession": NAME,
        "source": NAME,
        "statement": NAME,
        "report": pl.Int32(),
        "line": pl.Int32(),
        "depth": pl.Int32(),
        "label": NAME,
        "element": NAME,
        "taxonomy": NAME,
        "own": FLAG,
        "abstract": FLAG,
        "negated": FLAG,
        "member": NAME,
        "parent": NAME,
        "weight": NUMBER,
        "unit": NAME,
        "start": DAY,
        "end": DAY,
        "quarters": pl.Int16(),
        "value": NUMBER,
    }
)
"""The columns of both tables are explained in warehouse.contract.filed. The rows of packages are in tables
`filed_facts` and `statement_lines`, the rows of a data set in `filed_facts_2010q1` and so on."""
COVER_SYMBOLS = "cover_symbols"
"""The table of the symbols on the covers of filings, with the columns of faces.facts.COVERS."""
UNREAD_REPORTS = "unread_reports"
"""The table of listed reports whose facts no source has yet: columns of normalize.facts.unread, and the time of
acceptance."""
REPLAYED, VERSIONS, APPENDED, RECORDED = "replayed", "versions", "appended", "recorded"
VALUE_TABLES = (
    REPLAYED,
    *("periods", "gaps", "splits", "breaks", "repairs", "filings", "latest_shares", "evidence", "decisions", "proofs"),
    *("balance_sheet_lines", "share_bases", "classes", UNREAD_REPORTS, "profiles"),
)
"""The frames of Standardized as tables. `profiles` is written last, because its digests mark all tables of a company as
finished. The frame `versions` becomes table `replayed`, because table `versions` is the whole log."""
