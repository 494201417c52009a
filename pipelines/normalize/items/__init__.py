"""Items: the eleven line items, their provenance, and the reasons for gaps."""
