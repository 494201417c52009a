"""The names of classes of stock: which member of a dimension is a class, and which symbol has it.

Belongs here: words of members and of symbols. Does not: which facts belong to a class (series).

Filers state a class on several axes, also on their own, and rename its member between filings: `CommonClassA`,
`CapitalClassC`, `EquivalentClassA`, `ClassBCommonStock`. So only the letter of the class in the member counts.
"""

import re
from functools import cache

MEMBER = "Member"
_LETTER = re.compile(r"Class_?([A-Za-z])_?(\d?)(?=[A-Z]|$)|^([A-Z])()[Ss]hares?$")
_COMMON = re.compile(r"Common|Ordinary|Capital(?:Class|Unit)|LimitedPartner|LimitedVoting|GeneralPartner|Units?$")
_IN_TITLE = re.compile(r"\b[Cc]lass ([A-Z])(?:-(\d))?\b")
_OTHER = re.compile(
    r"Prefer|Warrant|Option|Restricted|Award|RSU|Note|Debenture|Convertible|Treasury|Deferred|Deposit|Right|"
    r"AdditionalPaidIn|Issued|Noncontrolling|Previously|Adjustment|ProForma|Scenario|Segment|Subsequent"
)
"""Words of members that are no class of common stock: other securities, parts of equity, other dimensions. Words of
common equity are in `_COMMON`."""


@cache
def class_of(dimensions: str) -> str | None:
    """The class of stock in the dimensions of a fact; None if they name no class, or have a second dimension.

    Args:
        dimensions: as in table `filed_facts`: `axis=prefix:Member` from a filing, `Axis=Member;` from a data set.

    Returns:
        `CommonClassAMember` for every member of class A; the name of the member, without prefix, for a class without a
        letter (`LimitedPartnerMember`).
    """
    named = [one for one in dimensions.split(";") if one]
    if len(named) != 1:
        return None
    member = named[0].partition("=")[2].rpartition(":")[2].removesuffix(MEMBER)
    if _OTHER.search(member):
        return None
    if letter := _LETTER.search(member):
        return f"CommonClass{(letter[1] or letter[3]).upper()}{letter[2] or ''}{MEMBER}"
    return f"{member}{MEMBER}" if _COMMON.search(member) else None


@cache
def class_of_title(title: str) -> str | None:
    """The class of stock in the title of a security on a cover, `Class A common stock`; None if it names no letter."""
    letter = _IN_TITLE.search(title)
    is_other = re.search(_OTHER.pattern, title, re.IGNORECASE)
    return None if letter is None or is_other else f"CommonClass{letter[1]}{letter[2] or ''}{MEMBER}"


def plain(symbol: str) -> str:
    """A symbol without marks, because `BRK.B` on the cover of a report is `BRK-B` in the SEC's list."""
    return re.sub(r"[^A-Z0-9]", "", symbol.upper())


def letter_of(symbol: str) -> str:
    """The class letter that the SEC's list writes after a dash in a symbol; the empty string without one."""
    return symbol.rpartition("-")[2] if re.search(r"-[A-Z]$", symbol) else ""
