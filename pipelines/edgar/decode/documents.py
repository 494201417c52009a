"""Reads the three documents of EDGAR: tickers, submissions with their older pages, companyfacts.

Belongs here: which fields are read, checking their types and forms, and returning them as rows or columns. Other fields
are not decoded, which makes reading fast.
Does not: what the values mean (normalize). Nothing is corrected: a malformed document raises DocumentError and is
quarantined as a whole; single facts that are invalid are counted in `Facts.ignored`, and malformed rows of the tickers
file are returned with the others.

Source of the formats: the SEC's "EDGAR Application Programming Interfaces" and the documents themselves.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import gt
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import astuple

from pipelines.edgar.decode.decoding import (
    CIK,
    check_company,
    check_each,
    decode,
    is_date,
    is_instant,
    is_page_name,
    ten_digits,
)
from pipelines.edgar.errors import DocumentError

# --- The tickers file -------------------------------------------------------------------------------------------


class Listing(NamedTuple):
    """One symbol of the tickers file; a company with several classes or preferred shares has several."""

    cik: str
    name: str
    symbol: str
    exchange: str | None


class MalformedRow(NamedTuple):
    """A row of the tickers file of wrong length, or with a value of wrong type.

    Attributes:
        text: the row, shortened.
        reason: what is wrong, and where.
        values: its texts and numbers; one of them may name the company. CIKs have ten digits.
        position: the number of readable rows before it.
    """

    text: str
    reason: str
    values: frozenset[str]
    position: int

    @property
    def has_cik(self) -> bool:
        """Whether one of its values can be a CIK."""
        return any(len(text) == 10 and CIK.fullmatch(text) for text in self.values)


class Tickers(NamedTuple):
    """The tickers file: the rows that can be read, and the others."""

    listings: list[Listing]
    malformed: list[MalformedRow]


class _Tickers(msgspec.Struct):
    fields: list[str]
    data: list[Any]


SHOWN_ROW = 200
"""The number of characters of a malformed row that are shown."""


def decode_tickers(raw: bytes) -> Tickers:
    """Read company_tickers_exchange.json: every symbol, in the order of the file, which is by the company's size.

    The `fields` header names the columns. An exchange may be null: traded over the counter, or not listed.

    Raises:
        DocumentError: not JSON, a missing column, or no readable row.
    """
    place = "tickers file"
    document = decode(msgspec.json.Decoder(_Tickers), raw, place)
    try:
        columns = [document.fields.index(name) for name in ("cik", "name", "ticker", "exchange")]
    except ValueError as error:
        reason = f"the fields are {document.fields}, expected cik, name, ticker and exchange among them"
        raise DocumentError(reason, place) from error
    listings, malformed = list[Listing](), list[MalformedRow]()
    for number, row in enumerate(document.data):
        try:
            listings.append(_listing(row, columns, len(document.fields), f"{place}, data[{number}]"))
        except DocumentError as error:
            values = [str(value) for value in row if isinstance(value, int | str)] if isinstance(row, list) else []
            named = frozenset(text.zfill(10) if CIK.fullmatch(text) else text for text in values)
            text = repr(row)[:SHOWN_ROW]
            malformed.append(MalformedRow(text, f"{error}: {text}", named, len(listings)))
    if not listings:
        raise DocumentError(
            f"no row can be read, such as {malformed[0].text}" if malformed else "lists no company at all", place
        )
    return Tickers(listings, malformed)


def _listing(row: Any, columns: Sequence[int], width: int, place: str) -> Listing:
    """The listing of a row, whose columns are CIK, name, symbol and exchange."""
    if not isinstance(row, list) or len(row) != width:
        raise DocumentError(f"expected a row of {width} values", place)
    cik, name, symbol, exchange = (row[column] for column in columns)
    if not (isinstance(name, str) and isinstance(symbol, str) and symbol and isinstance(exchange, str | None)):
        raise DocumentError("expected a row with a name, a symbol and an exchange or null", place)
    return Listing(ten_digits(cik, place), name, symbol, exchange)


# --- The submissions document -----------------------------------------------------------------------------------


class Filing(NamedTuple):
    """One filing. `filed` is a date, `accepted_at` a time in UTC, both as text in EDGAR's form."""

    accession: str
    form: str
    filed: str
    accepted_at: str | None


