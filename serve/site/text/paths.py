"""The paths of the pages of a company, for links.

Belongs here: paths that several pages link to. Does not: the pages.
"""

from collections.abc import Iterable
from urllib.parse import quote

COMPARISON = "/compare"


def rule_path(rule: str) -> str:
    """The path of a rule's page."""
    return f"/rules/{quote(rule, safe='')}"


def company_path(symbol: str) -> str:
    """The path of a company's page."""
    return f"/companies/{quote(symbol, safe='')}"


def statements_path(symbol: str, accession: str = "", line: str = "") -> str:
    """The address of a filing's statements, by default of the newest one, optionally at a line."""
    query, place = (f"{sign}{quote(text)}" if text else "" for sign, text in (("?filing=", accession), ("#", line)))
    return f"{company_path(symbol)}/statements{query}{place}"


def comparison_path(symbols: Iterable[str]) -> str:
    """The address of a comparison of companies."""
    return f"{COMPARISON}?symbols={','.join(quote(symbol, safe='') for symbol in symbols)}"
