"""Small documents shaped after real filings, as Python tables: one for each decision that they make the rules take."""
