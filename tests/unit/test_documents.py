"""Reading the SEC's three documents: the wanted facts are read, and each error names value and place."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.edgar.decode import documents
from pipelines.edgar.decode.documents import (
    FactColumns,
    Facts,
    Filing,
    Listing,
    OlderPage,
    Submissions,
    decode_facts,
    decode_page,
    decode_submissions,
    decode_tickers,
    filings_with_facts,
)
from pipelines.edgar.errors import DocumentError

CIK = "0000001234"
TAGS = {"us-gaap": frozenset({"Revenues", "Assets"}), "dei": frozenset({"EntityPublicFloat"})}
MIRROR = Path(__file__).parents[3] / "shared" / "edgar"

Json = dict[str, Any]


def fact(**changes: Any) -> Json:
    """A fact as EDGAR writes it; `...` removes a key."""
    usual = {
        "start": "2024-01-01",
        "end": "2024-12-31",
        "val": 100,
        "accn": "0000001234-25-000001",
        "fy": 2024,
        "fp": "FY",
        "form": "10-K",
        "filed": "2025-02-01",
        "frame": "CY2024",
    }
    return {key: value for key, value in (usual | changes).items() if value is not ...}


def facts_document(facts: Any, **changes: Any) -> bytes:
    return json.dumps({"cik": 1234, "entityName": "Example Tools", "facts": facts} | changes).encode()


def revenues(*facts: Json) -> bytes:
    concept = {"label": None, "description": None, "units": {"USD": list(facts)}}
    return facts_document({"us-gaap": {"Revenues": concept}})


def decoded(raw: bytes) -> Facts:
    return decode_facts(raw, CIK, TAGS)


def refused(raw: bytes) -> DocumentError:
    with pytest.raises(DocumentError) as error:
        decoded(raw)
    assert "\n" not in str(error.value)
    return error.value


# --- companyfacts


def test_wanted_facts_come_as_columns():
    """Sorted by taxonomy and tag, otherwise in the order of the document; an instant has no start."""
    raw = facts_document(
        {
            "dei": {"EntityPublicFloat": {"units": {"USD": [fact(start=..., val=5e9)]}}},
            "ffd": {"Revenues": {"units": "of a taxonomy that nobody asked for"}},
            "us-gaap": {
                "Revenues": {"units": {"USD": [fact(), fact(val=-1.5, fy=None)], "EUR": [fact(val=9)]}},
                "Unwanted": {"units": "is not even read"},
                "Assets": {"label": "Assets", "description": "All.", "units": {"USD": [fact(start=...)]}},
            },
        }
    )

    facts = decoded(raw)

    assert (facts.cik, facts.entity_name, facts.ignored, len(facts.columns)) == (CIK, "Example Tools", Counter(), 5)
    assert facts.columns.as_dict() == {
        "cik": [CIK] * 5,
        "taxonomy": ["dei"] + ["us-gaap"] * 4,
        "tag": ["EntityPublicFloat", "Assets", "Revenues", "Revenues", "Revenues"],
        "unit": ["USD", "USD", "USD", "USD", "EUR"],
        "start": [None, None, "2024-01-01", "2024-01-01", "2024-01-01"],
        "end": ["2024-12-31"] * 5,
        "value": [5e9, 100.0, 100.0, -1.5, 9.0],
        "accession": ["0000001234-25-000001"] * 5,
        "form": ["10-K"] * 5,
        "filed": ["2025-02-01"] * 5,
        "fy": [2024, 2024, 2024, None, 2024],
    }
    assert {type(value) for value in facts.columns.value} == {float}


def test_columns_of_many_companies_become_one_frame():
    together = FactColumns()
    for _ in range(3):
        together.extend(decode_facts(revenues(fact(), fact(start=...)), CIK, TAGS).columns)

    frame = pl.DataFrame(together.as_dict())

    assert frame.height == len(together) == 6
    assert frame.columns[:4] == ["cik", "taxonomy", "tag", "unit"]
    assert frame.schema["value"] == pl.Float64


@pytest.mark.parametrize("cik", [1234, "1234", "0000001234"])
def test_the_cik_may_be_a_number_or_text(cik):
    assert decoded(facts_document({}, cik=cik)).cik == CIK


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        (facts_document({}), []),
        (facts_document({"us-gaap": {}}), []),
        (revenues(), []),
        (revenues(fact(val=None)), []),
        # integers beyond two to the 53 are floats
        (revenues(fact(val=2**53 + 1), fact(val=10**25)), [float(2**53), 1e25]),
    ],
    ids=["no facts", "no elements", "no units", "no usable fact", "large integers"],
)
def test_the_values_of_a_document(raw, values):
    assert decoded(raw).columns.value == values


def test_unusable_facts_are_counted_and_left_out():
    facts = decoded(revenues(fact(val=None), fact(start="2025-01-01"), fact(val=None, start=...), fact(start=ONE_DAY)))

    assert facts.ignored == Counter({"no value": 2, "start after end": 1})
    assert facts.columns.start == [ONE_DAY]  # one day is a period


ONE_DAY = "2024-12-31"
OF_REVENUES = f"companyfacts of CIK {CIK}, facts/us-gaap/Revenues"


@pytest.mark.parametrize(
    ("facts", "reason", "place"),
    [
        ([], "'facts' is a list, expected an object", "facts"),
        ({"us-gaap": None}, "'us-gaap' is null, expected an object", "facts/us-gaap"),
        ({"us-gaap": {"Revenues": []}}, "'Revenues' is a list, expected an object", "facts/us-gaap/Revenues"),
        ({"us-gaap": {"Revenues": {}}}, "Object missing required field `units`", "facts/us-gaap/Revenues"),
        (
            {"us-gaap": {"Revenues": {"units": []}}},
            "'units' is a list, expected an object",
            "facts/us-gaap/Revenues/units",
        ),
        (
            {"us-gaap": {"Revenues": {"units": {"USD": {}}}}},
            "'*' is an object, expected a list",
            "facts/us-gaap/Revenues/units/*",
        ),
    ],
)
def test_a_wrong_type_is_reported_with_its_place(facts, reason, place):
    error = refused(facts_document(facts))
    assert (error.reason, error.place) == (reason, f"companyfacts of CIK {CIK}, {place}")
    assert str(error) == f"{error.place}: {error.reason}"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"val": "100"}, "'val' is text, expected a number or null"),
        ({"val": True}, "'val' is bool, expected a number or null"),
        ({"val": ...}, "missing required field `val`"),
        ({"end": None}, "'end' is null, expected text"),
        ({"end": ...}, "missing required field `end`"),
        ({"accn": 7}, "'accn' is a whole number, expected text"),
        ({"form": ...}, "missing required field `form`"),
        ({"filed": ...}, "missing required field `filed`"),
        ({"fy": "2024"}, "'fy' is text, expected a whole number or null"),
    ],
)
def test_a_wrong_fact_is_reported_with_its_row(wrong, reason):
    error = refused(revenues(fact(), fact(**wrong)))
    assert reason in error.reason
    assert "facts/us-gaap/Revenues/units/*[1]" in error.place


@pytest.mark.parametrize("key", ["start", "end", "filed"])
@pytest.mark.parametrize(
    "text", ["", "2024", "20240131", "2024-W05-3", "2024-02-30", "2024-1-31", "2024-01-31T00:00:00Z", "२०२४-०१-३१"]
)
@pytest.mark.parametrize("more", [{}, {"val": None}], ids=["a fact", "a fact that is left out"])
def test_an_invalid_date_is_reported(key, text, more):
    error = refused(revenues(fact(), fact(**{"start": ..., key: text, **more})))
    assert (error.reason, error.place) == (
        f"{key!r} is {text!r}, expected YYYY-MM-DD",
        f"{OF_REVENUES}/units/USD[1]",
    )


def test_the_dates_of_an_element_without_a_usable_fact_are_checked_too():
    assert "'start' is 'sometime'" in refused(revenues(fact(start="sometime"))).reason


def test_more_filings_than_the_rules_number_are_refused(monkeypatch):
    monkeypatch.setattr(documents, "MOST_FILINGS", 2)
    facts = [fact(accn=f"0000000001-26-{number:06}") for number in range(3)]
    assert len(decode_facts(revenues(*facts[:2]), CIK, TAGS).columns) == 2
    assert refused(revenues(*facts)).reason == "the facts are of 3 filings, expected at most 2"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400])
def test_infinity_and_nan_are_refused(number):
    refused(revenues(fact(val="here")).replace(b'"here"', number.encode()))


@pytest.mark.parametrize(
    ("cik", "reason"),
    [
        *((cik, f"the cik is {cik!r}: the document is another company's") for cik in (1235, "0000001235", 12340)),
        *((cik, "expected a number of at most ten digits") for cik in (-1234, "", "CIK1234", 12345678901, "12.0")),
    ],
)
def test_the_document_of_another_company_is_refused(cik, reason):
    assert reason in refused(facts_document({}, cik=cik)).reason


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>Request Rate Threshold Exceeded</html>",
        b"null",
        b"[]",
        b"\xff\xfe",
        b'{"cik":"\xff"}',
        b"{}",
        b"{} {}",
        b'{"other":' + b"[" * 100_000,
    ],
)
def test_other_json_than_companyfacts_is_refused(raw):
    assert refused(raw).place.startswith(f"companyfacts of CIK {CIK}")


def test_filings_with_facts_have_the_days_on_which_they_were_filed():
    units = {
        "USD": [{"accn": "a", "filed": "2024-02-01", "val": 1}, {"accn": "b", "filed": "2025-02-01", "val": None}],
        "pure": [],
        "shares": [{"accn": "a", "filed": "2024-02-01", "val": 2}],
    }
    raw = facts_document({"us-gaap": {}, "dei": {"X": {"units": units}}})
    assert filings_with_facts(raw, CIK) == {"a": "2024-02-01", "b": "2025-02-01"}
    with pytest.raises(DocumentError, match="companyfacts of CIK 0000001234: is not a complete JSON document"):
        filings_with_facts(b"<html>", CIK)


# --- submissions


COLUMNS = {
    "accessionNumber": ["0000001234-25-000002", "0000001234-25-000001"],
    "filingDate": ["2025-05-01", "2025-02-03"],
    "acceptanceDateTime": ["2025-05-01T20:31:05.000Z", "2025-02-01T01:55:03.000Z"],
    "form": ["10-Q", "10-K"],
    "size": [1, 2],
}


def submissions(recent: Json | None = None, **changes: Any) -> bytes:
    """A document of submissions with other columns of its filings, and other fields; `...` removes a field."""
    files = [{"name": f"CIK{CIK}-submissions-001.json", "filingCount": 3}]
    usual = {
        "cik": CIK,
        "name": "EXAMPLE TOOLS CORP",
        "sic": "3531",
        "fiscalYearEnd": "1231",
        "category": "Large accelerated filer",
        "tickers": ["EXT", "EXT-PA"],
        "exchanges": ["NYSE", None],
        "filings": {"recent": COLUMNS | (recent or {}), "files": files},
    }
    return json.dumps({key: value for key, value in (usual | changes).items() if value is not ...}).encode()


def test_submissions_have_the_filer_and_its_filings():
    assert decode_submissions(submissions(), CIK) == Submissions(
        cik=CIK,
        name="EXAMPLE TOOLS CORP",
        sic="3531",
        fiscal_year_end="1231",
        category="Large accelerated filer",
        tickers=["EXT", "EXT-PA"],
        exchanges=["NYSE", None],
        older_pages=[OlderPage("CIK0000001234-submissions-001.json", 3)],
        filings=[
            Filing("0000001234-25-000002", "10-Q", "2025-05-01", "2025-05-01T20:31:05.000Z"),
            Filing("0000001234-25-000001", "10-K", "2025-02-03", "2025-02-01T01:55:03.000Z"),
        ],
    )


@pytest.mark.parametrize("nothing", [..., None, ""])
def test_sic_year_end_and_category_may_be_missing(nothing):
    company = decode_submissions(submissions(sic=nothing, fiscalYearEnd=nothing, category=nothing), CIK)
    assert (company.sic, company.fiscal_year_end, company.category) == (None, None, "")


def test_submissions_of_a_new_registrant_have_few_fields():
    nothing = {"accessionNumber": [], "filingDate": [], "acceptanceDateTime": [], "form": []}
    raw = submissions(filings={"recent": nothing}, tickers=..., exchanges=..., cik=1234, sic=3531)
    company = decode_submissions(raw, CIK)
    assert (company.filings, company.older_pages, company.tickers, company.exchanges) == ([], [], [], [])
    assert company.sic == "3531"
    of_unknown_times = decode_submissions(submissions({"acceptanceDateTime": ["", None]}), CIK)
    assert [filing.accepted_at for filing in of_unknown_times.filings] == [None, None]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (submissions({"form": ["10-K"]}), "the columns have unequal lengths: .*'form': 1"),
        (submissions({"form": "10-K"}), "'form' is text, expected a list"),
        (submissions({"filingDate": ["2025-05-01", ""]}), "'' is not a filingDate"),
        (submissions({"acceptanceDateTime": ["2025-05-01", ""]}), "'2025-05-01' is not an acceptanceDateTime"),
        (submissions({"acceptanceDateTime": ["2025-05-01T25:00:00Z", ""]}), "is not an acceptanceDateTime"),
        (submissions(cik="0000009999"), "another company's"),
        (submissions(filings={"recent": {}}), "missing required field `accessionNumber`"),
        (submissions(filings={}), "missing required field `recent`"),
        (submissions(name=None), "'name' is null, expected text"),
        (submissions(tickers=[None]), "is null, expected text"),
        (submissions()[:-1], "is not a complete JSON document: Input data was truncated"),
        # the name of a page becomes an address
        *(
            (
                submissions(filings={"recent": COLUMNS, "files": [{"name": name}]}),
                "is not the name of a page of older filings",
            )
            for name in ("../../files/company_tickers.json", "CIK1-submissions-001.json", "")
        ),
    ],
)
def test_wrong_submissions_are_refused(raw, reason):
    with pytest.raises(DocumentError, match=reason) as error:
        decode_submissions(raw, CIK)
    assert error.value.place.startswith(f"submissions of CIK {CIK}")


def test_a_page_of_older_filings_has_the_columns_only():
    assert decode_page(json.dumps(COLUMNS).encode(), CIK) == decode_submissions(submissions(), CIK).filings
    with pytest.raises(DocumentError, match="page of older filings of CIK 0000001234: the columns have unequal"):
        decode_page(json.dumps({**COLUMNS, "form": []}).encode(), CIK)


# --- tickers


def tickers(*rows: list[Any], fields: Any = ("cik", "name", "ticker", "exchange")) -> bytes:
    return json.dumps({"fields": fields, "data": rows}).encode()


@pytest.mark.parametrize(
    ("raw", "listings"),
    [
        (
            tickers([1234, "Example Tools", "EXT", "NYSE"], [7, "Sample Seeds", "SEED-B", None]),
            [Listing(CIK, "Example Tools", "EXT", "NYSE"), Listing("0000000007", "Sample Seeds", "SEED-B", None)],
        ),
        # columns are found by their name, and others may be there
        (
            tickers(
                ["NYSE", "EXT", 0.5, "1234", "Example Tools"], fields=["exchange", "ticker", "score", "cik", "name"]
            ),
            [Listing(CIK, "Example Tools", "EXT", "NYSE")],
        ),
    ],
    ids=["as usual", "other columns"],
)
def test_listings_come_in_the_order_of_the_file(raw, listings):
    assert decode_tickers(raw) == (listings, [])


@pytest.mark.parametrize(
    ("row", "reason", "values"),
    [
        ([1234, "Example", "EXT"], "expected a row of 4 values", {CIK, "Example", "EXT"}),
        ([1234, None, "EXT", "NYSE"], "expected a row with a name, a symbol and", {CIK, "EXT", "NYSE"}),
        ([1234, "Example", "", "NYSE"], "expected a row with a name, a symbol and", {CIK, "Example", "", "NYSE"}),
        ([1234, "Example", ["EXT"], "NYSE"], "expected a row with a name, a symbol and", {CIK, "Example", "NYSE"}),
        ([1234, "Example", "EXT", 5.5], "expected a row with a name, a symbol and", {CIK, "Example", "EXT"}),
        ([None, "Example", "EXT", "NYSE"], "the cik is None, expected", {"Example", "EXT", "NYSE"}),
        ([12345678901, "Example", "EXT", None], "the cik is 12345678901, expected", {"12345678901", "Example", "EXT"}),
        (None, "expected a row of 4 values", set()),
        ("EXT\n", "expected a row of 4 values", set()),
    ],
)
def test_a_malformed_row_is_returned_beside_the_others(row, reason, values):
    """With the error, in one line, and the row's values that may name its company."""
    first, last = [7, "A", "A", None], [8, "B", "B", None]
    listings, [malformed] = decode_tickers(tickers(first, row, last))
    assert [listing.symbol for listing in listings] == ["A", "B"]
    assert malformed.reason.startswith(f"tickers file, data[1]: {reason}")
    assert malformed.reason.endswith(f": {row!r}")
    assert "\n" not in malformed.reason
    assert (malformed.values, malformed.position, malformed.has_cik) == (values, 1, CIK in values)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (tickers(fields=["cik", "ticker", "exchange"]), r"the fields are \['cik', 'ticker', 'exchange'\], expected"),
        (tickers(), "lists no company at all"),
        (tickers([1234.0, "Example", "EXT", "NYSE"], None), r"no row can be read, such as \[1234.0, 'Example'"),
        (b'{"0":{"cik_str":1234,"ticker":"EXT","title":"Example"}}', "missing required field `fields`"),
        (b"<html>", "is not a complete JSON document"),
    ],
)
def test_wrong_tickers_are_refused(raw, reason):
    with pytest.raises(DocumentError, match=reason) as error:
        decode_tickers(raw)
    assert str(error.value).startswith("tickers file")


