-- SQL macros for analysts, included in every build; each has a comment (`FROM duckdb_functions()`).
--
-- Belongs here: queries of the published tables that need joins and rules of the data model.
-- Does not: the interface's queries (queries.py), values that are in no table.
--
-- Tables are named without a database name, because the name depends on how the file is opened: if it is attached next
-- to others, run `USE` first. Parameters are cast, because dates and times may be given as text.
-- A line `-- each item:` stands for one line for each line item (definitions).

CREATE MACRO is_of_series(item, class_member, series_member) AS
class_member IS NOT DISTINCT FROM CASE
    WHEN item IN ('eps_basic', 'dividends_per_share', 'shares_basic', 'shares_diluted') THEN series_member
END;

COMMENT ON MACRO is_of_series IS
'Whether a row of tables versions, lineage, gaps or proofs (its item and class_member) is of the series of a symbol '
'(series_member of table companies): amounts per share and counts of the class of stock, all other items of the company.';

CREATE MACRO financials_known(filed_by, recorded_by) AS TABLE
WITH known AS (
    SELECT
        symbol,
        cik,
        is_primary,
        currency,
        period_kind,
        period_end,
        item,
        versions.class_member,
        max(version) AS version,
        arg_max(period, version) AS period,
        arg_max_null(value, version) AS value,  -- arg_max would skip a null value (withdrawn)
        arg_max_null(filed, version) AS item_filed
    FROM versions
    INNER JOIN companies USING (cik)  -- before grouping, so that a filter on symbols is pushed down to the scan
    WHERE
        is_of_series(item, versions.class_member, series_member)
        AND (filed > CAST(filed_by AS DATE)) IS NOT TRUE  -- includes versions without a filing date
        AND (
            recorded_by IS NULL
            OR recorded_at <= CASE typeof(recorded_by)
                WHEN 'TIMESTAMP WITH TIME ZONE' THEN timezone('UTC', CAST(recorded_by AS TIMESTAMPTZ))
                ELSE CAST(recorded_by AS TIMESTAMP)
            END
        )
    GROUP BY ALL
),
periods AS (
    SELECT
        symbol,
        known.period_kind,
        known.period_end,
        known.cik,
        is_primary,
        currency,
        max(period) AS period,
        min(legs.filed) AS first_filed,
        max(legs.filed) AS last_filed,
        -- each item: max(known.value) FILTER (known.item = '{item}') AS {item},
        -- each item: max(item_filed) FILTER (known.item = '{item}') AS {item}_filed,
    FROM known
    LEFT JOIN lineage AS legs
        ON
            known.cik = legs.cik
            AND known.period_kind = legs.period_kind
            AND known.period_end = legs.period_end
            AND known.item = legs.item
            AND known.version = legs.version
            AND known.class_member IS NOT DISTINCT FROM legs.class_member
    WHERE known.value IS NOT NULL
    GROUP BY ALL
)
SELECT
    symbol,
    period_kind,
    period_end,
    cik,
    is_primary,
    period,
    CAST(regexp_extract(period, '[0-9]{4}') AS INTEGER) AS fiscal_year,
    CASE period_kind WHEN 'annual' THEN 4 ELSE CAST(right(period, 1) AS INTEGER) END AS fiscal_quarter,
    currency,
    periods.* EXCLUDE (symbol, period_kind, period_end, cik, is_primary, period, currency)
FROM periods;

COMMENT ON MACRO TABLE financials_known IS
'Table financials at an earlier time: from filings up to a day (filed_by, a DATE) and from versions that this service '
'recorded up to a time (recorded_by, in UTC if it has no time zone); null means no limit. Symbols and share basis are '
'those of this build.';

CREATE MACRO financials_as_of(as_of) AS TABLE FROM financials_known(as_of, NULL);

COMMENT ON MACRO TABLE financials_as_of IS
'Table financials from the filings up to the end of a day (as_of, a DATE), even if this service did not run then. A '
'period is included from the first filing that states it, also as a comparative. Symbols and share basis are those of '
'this build.';

-- "at" is quoted because DuckDB has a clause of that name
CREATE MACRO financials_as_served("at") AS TABLE FROM financials_known(NULL, "at");