class OlderPage(msgspec.Struct, frozen=True, rename="camel"):
    """A page of older filings as the submissions document describes it: the number of its filings, the first and last
    day.

    If no day is stated, the page may list a filing of any day.
    """

    name: str
    filing_count: int | str | None = None
    filing_from: str | None = None
    filing_to: str | None = None


@dataclass(frozen=True, slots=True)
class Submissions:
    """Identity of a company and its recent filings; `older_pages` are the documents that list older filings."""

    cik: str
    name: str
    sic: str | None
    fiscal_year_end: str | None  # MMDD as the registrant states it; copies of one company's document differ
    category: str
    tickers: list[str]
    exchanges: list[str | None]
    filings: list[Filing]
    older_pages: list[OlderPage]


class _FilingColumns(msgspec.Struct, rename="camel"):
    accession_number: list[str]
    form: list[str]
    filing_date: list[str]
    acceptance_date_time: list[str | None]


class _Filings(msgspec.Struct):
    recent: _FilingColumns
    files: list[OlderPage] = []


class _Submissions(msgspec.Struct, rename="camel"):
    cik: int | str
    name: str
    filings: _Filings
    sic: str | int | None = None
    fiscal_year_end: str | None = None
    category: str | None = None
    tickers: list[str] = []
    exchanges: list[str | None] = []


def decode_submissions(raw: bytes, cik: str) -> Submissions:
    """Read a submissions document.

    Raises:
        DocumentError: not JSON, a wrong type or form, columns of unequal length, or another company's document.
    """
    place = f"submissions of CIK {cik}"
    document = decode(msgspec.json.Decoder(_Submissions), raw, place)
    check_company(document.cik, cik, place)
    pages = document.filings.files
    names = (page.name for page in pages)
    check_each(is_page_name, names, "the name of a page of older filings", f"{place}, filings/files")
    return Submissions(
        cik=cik,
        name=document.name,
        sic=str(document.sic or "") or None,
        fiscal_year_end=document.fiscal_year_end or None,
        category=document.category or "",
        tickers=document.tickers,
        exchanges=document.exchanges,
        filings=_filings(document.filings.recent, f"{place}, filings/recent"),
        older_pages=pages,
    )


def decode_page(raw: bytes, cik: str) -> list[Filing]:
    """Read a page of older filings; the page does not name the company.

    Raises:
        DocumentError: not JSON, a wrong type or form, or columns of unequal length.
    """
    place = f"page of older filings of CIK {cik}"
    return _filings(decode(msgspec.json.Decoder(_FilingColumns), raw, place), place)


def _filings(columns: _FilingColumns, place: str) -> list[Filing]:
    lengths = {name: len(values) for name, values in msgspec.structs.asdict(columns).items()}
    if len(set(lengths.values())) > 1:
        raise DocumentError(f"the columns have unequal lengths: {lengths}", place)
    check_each(is_date, columns.filing_date, "a filingDate of the form YYYY-MM-DD", place)
    accepted = [instant or None for instant in columns.acceptance_date_time]
    check_each(is_instant, filter(None, accepted), "an acceptanceDateTime of the form YYYY-MM-DDTHH:MM:SS.000Z", place)
    return list(map(Filing, columns.accession_number, columns.form, columns.filing_date, accepted))


# --- The companyfacts document ----------------------------------------------------------------------------------


