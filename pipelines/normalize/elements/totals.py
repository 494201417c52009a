"""Totals of the balance sheet.

Belongs here: elements of what is owned and who owns it. Does not: cash (cash), borrowings (debt).
"""

from pipelines.normalize.elements.sources import Concept, ifrs, us

EQUITY = Concept(
    "equity",
    "money",
    instant=True,
    sources=(
        us("StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest", why="with minorities"),
        us("StockholdersEquity", plus=("MinorityInterest",), why="parent's, minorities added"),
        us("PartnersCapitalIncludingPortionAttributableToNoncontrollingInterest", why="partnerships, with minorities"),
        us("PartnersCapital", plus=("MinorityInterest",), why="partnerships"),
        ifrs("Equity", why="with minorities, IAS 1.54(q)-(r)"),
        ifrs("EquityAttributableToOwnersOfParent", plus=("NoncontrollingInterests",), why="parent's, minorities added"),
    ),
)

ASSETS = Concept(
    "assets", "money", instant=True, sources=(us("Assets", why="the total"), ifrs("Assets", why="IAS 1.55"))
)
