"""The sample source responds like EDGAR: addresses, structure, and the same bytes each time."""

import json
import re
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

import httpx
import pytest

from pipelines.sample import Company, Filer, SampleTransport, sample_filers, simulate
from pipelines.sample.edgar.documents import frame

pytestmark = pytest.mark.no_cover  # tracing the simulator would take as long as the tests

MIRROR = Path(__file__).parents[3] / "shared" / "edgar"
FACTS = "https://data.sec.gov/api/xbrl/companyfacts/"
SUBMISSIONS = "https://data.sec.gov/submissions/"
TICKERS = "https://www.sec.gov/files/company_tickers_exchange.json"

DATE = re.compile(r"\d{4}-\d{2}-\d{2}$")
ACCESSION = re.compile(r"0009990000-\d{2}-\d{6}$")
ACCEPTED = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.000Z$")
FRAME = re.compile(r"CY\d{4}(Q[1-4]I?)?$")
TEXT, FLAG, COUNT = re.compile(r"(?s).*$"), (0, 1), int

FACT = {"end": DATE, "val": (int, float), "accn": ACCESSION, "form": TEXT, "filed": DATE}
FACT_OF_REPORT = FACT | {"fy": COUNT, "fp": ("Q1", "Q2", "Q3", "FY")}
OPTIONAL = {"start": DATE, "frame": FRAME}
CONCEPT = {"label": TEXT, "description": TEXT, "units": dict}
COMPANYFACTS = {"cik": COUNT, "entityName": TEXT, "facts": dict}
ROW = {
    "accessionNumber": ACCESSION,
    "filingDate": DATE,
    "reportDate": DATE,
    "acceptanceDateTime": ACCEPTED,
    "act": ("34",),
    "form": TEXT,
    "fileNumber": TEXT,
    "filmNumber": TEXT,
    "items": TEXT,
    "core_type": TEXT,
    "size": COUNT,
    "isXBRL": FLAG,
    "isInlineXBRL": FLAG,
    "isXBRLNumeric": FLAG,
    "primaryDocument": TEXT,
    "primaryDocDescription": TEXT,
}
FILE = {"name": TEXT, "filingCount": COUNT, "filingFrom": DATE, "filingTo": DATE}


@cache
def filer(word: str) -> Filer:
    return next(filer for filer in sample_filers() if word in filer.name)


@cache
def company(word: str) -> Company:
    return simulate(filer(word))


def client(**options: object) -> httpx.Client:
    return httpx.Client(transport=SampleTransport(**options))


def fits(value: object, wanted: object) -> bool:
    """Whether a JSON value fits its description: a pattern, a type, types, or one of some values."""
    if isinstance(wanted, re.Pattern):
        return isinstance(value, str) and bool(wanted.match(value))
    if isinstance(wanted, tuple) and not isinstance(wanted[0], type):
        return value in wanted
    return isinstance(value, wanted) and not isinstance(value, bool)


def check_shape(document: dict, description: dict, optional: dict | None = None) -> None:
    described = description | {key: wanted for key, wanted in (optional or {}).items() if key in document}
    assert set(document) == set(described)
    wrong = {key: document[key] for key, wanted in described.items() if not fits(document[key], wanted)}
    assert not wrong


@pytest.mark.parametrize("word", ["Orchard", "Fjord", "Prairie", "Nimbus", "Granite"])
def test_companyfacts_have_the_shape_of_edgar(word):
    """Taxonomies contain tags, tags units, units facts; a proxy's facts have neither fiscal year nor period."""
    document = company(word).companyfacts()

    check_shape(document, COMPANYFACTS)
    assert document["cik"] == int(filer(word).cik)
    for taxonomy, concepts in document["facts"].items():
        assert taxonomy in {"dei", "us-gaap", "ifrs-full"}
        for tag, concept in concepts.items():
            assert re.fullmatch(r"[A-Z][A-Za-z]+", tag)
            check_shape(concept, CONCEPT)
            for unit, facts in concept["units"].items():
                assert unit in {"USD", "EUR", "USD/shares", "EUR/shares", "shares"}
                for fact in facts:
                    if fact["form"] in {"DEF 14A", "424B4"} or fact["form"] == "S-1":
                        check_shape(fact, FACT | {"fy": type(None), "fp": type(None)}, OPTIONAL)
                    else:
                        check_shape(fact, FACT_OF_REPORT, OPTIONAL)
                        assert fact["form"] in {"10-Q", "10-K", "20-F"}
                assert facts == sorted(facts, key=lambda fact: (fact["end"], fact.get("start", fact["end"])))
                frames = [fact["frame"] for fact in facts if "frame" in fact]
                assert len(frames) == len(set(frames))