@dataclass(slots=True)
class FactColumns:
    """Facts as lists of column values, from which one frame over hundreds of companies is made.

    Dates are text in EDGAR's form. `fy` is the fiscal year of the filing, not of the fact; its only use is to name
    fiscal years.
    """

    cik: list[str] = field(default_factory=list)
    taxonomy: list[str] = field(default_factory=list)
    tag: list[str] = field(default_factory=list)
    unit: list[str] = field(default_factory=list)
    start: list[str | None] = field(default_factory=list)
    end: list[str] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    accession: list[str] = field(default_factory=list)
    form: list[str] = field(default_factory=list)
    filed: list[str] = field(default_factory=list)
    fy: list[int | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.value)

    def append(self, concept: Sequence[str], values: Sequence[Sequence[Any]]) -> None:
        """Append facts of one concept.

        Args:
            concept: CIK, taxonomy, tag and unit.
            values: the other columns, in their order here.
        """
        of_all = iter(self.as_dict().values())
        for same, column in zip(concept, of_all, strict=False):
            column += [same] * len(values[0])
        for more, column in zip(values, of_all, strict=True):
            column += more

    def extend(self, other: "FactColumns") -> None:
        """Append the facts of another company."""
        for column, more in zip(self.as_dict().values(), other.as_dict().values(), strict=True):
            column += more

    def as_dict(self) -> dict[str, list[Any]]:
        """Column name to values, for the constructor of a frame."""
        return {name: getattr(self, name) for name in self.__slots__}


MOST_FILINGS = 100_000
"""A limit far above any company's number of filings with facts; the rules number one company's filings up to 2^17."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts read for one company. `ignored` counts the invalid facts by reason."""

    cik: str
    entity_name: str
    columns: FactColumns
    ignored: Counter[str]


LARGEST = 1e30
"""The largest accepted value. No real amount is larger, in any currency and with any error of scale; sums and products
of such values are finite."""


class _Fact(msgspec.Struct, gc=False, kw_only=True):
    """The decoded fields of a fact, in the order of the columns of FactColumns from `start` on."""

    start: str | None = None  # absent for an instant
    end: str
    val: Annotated[float, Meta(ge=-LARGEST, le=LARGEST)] | None
    accn: str
    form: str
    filed: str
    fy: Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)] | None = None  # as wide as the column of the frame


DATES = (0, 1, 5)
"""Positions of `start`, `end` and `filed` in _Fact."""


class _Concept(msgspec.Struct, gc=False):
    units: dict[str, list[_Fact]]


_FactList = tuple[str, str, str, list[_Fact]]  # taxonomy, tag, unit, facts


def decode_facts(raw: bytes, cik: str, tags: Mapping[str, frozenset[str]]) -> Facts:
    """Read the facts of the given tags from a companyfacts document; the rest is skipped without decoding.

    Values are floats. An integer beyond 2^53 is rounded to the nearest float; filers round more than this. A fact
    without a value, or one that starts after its end, is counted in `ignored` and left out.

    Args:
        raw: the document.
        cik: ten digits: the company whose document it must be.
        tags: taxonomy to tags. A tag that the document lacks has no rows.

    Raises:
        DocumentError: not JSON, a wrong type, an invalid number or date, more than MOST_FILINGS filings, or another
            company's document.
    """
    place = f"companyfacts of CIK {cik}"
    reader = _facts_reader(frozenset(tags.items()))
    document = decode(reader.decoder, raw, place)
    check_company(document.cik, cik, place)
    columns = FactColumns()
    ignored: Counter[str] = Counter()
    dates: set[str | None] = set()
    for taxonomy, tag, unit, facts in reader.lists(document.facts):
        if not facts:
            continue
        values = _transposed(facts)
        for name in DATES:
            dates.update(values[name])
        if _has_flaw(values):
            kept = [fact for fact in facts if not _flaw(fact)]
            ignored.update(filter(None, map(_flaw, facts)))
            if not kept:
                continue
            values = _transposed(kept)
        columns.append((cik, taxonomy, tag, unit), values)
    if not all(text is None or is_date(text) for text in dates):  # distinct dates are hundreds among thousands of facts
        raise _wrong_date(reader.lists(document.facts), place)
    if (filings := len(set(columns.accession))) > MOST_FILINGS:
        raise DocumentError(f"the facts are of {filings:,} filings, expected at most {MOST_FILINGS:,}", place)
    return Facts(cik, document.entityName, columns, ignored)