COMMENT ON MACRO TABLE financials_as_served IS
'Table financials as this service served it at a time (at, in UTC if it has no time zone): the versions recorded up to then. '
'Versions superseded before the first synchronization were never served and are left out. Symbols and share basis are '
'those of this build.';

CREATE MACRO restatements_known(symbol_, of_all, with_sources) AS TABLE
WITH numbered AS (
    SELECT
        versions.*,
        symbol,
        lag(value) OVER (pair ORDER BY version) AS previous_value,
        with_sources OR cause IS DISTINCT FROM 'source' AS is_shown,
        count(*) FILTER (with_sources OR cause IS DISTINCT FROM 'source') OVER pair AS version_count
    FROM versions
    INNER JOIN companies USING (cik)
    WHERE
        (upper(symbol) = upper(symbol_) OR (of_all AND is_primary))
        AND is_of_series(item, versions.class_member, series_member)
    WINDOW pair AS (PARTITION BY symbol, period_kind, period_end, item)
)
SELECT
    symbol,
    period_kind,
    period_end,
    period,
    item,
    version,
    value,
    previous_value,
    value - previous_value AS change,
    cause,
    method,
    is_current,
    numbered.filed,
    accession,
    numbered.form,
    url,
    known_at,
    recorded_at
FROM numbered
LEFT JOIN filings USING (accession)
WHERE version_count > 1 AND is_shown
ORDER BY symbol, period_end DESC, period_kind DESC, item, version;

COMMENT ON MACRO TABLE restatements_known IS
'All versions of values that changed after they were first recorded: of a symbol, or of all primary symbols; '
'with_sources: also those with the cause source, because of what was read later of known filings. Macro restatements is '
'a case of it.';

CREATE MACRO restatements(symbol_) AS TABLE (SELECT * FROM restatements_known(symbol_, false, false)),
() AS TABLE (SELECT * FROM restatements_known(NULL, true, false));

COMMENT ON MACRO TABLE restatements IS
'All versions of the values of a symbol (case-insensitive) that changed after they were first recorded, with filing, '
'cause, value, previous value and change; without a symbol, of all primary symbols. A null value means that the value '
'was withdrawn. Versions with the cause source are left out. Newest period first.';

CREATE MACRO latest(item_) AS TABLE
WITH stated AS (
    SELECT
        symbol,
        period_end,
        period,
        CASE
            -- each item: WHEN item_ = '{item}' THEN {item}
            ELSE error('no such line item: ' || item_ || '; the names of line items are in table line_items')
        END AS value
    FROM financials
    WHERE period_kind = 'ttm' AND is_primary
)
SELECT
    symbol,
    cik,
    name,
    exchange,
    sic,
    currency,
    item_ AS item,
    max(period_end) AS period_end,
    arg_max(period, period_end) AS period,
    arg_max(value, period_end) AS value
FROM stated
INNER JOIN companies USING (symbol)
WHERE is_listed AND value IS NOT NULL
GROUP BY ALL
ORDER BY symbol;

COMMENT ON MACRO TABLE latest IS
'A cross-section of the primary listed symbols: the newest trailing-twelve-months value of a line item (item_) of each '
'company, with its period end. Check the period end: a company may have stopped reporting the item.';

-- the pages find the same companies in memory (serve.site.directory), and a test compares both
CREATE MACRO peers(symbol_) AS TABLE
WITH newest AS (
    SELECT
        symbol,
        companies.cik,
        name,
        exchange,
        sic,
        industry,
        companies.currency,
        is_listed,
        companies.is_primary,
        financials.* EXCLUDE (symbol, cik, currency, is_primary)
    FROM companies
    INNER JOIN financials USING (symbol)
    WHERE period_kind = 'ttm' AND period_end = last_period_end AND revenue > 0
)
SELECT
    peer.symbol,
    peer.cik,
    peer.name,
    peer.exchange,
    peer.sic,
    peer.industry,
    peer.currency,
    peer.period,
    peer.period_end,
    peer.revenue / asked.revenue AS size,
    -- each item: peer.{item},
