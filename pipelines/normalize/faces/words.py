"""The class of a line by its words: reviewed rows of words.csv.

Belongs here: reading the table, and the words of a line. Does not: the section of a line (sheets), elements of the
taxonomies (balance_sheet.csv has their classes).

Columns of the table, in the order in which its rows are tried:

- `side`: `liabilities` or `assets`.
- `class`: one of elements.lines.CLASSES, or PREMIUMS or UNKNOWN of the same module.
- `words`: a regular expression of whole words, in lower case; hyphens are blanks.
- `reason`: why these words are of the class.
"""

import re
from functools import cache
from pathlib import Path

import polars as pl

from pipelines.normalize.elements.lines import BORROWING, OTHER, UNKNOWN

SIDES = ASSETS_SIDE, LIABILITIES_SIDE = "assets", "liabilities"

_ROWS = pl.read_csv(Path(__file__).with_name("words.csv"), infer_schema=False)
_TABLE: dict[str, list[tuple[str, re.Pattern[str]]]] = {
    side: [
        (kind, re.compile(rf"\b(?:{words})\b"))
        for kind, words in _ROWS.filter(pl.col("side") == side).select("class", "words").iter_rows()
    ]
    for side in SIDES
}
_REFERENCES = re.compile(
    r"\((?:see |refer(?: to)? )?notes? (?:\d|[a-z]\b)[^)]*\)"
    r"|\b(?:see |refer(?: to)? )?notes? \d{1,2}(?![\d%]|\.\d+%)[a-z]?(?:(?:,| and|,? &) \d+)*\b"
)
"""References to the notes of the statements, which do not make a line a borrowing."""
_TAKEN_OFF = re.compile(r"[,;–—-]?\s*\(?\b(?:net|less|exclusive|excluding|including|inclusive|plus) (?:of )?.*")
"""The end of a label that names amounts taken off or included. It does not decide the class, unless nothing stands
before it."""
_WORDS_OF_NAMES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=[0-9])")
_NAMES_PARTY_ONLY = re.compile(r"(other|others|related part(y|ies)|third part(y|ies)|banks?)(,? net)?")
"""Labels that name only the other party; the heading above then names the class of the line."""


def plain(text: str) -> str:
    """The words of a label in lower case, without references to notes and without amounts that are taken off.

    A standard label that ends in brackets, as "[Extensible Enumeration]", has no words of the filer: the text is empty.
    """
    if text.rstrip().endswith("]"):
        return ""
    lower = re.sub(r"[‐‑-]", " ", _REFERENCES.sub(" ", text.lower()))
    before = _TAKEN_OFF.sub("", lower)
    return re.sub(r"\s+", " ", before if re.search(r"[a-z]{3}", before) else lower).strip()


def words_of(element: str) -> str:
    """The words of the name of an element, in lower case."""
    return _WORDS_OF_NAMES.sub(" ", element).lower()


@cache
def kind_of_liability(label: str, element: str, heading: str) -> str:
    """The class of a line of the liabilities by its words; a heading can only add that it is a borrowing."""
    own = kind_of(LIABILITIES_SIDE, label, element)
    is_open = own == UNKNOWN or bool(_NAMES_PARTY_ONLY.fullmatch(plain(label)))
    return BORROWING if is_open and kind_of(LIABILITIES_SIDE, heading) == BORROWING else own


@cache
def kind_of(side: str, *texts: str) -> str:
    """The class of a line by its words: the first text with words of the table decides.

    Args:
        side: of the balance sheet, one of SIDES.
        texts: the label, then the name of the element.

    Returns:
        one of elements.lines.CLASSES; if no text decides, UNKNOWN for a liability and OTHER for an asset.
    """
    for text in (plain(each) if number != 1 else words_of(each) for number, each in enumerate(texts)):
        for kind, words in _TABLE[side]:
            if words.search(text):
                return kind
    return UNKNOWN if side == LIABILITIES_SIDE else OTHER
