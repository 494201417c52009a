"""The newest day of filing in a source; the age of a company's data is measured from it.

Belongs here: which days count. Does not: when data count as old (valuation.reasons in pipelines, site.history in
serve).
"""

NEWEST_FILING = """
WITH days AS (
    SELECT cik,
        accepted_at IS NOT NULL AS is_accepted,
        CASE WHEN filed > CAST(accepted_at AS DATE) + 7 THEN CAST(accepted_at AS DATE) ELSE filed END AS day
    FROM filings
), of_companies AS (SELECT max(day) AS day FROM days GROUP BY cik ORDER BY ALL DESC LIMIT 2)
SELECT greatest((SELECT max(day) FROM days WHERE is_accepted), (SELECT min(day) FROM of_companies))
"""
"""SQL: the newest filing day that two documents confirm.

The second document is the submissions, which state the filing's time of acceptance, or the companyfacts of another
company that filed as late. So an error of one company does not make the data of others old.

Where companyfacts state a day more than a week after EDGAR accepted the filing, the day of acceptance counts: a filing
that is accepted on the evening before holidays has the day of filing after them. If there is only one company, its own
day counts. The table `filings` has `cik`, `filed` and `accepted_at` (in UTC, without a time zone), one row a filing.
"""
