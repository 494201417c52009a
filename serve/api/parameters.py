"""Query parameters as data: the parameters of each endpoint, their syntax, bounds and defaults.

Belongs here: strict parsing of query strings (section 4), with a message for each error. Does not: the use of the
values (endpoints).

Malformed values are refused and never corrected: `+5`, ` 5`, an empty value, a parameter given twice. A guess could
return data that the client did not ask for.
"""

import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from serve.access.keys import PREFIX, is_well_formed
from serve.errors import UNKNOWN_PARAMETER, InvalidParameter
from warehouse.contract.line_items import ITEM_NAMES, SERVED_NAMES
from warehouse.contract.schema import PERIOD_KINDS

CONTROLS = r"\x00-\x1f\x7f-\x9f"
LARGEST = 2_147_483_647  # largest int32: the maximum where the specification sets none
LONGEST = 10  # digits of an integer
SHOWN = 60  # characters of a client's text that an error message quotes
PLANNED = ("eps_diluted", "operating_cash_flow", "capital_expenditure")
NOT_SERVED = {
    **dict.fromkeys(set(ITEM_NAMES) - set(SERVED_NAMES), "which only the published files have"),
    **dict.fromkeys(PLANNED, "which is planned and not served yet"),
}
"""Names of items that exist but are not served, with the explanation for the client."""
SIMILAR = 0.8  # share of equal letters, in order, from which a name counts as a misspelling of another one
EXPLAINED = 10  # number of unknown parameters for which the message has a suggestion
CREDENTIALS = re.compile(
    r"(x|api|access|auth|client|secret)*(key|token|secret|auth|authorization|bearer|credentials?|password|passwd)"
)


