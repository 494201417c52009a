"""Why a company has no fair value: stable codes, and what each means in plain words.

Belongs here: the one list that codes are taken from, when a valuation is made and when it is told.
Does not: when each applies (pipelines).
"""

NOT_YET_VALUED = "not_yet_valued"

NO_FAIR_VALUE: dict[str, str] = {
    NOT_YET_VALUED: "The model has not been run for this company yet.",
    "no_free_cash_flow": "No free cash flow is known for the base period.",
    "negative_free_cash_flow": "Free cash flow is not positive, so there is nothing to project.",
    "missing_capital_expenditure": "The filings tell no capital expenditure, without which there is no free cash flow.",
    "too_little_history": "Too few periods are held to tell how free cash flow grows.",
    "financial_company": "Free cash flow of banks, insurers and brokers does not tell what is left for the owners.",
    "reit": "Free cash flow of a real estate investment trust leaves out what it spends on property.",
    "shell": "A shell company has no business to project.",
    "captive_finance": "A finance business within the company distorts its operating cash flow.",
    "customer_funds": "Operating cash flow includes money that belongs to customers.",
    "missing_shares": "The number of shares is not known.",
    "unresolved_share_basis": "The number of shares does not fit a split, and cannot be put on one basis.",
    "depositary_receipt": "The listed unit may be a depositary receipt that stands for another number of shares.",
    "stale_data": "The newest report is too old.",
    "basis_break": "A change of the reporting entity or of its accounting breaks the series.",
    "mixed_currency": "The periods are not all reported in one currency.",
    "too_volatile": "Free cash flow varies too much for a projection to mean anything.",
}