FROM newest AS asked
INNER JOIN newest AS peer
    ON
        asked.industry = peer.industry
        AND asked.currency = peer.currency
        AND asked.cik <> peer.cik
WHERE upper(asked.symbol) = upper(symbol_) AND asked.industry <> 'general' AND peer.is_listed AND peer.is_primary
ORDER BY (asked.sic = peer.sic AND abs(ln(size)) <= ln(10)) IS TRUE DESC, abs(ln(size)), peer.symbol
LIMIT 5;

COMMENT ON MACRO TABLE peers IS
'Five listed companies of the industry of a symbol (case-insensitive), nearest in revenue of the newest twelve months by '
'ratio (size), in the same currency. Those of the same four-digit SIC code come first if they are between a tenth and ten '
'times as large. Fewer if there are not so many; none without revenue or industry.';

CREATE MACRO quarterly(symbol_) AS TABLE (
    FROM quarters WHERE upper(symbol) = upper(symbol_) ORDER BY period_end DESC
),
() AS TABLE (FROM quarters WHERE is_primary ORDER BY symbol, period_end DESC);

COMMENT ON MACRO TABLE quarterly IS
'The fiscal quarters of a symbol (case-insensitive), newest first; without a symbol, of all primary symbols: flows of the '
'quarter itself, balances at its end. View quarters_of_year compares the quarters of each year with the year.';

CREATE MACRO explain(symbol_, item_, period_) AS TABLE
WITH every_version AS (
    FROM versions
    UNION ALL BY NAME
    FROM quarter_versions
),
every_leg AS (
    FROM lineage
    UNION ALL BY NAME
    FROM quarter_lineage
),
every_gap AS (
    FROM gaps
    UNION ALL BY NAME
    FROM quarter_gaps
),
named AS (
    SELECT DISTINCT
        symbol,
        cik,
        series_member,
        period_kind,
        period,
        period_end,
        CASE
            -- each item: WHEN item_ = '{item}' THEN '{item}'
            ELSE error('no such line item: ' || item_ || '; the names of line items are in table line_items')
        END AS item
    FROM every_version
    INNER JOIN companies USING (cik)
    WHERE
        upper(symbol) = upper(symbol_)
        AND (
            period = upper(CAST(period_ AS VARCHAR))
            OR CAST(period_end AS VARCHAR) = CAST(period_ AS VARCHAR)
        )
    -- for a day, trailing twelve months take precedence over a fiscal year; for a repeated label, the newest period
    ORDER BY period_kind DESC, period_end DESC
    LIMIT 1
),
asked AS (
    SELECT
        named.* EXCLUDE (period_kind, period),
        -- a balance of a quarter is that of the twelve months that end with it
        CASE WHEN quarterly.item IS NULL AND period_kind = 'quarter' THEN 'ttm' ELSE period_kind END AS period_kind,
        CASE WHEN quarterly.item IS NULL AND period_kind = 'quarter' THEN substr(period, 3) ELSE period END AS period
    FROM named
    LEFT JOIN (SELECT DISTINCT item FROM quarter_versions) AS quarterly ON named.item = quarterly.item
)
SELECT
    symbol,
    asked.period_kind,
    asked.period,
    asked.period_end,
    asked.item,
    current_version.value,
    reason,
    current_version.version,
    current_version.cause,
    current_version.method,
    leg,
    operation,
    tag,
    unit,
    "start",
    "end",
    lineage.value AS leg_value,
    weight,
    split_factor,
    lineage.value * split_factor * weight AS amount,
    lineage.form,
    lineage.filed,
    lineage.accession,
    url,
    concept,
    lineage.rule AS leg_rule,
    coalesce(gaps.rule, current_version.rule) AS rule,
    lineage.source,
    member,
    label
FROM asked
LEFT JOIN every_version AS current_version
    ON
        asked.cik = current_version.cik
        AND asked.period_kind = current_version.period_kind
        AND asked.period_end = current_version.period_end
        AND asked.item = current_version.item
        AND current_version.is_current
        AND is_of_series(asked.item, current_version.class_member, series_member)
