"""The stages over the tables of a home: recomputed rows, kept rows, and the isolation of failures."""

import json
import operator
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial, reduce
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

import fundamentals
from pipelines.edgar.decode import listing_checks
from pipelines.edgar.errors import DocumentError
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.normalize.history.log import TWELVE_MONTHS
from pipelines.normalize.periods import successions
from pipelines.normalize.periods.predecessors import CONTINUED
from pipelines.normalize.periods.successions import Succession
from pipelines.progress import progress_to
from pipelines.sources import open_source
from pipelines.stages import documents, facts, values, versions
from pipelines.stages.batch import batches, quarantine
from pipelines.stages.batch.schemas import VALUE_TABLES, VERSIONS
from pipelines.stages.documents import Selection, UnknownSymbolError
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import filings
from tests.mirrors import ABSENT, ALFA, BRAVO, CARGO, EARNINGS, INCOME, REVENUE, Filer, Mirror, changed, companyfacts

NOW = datetime(2026, 8, 1, tzinfo=UTC)
GROWN = replace(BRAVO, scale=250)
Facts = list[dict[str, Any]]


class Run:
    """Synchronizations of one home with one mirror, a day apart, without Dagster."""

    def __init__(self, mirror: Mirror, home: Path) -> None:
        self.mirror, self.home, self.days = mirror, home, 0
        self.lake = Lake(home / "tables")
        self.segments: tuple[str, ...] = ()

    @property
    def now(self) -> datetime:
        return NOW + timedelta(days=self.days)

    def __call__(self, *symbols: str, full: bool = False) -> dict[str, int]:
        """Run one synchronization; return the counts of its stages."""
        self.days += 1
        store, asked = RawStore(self.home), Selection(symbols, full)
        with open_source(str(self.mirror.folder)) as source:
            listings = documents.update_listings(source, store, self.lake, self.now)
            ciks = documents.companies_asked(listings, asked)
            wanted = documents.with_predecessors(ciks, listings)
            _, extracted = documents.update_documents(source, store, self.lake, wanted, self.now)
        again = ciks if full else []
        made = {
            **extracted.counts,
            **facts.update(store, self.lake, again),
            **values.update(self.lake, again),
        }
        self.segments = versions.update(self.lake, self.home / "log", self.segments, f"{self.days:04}", self.now)
        return made

    def revenue(self, filer: Filer) -> float | None:
        """Revenue of the last fiscal year."""
        return self.trailing(filer, date(2024, 12, 31))

    def trailing(self, filer: Filer, end: date) -> float | None:
        """Revenue of the twelve months to a day, from the newest version in the log."""
        rows = self.lake.of_companies(VERSIONS, [filer.cik])
        current = rows.filter(pl.col("is_current"), item="revenue", period_end=end, n=TWELVE_MONTHS)
        return current["value"].item() if current.height else None

    def unknown_acceptances(self, filer: Filer) -> int:
        """The number of filings with an unknown time of acceptance."""
        return self.lake.of_companies("filings", [filer.cik])["accepted_at"].null_count()

    def row(self, table: str, filer: Filer) -> dict[str, Any]:
        return self.lake.of_companies(table, [filer.cik]).row(0, named=True)


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path / "mirror", ALFA, BRAVO, CARGO, ABSENT)


@pytest.fixture
def first(mirror: Mirror, tmp_path: Path) -> Run:
    """Before the first synchronization."""
    return Run(mirror, tmp_path / "home")


