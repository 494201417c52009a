"""A synchronization: its plan and steps, the gates before publishing, publication, and following newest filings."""
