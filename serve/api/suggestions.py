"""Suggestions for a symbol that is not covered.

Belongs here: the sentence in the message of a 404. Does not: the pages' search, which also knows names
(serve.site.frame.directory), the queries (warehouse.queries.company_queries).

They cost a few look-ups, not a comparison with all symbols, because they are made in the event loop.
"""

from collections.abc import Iterator
from string import ascii_uppercase

from warehouse.queries import company_queries, queries
from warehouse.read.reader import OpenBuild

LONGEST = 10  # longest symbol whose misspellings are looked up; no listed symbol is longer
SEPARATORS = (",", ";")
MOST = 3  # symbols that are suggested
KINDS = {
    "preferred": "a preferred share",
    "warrant": "a warrant",
    "unit": "a unit",
    "right": "a right",
    "note": "a note",
}


def suggestion(build: OpenBuild, symbol: str) -> str:
    """A sentence that suggests another request instead of a symbol that is not covered."""
    if any(sign in symbol for sign in SEPARATORS):
        return "A request is for one symbol: send one request for each."
    upper = symbol.upper() if symbol.isascii() else ""
    if len(upper) <= LONGEST:
        hyphenated = company_queries.hyphenated(upper)
        if company_queries.covered(build, [hyphenated]):
            return f"Ask for {hyphenated}."
        if security := queries.security(build, hyphenated):
            kind = KINDS.get(security.kind, "no common stock")
            instead = f"ask for {security.common}" if security.common else "its issuer is not covered"
            return f"{hyphenated} is {kind}, and only common stock is covered: {instead}."
        spellings = list(dict.fromkeys(misspelled(hyphenated)))
        if similar := company_queries.covered(build, spellings)[:MOST]:
            return f"Did you mean {' or '.join(similar)}?"
    return "GET /companies?search=NAME finds companies by name."


def misspelled(symbol: str) -> Iterator[str]:
    """Symbols one edit away: swap, deletion, insertion, substitution."""
    cuts = [(symbol[:place], symbol[place:]) for place in range(len(symbol) + 1)]
    yield from (before + after[1] + after[0] + after[2:] for before, after in cuts if len(after) > 1)
    yield from (before + letter + after for before, after in cuts for letter in ascii_uppercase + "-")
    yield from (before + after[1:] for before, after in cuts if after)
    yield from (before + letter + after[1:] for before, after in cuts if after for letter in ascii_uppercase)