@pytest.mark.parametrize("word", ["Orchard", "Fjord", "Larkspur", "Granite"])
def test_submissions_have_the_shape_of_edgar(word):
    """The header names the filer; the filings are columns of equal length, newest first."""
    document = company(word).submissions()

    assert (document["cik"], document["tickers"]) == (filer(word).cik, list(filer(word).symbols))
    assert len(document["exchanges"]) == len(document["tickers"])
    assert re.fullmatch(r"\d{4}", document["fiscalYearEnd"])
    assert set(document["filings"]) == {"recent", "files"}
    pages = [document["filings"]["recent"], *company(word).submissions_pages().values()]
    for page in pages:
        assert set(page) == set(ROW)
        assert len({len(column) for column in page.values()}) == 1
        for values in zip(*page.values(), strict=True):
            check_shape(dict(zip(page, values, strict=True)), ROW)
        assert page["filingDate"] == sorted(page["filingDate"], reverse=True)
    for file in document["filings"]["files"]:
        check_shape(file, FILE)


def test_accession_numbers_are_unique_over_all_filers():
    accessions = [filing.accession for one in sample_filers() for filing in simulate(one).filings]

    assert len(accessions) == len(set(accessions))


@pytest.mark.skipif(not MIRROR.exists(), reason="../shared/edgar, the mirror of real documents, is missing")
def test_documents_have_the_keys_of_real_ones():
    """The keys and their order are the same as in a real large filer's documents."""
    name = "CIK0000320193.json"
    real_facts, real, real_tickers = (
        json.loads((MIRROR / path).read_text())
        for path in (
            f"data.sec.gov/api/xbrl/companyfacts/{name}",
            f"data.sec.gov/submissions/{name}",
            "www.sec.gov/files/company_tickers_exchange.json",
        )
    )
    ours, orchard = company("Orchard").submissions(), company("Orchard").companyfacts()

    assert list(ours) == list(real)
    assert list(ours["filings"]["recent"]) == list(real["filings"]["recent"])
    assert set(ours["addresses"]["mailing"]) == set(real["addresses"]["mailing"])
    assert list(orchard) == list(real_facts)
    for tag in ("NetIncomeLoss", "Assets"):
        concept, real_concept = (of["facts"]["us-gaap"][tag] for of in (orchard, real_facts))
        assert list(concept) == list(real_concept)
        assert list(concept["units"]["USD"][-1]) == list(real_concept["units"]["USD"][-1])
    assert client().get(TICKERS).json()["fields"] == real_tickers["fields"]
    assert not {row[2] for row in real_tickers["data"]} & {symbol for one in sample_filers() for symbol in one.symbols}


@pytest.mark.skipif(not MIRROR.exists(), reason="../shared/edgar, the mirror of real documents, is missing")
def test_frames_are_assigned_as_by_edgar():
    """Frames of real documents are assigned here the same way, except for single months, which are rare."""
    document = json.loads((MIRROR / "data.sec.gov/api/xbrl/companyfacts/CIK0000320193.json").read_text())
    framed = [
        (fact.get("start"), fact["end"], fact["frame"])
        for concepts in document["facts"].values()
        for concept in concepts.values()
        for facts in concept["units"].values()
        for fact in facts
        if "frame" in fact
    ]
    same = [frame(start and date.fromisoformat(start), date.fromisoformat(end)) == slot for start, end, slot in framed]

    assert sum(same) / len(same) > 0.999


def test_the_transport_returns_existing_documents_and_else_404():
    with client() as http:
        held = {FACTS: company("Orchard").companyfacts(), SUBMISSIONS: company("Orchard").submissions()}
        for folder, document in held.items():
            answer = http.get(f"{folder}CIK9990000001.json")
            assert (answer.json(), answer.headers["content-type"]) == (document, "application/json")
        for address in (
            FACTS + "CIK9990000014.json",
            SUBMISSIONS + "CIK9990000014.json",
            SUBMISSIONS + "CIK9990000013.json",
            SUBMISSIONS + "CIK9990000001-submissions-001.json",
            FACTS + "CIK0000320193.json",
            FACTS + "CIK9990000001.xml",
            "https://www.sec.gov/CIK9990000001.json",
            "https://www.sec.gov/",
        ):
            assert http.get(address).status_code == 404
        assert http.post(TICKERS).status_code == 404


