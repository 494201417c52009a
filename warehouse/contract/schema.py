"""The tables of the published warehouse as data: names, columns, types, units and meanings.

Belongs here: the single definition of tables. DDL, column comments, descriptions in the HTTP interface and the data
dictionary are generated from it.
Does not: what a table is (table), what is different in the tables of quarters (quarters), the line items (line_items),
computing values (pipelines.normalize), querying them (queries).
"""

from warehouse.contract.line_items import ITEM_NAMES, LINE_ITEMS
from warehouse.contract.quarters import quarterly_tables
from warehouse.contract.table import Column, Table, filed_of

PERIOD_KINDS = ("ttm", "annual")


CIK = Column("cik", "VARCHAR", "The SEC's Central Index Key, ten digits.", required=True)
PERIOD_KIND = Column("period_kind", "VARCHAR", "ttm: trailing twelve months at a quarter end; annual.", required=True)
PERIOD_END = Column("period_end", "DATE", "Last day of the period, as filed.", required=True)
PERIOD = Column("period", "VARCHAR", "Label in the company's own fiscal calendar: 2026Q1, FY2025.", required=True)
ITEM = Column("item", "VARCHAR", "Name of the line item.", required=True)
ACCESSION = Column("accession", "VARCHAR", "Accession number of the filing.")
FORM = Column("form", "VARCHAR", "Form type of the filing.")
FILED = Column("filed", "DATE", "Filing date.")
CLASS_MEMBER = Column(
    "class_member", "VARCHAR", "Class of stock of the series, a member as filed; null: the series of the company."
)
GOES = "To be removed after one release"
RULE = "rule"
"""Name of the column with the id of a rule, in table `rules` and in the tables that refer to it."""

