"""Names of companies as the interface, the pages and their files show them.

Belongs here: title case for names that EDGAR keeps in capitals. Does not: the published files, whose `name` is EDGAR's.

EDGAR's names are often in capitals, such as "BANK OF AMERICA CORP /DE/". Abbreviations keep their capitals: legal
forms, Roman numerals, letters with dots, and short words that cannot be pronounced. No company is listed here, so a
name such as PepsiCo becomes "Pepsico".
"""

import re
from functools import lru_cache

MARK = re.compile(r"\s*/(?:[A-Z]{2,4}/?)?$")
"""EDGAR's mark at the end of a name: a state of incorporation, or NEW if another company had the name before."""

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
KEPT = re.compile(
    "LLC|LLP|LP|PLC|NV|SA|AG|SE|AB|ASA|SPA|BV|KGAA|OYJ|SAB|AS|ADR|USA|US|UK|UAE|REIT|ETF|BDC"
    "|II|III|IV|VI|VII|VIII|IX|XI|XII"
)
"""Legal forms, countries, kinds of securities and numerals."""

LOWER = re.compile("OF|THE|AND|FOR|IN|ON|AT|BY|TO|DE|DEL|LA")
"""Words that are in lower case within a name."""

SHORT = re.compile(
    "INC|CO|LTD|CIA|AIR|OIL|ICE|ONE|ALL|OLD|OUR|ART|ACE|AGE|ARK|ASH|ELM|INK|ION|IVY|OAK|OWL|SEA|SKY|BEE|EYE|FLY"
    "|PRO|TEA|TRI|TWO"
)
"""Ordinary words of up to three letters; words with the pattern of Lam, Red or Sun are recognized without a list."""

LONG = 4
CONSONANT = "[B-DF-HJ-NP-TV-XZ]"
PRONOUNCED = re.compile(f"(?=.*[AEIOUY])(?:.{{4,}}|{CONSONANT}[AEIOUY]{CONSONANT})")
UNPRONOUNCED = re.compile(f"[AEIOU]{CONSONANT}{{2}}[B-DF-GJ-NP-RTV-XZ]")  # four letters, as in ASML
INITIALS = re.compile(f"(?!MC|S[CHPT]|THR|CHR|PHR)({CONSONANT}{{2}})(?={CONSONANT}[AEIOUY])")
"""Two letters before a word, as in JPMorgan: few English words begin with three consonants."""

PARTS = re.compile("(MC(?=.{3})|[OD]['’](?=.{2}))(.+)")
"""A prefix that is followed by a capital, as in McDonald's and O'Reilly."""


@lru_cache(4096)
def shown(name: str) -> str:
    """A company name for display: without EDGAR's mark at its end, and in title case if it is wholly in capitals."""
    bare = MARK.sub("", name) or name
    if bare != bare.upper() or bare == bare.lower():
        return bare
    return WORD.sub(lambda word: _cased(word[0], bare[: word.start()], bare[word.end() :]), bare)


def _cased(word: str, before: str, after: str) -> str:
    """A word of a name in its right case, given the name's text before and after the word."""
    if before[-1:] == "." and before[-2:-1].isalpha() and len(word) > 1:
        return word.lower()  # Amazon.com
    if LOWER.fullmatch(word) and before.endswith(" ") and after:
        return word.lower()
    if _is_abbreviation(word, "&" in (before[-1:], after[:1])):
        return word
    if found := INITIALS.match(word) or PARTS.match(word):
        return (found[1] if found.re is INITIALS else found[1].capitalize()) + word[found.end(1) :].capitalize()
    return word.capitalize()


def _is_abbreviation(word: str, is_joined: bool) -> bool:
    """Whether a word keeps its capitals; `is_joined`: joined to another one by & without a space, as in AT&T."""
    if KEPT.fullmatch(word) or len(word) == 1 or not word.replace("'", "").replace("’", "").isalpha():
        return True
    if is_joined and len(word) < LONG:
        return True
    if LOWER.fullmatch(word) or SHORT.fullmatch(word):
        return False
    return not PRONOUNCED.match(word) or UNPRONOUNCED.fullmatch(word) is not None
