"""Classes of stock: facts that filings state by class, used as facts of the company or as a series of the class."""
