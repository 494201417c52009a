"""The tables of facts and statements as filed: Parquet files next to the builds, in `published/statements/`.

Belongs here: names, columns, types, units and meanings of these files. Does not: the tables of a build (schema),
writing the files (pipelines.tables.filed_files).

The files are for analysts. Values are made from the same rows of the lake; no page or answer reads these files.
"""

from warehouse.contract.schema import CIK
from warehouse.contract.table import Column, Table

FOLDER = "statements"
"""The folder of the files, inside the folder of builds."""

ACCESSION = Column(
    "accession",
    "VARCHAR",
    "Accession number of the filing, as in tables filings and lineage of a build.",
    required=True,
)
SOURCE = Column(
    "source",
    "VARCHAR",
    "filing: the XBRL documents of the filing; data set: a quarter of the SEC's Financial Statement Data Sets. A "
    "filing of which both are read has the rows of its own documents.",
    required=True,
)
TAXONOMY = Column("taxonomy", "VARCHAR", "Taxonomy of the element: us-gaap, ifrs-full, ...; null for an own element.")
ELEMENT = Column("element", "VARCHAR", "XBRL element, without prefix.", required=True)
OWN = Column("own", "BOOLEAN", "Whether the filer defines the element itself.", required=True)
MEMBER = Column(
    "member",
    "VARCHAR",
    "Dimensions of the fact, such as a class of stock or a business; null: the company as a whole. Source filing: "
    "us-gaap:StatementClassOfStockAxis=us-gaap:CommonClassAMember, several joined with a semicolon. Source data set: "
    "ClassOfStock=CommonClassA; as the data set has them, and LegalEntity=NAME; for a co-registrant.",
)
UNIT = Column("unit", "VARCHAR", "Unit of the value: USD, shares, USD/shares, pure, ...")
START = Column("start", "DATE", "First day of the period; null for an instant, and always null in a data set.")
END = Column("end", "DATE", "Last day of the period, or the day; a data set rounds it to the end of a month.")
QUARTERS = Column(
    "quarters",
    "INTEGER",
    "Data sets only: length of the period, rounded to whole quarters; 0 for an instant.",
    unit="quarters",
)

FILED_FACTS = Table(
    "filed_facts",
    "The numbers that filings state, also by member and under elements of the filer's own: all numbers of a filing "
    "whose own documents are read, otherwise only the numbers of its statements.",
    ("accession", "taxonomy", "element", "unit", "start", "end", "quarters", "member"),
    (
        CIK,
        ACCESSION,
        SOURCE,
        TAXONOMY,
        ELEMENT,
        OWN,
        UNIT,
        START,
        END,
        QUARTERS,
        Column("value", "DOUBLE", "The number, in units.", required=True),
        Column(
            "decimals",
            "DOUBLE",
            "Digits after the point that are exact, as the filer says; negative: -6 is exact to millions; infinite: "
            "exact. Null where it is not said, and in data sets.",
        ),
        MEMBER,
        Column("label", "VARCHAR", "The filer's words for the element on its statements; null for other facts."),
        Column(
            "in_companyfacts",
            "BOOLEAN",
            "Whether companyfacts has the fact, too: same filing, element and value. Only elements that the rules read "
            "are compared; for all others it is false.",
            required=True,
        ),
    ),
    sort=("cik",),
)
STATEMENT_LINES = Table(
    "statement_lines",
    "The lines of balance sheets, income statements and cash flow statements as filed, in their order: one row for "
    "each line, member and period. A heading, or a line without a number, is one row without a value.",
    ("accession", "statement", "report", "line", "unit", "start", "end", "quarters", "member"),
    (
        CIK,
        ACCESSION,
        SOURCE,
        Column("statement", "VARCHAR", "BS: balance sheet; IS: income statement; CF: cash flow.", required=True),
        Column(
            "report",
            "INTEGER",
            "Data sets only: number of the page of the filing on which the line stands. Lines are counted by page.",
        ),
        Column("line", "INTEGER", "Place of the line on its statement; numbers may be missing.", required=True),
        Column("depth", "INTEGER", "Indentation; null in data sets."),
        Column("label", "VARCHAR", "The filer's words for the line."),
        ELEMENT,
        TAXONOMY,
        OWN,
        Column("abstract", "BOOLEAN", "Whether the line is a heading; data sets have none.", required=True),
        Column("negated", "BOOLEAN", "Whether the statement shows the value with the opposite sign.", required=True),
        MEMBER,
        Column(
            "parent",
            "VARCHAR",
            "Element of the total to which the filer's calculation adds the line; null if there is none, and in data "
            "sets.",
        ),
        Column("weight", "DOUBLE", "Factor with which the line is added to its total: 1 or -1."),
        UNIT,
        START,
        END,
        QUARTERS,
        Column(
            "value",
            "DOUBLE",
            "The number, in units. All periods of the element are here, also those of the notes. A data set does not "
            "say on which statement a member stands, so there all members of the element are here.",
        ),
    ),
    sort=("cik",),
)
FILES = (FILED_FACTS, STATEMENT_LINES)
