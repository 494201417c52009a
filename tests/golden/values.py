"""What real companies reported, looked up by hand in their filings: the yardstick of the rules.

Belongs here: published figures with their period, on the share basis of the newest filing in the mirror.
Does not: values that were only calculated by the rules themselves.

One row a period: symbol, period kind, period end, and the items: money in millions of the reporting currency, shares in
millions, per-share amounts as they are.
"""

MONEY_AND_SHARES = frozenset(
    {
        "revenue",
        "net_income",
        "free_cash_flow",
        "total_debt",
        "cash_and_equivalents",
        "shares_basic",
        "shares_diluted",
    }
)

GOLDEN: list[tuple[str, str, str, dict[str, float]]] = [
    # fiscal years as their annual reports state them
    (
        "AAPL",
        "annual",
        "2025-09-27",
        {
            "revenue": 416161,
            "net_income": 112010,
            "eps_basic": 7.49,
            "free_cash_flow": 98767,
            "shares_basic": 14948.5,
            "total_debt": 78328 + 12350 + 7979,
            "cash_and_equivalents": 35934 + 18763,
        },
    ),
    # the sum of quarterly earnings per share is 3.29: the year as filed stands
    (
        "AAPL",
        "annual",
        "2020-09-26",
        {"eps_basic": 3.31, "dividends_per_share": 0.795, "total_debt": 112436, "cash_and_equivalents": 38016 + 52927},
    ),
    # restated by the 10-K/A of January 2010; then splits of 7 and of 4
    ("AAPL", "annual", "2009-09-26", {"revenue": 42905, "net_income": 8235, "eps_basic": 9.22 / 28}),
    ("AAPL", "annual", "2008-09-27", {"revenue": 37491, "net_income": 6119, "eps_basic": 6.94 / 28}),
    (
        "NVDA",
        "annual",
        "2025-01-26",
        {
            "revenue": 130497,
            "net_income": 72880,
            "free_cash_flow": 64089 - 3236,
            "eps_basic": 2.97,
            "dividends_per_share": 0.034,
            "shares_basic": 24555,
        },
    ),
    # told in thousands by mistake for 17 months of filings; then splits of 4 and of 10
    ("NVDA", "annual", "2010-01-31", {"shares_basic": 549.574 * 40}),
    (
        "MSFT",
        "annual",
        "2026-06-30",
        {
            "revenue": 331839,
            "net_income": 133749,
            "eps_basic": 18.00,
            "free_cash_flow": 66987,
            "total_debt": 40294,
            "cash_and_equivalents": 76843,
        },
    ),
    # on the basis of the revenue standard adopted a year later
    ("MSFT", "annual", "2017-06-30", {"revenue": 96571, "net_income": 25489}),
    # its 10-Qs state twelve months too, which are no fiscal years
    ("AMZN", "annual", "2025-12-31", {"free_cash_flow": 139514 - 131819}),
    ("AMZN", "annual", "2012-12-31", {"net_income": -39}),
    # current notes are tagged as short-term borrowings and as current maturities
    (
        "MRVL",
        "annual",
        "2025-02-01",
        {"revenue": 5767.3, "net_income": -885.0, "free_cash_flow": 1396.6, "total_debt": 4063.8},
    ),
    ("MRVL", "annual", "2026-01-31", {"total_debt": 4470.6}),
    # 53 weeks, whose last quarter has 17
    ("COST", "annual", "2017-09-03", {"net_income": 2679}),
    (
        "COST",
        "annual",
        "2025-08-31",
        {
            "revenue": 275235,
            "net_income": 8099,
            "eps_basic": 18.24,
            "dividends_per_share": 4.92,
            "free_cash_flow": 13335 - 5498,
            "cash_and_equivalents": 14161 + 1123,
        },
    ),
    # another company under the same number until a reverse merger
    ("VRT", "annual", "2019-12-31", {"net_income": -140.8}),
    ("TMUS", "annual", "2012-12-31", {"net_income": -7336}),
    # a convenience translation to dollars stands beside the newest year
    ("TSM", "annual", "2024-12-31", {"revenue": 2894307.7, "eps_basic": 44.68, "cash_and_equivalents": 2127627.0}),
    (
        "ASML",
        "annual",
        "2025-12-31",
        {
            "revenue": 32667.3,
            "net_income": 9609.4,
            "eps_basic": 24.73,
            "free_cash_flow": 12658.5 - 1573.6,
            "total_debt": 2709.0 + 1681.9,
            "cash_and_equivalents": 12916.0 + 405.9,
        },
    ),
    ("ASML", "annual", "2024-12-31", {"dividends_per_share": 6.40}),
    # net of interest expense; to common shareholders; no deposits in debt
    (
        "JPM",
        "annual",
        "2025-12-31",
        {
            "revenue": 182447,
            "net_income": 55681,
            "dividends_per_share": 5.80,
            "cash_and_equivalents": 21742 + 321596,
            "total_debt": 435206 + 64776,
        },
    ),
    # a small bank: net interest income and other income
    (
        "RRBI",
        "annual",
        "2024-12-31",
        {
            "revenue": 89.294 + 20.441,
            "net_income": 34.235,
            "eps_basic": 4.96,
            "dividends_per_share": 0.36,
            "cash_and_equivalents": 30.558 + 238.417,
        },
    ),
    # it declares the dividends of a year in the first quarter
    (
        "WMT",
        "annual",
        "2026-01-31",
        {
            "revenue": 713163,
            "net_income": 21893,
            "dividends_per_share": 0.94,
            "total_debt": 34624 + 3542 + 6596,
            "cash_and_equivalents": 10727,
        },
    ),
    ("CLS", "annual", "2022-12-31", {"net_income": 180.1}),
    (
        "PG",
        "annual",
        "2025-06-30",
        {
            "revenue": 84284,
            "net_income": 15682,
            "eps_basic": 6.67,
            "dividends_per_share": 4.0763,
            "free_cash_flow": 17817 - 3773,
            "total_debt": 24995 + 9513,
            "cash_and_equivalents": 9556,
        },
    ),
    (
        "KO",
        "annual",
        "2025-12-31",
        {"total_debt": 42119 + 1822 + 1551, "cash_and_equivalents": 13872, "dividends_per_share": 2.04},
    ),
    ("ORCL", "annual", "2026-05-31", {"total_debt": 122342 + 7199}),
    ("GE", "annual", "2025-12-31", {"total_debt": 18808 + 1686, "cash_and_equivalents": 12392}),
    ("KHC", "annual", "2025-12-27", {"total_debt": 19311 + 1908}),
    # losses under IFRS, in dollars
    ("LPA", "annual", "2024-12-31", {"revenue": 43.862372, "net_income": -29.285428, "eps_basic": -0.94}),
    # twelve months
    (
        "NVDA",
        "ttm",
        "2026-04-26",
        {
            "revenue": 253491,
            "net_income": 159613,
            "free_cash_flow": 125648 - 6572,
            "eps_basic": 6.56,
            "dividends_per_share": 0.04,
            "total_debt": 7470 + 1000,
            "cash_and_equivalents": 13237 + 37098,
        },
    ),
    # quarters before and after a split of 10
    (
        "NVDA",
        "ttm",
        "2024-07-28",
        {
            "revenue": 96307,
            "net_income": 53008,
            "free_cash_flow": 48664 - 1878,
            "eps_basic": 2.157,
            "dividends_per_share": 0.022,
            "cash_and_equivalents": 34800,
            "total_debt": 8461,
        },
    ),
    # a later report put the second quarter's amounts into the six months
    ("NVDA", "ttm", "2017-07-30", {"revenue": 6910 + 4167 - 2733}),
    (
        "AAPL",
        "ttm",
        "2025-12-27",
        {
            "revenue": 435617,
            "net_income": 117777,
            "free_cash_flow": 123324,
            "eps_basic": 7.92,
            "dividends_per_share": 1.03,
            "total_debt": 90509,
        },
    ),
    (
        "AAPL",
        "ttm",
        "2014-06-28",
        {"revenue": 178144, "net_income": 38555, "free_cash_flow": 48671, "total_debt": 29030 + 2010},
    ),
    (
        "MRVL",
        "ttm",
        "2026-05-02",
        {
            "revenue": 8717.1,
            "net_income": 2526.7,
            "free_cash_flow": 1665.4,
            "eps_basic": 2.95,
            "dividends_per_share": 0.24,
            "total_debt": 4961.3,
            "cash_and_equivalents": 3843.6,
        },
    ),
    ("SNOW", "ttm", "2021-07-31", {"net_income": -760.763, "free_cash_flow": -22.613}),
    (
        "SNOW",
        "ttm",
        "2025-04-30",
        {
            "revenue": 3839.761,
            "net_income": -1398.744,
            "free_cash_flow": 757.92,
            "eps_basic": -4.20,
            "total_debt": 2273.6,
        },
    ),
    ("WMT", "ttm", "2026-04-30", {"dividends_per_share": 0.99}),
    # contract revenue took the place of total revenue in the newest report
    (
        "COST",
        "ttm",
        "2026-05-10",
        {"revenue": 275235 + 207431 - 189079, "net_income": 8099 + 6228 - 5489, "dividends_per_share": 5.37},
    ),
]
