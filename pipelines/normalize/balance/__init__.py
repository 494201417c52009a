"""Balance: total debt and cash of each balance sheet, from its lines."""
