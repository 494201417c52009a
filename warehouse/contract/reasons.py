"""The reasons for having no fair value: stable codes with their meaning.

Belongs here: the list of codes that valuations use, most important first: first the kind of company, then data missing
from its reports, then figures that do not suit the model. Does not: when each applies (pipelines.valuation.reasons).
"""

NO_FAIR_VALUE: dict[str, str] = {
    "financial_company": "The free cash flow of banks, insurers, brokers and funds is not the cash that is left for "
    "their owners.",
    "reit": "The free cash flow of a real estate investment trust does not include its purchases of property.",
    "shell": "A shell company has no business to project.",
    "captive_finance": "A finance business within the company, shown by its filings or assumed for some manufacturers, "
    "distorts its operating cash flow.",
    "customer_funds": "Operating cash flow includes money that belongs to customers.",
    "depositary_receipt": "The listed security may be a depositary receipt that represents several shares or a part of "
    "one.",
    "stale_data": "The newest report is too old.",
    "mixed_currency": "The periods are not all reported in one currency.",
    "missing_capital_expenditure": "The filings state no capital expenditure, so free cash flow is unknown.",
    "no_free_cash_flow": "No free cash flow is known for the base period.",
    "negative_free_cash_flow": "Free cash flow is not positive, so there is nothing to project.",
    "basis_break": "The reporting entity or its accounting changed, so the years are not comparable.",
    "too_little_history": "There are fewer than five comparable fiscal years of free cash flow.",
    "too_volatile": "Free cash flow varies too much for a projection to mean anything.",
    "class_of_stock_not_stated": "The classes of stock earn differently, and the reports that are read do not say "
    "which class the symbol is, or state no figures of its class.",
    "missing_shares": "The number of shares is not known.",
    "unresolved_share_basis": "The number of shares changed by more than half within a year, and no split explains it.",
}
