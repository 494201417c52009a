"""Suggestions for a symbol that is not covered.

Belongs here: the sentence in the message of a 404. Does not: the pages' search, which also knows names
(serve.site.frame.directory), the look-ups (warehouse.read.memory).

They cost a few look-ups, not a comparison with all symbols, because they are made in the event loop.
"""

from collections.abc import Iterator
from string import ascii_uppercase

from warehouse.queries.company_queries import hyphenated
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
        written = hyphenated(upper)
        if build.memory.covered([written]):
            return f"Ask for {written}."
        if security := build.memory.security(written):
            kind = KINDS.get(security.kind, "no common stock")
            instead = f"ask for {security.common}" if security.common else "its issuer is not covered"
            return f"{written} is {kind}, and only common stock is covered: {instead}."
        spellings = list(dict.fromkeys(misspelled(written)))
        if similar := build.memory.covered(spellings)[:MOST]:
            return f"Did you mean {' or '.join(similar)}?"
    return "GET /companies?search=NAME finds companies by name."


def misspelled(symbol: str) -> Iterator[str]:
    """Symbols one edit away: swap, deletion, insertion, substitution."""
    cuts = [(symbol[:place], symbol[place:]) for place in range(len(symbol) + 1)]
    yield from (before + after[1] + after[0] + after[2:] for before, after in cuts if len(after) > 1)
    yield from (before + letter + after for before, after in cuts for letter in ascii_uppercase + "-")
    yield from (before + after[1:] for before, after in cuts if after)
    yield from (before + letter + after[1:] for before, after in cuts if after for letter in ascii_uppercase)
