"""The discounted cash flow model: a fair value per share of each company, or the reasons why it has no fair value."""
