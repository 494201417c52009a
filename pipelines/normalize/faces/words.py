"""What the words of a line say that it is: reviewed rows of words.csv.

Belongs here: reading the table, and the words of a line. Does not: the section of a line (sheets), elements of the
taxonomies, whose class balance_sheet.csv has.

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
"""A reference to the notes of the statements is no borrowing."""
_TAKEN_OFF = re.compile(r"[,;–—-]?\s*\(?\b(?:net|less|exclusive|excluding|including|inclusive|plus) (?:of )?.*")
"""What is taken off or included does not say what the line is, unless nothing stands before it."""
_WORDS_OF_NAMES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=[0-9])")
_SAYS_WHOSE = re.compile(r"(other|others|related part(y|ies)|third part(y|ies)|banks?)(,? net)?")
"""Words of a line that say whose it is, below a heading that says what it is."""


def plain(text: str) -> str:
    """The words of a label in lower case, without references to notes and without what is taken off.

    A standard label that says what it is in brackets, as "[Extensible Enumeration]", has no words of the filer.
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
    """The class of a line of the liabilities: its heading can only say that it is a borrowing."""
    own = kind_of(LIABILITIES_SIDE, label, element)
    is_open = own == UNKNOWN or bool(_SAYS_WHOSE.fullmatch(plain(label)))
    return BORROWING if is_open and kind_of(LIABILITIES_SIDE, heading) == BORROWING else own


@cache
def kind_of(side: str, *texts: str) -> str:
    """The class of a line by its words: the first of some texts that says it decides.

    Args:
        side: of the balance sheet, one of SIDES.
        texts: the label, then the name of the element.

    Returns:
        one of elements.lines.CLASSES; UNKNOWN if no text decides; of an asset OTHER.
    """
    for text in (plain(each) if number != 1 else words_of(each) for number, each in enumerate(texts)):
        for kind, words in _TABLE[side]:
            if words.search(text):
                return kind
    return UNKNOWN if side == LIABILITIES_SIDE else OTHER