@dataclass(frozen=True, slots=True)
class Parameter(ABC):
    """A query parameter: name, documentation, an example, and the value if it is not given."""

    name: str
    description: str
    example: Any
    default: Any = None

    @property
    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the text in the query."""

    @abstractmethod
    def read(self, text: str) -> Any:
        """Parse a value; raises ValueError with the allowed form."""


@dataclass(frozen=True, slots=True)
class Text(Parameter):
    """Any text without control characters, taken literally."""

    @property
    def schema(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string", "minLength": 1, "pattern": f"^[^{CONTROLS}]+$"}

    def read(self, text: str) -> str:
        """The text itself."""
        if re.search(f"[{CONTROLS}]", text):
            raise ValueError("must not contain control characters")
        return text


@dataclass(frozen=True, slots=True)
class Integer(Parameter):
    """An integer in ASCII digits, without sign, within bounds."""

    minimum: int = 1
    maximum: int = LARGEST

    @property
    def schema(self) -> dict[str, Any]:
        """An integer."""
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum, "default": self.default}

    def read(self, text: str) -> int:
        """The number; the length is checked first, because parsing thousands of digits is slow."""
        if len(text) <= LONGEST and text.isascii() and text.isdigit() and self.minimum <= int(text) <= self.maximum:
            return int(text)
        raise ValueError(f"must be an integer from {self.minimum} to {self.maximum}")


@dataclass(frozen=True, slots=True)
class Day(Parameter):
    """A date of the calendar, `YYYY-MM-DD`."""

    @property
    def schema(self) -> dict[str, Any]:
        """A string in the form of a date."""
        return {"type": "string", "format": "date"}

    def read(self, text: str) -> date:
        """The date."""
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            try:
                return date.fromisoformat(text)
            except ValueError:
                raise ValueError("must be a date that exists, as YYYY-MM-DD") from None
        raise ValueError("must be a date as YYYY-MM-DD")


@dataclass(frozen=True, slots=True)
class Choice(Parameter):
    """One of a fixed set of words."""

    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """A string, one of the words."""
        return {"type": "string", "enum": list(self.choices), "default": self.default}

    def read(self, text: str) -> str:
        """The word."""
        if text not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}")
        return text


@dataclass(frozen=True, slots=True)
class Names(Parameter):
    """A comma-separated list of names from a fixed set, each at most once; the order is kept. The default are all."""

    @property
    def schema(self) -> dict[str, Any]:
        """A string, as section 4.3 types it; only the description says that each name may be given once."""
        one = f"({'|'.join(self.default)})"
        return {"type": "string", "pattern": f"^{one}(,{one})*$"}

    def read(self, text: str) -> tuple[str, ...]:
        """The names, in the order given."""
        return _names(text, self.default)


@lru_cache(maxsize=1000)
def _names(text: str, valid: tuple[str, ...]) -> tuple[str, ...]:
    """Split a list into names, and check that each is valid and given once."""
    names = tuple(text.split(","))
    known = f"valid items are {', '.join(valid)}"
    for name in names:
        if not name:
            raise ValueError(f"has an empty item; {known}")
        if name in NOT_SERVED:
            raise ValueError(f"has the item '{name}', {NOT_SERVED[name]}; {known}")
        if name not in valid:
            raise ValueError(f"has an unknown item {_shown(name)}{_suggestion(name, valid)}; {known}")
        if names.count(name) > 1:
            raise ValueError(f"has the item '{name}' more than once")
    return names


ITEMS = Names(
    "items",
    "Names of line items, comma-separated, each at most once; default all.",
    "revenue,free_cash_flow",
    SERVED_NAMES,
)
SINCE = Day("from", "Only periods that end on or after this day.", "2024-01-01")
UNTIL = Day("to", "Only periods that end on or before this day; not before `from`.", "2026-12-31")
COMPANIES: tuple[Parameter, ...] = (
    Text("search", "Ticker prefix or part of the company name, without case, taken literally.", "orchard"),
    Text("exchange", "Exchange name, without case.", "Nasdaq"),
    Integer("page", "Page number.", 1, default=1),
    Integer("per_page", "Companies per page.", 10, default=50, maximum=100),
)
FINANCIALS: tuple[Parameter, ...] = (
    Choice(
        "period",
        "`ttm`: trailing twelve months at each quarter end; `annual`: fiscal year ends only.",
        "annual",
        "ttm",
        PERIOD_KINDS,
    ),
    ITEMS,
    SINCE,
    UNTIL,
    Integer("limit", "Number of periods.", 4, default=20, maximum=40),
)
REVISIONS: tuple[Parameter, ...] = (
    ITEMS,
    SINCE,
    UNTIL,
    Integer("limit", "Number of revised period and item pairs.", 10, default=50, maximum=200),
)


def refuse_credentials(query: bytes) -> None:
    """Refuse a query that contains an API key, because URLs are logged on the way.

    Raises:
        InvalidParameter: a parameter has the name of a credential (case and hyphens ignored), or its value is a key.
    """
    for name, value in _pairs(query):
        if _is_of_credential(name) or (PREFIX in value and is_well_formed(value.encode(errors="replace"))):
            message = (
                f"Parameter {_shown(name)}: an API key must never be sent in the URL, where logs keep it; "
                "send it in the header X-Api-Key, and have this one revoked."
            )
            raise InvalidParameter({_cut(name): message})


@lru_cache(maxsize=100)
def _is_of_credential(name: str) -> bool:
    return CREDENTIALS.fullmatch(re.sub(r"[^a-z]", "", name.lower())) is not None


def read(query: bytes, accepted: Sequence[Parameter]) -> dict[str, Any]:
    """Parse the parameters of an endpoint, and fill in defaults.

    Args:
        query: the raw query string.
        accepted: the parameters of the endpoint.

    Raises:
        InvalidParameter: a parameter is unknown, malformed or given twice, or `from` is after `to`; with one message
            per parameter.
    """
    known, defaults = _by_name(tuple(accepted))
    values = defaults.copy()
    wrong: dict[str, str] = {}
    unknown: list[str] = []
    given: set[str] = set()
    for name, text in _pairs(query):
        if name not in known:
            unknown.append(name)
        elif name in given:
            wrong[name] = f"Parameter '{name}' is given more than once."
        else:
            given.add(name)
            try:
                values[name] = _value(known[name], text)
            except ValueError as error:
                wrong[name] = f"Parameter '{name}' {error}."
    if not wrong and _is_after(values.get("from"), values.get("to")):
        wrong["from"] = "Parameter 'from' must not be after 'to'."
    if unknown:
        wrong |= _unknown(unknown, known)
    if wrong:
        raise InvalidParameter(wrong)
    return values


@lru_cache
def _by_name(accepted: tuple[Parameter, ...]) -> tuple[dict[str, Parameter], dict[str, Any]]:
    """The parameters and their defaults by name."""
    return {one.name: one for one in accepted}, {one.name: one.default for one in accepted}


def _value(parameter: Parameter, text: str) -> Any:
    if not text:
        raise ValueError("must not be empty")
    if not (text.isascii() or _is_utf8(text)):
        raise ValueError("must be text in UTF-8")
    return parameter.read(text)


@lru_cache(maxsize=1)  # a query is checked twice, and parsed once
def _pairs(query: bytes) -> list[tuple[str, str]]:
    """Names and values; invalid UTF-8 becomes surrogates, which every parameter refuses."""
    if query.isascii() and b"%" not in query and b"+" not in query:  # same result in a fifth of the time
        return [(name, value) for name, _, value in [each.partition("=") for each in query.decode().split("&") if each]]
    return parse_qsl(query.decode("ascii", "surrogateescape"), keep_blank_values=True, errors="surrogateescape")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_after(since: date | None, until: date | None) -> bool:
    return since is not None and until is not None and since > until


def _unknown(names: Sequence[str], known: dict[str, Parameter]) -> dict[str, str]:
    """A message for each unknown parameter; the last of the EXPLAINED ones lists the accepted parameters.

    A query can have five thousand names, so that longer messages would make a large response and take long.
    """
    shown = list(dict.fromkeys(map(_cut, names)))
    messages = {name: f"Unknown parameter '{name}'{_suggestion(name, known)}." for name in shown[:EXPLAINED]}
    if messages:
        accepted = f"accepted are {', '.join(known)}" if known else "this endpoint takes none"
        last = shown[:EXPLAINED][-1]
        messages[last] = f"{messages[last].removesuffix('.')}; {accepted}."
    return messages | dict.fromkeys(shown[EXPLAINED:], UNKNOWN_PARAMETER)


def _suggestion(name: str, known: Sequence[str] | dict[str, Parameter]) -> str:
    """A question with the name that was probably meant: a similar spelling, or the only name that contains the text."""
    asked = _cut(name).lower()
    longer = [each for each in known if asked in each]
    close = difflib.get_close_matches(asked, known, n=1, cutoff=SIMILAR) or (longer if len(longer) == 1 else [])
    return f" (did you mean '{close[0]}'?)" if close else ""


def _shown(text: str) -> str:
    return f"'{_cut(text)}'"


def _cut(text: str) -> str:
    """A client's text, shortened and with unprintable characters replaced, for an error message."""
    printable = "".join(character if character.isprintable() else "\ufffd" for character in text[:SHOWN])
    return printable if len(text) <= SHOWN else f"{printable}…"
