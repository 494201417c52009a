"""What all pages share: routes and access, sessions, static files, transfers, the directory of companies.

Belongs here: parts without a page of their own. Does not: any page.
"""
