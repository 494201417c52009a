"""Total debt and cash of each balance sheet, computed from its lines."""
