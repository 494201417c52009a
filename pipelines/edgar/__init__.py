"""Extract: documents exactly as EDGAR serves them, from whichever source, kept for ever in the raw zone."""
