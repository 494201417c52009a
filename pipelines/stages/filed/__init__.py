"""The filings themselves: which data sets and packages are wanted, their requests, and the rows made of them.

Belongs here: tables `data_sets`, `packages`, `filed_facts`, `statement_lines`. Does not: companyfacts (stages.facts),
the formats (edgar.filing, edgar.decode.data_sets).
"""
