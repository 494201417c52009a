"""Classes of stock: what filings state by class, as facts of the company or as a series of the class."""
