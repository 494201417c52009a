"""The discounted cash flow model: a fair value per share of each company, or why it has none."""
