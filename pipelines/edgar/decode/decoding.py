"""Checks for all documents of EDGAR: valid JSON, expected types, the right company, well-formed dates.

Belongs here: raising a DocumentError that says what is wrong and where.
Does not: which fields a document has (documents).
"""

import re
from collections.abc import Callable, Iterable
from datetime import date, datetime
from functools import lru_cache
from typing import TypeVar

import msgspec

from pipelines.edgar.errors import DocumentError

T = TypeVar("T")

DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)
OLDER_PAGE = re.compile(r"CIK\d{10}-submissions-\d{3}\.json", re.ASCII)
CIK = re.compile(r"\d{1,10}", re.ASCII)
TYPE_NAMES = {"array": "a list", "object": "an object", "str": "text", "int": "a whole number", "float": "a number"}
OUT_OF_RANGE = re.compile(r"Expected `(int|float)` (?P<limit>[<>]=? \S+)")
MISMATCH = re.compile(r"Expected `(?P<expected>.+)`, got `(?P<got>.+)`")


def decode(decoder: msgspec.json.Decoder[T], raw: bytes, place: str) -> T:
    """Decode a document into the decoder's type.

    Raises:
        DocumentError: not complete JSON, or a value of an unexpected type, with its path in the document.
    """
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        reason, path = _in_words(str(error))
        raise DocumentError(reason, f"{place}, {path}" if path else place) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DocumentError(f"is not a complete JSON document: {error}", place) from error


def _in_words(message: str) -> tuple[str, str]:
    """Translate the decoder's message to (reason, path in the document), with the type names of JSON."""
    reason, _, path = message.partition(" - at `$")
    path = path.rstrip("`").replace("[...]", "/*").replace(".", "/").lstrip("/")
    if match := OUT_OF_RANGE.fullmatch(reason):
        reason = f"{path.rpartition('/')[2]!r} is out of range, expected a number {match['limit']}"
    if match := MISMATCH.fullmatch(reason):
        wanted, got = (
            " or ".join(TYPE_NAMES.get(name, name) for name in types.split(" | ")) for types in match.groups()
        )
        reason = f"{path.rpartition('/')[2] or 'the document'!r} is {got}, expected {wanted}"
    return reason, path


def ten_digits(cik: object, place: str) -> str:
    """A CIK as text of ten digits, from a number or text with or without leading zeros.

    Raises:
        DocumentError: the value is not a CIK.
    """
    if not CIK.fullmatch(str(cik)):
        raise DocumentError(f"the cik is {cik!r}, expected a number of at most ten digits", place)
    return str(cik).zfill(10)


def check_company(found: int | str, cik: str, place: str) -> None:
    """Raise DocumentError if the document's own CIK is not `cik`."""
    if ten_digits(found, place) != cik:
        raise DocumentError(f"the cik is {found!r}: the document is another company's", place)


def check_each(is_right: Callable[[str], bool], texts: Iterable[str], what: str, place: str) -> None:
    """Raise DocumentError at the first text that is not right; `what` describes the expected text."""
    for text in texts:
        if not is_right(text):
            raise DocumentError(f"{text!r} is not {what}", place)


@lru_cache(maxsize=1 << 16)  # a company has about a hundred dates, and most of them are the same for all companies
def is_date(text: str) -> bool:
    """Whether the text is a calendar date in the form YYYY-MM-DD."""
    return DATE.fullmatch(text) is not None and _reads(date.fromisoformat, text)


def is_instant(text: str) -> bool:
    """Whether the text is a time in UTC in EDGAR's form: 2025-11-20T15:04:04.000Z."""
    return INSTANT.fullmatch(text) is not None and _reads(datetime.fromisoformat, text)


def is_page_name(text: str) -> bool:
    """Whether the text is the name of a page of older filings. The name becomes part of a URL, so it is checked."""
    return OLDER_PAGE.fullmatch(text) is not None


def _reads(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