def _transposed(facts: Iterable[_Fact]) -> tuple[tuple[Any, ...], ...]:
    """The facts as one tuple for each field, in the order of _Fact."""
    return tuple(zip(*map(astuple, facts), strict=True))


def _has_flaw(values: Sequence[Sequence[Any]]) -> bool:
    """Whether any fact is invalid. Tests a whole list at once, which is fast, because almost no list has invalid
    facts."""
    starts, ends, amounts, *_ = values
    if None in amounts:
        return True
    if None not in starts:
        return any(map(gt, starts, ends))
    return any(start is not None and start > end for start, end in zip(starts, ends, strict=True))


def _flaw(fact: _Fact) -> str | None:
    if fact.val is None:
        return "no value"
    if fact.start is not None and fact.start > fact.end:
        return "start after end"
    return None


def _wrong_date(lists: Iterable[_FactList], place: str) -> DocumentError:
    """The error for the first invalid date."""
    return next(
        DocumentError(
            f"{key!r} is {text!r}, expected YYYY-MM-DD", f"{place}, facts/{taxonomy}/{tag}/units/{unit}[{row}]"
        )
        for taxonomy, tag, unit, facts in lists
        for row, fact in enumerate(facts)
        for key, text in (("start", fact.start), ("end", fact.end), ("filed", fact.filed))
        if text is not None and not is_date(text)
    )


class _Filed(msgspec.Struct, gc=False):
    accn: str
    filed: str


class _FiledUnits(msgspec.Struct, gc=False):
    units: dict[str, list[_Filed]]


class _FiledFacts(msgspec.Struct):
    facts: dict[str, dict[str, _FiledUnits]]


def filings_with_facts(raw: bytes, cik: str) -> dict[str, str]:
    """The day of filing by accession number, for all filings with a fact in a companyfacts document.

    Raises:
        DocumentError: not JSON, or a wrong type.
    """
    document = decode(msgspec.json.Decoder(_FiledFacts), raw, f"companyfacts of CIK {cik}")
    concepts = (concept for taxonomy in document.facts.values() for concept in taxonomy.values())
    return {fact.accn: fact.filed for concept in concepts for facts in concept.units.values() for fact in facts}


@dataclass(frozen=True, slots=True)
class _FactsReader:
    """A decoder for one set of tags: its structs name only these tags. `layout` has the names of the taxonomies and
    tags."""

    decoder: msgspec.json.Decoder[Any]
    layout: tuple[tuple[str, tuple[str, ...]], ...]

    def lists(self, facts: msgspec.Struct) -> Iterator[_FactList]:
        """The wanted lists of facts in a document, sorted by taxonomy and tag."""
        for (taxonomy, tags), concepts in zip(self.layout, astuple(facts), strict=True):
            if concepts is not UNSET:
                for tag, concept in zip(tags, astuple(concepts), strict=True):
                    if concept is not UNSET:
                        yield from ((taxonomy, tag, unit, facts) for unit, facts in concept.units.items())


@lru_cache(maxsize=8)
def _facts_reader(tags: frozenset[tuple[str, frozenset[str]]]) -> _FactsReader:
    layout = tuple((taxonomy, tuple(sorted(names))) for taxonomy, names in sorted(tags))
    taxonomies = {taxonomy: _optional_members("Taxonomy", dict.fromkeys(names, _Concept)) for taxonomy, names in layout}
    members = [("cik", int | str), ("entityName", str), ("facts", _optional_members("Facts", taxonomies))]
    return _FactsReader(msgspec.json.Decoder(msgspec.defstruct("CompanyFacts", members)), layout)


def _optional_members(name: str, members: Mapping[str, type]) -> type[msgspec.Struct]:
    """A struct with optional members in this order. Its fields have numbers as names, because a tag may not be a valid
    field name."""
    numbered = {f"member_{number}": member for number, member in enumerate(members)}
    declared = [(attribute, members[member] | UnsetType, UNSET) for attribute, member in numbered.items()]
    return msgspec.defstruct(name, declared, rename=numbered, gc=False)