WITHOUT_QUARTERS: tuple[Table, ...] = (
    Table(
        "companies",
        "Symbols of common equity with at least one value; all symbols of a company share its data.",
        ("symbol",),
        (
            Column("symbol", "VARCHAR", "Ticker symbol.", required=True),
            CIK,
            Column("name", "VARCHAR", "Company name."),
            Column("exchange", "VARCHAR", "Listing exchange."),
            Column("sic", "VARCHAR", "Standard Industrial Classification code, four digits."),
            Column("sic_description", "VARCHAR", "Name of the SIC major group (first two digits)."),
            Column("currency", "VARCHAR", "Reporting currency, ISO 4217.", required=True),
            Column(
                "industry",
                "VARCHAR",
                "What the company does: sic_description, or rule_industry in words for a company without a SIC code.",
            ),
            Column(
                "rule_industry",
                "VARCHAR",
                "Industry of the newest filing, which selects the rules: general, bank, insurer ...",
            ),
            Column("fiscal_year_end_month", "INTEGER", "Nominal month of the fiscal year end.", "1-12", required=True),
            Column("is_primary", "BOOLEAN", "True for the company's first symbol.", required=True),
            Column("is_listed", "BOOLEAN", "True while the symbol is in the SEC's list of tickers.", required=True),
            Column("first_period_end", "DATE", "End of the oldest period held."),
            Column("last_period_end", "DATE", "End of the latest period held."),
            Column(
                "class_member",
                "VARCHAR",
                "Class of stock of the symbol, as the cover of the newest report says; null: not known, or one class.",
            ),
            Column(
                "series_member",
                "VARCHAR",
                "Column class_member of the symbol's values by class in other tables; null: the company's own series; "
                "NotStated: the classes earn differently, and the symbol's class, or figures of this class, are not "
                "known.",
            ),
            Column(
                "data_updated_at", "TIMESTAMP", "Time (UTC) of the company's last synchronization, as of this build."
            ),
        ),
        not_content=("data_updated_at",),
    ),
    Table(
        "financials",
        "The line items, one row per symbol, period kind and period end; null means no supported value.",
        ("symbol", "period_kind", "period_end"),
        (
            Column("symbol", "VARCHAR", "Ticker symbol.", required=True),
            PERIOD_KIND,
            PERIOD_END,
            CIK,
            Column("is_primary", "BOOLEAN", "True for the company's first symbol.", required=True),
            PERIOD,
            Column("fiscal_year", "INTEGER", "Fiscal year, as the company names it.", required=True),
            Column("fiscal_quarter", "INTEGER", "Fiscal quarter (annual rows: the last one).", "1-4", required=True),
            Column("currency", "VARCHAR", "Reporting currency, ISO 4217.", required=True),
            Column("first_filed", "DATE", "Earliest filing date among the facts behind the row's values."),
            Column("last_filed", "DATE", "Latest filing date among the facts behind the row's values."),
            *(Column(item.name, "DOUBLE", item.meaning, item.unit) for item in LINE_ITEMS),
            *(
                Column(filed_of(name), "DATE", f"Filing date of the report that led to the current value of {name}.")
                for name in ITEM_NAMES
            ),
        ),
    ),
    Table(
        "versions",
        "Every version of every value, oldest first; a null value means that the value was withdrawn.",
        ("cik", "period_kind", "period_end", "item", "version", "class_member"),
        (
            CIK,
            PERIOD_KIND,
            PERIOD_END,
            ITEM,
            Column("version", "INTEGER", "Version number, counting from 1.", required=True),
            PERIOD,
            Column("value", "DOUBLE", "Value in that version, on the newest share basis; null: withdrawn."),
            Column("is_current", "BOOLEAN", "True for the latest version.", required=True),
            Column("recorded_at", "TIMESTAMP", "When a synchronization of this service recorded the version, in UTC."),
            Column("known_at", "TIMESTAMP", "When EDGAR accepted the filing, in UTC."),
            FILED,
            ACCESSION,
            FORM,
            Column("cause", "VARCHAR", "Cause of the version: initial, restatement, method and so on."),
            Column("method", "VARCHAR", "Method of computation: fiscal_year, year_to_date, four_quarters and so on."),
            Column("flags", "VARCHAR", "Reservations about the value: codes, comma-separated."),
            Column(
                RULE,
                "VARCHAR",
                "Rule that computed the value from its legs or withdrew it; null if recorded before rules had ids.",
            ),
            CLASS_MEMBER,
        ),
        not_content=("recorded_at",),
    ),
    Table(
        "lineage",
        "Provenance: the legs of each value, each a filed fact with the operation that enters it into the value.",
        ("cik", "period_kind", "period_end", "item", "version", "leg", "class_member"),
        (
            CIK,
            PERIOD_KIND,
            PERIOD_END,
            ITEM,
            Column("version", "INTEGER", "Version number of the value.", required=True),
            Column("leg", "INTEGER", "Number of the leg, counting from 1.", required=True),
            Column(
                "tag",
                "VARCHAR",
                "Taxonomy and element name of the fact; own: an element that the filer defines itself.",
                required=True,
            ),
            Column("unit", "VARCHAR", "Unit of the fact as filed.", required=True),
            Column("start", "DATE", "First day of the fact's duration; null for an instant."),
            Column("end", "DATE", "Last day of the fact's duration, or its instant.", required=True),
            Column("value", "DOUBLE", "Value as filed.", required=True),
            Column(
                "operation",
                "VARCHAR",
                "Role of the leg in the calculation: add, subtract, mean, dividend, divisor ...",
                required=True,
            ),
            Column("weight", "DOUBLE", "Factor of the leg: 1, -1, or the days of an average.", required=True),
            Column(
                "split_factor",
                "DOUBLE",
                "Factor of the leg for splits since the filing and for a corrected error of scale.",
                required=True,
            ),
            ACCESSION,
            FORM,
            FILED,
            Column(
                "concept",
                "VARCHAR",
                "Amount that the fact states, as named in the data dictionary, such as operating_cash_flow; null for "
                "versions recorded before rules had ids.",
            ),
            Column(
                RULE,
                "VARCHAR",
                "Rule that chose or corrected the fact; null for versions recorded before rules had ids.",
            ),
            Column(
                "source",
                "VARCHAR",
                "Where the fact was read: companyfacts; data set: the SEC's Financial Statement Data Sets; filing: the "
                "XBRL documents of the filing. A fact that companyfacts has is read there.",
            ),
            Column(
                "member",
                "VARCHAR",
                "Dimensions of the fact, such as a class of stock or a related party; null: the company as a whole.",
            ),
            Column(
                "label",
                "VARCHAR",
                "The filer's words for the line of the statement; null for facts that were not read there.",
            ),
            CLASS_MEMBER,
        ),
    ),
    Table(
        "gaps",
        "Reasons why covered periods have no value for an item, and why values of other periods are withheld.",
        ("cik", "period_kind", "period_end", "item", "class_member"),
        (
            CIK,
            PERIOD_KIND,
            PERIOD_END,
            ITEM,
            Column("reason", "VARCHAR", "Stable reason: no_tag, missing_quarter, negative_fcf ...", required=True),
            Column(RULE, "VARCHAR", "Rule that leaves the value out."),
            CLASS_MEMBER,
        ),
    ),
    Table(
        "proofs",
        "The identities by which the current values and gaps were judged: what must hold between filed figures.",
        ("cik", "period_kind", "period_end", "item", RULE, "class_member"),
        (
            CIK,
            PERIOD_KIND,
            PERIOD_END,
            ITEM,
            Column(RULE, "VARCHAR", "The identity, as in table rules.", required=True),
            Column(
                "outcome",
                "VARCHAR",
                "holds: the value satisfies the identity; chose: the value was chosen because it satisfies the "
                "identity; corrected: the identity proved a filed figure wrong, and the figure was corrected; "
                "withheld: the identity contradicts the value, which is therefore not served.",
                required=True,
            ),
            Column("left_side", "DOUBLE", "The left side of the identity, as its rule states it."),
            Column("right_side", "DOUBLE", "The right side of the identity, as its rule states it."),
            CLASS_MEMBER,
        ),
    ),
    Table(
        "balance_sheet_lines",
        "The balance sheets whose totals prove current values of debt and cash, and the balance sheets behind missing "
        "values: the lines of each section, and its total, in both columns of the filing.",
        ("cik", "accession", "section", "element", "member"),
        (
            CIK,
            Column("accession", "VARCHAR", "Accession number of the filing.", required=True),
            Column(
                "section",
                "VARCHAR",
                "current assets, current liabilities, noncurrent liabilities; or liabilities, where the balance sheet "
                "is not classified.",
                required=True,
            ),
            Column(
                "element",
                "VARCHAR",
                "Element of the line as filed, also one of the filer's own; for a total, what it is taken from.",
                required=True,
            ),
            Column("member", "VARCHAR", "Dimensions of the line, as in table lineage; null: the company as a whole."),
            Column(
                "class",
                "VARCHAR",
                "cash, security, restricted, borrowing, finance lease, operating lease, deposit, repo, payable, other; "
                "or total. Borrowings are debt, cash and securities are cash.",
                required=True,
            ),
            Column(
                "adds_up",
                "BOOLEAN",
                "True if the lines of the section add up to its total, in all its columns. If not, the rows are the "
                "likeliest lines and, without amounts, the lines of debt or cash that this filing lacks and that were "
                "in the filer's last section that added up.",
                required=True,
            ),
            Column("day", "DATE", "The filing's own day.", required=True),
            Column("compared_day", "DATE", "The day of comparison, if the total is stated for one."),
            Column("amount", "DOUBLE", "Amount on the filing's own day; null: not stated.", "currency"),
            Column("compared", "DOUBLE", "Amount on the day of comparison; null: not stated.", "currency"),
        ),
    ),
    Table(
        "newest_statements",
        "The statements of each company's newest filings, in the filer's words and order: one row for each line and "
        "column. It has the annual reports of the newest five fiscal years and all reports of the newest eight "
        "quarters whose statements are read, and other filings behind current values of the newest year. A line joins "
        "table lineage by accession, tag, member and value. File statement_lines.parquet has all filings and periods.",
        ("cik", "accession", "statement", "line", "quarters", "end", "member"),
        (
            CIK,
            Column("accession", "VARCHAR", "Accession number of the filing.", required=True),
            Column("statement", "VARCHAR", "BS: balance sheet; IS: income statement; CF: cash flow.", required=True),
            Column("line", "INTEGER", "Place of the line on its statement; numbers may be missing.", required=True),
            Column("depth", "INTEGER", "Indentation; null for filings that are read in data sets."),
            Column("label", "VARCHAR", "The filer's words for the line; null if the filing states none."),
            Column("tag", "VARCHAR", "Taxonomy and element name of the line, as in table lineage.", required=True),
            Column("member", "VARCHAR", "Dimensions, as in table lineage; only those of legs of a value are here."),
            Column("is_heading", "BOOLEAN", "True for a heading, which has no value.", required=True),
            Column(
                "negated", "BOOLEAN", "True if the statement shows the value with the opposite sign.", required=True
            ),
            Column("unit", "VARCHAR", "Unit of the value."),
            Column("quarters", "INTEGER", "Length of the column's period; 0: a day.", "quarters"),
            Column("end", "DATE", "Last day of the column's period, or its day; data sets round it to a month's end."),
            Column("value", "DOUBLE", "Value as filed; of cash in a cash flow statement the balance of the line."),
            Column(
                "is_total",
                "BOOLEAN",
                "True if the filing's calculation adds up other lines of the statement to this one; null for filings "
                "that are read in data sets.",
            ),
        ),
    ),
    Table(
        "splits",
        "Share splits inferred from the filings.",
        ("cik", "effective_by", "class_member"),
        (
            CIK,
            Column("effective_by", "DATE", "Filing date of the first filing on the new share basis.", required=True),
            Column("ratio", "DOUBLE", "New shares per old share.", required=True),
            Column("effective_after", "DATE", "Filing date of the last filing on the old share basis."),
            Column("evidence", "VARCHAR", "The facts that prove the split."),
            Column(RULE, "VARCHAR", "Rule that found the split."),
            CLASS_MEMBER,
        ),
    ),
    Table(
        "breaks",
        "Filings at which the figures under a CIK change to another company's, to other accounting standards, or to "
        "another purchasing power.",
        ("cik", "accession"),
        (
            CIK,
            ACCESSION,
            FILED,
            Column(
                "kind",
                "VARCHAR",
                "entity: the filing shows the history of another company (a reverse acquisition); standards: the "
                "company changes between US-GAAP and IFRS. Twelve-month values never combine figures from before and "
                "after these breaks. purchasing_power: the filing restates earlier periods by a price index; growth "
                "rates do not compare periods before and after it.",
                required=True,
            ),
            Column(RULE, "VARCHAR", "Rule that found the break."),
        ),
    ),
    Table(
        "repairs",
        "Corrected errors of filings, each proved by other facts; table lineage keeps the values as filed.",
        ("cik", "accession", "concept", "end", "start"),
        (
            CIK,
            ACCESSION,
            Column("concept", "VARCHAR", "The amount, as named in the data dictionary.", required=True),
            Column("start", "DATE", "First day of the duration; null for an instant."),
            Column("end", "DATE", "Last day of the duration, or the instant.", required=True),
            Column(
                "kind",
                "VARCHAR",
                "scale: a thousand or a million times too large or too small; sign: the opposite sign; figure: another "
                "amount than other figures of the filing prove; context: a figure of another period; doubt: left out, "
                "because other figures of the filing contradict it.",
                required=True,
            ),
            Column("filed_value", "DOUBLE", "Value as filed.", required=True),
            Column("value", "DOUBLE", "Corrected value; null if the figure is left out."),
            Column("evidence", "VARCHAR", "The facts that prove the error.", required=True),
            Column(RULE, "VARCHAR", "Rule that proved the error and corrected it."),
        ),
    ),
    Table(
        "filings",
        "The filings whose facts are in the data, and the reports that the SEC lists while no source has their facts.",
        ("accession",),
        (
            Column("accession", "VARCHAR", "Accession number of the filing.", required=True),
            CIK,
            FORM,
            FILED,
            Column(
                "accepted_at",
                "TIMESTAMP",
                "When EDGAR accepted the filing, in UTC; null if neither the company's submissions nor their pages of "
                "older filings list it, or the page could not be read.",
            ),
            Column(
                "share_basis",
                "DOUBLE",
                "Number of shares on the newest share basis per share as the filing counts them; null if no source has "
                "facts of the filing.",
            ),
            Column("url", "VARCHAR", "Address of the filing's index at the SEC."),
            Column(
                "in_companyfacts",
                "BOOLEAN",
                "Whether the SEC's companyfacts have facts of the filing; if not, its values are made from the filing "
                "itself, as far as its XBRL package is read.",
            ),
        ),
    ),
    Table(
        "securities",
        "Listed securities that are not common equity: preferred shares, warrants, units, rights, notes.",
        ("symbol",),
        (
            Column("symbol", "VARCHAR", "Ticker symbol.", required=True),
            CIK,
            Column("name", "VARCHAR", "Name of the issuer."),
            Column("exchange", "VARCHAR", "Listing exchange."),
            Column("kind", "VARCHAR", "preferred, warrant, unit, right, note, other.", required=True),
            Column("class_member", "VARCHAR", "Class of stock, as the cover of the newest report says; null: none."),
        ),
    ),
    Table(
        "valuations",
        "Fair value per share by the discounted cash flow model.",
        ("cik", "class_member"),
        (
            CIK,
            Column("meaningful", "BOOLEAN", "False if the model does not fit; reason_codes says why.", required=True),
            Column("fair_value_per_share", "DOUBLE", "Fair value per share.", "currency per share"),
            Column("reasons", "VARCHAR", f"JSON array of reason codes. {GOES}, use reason_codes."),
            Column(
                "assumptions",
                "VARCHAR",
                f"JSON object: base period, assumptions and results of the model. {GOES}, use the columns after this.",
            ),
            Column("projection", "VARCHAR", f"JSON array of the projected years. {GOES}, use table projections."),
            Column("reason_codes", "VARCHAR[]", "Why there is no fair value, most important first; else empty."),
            Column("period", "VARCHAR", "Label of the twelve months that the valuation starts from."),
            Column("period_end", "DATE", "Last day of these twelve months."),
            Column("base_free_cash_flow", "DOUBLE", "Free cash flow that the projection starts from.", "currency"),
            Column(
                "base_is_normalized",
                "BOOLEAN",
                "True if the base is the usual amount, because the twelve months are an outlier.",
            ),
            Column("initial_growth", "DOUBLE", "Growth of the first projected year.", "ratio"),
            Column("perpetual_growth", "DOUBLE", "Growth of the tenth projected year and of all later years.", "ratio"),
            Column("required_return", "DOUBLE", "Rate at which free cash flow is discounted.", "ratio"),
            Column("shares", "DOUBLE", "Shares that the equity value is divided by.", "shares"),
            Column("present_value_of_projection", "DOUBLE", "Present value of the ten projected years.", "currency"),
            Column("present_value_of_terminal_value", "DOUBLE", "Present value of all later years.", "currency"),
            Column("equity_value", "DOUBLE", "Sum of both present values.", "currency"),
            Column("net_debt", "DOUBLE", "Total debt less cash; the model does not use it.", "currency"),
            Column(
                "lowest_fair_value_per_share",
                "DOUBLE",
                "Lowest fair value per share at required returns and perpetual growth of one point more and less.",
                "currency per share",
            ),
            Column(
                "highest_fair_value_per_share",
                "DOUBLE",
                "Highest fair value per share at required returns and perpetual growth of one point more and less.",
                "currency per share",
            ),
            CLASS_MEMBER,
        ),
    ),
    Table(
        "projections",
        "The ten projected years of each fair value.",
        ("cik", "year", "class_member"),
        (
            CIK,
            Column("year", "INTEGER", "Number of the projected year.", "1-10", required=True),
            Column("growth", "DOUBLE", "Growth of free cash flow over the year before.", "ratio", required=True),
            Column("free_cash_flow", "DOUBLE", "Projected free cash flow.", "currency", required=True),
            Column("discount_factor", "DOUBLE", "Factor that discounts the year.", "ratio", required=True),
            Column("present_value", "DOUBLE", "Free cash flow times the factor.", "currency", required=True),
            CLASS_MEMBER,
        ),
    ),
    Table(
        "line_items",
        "The line items.",
        ("name",),
        (
            Column("name", "VARCHAR", "Name of the line item.", required=True),
            Column("unit", "VARCHAR", "Unit of its values.", required=True),
            Column("meaning", "VARCHAR", "Meaning of the line item.", required=True),
            Column("formula", "VARCHAR", "Calculation in words.", required=True),
            Column("sources", "VARCHAR", "The taxonomy elements that feed it, in order of preference."),
        ),
    ),
    Table(
        "rules",
        "The rules that decide values: statement, source, and what each decided in this build.",
        (RULE,),
        (
            Column(
                RULE,
                "VARCHAR",
                "Identifier of the rule, whose meaning never changes; columns `rule` of other tables refer to it.",
                required=True,
            ),
            Column("statement", "VARCHAR", "What the rule decides, and when.", required=True),
            Column(
                "source",
                "VARCHAR",
                "Accounting standard, regulation, taxonomy definition or measurement that justifies it.",
                required=True,
            ),
            Column(
                "action",
                "VARCHAR",
                "select: chooses among filed facts; compose: makes a value from several; correct: repairs an error of "
                "a filing; withhold: leaves a value out; flag: marks a value that is served.",
                required=True,
            ),
            Column("applies", "VARCHAR", "Filers that the rule applies to.", required=True),
            Column("file", "VARCHAR", "File of this service's code that contains the rule.", required=True),
            Column("code", "VARCHAR", "Code that the rule writes into column flags or method of table versions."),
            Column(
                "values",
                "BIGINT",
                "Number of current values and gaps that name the rule: each trailing twelve months' value or gap (cik, "
                "period_end, item) counts once if its version (column rule or method), a leg, a flag or the gap names "
                "the rule. Annual values are not counted again. A flag or method that several rules write counts for "
                "none of them.",
                required=True,
            ),
            Column(
                "companies",
                "BIGINT",
                "Number of companies with such a value or gap, or with a row of the rule in table decisions.",
                required=True,
            ),
            Column(
                "figures",
                "BIGINT",
                "Sum of column figures of table decisions over all companies: the decisions of the rule in the steps "
                "of the calculation, whether or not a value names the rule.",
                required=True,
            ),
        ),
    ),
    Table(
        "decisions",
        "The rules that decided something for a company in the steps of the calculation, such as its industry, share "
        "basis, currency, fiscal calendar and restated balances.",
        ("cik", RULE),
        (
            CIK,
            Column(RULE, "VARCHAR", "Rule that decided, as in table rules.", required=True),
            Column(
                "figures",
                "BIGINT",
                "Number of figures, windows, filings, quarter ends, splits or breaks that the rule decided for the "
                "company; what is counted follows from the rule's statement.",
                required=True,
            ),
        ),
    ),
    Table(
        "changes",
        "The values that differ from the build before the synchronization, except values that changed because more "
        "was read of known filings.",
        ("cik", "period_kind", "period_end", "item", "class_member"),
        (
            CIK,
            PERIOD_KIND,
            PERIOD_END,
            ITEM,
            Column("before", "DOUBLE", "Value in the build before."),
            Column("after", "DOUBLE", "Value in this build."),
            Column("cause", "VARCHAR", "Cause of the change."),
            CLASS_MEMBER,
        ),
    ),
    Table(
        "quarantine",
        "Companies that keep earlier values, because the newest document, its values or its rows cannot be right.",
        ("cik", "raw_document"),
        (
            CIK,
            Column("reason", "VARCHAR", "What is wrong, and with what value.", required=True),
            Column("place", "VARCHAR", "Where in the document."),
            Column("raw_document", "VARCHAR", "Name of the document in the raw zone.", required=True),
        ),
    ),
    Table(
        "syncs",
        "Synchronizations that led to this build.",
        ("sync_id",),
        (
            Column("sync_id", "VARCHAR", "Identifier of the synchronization.", required=True),
            Column("started_at", "TIMESTAMP", "When the synchronization began, in UTC."),
            Column("finished_at", "TIMESTAMP", "When the synchronization ended, in UTC."),
            Column("source", "VARCHAR", "live, sample or mirror."),
            Column("counts", "VARCHAR", "JSON object of counts."),
            Column("build", "VARCHAR", "Build that the synchronization published."),
        ),
        not_content=("sync_id", "started_at", "finished_at", "source", "counts", "build"),
    ),
)
TABLES: tuple[Table, ...] = (*WITHOUT_QUARTERS, *quarterly_tables(WITHOUT_QUARTERS))
BY_NAME: dict[str, Table] = {table.name: table for table in TABLES}
