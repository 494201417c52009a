"""Why a company has no fair value: stable codes, and what each means in plain words.

Belongs here: the one list that codes are taken from, when a valuation is made and when it is told; the reason that
weighs most comes first: what the company is, then what its reports lack, then what they show. Does not: when each
applies (pipelines.valuation.reasons).
"""

NO_FAIR_VALUE: dict[str, str] = {
    "financial_company": "Free cash flow of banks, insurers, brokers and funds is not what is left for the owners.",
    "reit": "Free cash flow of a real estate investment trust leaves out what it spends on property.",
    "shell": "A shell company has no business to project.",
    "captive_finance": "A finance business within the company, shown by its filings or presumed of such a maker where "
    "they show no balance sheet, distorts its operating cash flow.",
    "customer_funds": "Operating cash flow includes money that belongs to customers.",
    "depositary_receipt": "The listed unit may be a depositary receipt that stands for another number of shares.",
    "stale_data": "The newest report is too old.",
    "mixed_currency": "The periods are not all reported in one currency.",
    "missing_capital_expenditure": "The filings tell no capital expenditure, without which there is no free cash flow.",
    "no_free_cash_flow": "No free cash flow is known for the base period.",
    "negative_free_cash_flow": "Free cash flow is not positive, so there is nothing to project.",
    "basis_break": "A change of the reporting entity or of its accounting breaks the series.",
    "too_little_history": "Fewer than five comparable fiscal years of free cash flow are held.",
    "too_volatile": "Free cash flow varies too much for a projection to mean anything.",
    "missing_shares": "The number of shares is not known.",
    "unresolved_share_basis": "The number of shares moved by more than a half within a year, and no split explains it.",
}
