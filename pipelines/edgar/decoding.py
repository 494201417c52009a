"""What every document of EDGAR is held to: whole JSON, the wanted types, the right company, well-formed dates.

Belongs here: turning what is wrong into a DocumentError that says what and where.
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
MISMATCH = re.compile(r"Expected `(?P<expected>.+)`, got `(?P<got>.+)`")


def decode(decoder: msgspec.json.Decoder[T], raw: bytes, place: str) -> T:
    """The document as the decoder's type.

    Raises:
        DocumentError: not whole JSON, or a value of another type, with its path in the document.
    """
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        reason, path = _in_words(str(error))
        raise DocumentError(reason, f"{place}, {path}" if path else place) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DocumentError(f"is no whole JSON document: {error}", place) from error


def _in_words(message: str) -> tuple[str, str]:
    """The decoder's message as (reason, path in the document), in the words that a reader of JSON uses."""
    reason, _, path = message.partition(" - at `$")
    path = path.rstrip("`").replace("[...]", "/*").replace(".", "/").lstrip("/")
    if match := MISMATCH.fullmatch(reason):
        wanted, got = (
            " or ".join(TYPE_NAMES.get(name, name) for name in types.split(" | ")) for types in match.groups()
        )
        reason = f"{path.rpartition('/')[2] or 'the document'!r} is {got}, expected {wanted}"
    return reason, path


def ten_digits(cik: object, place: str) -> str:
    """A CIK as it is written everywhere here, from a number or text with or without leading zeros.

    Raises:
        DocumentError: it is none.
    """
    if not CIK.fullmatch(str(cik)):
        raise DocumentError(f"the cik is {cik!r}, expected a number of at most ten digits", place)
    return str(cik).zfill(10)


def check_company(found: int | str, cik: str, place: str) -> None:
    """Raise DocumentError where a document says that it is of another company than `cik`."""
    if ten_digits(found, place) != cik:
        raise DocumentError(f"the cik is {found!r}: the document is another company's", place)


def check_each(is_right: Callable[[str], bool], texts: Iterable[str], what: str, place: str) -> None:
    """Raise DocumentError at the first text that is not right; `what` says what it should have been."""
    for text in texts:
        if not is_right(text):
            raise DocumentError(f"{text!r} is no {what}", place)


@lru_cache(maxsize=1 << 16)  # a company has some hundred dates, and most companies have the same
def is_date(text: str) -> bool:
    """Whether it is a day of the calendar, written YYYY-MM-DD."""
    return DATE.fullmatch(text) is not None and _reads(date.fromisoformat, text)


def is_instant(text: str) -> bool:
    """Whether it is an instant in UTC, written as EDGAR writes it: 2025-11-20T15:04:04.000Z."""
    return INSTANT.fullmatch(text) is not None and _reads(datetime.fromisoformat, text)


def is_page_name(text: str) -> bool:
    """Whether it names a page of older filings; it becomes part of an address."""
    return OLDER_PAGE.fullmatch(text) is not None


def _reads(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
