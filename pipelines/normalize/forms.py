"""The SEC's names of the forms that count: annual, quarterly and current reports.

Belongs here: the names, which the code that fetches filings needs, too. Does not: rules about forms (facts.reports), so
that planning a synchronization loads no rules.
"""

PERIODIC_FORMS = ("10-K", "10-Q", "10-KT", "10-QT", "20-F", "40-F")
CURRENT_FORMS = ("8-K", "6-K")
"""Current reports: recasts after a change of segments or a disposal, and interim reports of foreign issuers."""
ANNUAL_FORMS = ("10-K", "10-KT", "20-F", "40-F")
AMENDMENT = "/A"
NOTICES = frozenset(("8-K12B", "8-K12G3", "8-K15D5"))
"""The forms by which an issuer notifies that it succeeds another one (Exchange Act Rules 12g-3 and 15d-5)."""
