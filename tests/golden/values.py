"""The figures that real companies reported, looked up by hand in their filings: the reference for the rules.

Belongs here: published figures with their period, on the share basis of the newest filing in the mirror; missing
values; labels of periods; splits; errors in filings. Does not: values that were only calculated by the rules.

GOLDEN has one row per period: symbol, period kind, period end, and the items: money in millions of the reporting
currency, shares in millions, per-share amounts unchanged.
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
    # the sum of quarterly earnings per share is 3.29: the year as filed is used
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
    # stated in thousands by mistake in 17 months of filings; then splits of 4 and of 10
    ("NVDA", "annual", "2010-01-31", {"shares_basic": 549.574 * 40}),
    # spending on property is tagged with an element of the filer's own in these annual reports
    ("NVDA", "annual", "2013-01-27", {"free_cash_flow": 824.172 - 183.309}),
    ("NVDA", "annual", "2015-01-25", {"free_cash_flow": 905.656 - 122.381}),
    ("NVDA", "annual", "2016-01-31", {"free_cash_flow": 1175 - 86}),
    ("NVDA", "annual", "2019-01-27", {"free_cash_flow": 3743 - 600}),
    ("NVDA", "annual", "2020-01-26", {"free_cash_flow": 4761 - 489}),
    ("NVDA", "annual", "2021-01-31", {"free_cash_flow": 5822 - 1128}),
    # a dividend twice a year, dated by the day on which it was paid
    ("DIS", "annual", "2024-09-28", {"dividends_per_share": 0.75}),
    ("DIS", "annual", "2025-09-27", {"dividends_per_share": 1.00}),
    ("META", "annual", "2021-12-31", {"dividends_per_share": 0.0}),
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
    # its 10-Qs state twelve months too, which are not fiscal years
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
    # another company under the same CIK until a reverse merger
    ("VRT", "annual", "2019-12-31", {"net_income": -140.8}),
    ("TMUS", "annual", "2012-12-31", {"net_income": -7336}),
    # a convenience translation to dollars is stated for the newest year, too
    ("TSM", "annual", "2024-12-31", {"revenue": 2894307.7, "eps_basic": 44.68}),
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
    # net of interest expense; to common shareholders; debt without deposits
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
        {"total_debt": 42119 + 1822 + 1551, "cash_and_equivalents": 13872 + 1934, "dividends_per_share": 2.04},
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
            "cash_and_equivalents": 13237 + 37098 + 30237,
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
    # a later report stated the second quarter's amounts for the six months
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
    # contract revenue replaced total revenue in the newest report
    (
        "COST",
        "ttm",
        "2026-05-10",
        {"revenue": 275235 + 207431 - 189079, "net_income": 8099 + 6228 - 5489, "dividends_per_share": 5.37},
    ),
    # contract revenue in the annual reports of two years, total revenue in their quarterly reports
    ("NVDA", "annual", "2019-01-27", {"revenue": 11716}),
    ("NVDA", "annual", "2020-01-26", {"revenue": 10918}),
    # six months of 469 in later reports, 449 at first; 583 was filed in the wrong context
    ("NVDA", "ttm", "2017-07-30", {"net_income": 1666 + 1091 - 469}),
    # the annual reports state the year's dividends for the last quarter, and later the other way round
    ("NVDA", "ttm", "2014-07-27", {"dividends_per_share": (0.31 + 0.17 - 0.15) / 40}),
    ("NVDA", "ttm", "2015-07-26", {"dividends_per_share": (0.34 + 0.1825 - 0.17) / 40}),
    ("NVDA", "ttm", "2016-05-01", {"dividends_per_share": (0.395 + 0.115 - 0.085) / 40}),
    # the same starts of periods, a day apart
    ("NVDA", "ttm", "2010-08-01", {"revenue": 3326.445 + 1813.021 - 1440.751}),
    # the twelve months that its own 10-Qs state
    ("AMZN", "ttm", "2026-03-31", {"free_cash_flow": 148531 - 151003, "net_income": 90798}),
    ("AMZN", "ttm", "2013-03-31", {"net_income": -87}),
    # the first two quarters were restated in the third, their sum only a year later
    ("MSFT", "ttm", "2015-12-31", {"net_income": 12193 + 9920 - 10403}),
    ("MSFT", "ttm", "2016-03-31", {"net_income": 12193 + 13676 - 15388}),
    # its quarters are before and after a split of 7
    (
        "AAPL",
        "ttm",
        "2014-06-28",
        {
            "eps_basic": ((8.31 + 14.59 + 11.69) / 7 + 1.29) / 4,
            "dividends_per_share": ((3.05 + 3.05 + 3.05) / 7 + 0.47) / 4,
        },
    ),
    # cash flows of two years on the standards adopted in the third
    ("AAPL", "annual", "2016-09-24", {"free_cash_flow": 66231 - 12734}),
    ("AAPL", "annual", "2017-09-30", {"free_cash_flow": 64225 - 12451}),
    # an annual report that calls its period Q4
    ("COST", "annual", "2019-09-01", {"net_income": 3659}),
    # quarterly reports that call their period FY, Q2 or another year's
    ("DIS", "annual", "2022-10-01", {"revenue": 82722}),
    ("DIS", "ttm", "2022-04-02", {"revenue": 67418 + 41068 - 31862}),
    ("SNOW", "ttm", "2022-04-30", {"revenue": 1219.327 + 422.371 - 228.914}),
    ("TMUS", "ttm", "2020-03-31", {"net_income": 3468 + 951 - 908}),
    ("TMUS", "ttm", "2020-06-30", {"net_income": 3468 + 1061 - 1847}),
    # quarters between reports of a new standard that restate whole years only
    ("TMUS", "ttm", "2016-03-31", {"free_cash_flow": (5414 + 1025 - 489) - (4724 + 1335 - 982)}),
    # proxy statements round it to 21,400, and have the newest frame
    ("CVX", "annual", "2023-12-31", {"net_income": 21369}),
    ("WMT", "annual", "2025-01-31", {"net_income": 19436}),
    # payments that the first quarterly reports state with a negative sign
    ("CVX", "ttm", "2010-03-31", {"free_cash_flow": (19373 + 7517 - 2404) - (19843 + 3967 - 5984)}),
    # counts in millions in some reports
    ("KO", "annual", "2018-12-31", {"shares_diluted": 4299}),
    ("AXP", "annual", "2018-12-31", {"shares_diluted": 859}),
    ("AXP", "ttm", "2019-03-31", {"shares_diluted": (859 * 365 - 861 * 90 + 843 * 90) / 365}),
    # contract revenue is half as much again, because it is before rebates
    ("MA", "annual", "2024-12-31", {"revenue": 28167}),
    # dividends of each quarter, once tagged in dollars per share
    ("TSM", "annual", "2024-12-31", {"dividends_per_share": 4 + 4 + 4.5 + 4.5}),
    # its first report: 930 per share, and ten thousand million shares
    ("FSBC", "ttm", "2022-03-31", {"eps_basic": 0.67 + 0.64 + (2.83 - 2.18) + 0.58}),
    # to common shareholders in thousands, to the parent in units
    ("TCBX", "ttm", "2022-06-30", {"net_income": 11.424 + 4.364 - 8.684509}),
    # six months of the next year in the context of this one
    ("INTC", "ttm", "2022-07-02", {"revenue": 79024 + 33674 - 39304}),
    # a year restated by the next year's report, while nine months are not
    ("ORCL", "annual", "2018-05-31", {"revenue": 39383}),
    ("ORCL", "ttm", "2018-02-28", {"revenue": 37728 + 28579 - 26835}),
    # another company's quarters are not mixed with its year
    ("VRT", "ttm", "2019-09-30", {"net_income": 5.030748 + 7.566113 - 2.681879}),
    ("TMUS", "ttm", "2013-03-31", {"net_income": -7336 + 107 - 200}),
    # between annual reports, from half-year and quarterly reports under 6-K
    ("DB", "ttm", "2019-06-30", {"net_income": 267 - 3012 - 481}),
]

WITHOUT_VALUE: list[tuple[str, str, str, str, str]] = [
    # symbol, period kind, period end, item, reason
    # spending on property under an element of the filer's own; a reimbursement of buildings has another element
    ("NVDA", "annual", "2014-01-26", "free_cash_flow", "no_capital_expenditure"),
    # earnings per share by class only
    ("BRK-B", "annual", "2024-12-31", "eps_basic", "year_not_stated"),
    # of one company the year, of another the nine months of the year before
    ("MRK", "ttm", "2009-09-30", "net_income", "basis_break"),
]

PERIODS: list[tuple[str, str, int, int]] = [
    # symbol, period end, fiscal year, fiscal quarter
    ("NVDA", "2026-01-25", 2026, 4),
    ("NVDA", "2026-04-26", 2027, 1),
    ("AAPL", "2025-09-27", 2025, 4),
    ("AAPL", "2025-12-27", 2026, 1),  # its frame is of the calendar year 2025
    ("WMT", "2026-01-31", 2026, 4),
    ("COST", "2017-09-03", 2017, 4),  # its years end in August or September
    ("COST", "2025-08-31", 2025, 4),
    ("COST", "2026-05-10", 2026, 3),
    ("MRVL", "2024-02-03", 2024, 4),  # its years end in January or February
    ("MRVL", "2025-02-01", 2025, 4),
    ("MRVL", "2026-01-31", 2026, 4),
    ("JNJ", "2021-01-03", 2020, 4),  # a year that ends in early January is named after the one before
    ("JNJ", "2021-04-04", 2021, 1),
    ("CDNS", "2021-01-02", 2020, 4),
    ("DIS", "2022-04-02", 2022, 2),  # all filings of that year are labelled FY
    ("SNOW", "2022-04-30", 2023, 1),
    ("TMUS", "2020-03-31", 2020, 1),
    ("T", "2021-09-30", 2021, 3),
    ("GE", "2020-03-31", 2020, 1),
]

SPLITS: list[tuple[str, float, str]] = [
    # symbol, new shares per old share, first day of trading on the new basis
    ("AAPL", 7, "2014-06-09"),
    ("AAPL", 4, "2020-08-31"),
    ("AMZN", 20, "2022-06-06"),
    ("CMCSA", 2, "2017-02-21"),
    ("GE", 1 / 8, "2021-08-02"),
    ("KO", 2, "2012-08-13"),
    ("LRCX", 10, "2024-10-03"),
    ("MA", 10, "2014-01-22"),
    ("NFLX", 7, "2015-07-15"),
    ("NFLX", 10, "2025-11-17"),
    ("NVDA", 4, "2021-07-20"),
    ("NVDA", 10, "2024-06-10"),
    ("SMCI", 10, "2024-10-01"),
    ("WMT", 3, "2024-02-26"),
]

REPAIRED: list[tuple[str, str, str, str, str, str, float, float | None]] = [
    # symbol, filed, concept, start and end, kind, as filed and corrected (in units)
    ("NVDA", "2010-03-18", "shares_diluted", "2009-01-26", "2010-01-31", "scale", 549574, 549574e3),
    ("NVDA", "2011-08-25", "shares_basic", "2011-05-02", "2011-07-31", "scale", 601340, 601340e3),
    ("KO", "2018-07-26", "shares_diluted", "2018-03-31", "2018-06-29", "scale", 4290, 4290e6),
    ("AXP", "2019-04-23", "shares_diluted", "2019-01-01", "2019-03-31", "scale", 843, 843e6),
    ("T", "2010-08-06", "shares_diluted", "2010-04-01", "2010-06-30", "scale", 5937, 5937e6),
    ("FSBC", "2021-06-17", "eps_basic", "2021-01-01", "2021-03-31", "scale", 930, 0.93),
    ("FSBC", "2021-06-17", "shares_basic", "2021-01-01", "2021-03-31", "scale", 10998041000, 10998041),
    ("TCBX", "2022-08-09", "net_income_common", "2022-01-01", "2022-06-30", "scale", 4364, 4364e3),
    ("CVX", "2009-05-07", "capital_expenditure", "2009-01-01", "2009-03-31", "sign", -5984e6, 5984e6),
    ("TXN", "2009-07-29", "capital_expenditure", "2009-01-01", "2009-06-30", "sign", -91e6, 91e6),
    ("WMT", "2011-03-30", "income_tax", "2008-02-01", "2009-01-31", "sign", -7133e6, 7133e6),
    ("META", "2012-10-24", "eps_basic", "2011-07-01", "2011-09-30", "sign", -0.11, 0.11),
    ("AMZN", "2013-01-30", "net_income_parent", "2012-04-01", "2012-06-30", "context", 191e6, None),
    ("AMZN", "2013-01-30", "net_income_parent", "2012-10-01", "2012-12-31", "context", 177e6, None),
    ("NVDA", "2014-03-13", "dividends_per_share", "2013-10-28", "2014-01-26", "context", 0.31, None),
    ("NVDA", "2018-02-28", "revenue", "2017-01-30", "2017-07-30", "context", 2230e6, None),
    ("NVDA", "2018-02-28", "net_income_parent", "2017-01-30", "2017-07-30", "context", 583e6, None),
    ("INTC", "2024-08-02", "revenue", "2021-12-26", "2022-07-02", "context", 24664e6, None),
    ("T", "2020-02-20", "net_income_parent", "2017-01-01", "2017-03-31", "context", 4662e6, None),
    ("ORCL", "2020-06-22", "revenue", "2020-03-01", "2020-05-31", "context", 39068e6, None),
]
