"""Extract: fetches documents from a source exactly as EDGAR serves them, and stores them in the raw zone."""