LEFT JOIN every_gap AS gaps
    ON
        asked.cik = gaps.cik
        AND asked.period_kind = gaps.period_kind
        AND asked.period_end = gaps.period_end
        AND asked.item = gaps.item
        AND is_of_series(asked.item, gaps.class_member, series_member)
LEFT JOIN every_leg AS lineage
    ON
        asked.cik = lineage.cik
        AND asked.period_kind = lineage.period_kind
        AND asked.period_end = lineage.period_end
        AND asked.item = lineage.item
        AND current_version.version = lineage.version
        AND is_of_series(asked.item, lineage.class_member, series_member)
LEFT JOIN filings ON lineage.accession = filings.accession
ORDER BY leg;

COMMENT ON MACRO TABLE explain IS
'The provenance of the current value of a line item (item_) of a symbol (case-insensitive): one row per filed fact. '
'Column amount is the fact times split_factor and weight. The amounts of operations add and subtract sum up to the '
'value; a mean is the sum of amounts divided by the sum of weights; a dividend is divided by a divisor. period_ is a '
'label (2026Q1 of twelve months, FY2025, FY2025Q4 of a quarter) or the last day of the period. For a missing value: one '
'row without a leg, with the reason. leg_rule is the rule that chose or corrected the fact, rule the one that computed '
'the value or left it out; table rules has their statements.';

CREATE MACRO growth(item_, years_) AS TABLE
WITH stated AS (
    SELECT
        symbol,
        cik,
        period_end,
        period,
        first_filed,
        CASE
            -- each item: WHEN item_ = '{item}' THEN {item}
            ELSE error('no such line item: ' || item_ || '; the names of line items are in table line_items')
        END AS value
    FROM financials
    WHERE period_kind = 'ttm' AND is_primary
),
newest AS (FROM stated WHERE value IS NOT NULL QUALIFY period_end = max(period_end) OVER (PARTITION BY symbol)),
broken AS (SELECT cik, max(filed) AS broken_at FROM breaks WHERE kind <> 'purchasing_power' GROUP BY cik)
SELECT
    now.symbol,
    name,
    currency,
    item_ AS item,
    now.period_end,
    now.period,
    now.value,
    past.period_end AS past_period_end,
    past.value AS past_value,
    CASE WHEN now.value > 0 AND past.value > 0 THEN (now.value / past.value) ^ (1 / years_) - 1 END AS growth
FROM newest AS now
INNER JOIN companies USING (symbol)
LEFT JOIN broken ON now.cik = broken.cik
LEFT JOIN stated AS past
    ON
        now.symbol = past.symbol
        AND abs(date_diff('day', past.period_end, now.period_end - to_months(CAST(12 * years_ AS INTEGER)))) <= 15
        AND (past.first_filed < broken_at) IS NOT TRUE
WHERE is_listed
ORDER BY growth DESC NULLS LAST, now.symbol;

COMMENT ON MACRO TABLE growth IS
'Growth a year of a line item (item_) of the primary listed symbols, over so many years (years_) to the newest twelve '
'months, fastest first. Null if the earlier value is missing, of another company or of other accounting standards, or if '
'one of the two is not positive. View screener has 1, 3, 5 and 10 years, and leaves growth across a recast out, too.';

CREATE MACRO panel(items_, kind_) AS TABLE
SELECT
    symbol,
    period_end,
    period,
    fiscal_year,
    fiscal_quarter,
    currency,
    COLUMNS(LAMBDA name: list_contains(items_, name))
FROM financials
WHERE
    is_primary
    AND period_kind = CASE
        WHEN kind_ IN ('ttm', 'annual') THEN kind_
        ELSE error('no such kind of period: ' || kind_ || '; there are ttm and annual')
    END
    AND CASE
        WHEN list_has_all([
            -- each item: '{item}',
        ], items_) THEN true
        ELSE error('unknown line items among ' || CAST(items_ AS VARCHAR) || '; their names are in table line_items')
    END
ORDER BY symbol, period_end;

COMMENT ON MACRO TABLE panel IS
'A panel of the primary symbols: a row for each symbol and period of a kind (kind_: ttm or annual), with a column for '
'each of some line items (items_: a list of names, which are the columns in the order of table financials).';
