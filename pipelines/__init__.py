"""Makes the data: from EDGAR documents to the tables of a published build. No other package writes tables."""