# --- all documents


@pytest.mark.parametrize(
    ("read", "raw"),
    [
        (lambda raw: decode_facts(raw, CIK, TAGS), revenues(fact(), fact(start=..., val=1.5))),
        (lambda raw: decode_submissions(raw, CIK), submissions()),
        (decode_tickers, tickers([1234, "Example Tools", "EXT", "NYSE"])),
    ],
    ids=["facts", "submissions", "tickers"],
)
def test_a_document_truncated_anywhere_is_refused(read, raw):
    """At every length short of the whole; no truncated document is read as a smaller one."""
    read(raw)
    for length in range(len(raw)):
        with pytest.raises(DocumentError):
            read(raw[:length])


@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 60))
def test_a_corrupted_document_gives_facts_or_a_document_error(noise, at, removed):
    raw = revenues(fact(), fact(start=..., val=1.5))
    with suppress(DocumentError):
        facts = decode_facts(raw[:at] + noise + raw[at + removed :], CIK, TAGS)
        assert len({len(column) for column in facts.columns.as_dict().values()}) == 1


@pytest.mark.skipif(not MIRROR.is_dir(), reason="the mirror of real documents (../shared/edgar) is not there")
def test_real_documents_are_read():
    """Filers of several kinds: many filings, two currencies, and the complete list of companies."""
    listings, malformed = decode_tickers((MIRROR / "www.sec.gov/files/company_tickers_exchange.json").read_bytes())
    assert malformed == []
    assert Listing("0000320193", "Apple Inc.", "AAPL", "Nasdaq") in listings
    facts = MIRROR / "data.sec.gov/api/xbrl/companyfacts"
    apple = decode_facts((facts / "CIK0000320193.json").read_bytes(), "0000320193", {"us-gaap": frozenset({"Assets"})})
    assert apple.entity_name == "Apple Inc."
    rows = zip(apple.columns.end, apple.columns.value, strict=True)
    assert ("2025-09-27", 359241000000.0) in rows
    assert apple.ignored == Counter()
    bank = decode_submissions((MIRROR / "data.sec.gov/submissions/CIK0000070858.json").read_bytes(), "0000070858")
    assert len(bank.filings) > 10_000
    assert len(bank.older_pages) == 17
