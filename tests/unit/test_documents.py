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

from pipelines.edgar import documents
from pipelines.edgar.documents import (
    FactColumns,
    Filing,
    Listing,
    OlderPage,
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


def refused(raw: bytes) -> DocumentError:
    with pytest.raises(DocumentError) as error:
        decode_facts(raw, CIK, TAGS)
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

    facts = decode_facts(raw, CIK, TAGS)

    assert facts.cik == CIK
    assert facts.entity_name == "Example Tools"
    assert facts.ignored == Counter()
    columns = facts.columns
    assert len(columns) == 5
    assert columns.cik == [CIK] * 5
    assert columns.taxonomy == ["dei"] + ["us-gaap"] * 4
    assert columns.tag == ["EntityPublicFloat", "Assets", "Revenues", "Revenues", "Revenues"]
    assert columns.unit == ["USD", "USD", "USD", "USD", "EUR"]
    assert columns.start == [None, None, "2024-01-01", "2024-01-01", "2024-01-01"]
    assert columns.end == ["2024-12-31"] * 5
    assert columns.value == [5e9, 100.0, 100.0, -1.5, 9.0]
    assert {type(value) for value in columns.value} == {float}
    assert columns.accession == ["0000001234-25-000001"] * 5
    assert columns.form == ["10-K"] * 5
    assert columns.filed == ["2025-02-01"] * 5
    assert columns.fy == [2024, 2024, 2024, None, 2024]


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
    assert decode_facts(facts_document({}, cik=cik), CIK, TAGS).cik == CIK


def test_a_company_without_facts_has_no_rows():
    assert len(decode_facts(facts_document({}), CIK, TAGS).columns) == 0
    assert len(decode_facts(facts_document({"us-gaap": {}}), CIK, TAGS).columns) == 0
    assert len(decode_facts(revenues(), CIK, TAGS).columns) == 0


def test_integers_beyond_two_to_the_53_are_floats():
    facts = decode_facts(revenues(fact(val=2**53 + 1), fact(val=10**25)), CIK, TAGS)
    assert facts.columns.value == [float(2**53), 1e25]


def test_unusable_facts_are_counted_and_left_out():
    raw = revenues(fact(val=None), fact(start="2025-01-01"), fact(val=None, start=...), fact(start="2024-12-31"))

    facts = decode_facts(raw, CIK, TAGS)

    assert facts.ignored == Counter({"no value": 2, "start after end": 1})
    assert facts.columns.start == ["2024-12-31"]  # one day is a period


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
    assert error.reason == reason
    assert error.place == f"companyfacts of CIK {CIK}, {place}"
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
def test_an_invalid_date_is_reported(key, text):
    error = refused(revenues(fact(), fact(**{"start": ..., key: text})))
    assert error.reason == f"{key!r} is {text!r}, expected YYYY-MM-DD"
    assert error.place == f"companyfacts of CIK {CIK}, facts/us-gaap/Revenues/units/USD[1]"


def test_more_filings_than_the_rules_number_are_refused(monkeypatch):
    monkeypatch.setattr(documents, "MOST_FILINGS", 2)
    facts = [fact(accn=f"0000000001-26-{number:06}") for number in range(3)]
    assert len(decode_facts(revenues(*facts[:2]), CIK, TAGS).columns) == 2
    assert refused(revenues(*facts)).reason == "the facts are of 3 filings, expected at most 2"


def test_the_dates_of_a_left_out_fact_are_checked_too():
    assert "'start' is 'sometime'" in refused(revenues(fact(start="sometime"))).reason
    assert "'end' is 'then'" in refused(revenues(fact(val=None, end="then"))).reason


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400])
def test_infinity_and_nan_are_refused(number):
    refused(revenues(fact(val="here")).replace(b'"here"', number.encode()))


@pytest.mark.parametrize("cik", [1235, "0000001235", 12340])
def test_the_document_of_another_company_is_refused(cik):
    assert refused(facts_document({}, cik=cik)).reason == f"the cik is {cik!r}: the document is another company's"


@pytest.mark.parametrize("cik", [-1234, "", "CIK1234", 12345678901, "12.0"])
def test_an_invalid_cik_is_refused(cik):
    assert "expected a number of at most ten digits" in refused(facts_document({}, cik=cik)).reason


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
    document = {"cik": 1234, "facts": {"us-gaap": {}, "dei": {"X": {"units": {"USD": [], "pure": [], "shares": []}}}}}
    units = document["facts"]["dei"]["X"]["units"]
    units["USD"] = [{"accn": "a", "filed": "2024-02-01", "val": 1}, {"accn": "b", "filed": "2025-02-01", "val": None}]
    units["shares"] = [{"accn": "a", "filed": "2024-02-01", "val": 2}]
    assert filings_with_facts(json.dumps(document).encode(), CIK) == {"a": "2024-02-01", "b": "2025-02-01"}
    with pytest.raises(DocumentError, match="companyfacts of CIK 0000001234: is not a complete JSON document"):
        filings_with_facts(b"<html>", CIK)


