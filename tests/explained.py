"""Rules that explanations of values name, for tests.

Belongs here: some rules of each action, with invented wording. Does not: the rules in force
(pipelines.normalize.rules).
"""

from warehouse.queries.explain_queries import Rule

OPERATING = Rule(
    "cash-flow.operating", "Net cash from operating activities as filed.", "ASC 230-10-45-24", "select", file="a.py"
)
CAPEX = Rule("cash-flow.capital-expenditure", "Payments for property and equipment.", "ASC 230-10-45-13", "select")
SCALE = Rule("correction.scale.earlier-filings", "A figure a thousand times off is multiplied.", "measured", "correct")
TO_DATE_RULE = Rule(
    "ttm.year-to-date", "The last year and this year to date, less last year's.", "S-X", "compose", "year_to_date"
)
BASIS = Rule("ttm.mixed-basis", "The two years are on different bases.", "measured", "flag", "mixed_basis")
BANK = Rule(
    "industry.bank.interest-and-deposits",
    "A filer that states interest and deposits is a bank. A second sentence.",
    "S-X 9-03",
    "select",
)
RULES = (OPERATING, CAPEX, SCALE, TO_DATE_RULE, BASIS)
