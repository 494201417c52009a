"""Classifies a company's listed symbols: common equity, or another security.

Belongs here: the meaning of the parts of a ticker symbol. Does not: names and SIC codes (these come from the
submissions).

The SEC's list of tickers does not describe the security, so the form of the symbol decides: the suffix after a dash,
and the fifth letter that Nasdaq and the OTC markets add. The NYSE writes share classes with a dash. Another symbol of a
company on the NYSE without a dash is nearly always a note, and does not count as common equity.
"""

import re
from itertools import takewhile

import polars as pl

SUFFIX_KINDS: tuple[tuple[str, str], ...] = (
    (r"-P[A-Z]?$", "preferred"),
    (r"-(WT|WS|W|WTA|WSA)$", "warrant"),
    (r"-(UN|U)$", "unit"),
    (r"-(RI|RT|R)$", "right"),
)
"""The kind of security by the suffix after the dash, as the SEC writes it."""

FIFTH_LETTER_KINDS: dict[str, str] = {
    **dict.fromkeys("PONM", "preferred"),
    **dict.fromkeys("GHILZ", "note"),
    "R": "right",
    "U": "unit",
    "W": "warrant",
    "T": "unit",
}
"""The kind of security by the fifth letter of a symbol on Nasdaq or OTC; the first four are the company's symbol."""

FIFTH_LETTER_MARKETS = ("Nasdaq", "OTC")
SHARED_LETTERS = 2
LETTERS_OF_A_CLASS = 2

COMMON = "common"
OTHER = "other"


def classified(listing: pl.DataFrame) -> pl.DataFrame:
    """Add the kind of security of each symbol.

    Args:
        listing: `cik`, `symbol`, `exchange`, in the order of the SEC's list, where a company's main symbol comes first.

    Returns:
        the listing with `kind` (common, preferred, warrant, unit, right, note, other) and `is_primary`: true for the
        first common symbol of the company, or for its first symbol if no symbol looks like common equity.
    """
    symbols = listing.select("cik", "symbol", "exchange").rows()
    firsts: dict[str, str] = {}
    common: dict[str, str] = {}
    for cik, symbol, _ in symbols:
        if _own_kind(symbol, firsts.setdefault(cik, symbol)) == COMMON:
            common.setdefault(cik, symbol)
    primary = firsts | common
    kinds = [_kind_compared_with(symbol, exchange, primary[cik]) for cik, symbol, exchange in symbols]
    is_primary = pl.Series([symbol == primary[cik] for cik, symbol, _ in symbols], dtype=pl.Boolean)
    return listing.with_columns(kind=pl.Series(kinds, dtype=pl.String), is_primary=is_primary)


def _of_suffix(symbol: str) -> str | None:
    """The kind of a symbol with a suffix after a dash; None without one."""
    if "-" not in symbol:  # nine of ten symbols
        return None
    return next((kind for pattern, kind in SUFFIX_KINDS if re.search(pattern, symbol)), None)


def _own_kind(symbol: str, first: str) -> str:
    """The kind of a symbol by itself; a fifth letter counts only if the rest is the company's first symbol."""
    adds_a_letter = len(symbol) == len(first) + 1 and symbol.startswith(first)
    return _of_suffix(symbol) or (FIFTH_LETTER_KINDS.get(symbol[-1], COMMON) if adds_a_letter else COMMON)


def _kind_compared_with(symbol: str, exchange: str | None, first: str) -> str:
    """The kind of a symbol compared with the company's first one: another class of shares, or another security."""
    if symbol == first:
        return COMMON
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(symbol, first, strict=False)))
    if of_suffix := _of_suffix(symbol):
        return of_suffix
    if shared < SHARED_LETTERS or (exchange == "NYSE" and "-" not in symbol):
        return OTHER
    if exchange in FIFTH_LETTER_MARKETS and len(symbol) == 5 and symbol[-1] in FIFTH_LETTER_KINDS:
        return FIFTH_LETTER_KINDS[symbol[-1]]
    return COMMON if max(len(symbol), len(first)) - shared <= LETTERS_OF_A_CLASS else OTHER
