"""Total debt of a balance sheet: the borrowings among its lines, proved or not, and debt of zero."""