def test_a_document_that_is_known_is_not_simulated_again(monkeypatch):
    """Its entity tag depends on the traits of the filer and on the last day that is served."""
    filer, other = sample_filers()[:2]
    address = f"https://data.sec.gov/api/xbrl/companyfacts/CIK{filer.cik}.json"
    with client(filers=[filer]) as sample:
        tag = sample.get(address).headers["etag"]
        assert sample.get(f"https://data.sec.gov/submissions/CIK{filer.cik}.json").headers["etag"] == tag
    known = {"If-None-Match": tag}
    for changed in (
        client(filers=[replace(filer, unit=1)]),
        client(filers=[filer], filed_by=date(2020, 1, 1)),
        client(filers=[replace(other, cik=filer.cik)]),
    ):
        with changed as sample:
            assert sample.get(address, headers=known).status_code == 200
    monkeypatch.setattr("pipelines.sample.edgar.transport.simulate", None)
    with client(filers=[filer]) as sample:
        answer = sample.get(address, headers=known)
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)


def test_older_filings_are_on_further_pages():
    """The pages contain each filing once; the header names every page with its count and dates."""
    with client() as http:
        head = http.get(SUBMISSIONS + "CIK9990000016.json").json()["filings"]
        pages = [http.get(SUBMISSIONS + file["name"]).json() for file in head["files"]]
    accessions = [accession for page in [head["recent"], *pages] for accession in page["accessionNumber"]]

    assert len(accessions) == len(set(accessions)) == len(company("Larkspur").filings)
    assert [(file["filingCount"], file["filingFrom"], file["filingTo"]) for file in head["files"]] == [
        (len(page["form"]), min(page["filingDate"]), max(page["filingDate"])) for page in pages
    ]
    assert len(pages) == 2


def test_the_tickers_file_lists_primary_symbols_first():
    rows = client().get(TICKERS).json()["data"]
    symbols = [row[2] for row in rows]

    assert {len(row) for row in rows} == {4}
    assert [row[2] for row in rows if row[0] == 9990000012] == ["XQTR-A", "XQTR-B", "XQTR-PA", "XQTR-WT"]
    assert symbols[-3:] == ["XQTR-B", "XQTR-PA", "XQTR-WT"]
    assert rows[symbols.index("XQJNP")][3] is None
    assert "XQSLH" in symbols


def test_the_same_filer_serves_the_same_bytes():
    """For each call and transport, and after the simulation is repeated."""
    first, second = client(), client()
    for one in sample_filers():
        for address in (FACTS + f"CIK{one.cik}.json", SUBMISSIONS + f"CIK{one.cik}.json"):
            answers = [http.get(address) for http in (first, second, first)]
            assert len({(answer.status_code, answer.content) for answer in answers}) == 1


def test_another_seed_is_another_company():
    other = Filer(cik="9990000001", name="Example Orchard Tools Inc", seed=1)

    assert simulate(other).companyfacts() != company("Orchard").companyfacts()


@pytest.mark.parametrize("day", [date(2014, 1, 1), date(2019, 5, 14), date(2022, 12, 31)])
def test_documents_cut_to_a_day_have_the_facts_filed_by_then(day):
    """No later fact; earlier facts are unchanged except for their frame, which belongs to the last filed."""

    def rows(document: dict) -> list[tuple]:
        return [
            (taxonomy, tag, unit, *sorted((key, str(value)) for key, value in fact.items() if key != "frame"))
            for taxonomy, concepts in document["facts"].items()
            for tag, concept in concepts.items()
            for unit, facts in concept["units"].items()
            for fact in facts
            if date.fromisoformat(fact["filed"]) <= day
        ]

    cut = company("Harbor").companyfacts(filed_by=day)
    with client(filers=[filer("Harbor")], filed_by=day) as http:
        assert http.get(FACTS + "CIK9990000002.json").json() == cut
        listed = http.get(SUBMISSIONS + "CIK9990000002.json").json()["filings"]["recent"]["filingDate"]
    filed = re.findall(r'"filed": "([\d-]+)"', json.dumps(cut))

    assert rows(cut) == rows(company("Harbor").companyfacts())
    assert max([*filed, *listed], default="") <= day.isoformat()
    assert len(listed) == sum(filing.filed <= day for filing in company("Harbor").filings)


def test_filings_have_possible_dates():
    """Filed on business days within the SEC's deadlines; accepted that day or the evening before, Eastern time."""
    filings = company("Orchard").filings
    assert max(filing.filed.weekday() for filing in filings) < 5
    # in UTC, in which the evening before is the next morning
    assert all(filing.accepted.date() == filing.filed for filing in filings)
    after_days = [(filing.filed - filing.report_date).days for filing in filings if filing.is_periodic]
    assert 30 <= min(after_days) <= max(after_days) <= 48
    assert min(filing.accepted.hour for filing in filings) < 4
    assert max(filing.filed for one in sample_filers() for filing in simulate(one).filings).month == 11


@pytest.mark.parametrize("cik", ["320193", "0000320193", "9990010000", "999000000x"])
def test_a_cik_outside_the_range_is_refused(cik):
    with pytest.raises(ValueError, match=f"CIK of a simulated filer is '{cik}'"):
        Filer(cik=cik, name="Example")
