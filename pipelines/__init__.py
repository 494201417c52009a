"""How data is made: from EDGAR documents to the tables of a published build. The only place that writes tables."""