@pytest.fixture(scope="module")
def synchronized(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """After the first synchronization; tests do not change it."""
    folder = tmp_path_factory.mktemp("first")
    run = Run(Mirror(folder / "mirror", ALFA, BRAVO, CARGO, ABSENT), folder / "home")
    run()
    return run


@pytest.fixture
def run(synchronized: Run, mirror: Mirror, tmp_path: Path) -> Run:
    """A copy of it for one test, and of its documents."""
    copy = Run(mirror, shutil.copytree(synchronized.home, tmp_path / "home"))
    copy.days, copy.segments = synchronized.days, synchronized.segments
    return copy


def annual(filer: Filer) -> int:
    return filer.trailing(2024, 4)


def newest(document: dict[str, Any]) -> Facts:
    """The facts of the first element of a document, which a test may change."""
    return next(iter(document["facts"]["us-gaap"].values()))["units"]["USD"]


def test_documents_become_values(first):
    assert first() == {"new": 3, "no_facts": 1, "decoded": 3, "quarantined": 0, "standardized": 3}
    assert {filer.symbol: first.revenue(filer) for filer in (ALFA, BRAVO, CARGO)} == {
        filer.symbol: annual(filer) for filer in (ALFA, BRAVO, CARGO)
    }
    assert first.trailing(ALFA, date(2024, 6, 30)) == ALFA.trailing(2024, 2)
    assert first.row("registrants", ALFA) == {
        "cik": ALFA.cik,
        "name": "ALFA WORKS INC",
        "sic": "3571",
        "succeeded": None,
    }


def test_a_successor_has_its_predecessors_history(first, monkeypatch):
    """The predecessor is not listed and not a company of the data; its filings are in its own folder at the SEC."""
    earlier = replace(CARGO, number=203, scale=CARGO.scale - 8, first_year=2020)
    first.mirror.hold(earlier, replace(CARGO, comparatives=True))
    monkeypatch.setattr(successions, "SUCCESSIONS", (Succession(CARGO.cik, earlier.cik, "reorganized in 2022"),))
    first()

    assert first.trailing(CARGO, date(2021, 3, 31)) == earlier.trailing(2021, 1)
    assert first.lake.of_companies("profiles", [earlier.cik]).is_empty()
    assert first.lake.of_companies("decisions", [CARGO.cik]).filter(rule=CONTINUED.id).height == 1
    addresses = filings.with_addresses(first.lake).filter(cik=CARGO.cik)["url"]
    assert {address.split("/data/")[1].split("/")[0] for address in addresses} == {"103", "203"}


def test_a_notice_of_succession_is_known(run):
    """The first of two counts, also where submissions state it at the same time as reports; no notice means no
    succession.
    """
    with changed(run.mirror.submissions(BRAVO)) as document:
        for form, day in {"8-K12B/A": "2020-01-20", "8-K12G3": "2020-02-03", "8-K12B": "2021-05-04"}.items():
            added = (f"0000000999-20-0{day[:4]}0", day, f"{day}T21:30:00.000Z", form)
            for name, value in zip(("accessionNumber", "filingDate", "acceptanceDateTime", "form"), added, strict=True):
                document["filings"]["recent"][name].append(value)
    run()

    assert [run.row("registrants", filer)["succeeded"] for filer in (BRAVO, CARGO)] == [date(2020, 2, 3), None]


def test_registrants_of_an_older_program_are_decoded_again(run):
    older = run.lake.read("registrants").drop("succeeded")
    made_from = dict(run.lake.read("documents").select("cik", "submissions_digest").iter_rows())
    run.lake.replace_companies("registrants", [older], {cik: made_from[cik] for cik in older["cik"]})
    run()

    assert set(run.lake.read("registrants")["cik"]) == {ALFA.cik, BRAVO.cik, CARGO.cik}
    assert run.row("registrants", ALFA)["succeeded"] is None


def test_a_404_means_no_facts(run):
    """The company is neither quarantined nor failed, and the 404 is remembered."""
    no_facts = {"status": "no_facts", "facts_digest": None, "failure": None}
    assert run.row("documents", ABSENT).items() >= no_facts.items()
    assert run.lake.read("quarantine").is_empty()
    assert ABSENT.cik not in run.lake.inputs("facts")


def test_without_changes_nothing_is_done(run):
    before, segments = run.lake.read(VERSIONS), run.segments
    assert run() == {"unchanged": 3, "no_facts": 1, "decoded": 0, "quarantined": 0, "standardized": 0}
    assert run.lake.read(VERSIONS).equals(before)
    assert run.segments == segments


def test_only_a_changed_document_is_processed_again(run):
    run.mirror.hold(GROWN)
    assert run().items() >= {"changed": 1, "decoded": 1, "standardized": 1}.items()
    assert (run.revenue(GROWN), run.revenue(ALFA)) == (annual(GROWN), annual(ALFA))


def test_only_changed_submissions_are_processed_again(run):
    with changed(run.mirror.submissions(BRAVO)) as document:
        document["sic"] = "2060"
    assert run().items() >= {"decoded": 0, "standardized": 1}.items()
    assert run.row("registrants", BRAVO)["sic"] == "2060"


def test_filings_on_older_pages_have_their_acceptance(run):
    """New pages are processed without new facts; a page that cannot be used leaves the times of its filings out."""
    (page,) = run.mirror.page(BRAVO, 4, 8)
    whole = page.read_bytes()
    page.write_bytes(b"{}")
    assert (run()["quarantined"], run.unknown_acceptances(BRAVO)) == (0, 8)
    page.write_bytes(whole)
    assert run().items() >= {"unchanged": 3, "decoded": 0, "standardized": 1}.items()
    assert run.unknown_acceptances(BRAVO) == 0
    assert run()["standardized"] == 0

    run.mirror.page(BRAVO, 3, 9)
    assert (run()["standardized"], run.unknown_acceptances(BRAVO)) == (1, 0)
    held = run.row("documents", BRAVO)["submissions_digest"].split()
    RawStore(run.home).path(held[1]).write_bytes(b"damaged")
    assert run(BRAVO.symbol, full=True)["quarantined"] == 1
    assert (run.row("quarantine", BRAVO)["raw_document"], run.unknown_acceptances(BRAVO)) == (held[0], 0)


@pytest.mark.parametrize(("digest", "decoded"), [("rules_digest", 0), ("elements_digest", 3)])
def test_changed_rules_standardize_and_changed_elements_decode_all_companies(run, monkeypatch, digest, decoded):
    monkeypatch.setattr(batches, digest, lambda: "of other code")
    assert run().items() >= {"decoded": decoded, "standardized": 3}.items()
    assert run()["standardized"] == 0


def test_full_processes_all_companies_again(run):
    assert run(full=True) == {"unchanged": 3, "no_facts": 1, "decoded": 3, "quarantined": 0, "standardized": 3}
    assert run("ALFA", full=True).items() >= {"decoded": 1, "standardized": 1}.items()


def test_symbols_update_only_these_companies(run):
    run.mirror.hold(GROWN, replace(CARGO, scale=999))
    assert run("BRVO").items() >= {"changed": 1, "standardized": 1}.items()
    assert (run.revenue(BRAVO), run.revenue(CARGO)) == (annual(GROWN), annual(CARGO))
    days = [run.now - run.row("documents", filer)["synchronized_at"] for filer in (BRAVO, CARGO)]
    assert days == [timedelta(0), timedelta(days=1)]
    assert run()["standardized"] == 1  # the remaining company


def test_a_run_that_was_killed_between_stages_is_continued(run):
    run.mirror.hold(GROWN)
    with open_source(str(run.mirror.folder)) as source:
        documents.update_documents(source, RawStore(run.home), run.lake, [BRAVO.cik], NOW)
    assert run().items() >= {"unchanged": 3, "decoded": 1, "standardized": 1}.items()
    assert run.revenue(BRAVO) == annual(GROWN)


def test_acceptance_times_are_written_before_their_digest(first, monkeypatch):
    """If killed between the two, the next run writes both again; in the other order the times would be lost."""
    written: list[str] = []
    replace_companies = Lake.replace_companies

    def noted(lake: Lake, name: str, *rest: Any) -> None:
        written.append(name)
        replace_companies(lake, name, *rest)

    monkeypatch.setattr(Lake, "replace_companies", noted)
    first()
    assert written.index("acceptances") < written.index("registrants")
    assert written[-2:] == ["profiles", "versions"]


def with_(value: object, *place: str | int) -> Callable[[bytes], bytes]:
    """Replace what a document has at a place."""
    *outer, last = place

    def change(raw: bytes) -> bytes:
        document = json.loads(raw)
        reduce(operator.getitem, outer, document)[last] = value
        return json.dumps(document).encode()

    return change


UNITS = ("facts", "us-gaap", REVENUE, "units")


PER_SHARE = ("facts", "us-gaap", EARNINGS, "units")


# --- Documents that cannot be processed --------------------------------------------------------------------------


BROKEN = {
    "truncated": (lambda raw: raw[: len(raw) // 2], "complete JSON document", "companyfacts of CIK"),
    "not JSON": (lambda raw: b"We are busy", "complete JSON document", "companyfacts of CIK"),
    "empty": (lambda raw: b"", "complete JSON document", "companyfacts of CIK"),
    "another's cik": (with_(999, "cik"), "the cik is 999", "companyfacts of CIK"),
    "units in a list": (with_([], *UNITS), "'units' is a list, expected an object", f"{REVENUE}/units"),
    "units in words": (with_("USD/shares", *PER_SHARE), "'units' is text, expected an object", f"{EARNINGS}/units"),
    "a value in words": (
        with_("one", *PER_SHARE, "USD/shares", 0, "val"),
        "is text, expected a number or null",
        EARNINGS,
    ),
    "no day": (with_("2023-02-30", *UNITS, "USD", 3, "end"), "'end' is '2023-02-30'", f"{REVENUE}/units/USD[3]"),
}


def one_for_each(cases: Iterable[str], folder: Path) -> tuple[Run, dict[str, Filer]]:
    """A home with ALFA, CARGO and a company for each case, after the first synchronization."""
    filers = {case: replace(BRAVO, number=300 + number, symbol=f"BR{number}") for number, case in enumerate(cases)}
    run = Run(Mirror(folder / "mirror", ALFA, CARGO, *filers.values()), folder / "home")
    run()
    return run, filers


def test_broken_documents_quarantine_their_companies(tmp_path):
    """Other companies are processed, the previous values stay, and a valid document ends the quarantine."""
    run, filers = one_for_each(BROKEN, tmp_path)
    for case, filer in filers.items():
        facts = run.mirror.facts(filer)
        facts.write_bytes(BROKEN[case][0](facts.read_bytes()))
    run.mirror.hold(replace(CARGO, scale=999))

    assert run().items() >= {"quarantined": len(BROKEN), "standardized": 1}.items()
    for case, filer in filers.items():
        row, (_, reason, place) = run.row("quarantine", filer), BROKEN[case]
        assert reason in row["reason"], case
        assert (f"{place} {filer.cik}" if place.endswith("CIK") else place) in row["place"], case
        assert row["raw_document"] == run.row("documents", filer)["facts_digest"], case
        assert run.revenue(filer) == annual(filer), case
    assert run.revenue(CARGO) == annual(replace(CARGO, scale=999))

    run("ALFA")
    assert run.lake.read("quarantine").height == len(BROKEN)  # although this run was for another company

    run.mirror.hold(*(replace(filer, scale=GROWN.scale) for filer in filers.values()))
    assert run()["quarantined"] == 0
    assert {case: run.revenue(filer) for case, filer in filers.items()} == dict.fromkeys(BROKEN, annual(GROWN))


def of_elements(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[bytes], bytes]:
    """Change the elements of a document."""

    def changed(raw: bytes) -> bytes:
        document = json.loads(raw)
        return json.dumps(document | {"facts": {"us-gaap": change(document["facts"]["us-gaap"])}}).encode()

    return changed


def of_facts(change: Callable[[Facts], Facts], only: str = "") -> Callable[[bytes], bytes]:
    """Change each list of facts, or those of one element."""

    def of_element(element: dict[str, Any]) -> dict[str, Any]:
        return element | {"units": {unit: change(facts) for unit, facts in element["units"].items()}}

    return of_elements(lambda all_: all_ | {tag: of_element(all_[tag]) for tag in ([only] if only else all_)})


def all_with(**fields: object) -> Callable[[Facts], Facts]:
    """Change fields of all facts of a list."""
    return lambda facts: [fact | fields for fact in facts]


LOSSES = {
    "no facts": with_({}, "facts"),
    "facts twice": lambda raw: raw.rstrip()[:-1] + b', "facts": {}}',
    "a taxonomy": with_({"dei": {}}, "facts"),
    "unknown elements": of_elements(lambda elements: {f"{tag}X": element for tag, element in elements.items()}),
    "the newest tenth": of_facts(lambda facts: facts[: len(facts) * 9 // 10]),
    "no form": of_facts(all_with(form="")),
    "filed before they ended": of_facts(all_with(filed="1990-01-01")),
    "an element without form": of_facts(all_with(form=""), INCOME),
    "other forms": of_facts(all_with(form="8-K")),
    "filed in the future": of_facts(all_with(filed="2031-01-01")),
    "no value": of_facts(all_with(val=None)),
}
WITHDRAWALS = {"72 of 174": of_facts(all_with(val=0))}


def test_documents_that_lost_their_facts_are_quarantined_until_they_have_them_again_or_are_accepted(
    tmp_path, monkeypatch
):
    cases = LOSSES | WITHDRAWALS
    run, filers = one_for_each(cases, tmp_path)
    paths = {case: run.mirror.facts(filer) for case, filer in filers.items()}
    lost = {path: cases[case](path.read_bytes()) for case, path in paths.items()}

    for path, content in lost.items():
        path.write_bytes(content)
    assert run()["decoded"] == len(WITHDRAWALS)
    assert run.lake.read("quarantine").height == len(cases)
    for case, filer in filers.items():
        row = run.row("quarantine", filer)
        assert row["place"] == ("values" if case in WITHDRAWALS else f"companyfacts of CIK {filer.cik}"), case
        assert row["reason"].startswith(case if case in WITHDRAWALS else "lacks "), case
        assert row["reason"].endswith(f"`fundamentals accept {filer.cik}`"), case
        assert run.revenue(filer) == annual(filer), case

    run.mirror.hold(*(replace(filer, scale=GROWN.scale) for filer in filers.values()))
    assert run()["quarantined"] == 0
    assert {case: run.revenue(filer) for case, filer in filers.items()} == dict.fromkeys(cases, annual(GROWN))

    for path, content in lost.items():
        path.write_bytes(content)
    run()
    assert run.lake.read("quarantine").height == len(cases)
    with monkeypatch.context() as changed_rules:
        changed_rules.setattr(batches, "rules_digest", lambda: "other rules")
        run()
    assert run.lake.read("quarantine").height == len(cases), "until it is accepted, whatever else changes"
    monkeypatch.setenv("FUNDAMENTALS_HOME", str(run.home))
    Home(run.home).prepare()
    for filer in filers.values():
        assert fundamentals.main(["accept", str(filer.number)]) == 0
    assert fundamentals.main(["accept", "101"]) == 1, "it is not in quarantine"
    for _ in range(2):
        run()
        assert run.lake.read("quarantine").is_empty()


@pytest.mark.parametrize("lose", [lambda facts: facts[-1].update(form=""), list.pop], ids=["unusable", "removed"])
def test_a_few_facts_that_are_lost_stay_as_they_were_filed(run, lose):
    before = run.lake.of_companies("facts", [BRAVO.cik]).sort(pl.all())
    with changed(run.mirror.facts(BRAVO)) as document:
        lose(newest(document))
    assert run()["quarantined"] == 0
    assert run.lake.of_companies("facts", [BRAVO.cik]).sort(pl.all()).equals(before)


def test_doubtful_documents_are_counted(run):
    with changed(run.mirror.facts(BRAVO)) as document:
        newest(document).append({**newest(document)[-1], "filed": "2999-01-01", "end": "2999-12-31"})
    assert run().items() >= {"filed_in_the_future": 1, "ends_after_filing": 1, "quarantined": 0}.items()


@pytest.mark.parametrize(("facts", "doubts"), [(10, {}), (11, {"much_larger_than_before": 1})])
def test_a_document_with_more_than_ten_times_the_facts_is_a_doubt(facts, doubts):
    one = pl.DataFrame({"cik": ["0000000102"], "filed": ["2024-02-01"], "end": ["2023-12-31"]})
    assert quarantine.suspicions(pl.concat([one] * facts), one, date(2026, 1, 1)) == doubts


def test_a_filing_that_nobody_has_listed_is_a_doubt(first):
    """The company, or another company that filed for both; and it is not newer than all listed filings."""
    assert "filing_is_not_listed" not in first()
    days = first.lake.of_companies("acceptances", [BRAVO.cik]).sort("accepted_at")["accepted_at"].dt.date()
    within, after = str(days[days.len() // 2]), str(days[-1] + timedelta(days=9))
    of_another = first.lake.of_companies("acceptances", [ALFA.cik])["accession"][0]
    whole = first.mirror.facts(BRAVO).read_text()
    for accession, filed, unlisted in (
        ("0000999999-99-000001", within, 1),
        ("0000999999-99-000001", after, None),
        (of_another, within, None),
    ):
        first.mirror.facts(BRAVO).write_text(whole)
        with changed(first.mirror.facts(BRAVO)) as document:
            newest(document).append({**newest(document)[-1], "accn": accession, "filed": filed})
        assert first().get("filing_is_not_listed") == unlisted


def test_broken_submissions_quarantine_too(run):
    run.mirror.submissions(BRAVO).write_text("[]")
    assert run().items() >= {"quarantined": 1, "standardized": 0}.items()
    assert "submissions of CIK 0000000102" in run.row("quarantine", BRAVO)["place"]
    assert run.row("registrants", BRAVO)["name"] == "BRVO WORKS INC"


def test_a_corrupt_file_in_the_raw_zone_quarantines_its_company(run):
    store = RawStore(run.home)
    store.path(run.row("documents", BRAVO)["facts_digest"]).write_bytes(b"rust")
    counts = facts.update(store, run.lake, [ALFA.cik, BRAVO.cik])
    assert counts.items() >= {"decoded": 1, "quarantined": 1}.items()
    row = run.row("quarantine", BRAVO)
    assert (row["place"], "is corrupt; delete it" in row["reason"]) == ("raw zone", True)


def test_a_first_document_that_is_broken_leaves_no_rows(first):
    first.mirror.facts(BRAVO).write_text("{")
    assert first()["quarantined"] == 1
    assert first.revenue(BRAVO) is None


def test_a_document_that_cannot_be_fetched_keeps_the_previous_values(run, tmp_path):
    (tmp_path / "outside.json").write_text("{}")
    run.mirror.facts(BRAVO).unlink()
    run.mirror.facts(BRAVO).symlink_to(tmp_path / "outside.json")
    before = run.row("documents", BRAVO)

    assert run()["failed"] == 1

    row = run.row("documents", BRAVO)
    assert "leads out of the mirror" in row["failure"]
    assert row.items() >= {name: before[name] for name in ("facts_digest", "synchronized_at")}.items()
    assert run.revenue(BRAVO) == annual(BRAVO)


# --- The list of companies ----------------------------------------------------------------------------------------


def test_a_company_that_leaves_the_list_stays_as_unlisted(run):
    run.mirror.list(BRAVO, CARGO)
    run.mirror.facts(ALFA).unlink()
    assert run().items() >= {"unchanged": 2, "standardized": 0}.items()
    assert (run.row("listings", ALFA)["is_listed"], run.revenue(ALFA)) == (False, annual(ALFA))

    run.mirror.list(ALFA, BRAVO, CARGO)
    run()
    assert run.row("listings", ALFA)["is_listed"] is True


MALFORMED_ROWS: dict[str, Any] = {
    "no number": [None, "BRVO", "BRVO", "Nasdaq"],
    "eleven digits": [12345678901, "BRVO", "BRVO", "Nasdaq"],
    "no name": [102, None, "BRVO", "Nasdaq"],
    "no symbol": [102, "BRVO", None, "Nasdaq"],
    "number as exchange": [102, "BRVO", "BRVO", 5],
    "short": [102, "BRVO"],
    "only a name": [None, "BRVO", None, None],
    "nothing": None,
}


@pytest.mark.parametrize("row", MALFORMED_ROWS.values(), ids=MALFORMED_ROWS)
def test_a_company_whose_row_is_malformed_stays_as_it_was_listed(run, row):
    """In its place, until the row can be read, or is really gone; the other companies are synchronized."""
    before = run.lake.read("listings")
    with changed(run.mirror.tickers) as document:
        document["data"][1] = row
    run.mirror.hold(replace(CARGO, scale=999))
    for _ in range(2):
        run()
        assert run.lake.read("listings").equals(before)
        assert len(listing_checks.skipped(run.lake.read("doubts"))) == 1
    assert run.revenue(CARGO) == annual(replace(CARGO, scale=999))

    run.mirror.list(ALFA, CARGO, ABSENT)
    run()
    assert run.row("listings", BRAVO)["is_listed"] is False


NO_LIST = ["", "We are busy", '{"fields": ["cik", "na', "[]", '{"fields": ["cik"], "data": []}']


EMPTY_LIST = '{"fields": ["cik", "name", "ticker", "exchange"], "data": []}'


@pytest.mark.parametrize(
    ("content", "error"),
    [*((content, "tickers file") for content in NO_LIST), (EMPTY_LIST, "lists no company at all")],
)
def test_a_malformed_or_an_empty_list_stops_the_run(run, content, error):
    run.mirror.tickers.write_text(content)
    with pytest.raises(DocumentError, match=error):
        run()
    assert run.lake.read("listings")["is_listed"].all()


def test_a_malformed_row_of_a_company_keeps_no_other_company(run):
    """This holds if its number can be read. The first class of a company stays its first."""
    run.mirror.list(ALFA, replace(ALFA, symbol="ALFA-B"), BRAVO, CARGO)
    run()
    rows = [
        [101, None, "ALFA", None],
        [101, "ALFA", "ALFA-B", None],
        [103, "C", "CRGO", None],
        [999, None, "NEW", None],
    ]
    run.mirror.tickers.write_text(json.dumps({"fields": ["cik", "name", "ticker", "exchange"], "data": rows}))
    run()
    listed = run.lake.read("listings").filter("is_listed")
    assert listed.select("symbol", "is_primary").rows() == [("ALFA", True), ("ALFA-B", False), ("CRGO", True)]


def test_a_symbol_listed_twice_counts_once(first):
    first.mirror.list(ALFA, replace(BRAVO, symbol="ALFA"), BRAVO)
    first()
    assert first.lake.read("listings").select("symbol", "cik").rows() == [("ALFA", ALFA.cik), ("BRVO", BRAVO.cik)]


def test_unknown_symbols_are_reported_with_similar_ones(run):
    with pytest.raises(UnknownSymbolError, match=r"list of 4: ALFB, ZZZZZ; did you mean ALFA\? \(classes"):
        run("ALFB", "BRVO", "ZZZZZ")
    with pytest.raises(UnknownSymbolError, match=r"list of 4: 0000 \(classes"):
        run("0000")


def test_companies_are_requested_once_in_the_given_order():
    listings = pl.DataFrame(
        {"symbol": ["A", "B", "B-A", "GONE"], "cik": ["1", "2", "2", "3"], "is_listed": [True, True, True, False]}
    )
    assert documents.companies_asked(listings, Selection()) == ["1", "2"]
    assert documents.companies_asked(listings, Selection(("B-A", "A", "B"))) == ["2", "1"]
    with pytest.raises(UnknownSymbolError):
        documents.companies_asked(listings, Selection(("GONE",)))


# --- Batches ------------------------------------------------------------------------------------------------------


def test_the_size_of_batches_does_not_change_the_tables(run, tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "BATCH", 2)
    again, heard = Run(run.mirror, tmp_path / "other"), []
    with progress_to(lambda *told: heard.append(told)):
        again()
    for table in ("facts", *VALUE_TABLES):
        assert again.lake.read(table).equals(run.lake.read(table)), table
    assert [told for told in heard if told[0] != "documents"] == [
        ("facts", 0, 3),
        ("facts", 2, 3),
        ("facts", 3, 3),
        ("values", 0, 3),
        ("values", 2, 3),
        ("values", 3, 3),
        ("versions", 0, 3),
        ("versions", 2, 3),
        ("versions", 3, 3),
    ]


def test_the_steps_of_the_rules_are_reported_batch_by_batch(first, monkeypatch):
    told: list[tuple[str, int, float]] = []
    first()
    monkeypatch.setattr(batches, "BATCH", 2)
    values.update(first.lake, [ALFA.cik, BRAVO.cik, CARGO.cik], lambda *step: told.append(step))
    names = [name for name, _, _ in told]
    assert names == 2 * names[: len(names) // 2]
    assert all(rows >= 0 and seconds >= 0 for _, rows, seconds in told)


def test_documents_without_facts_give_empty_tables(first):
    for filer in (ALFA, BRAVO, CARGO):
        with changed(first.mirror.facts(filer)) as document:
            document["facts"] = {}
    assert first() == {"new": 3, "no_facts": 1, "decoded": 3, "quarantined": 0, "standardized": 3}
    assert first.lake.read(VERSIONS).is_empty()
    assert first.segments == ()


def test_the_digests_of_code_change_with_the_code():
    assert len({batches.elements_digest(), batches.rules_digest(), batches.joined("")}) == 3


def test_the_mirror_has_the_figures_of_its_filer():
    """A check of the test mirror itself: the fourth quarter is the year less nine months."""
    told = companyfacts(ALFA)["facts"]["us-gaap"][REVENUE]["units"]["USD"]
    year = {fact["end"]: fact["val"] for fact in told if fact["start"] == "2024-01-01"}
    assert year["2024-12-31"] == ALFA.trailing(2024, 4)
    assert year["2024-12-31"] - year["2024-09-30"] == ALFA.revenue(2024, 4)


@pytest.mark.parametrize(("setting", "sizes"), [("", [5]), ("2", [2, 2, 1]), ("5", [5])])
def test_the_size_of_batches_is_a_setting(setting, sizes, monkeypatch):
    monkeypatch.setenv("FUNDAMENTALS_BATCH", setting)
    assert [len(batch) for batch in batches.in_batches("abcde")] == sizes


@pytest.mark.parametrize(
    ("facts", "in_one"), [((4, 5, 1, 1, 1), ["ab", "cde"]), ((99, 1, 99, 1), ["a", "b", "c", "d"])]
)
def test_companies_with_many_facts_are_in_smaller_batches(facts, in_one, monkeypatch):
    monkeypatch.setattr(batches, "FACTS", 9)
    rows = dict(zip("abcde", facts, strict=False))
    assert ["".join(batch) for batch in batches.in_batches(rows, rows)] == in_one


@pytest.mark.parametrize("setting", ["0", "-1", "many", "1.5"])
def test_a_wrong_size_of_batches_is_an_error(setting, monkeypatch):
    monkeypatch.setenv("FUNDAMENTALS_BATCH", setting)
    with pytest.raises(batches.BatchError, match="expected the number of companies"):
        list(batches.in_batches("abcde"))


def test_batches_and_notes_go_to_other_machines_as_json(run):
    """The rows of each stage equal the rows that the stage itself makes; only JSON is handed on."""
    again = [ALFA.cik, BRAVO.cik]
    for stage, made in (
        (facts.plan(run.lake, again), partial(facts.work, run.home, run.lake)),
        (values.plan(run.lake, again), partial(values.work, run.lake)),
    ):
        assert stage.batches
        for batch in stage.batches:
            sent = msgspec.json.decode(msgspec.json.encode(batch), type=batches.Batch)
            assert sent == batch
            (rows, notes), (expected, _) = made(sent), made(batch)
            assert {name: frame.height for name, frame in rows.items()} == {
                name: frame.height for name, frame in expected.items()
            }
            assert all(rows[name].equals(frame) for name, frame in expected.items())
            assert msgspec.json.decode(msgspec.json.encode(notes)) == json.loads(json.dumps(notes))
