"""Items: the line items, their provenance, and the reasons for gaps."""
