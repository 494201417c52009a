"""The newest day of filing in a source, with which it is judged whether the data of a company are old.

Belongs here: which days count. Does not: what is old (valuation.reasons in pipelines, site.history in serve).
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
"""The newest day that two documents state: submissions, too, which have the time of acceptance of the filing, or the
companyfacts of a second company, which has filed as late. So an error of one company makes no other one old.

Where companyfacts state a day more than a week after EDGAR accepted the filing, the day of acceptance counts: a filing
that is accepted on the evening before holidays has the day of filing after them. If there is only one company, its own
day counts. The table `filings` has `cik`, `filed` and `accepted_at` (in UTC, without a time zone), one row a filing.
"""
