-- What analysts call: macros that every build carries, each with a comment.
--
-- Belongs here: questions that take a join or a rule to ask, over the published tables alone.
-- Does not: the statements that the interface runs (queries.py), or any value that no table holds.
--
-- Tables are named without a database, for a file does not know under which name it will be opened: an analyst who
-- attaches it beside others says `USE` first. Parameters are cast, for an analyst writes dates as text.

CREATE MACRO financials_known(filed_by, recorded_by) AS TABLE
WITH known AS (
    SELECT
        symbol,
        cik,
        period_kind,
        period_end,
        item,
        max(version) AS version,
        arg_max(period, version) AS period,
        arg_max_null(value, version) AS value  -- the other arg_max passes over a version that withdraws
    FROM versions
    INNER JOIN companies USING (cik)  -- here already, so that a filter on symbols reaches the scan
    WHERE
        (filed > CAST(filed_by AS DATE)) IS NOT TRUE
        AND (recorded_by IS NULL OR recorded_at <= CAST(recorded_by AS TIMESTAMPTZ))
    GROUP BY ALL
),
periods AS (
    SELECT
        known.symbol,
        known.period_kind,
        known.period_end,
        known.cik,
        arg_max(known.period, legs.filed) AS period,
        min(legs.filed) AS first_filed,
        max(legs.filed) AS last_filed,
        max(known.value) FILTER (item = 'revenue') AS revenue,
        max(known.value) FILTER (item = 'net_income') AS net_income,
        max(known.value) FILTER (item = 'eps_basic') AS eps_basic,
        max(known.value) FILTER (item = 'dividends_per_share') AS dividends_per_share,
        max(known.value) FILTER (item = 'free_cash_flow') AS free_cash_flow,
        max(known.value) FILTER (item = 'shares_basic') AS shares_basic,
        max(known.value) FILTER (item = 'shares_diluted') AS shares_diluted,
        max(known.value) FILTER (item = 'total_debt') AS total_debt,
        max(known.value) FILTER (item = 'cash_and_equivalents') AS cash_and_equivalents,
        max(known.value) FILTER (item = 'roic') AS roic,
        max(known.value) FILTER (item = 'debt_to_fcf') AS debt_to_fcf
    FROM known
    LEFT JOIN lineage AS legs USING (cik, period_kind, period_end, item, version)
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
    CAST(CASE period_kind WHEN 'annual' THEN '4' ELSE right(period, 1) END AS INTEGER) AS fiscal_quarter,
    currency,
    periods.* EXCLUDE (symbol, period_kind, period_end, cik, period)
FROM periods
INNER JOIN companies USING (symbol, cik);

CREATE MACRO financials_as_of(as_of) AS TABLE FROM financials_known(as_of, NULL);
CREATE MACRO financials_as_served("at") AS TABLE FROM financials_known(NULL, "at");