# --- submissions


def submissions(recent: Json | None = None, **changes: Any) -> bytes:
    columns = {
        "accessionNumber": ["0000001234-25-000002", "0000001234-25-000001"],
        "filingDate": ["2025-05-01", "2025-02-03"],
        "acceptanceDateTime": ["2025-05-01T20:31:05.000Z", "2025-02-01T01:55:03.000Z"],
        "form": ["10-Q", "10-K"],
        "size": [1, 2],
    }
    files = [{"name": f"CIK{CIK}-submissions-001.json", "filingCount": 3}]
    usual = {
        "cik": CIK,
        "name": "EXAMPLE TOOLS CORP",
        "sic": "3531",
        "fiscalYearEnd": "1231",
        "category": "Large accelerated filer",
        "tickers": ["EXT", "EXT-PA"],
        "exchanges": ["NYSE", None],
        "filings": {"recent": columns | (recent or {}), "files": files},
    }
    return json.dumps({key: value for key, value in (usual | changes).items() if value is not ...}).encode()


def test_submissions_have_the_filer_and_its_filings():
    company = decode_submissions(submissions(), CIK)

    assert (company.cik, company.name, company.sic) == (CIK, "EXAMPLE TOOLS CORP", "3531")
    assert (company.fiscal_year_end, company.category) == ("1231", "Large accelerated filer")
    assert (company.tickers, company.exchanges) == (["EXT", "EXT-PA"], ["NYSE", None])
    assert company.older_pages == [OlderPage("CIK0000001234-submissions-001.json", 3)]
    assert company.filings == [
        Filing("0000001234-25-000002", "10-Q", "2025-05-01", "2025-05-01T20:31:05.000Z"),
        Filing("0000001234-25-000001", "10-K", "2025-02-03", "2025-02-01T01:55:03.000Z"),
    ]


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


def test_an_unknown_acceptance_time_is_null():
    company = decode_submissions(submissions({"acceptanceDateTime": ["", None]}), CIK)
    assert [filing.accepted_at for filing in company.filings] == [None, None]


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
    ],
)
def test_wrong_submissions_are_refused(raw, reason):
    with pytest.raises(DocumentError, match=reason) as error:
        decode_submissions(raw, CIK)
    assert error.value.place.startswith(f"submissions of CIK {CIK}")


def test_a_page_of_older_filings_has_the_columns_only():
    recent = json.loads(submissions())["filings"]["recent"]
    assert decode_page(json.dumps(recent).encode(), CIK) == decode_submissions(submissions(), CIK).filings
    with pytest.raises(DocumentError, match="page of older filings of CIK 0000001234: the columns have unequal"):
        decode_page(json.dumps({**recent, "form": []}).encode(), CIK)


@pytest.mark.parametrize("name", ["../../files/company_tickers.json", "CIK1-submissions-001.json", ""])
def test_the_name_of_a_page_is_checked_and_becomes_an_address(name):
    recent = json.loads(submissions())["filings"]["recent"]
    with pytest.raises(DocumentError, match="is not the name of a page of older filings"):
        decode_submissions(submissions(filings={"recent": recent, "files": [{"name": name}]}), CIK)


# --- tickers


def tickers(*rows: list[Any], fields: Any = ("cik", "name", "ticker", "exchange")) -> bytes:
    return json.dumps({"fields": fields, "data": rows}).encode()


def test_listings_come_in_the_order_of_the_file():
    raw = tickers([1234, "Example Tools", "EXT", "NYSE"], [7, "Sample Seeds", "SEED-B", None])
    assert decode_tickers(raw).listings == [
        Listing(CIK, "Example Tools", "EXT", "NYSE"),
        Listing("0000000007", "Sample Seeds", "SEED-B", None),
    ]


def test_columns_are_found_by_their_name_and_others_may_be_there():
    raw = tickers(["NYSE", "EXT", 0.5, "1234", "Example Tools"], fields=["exchange", "ticker", "score", "cik", "name"])
    assert decode_tickers(raw) == ([Listing(CIK, "Example Tools", "EXT", "NYSE")], [])


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
