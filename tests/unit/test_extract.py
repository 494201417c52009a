"""Updating the raw zone: which documents are requested, stored and remembered, and how failures are reported."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipelines.edgar.answers import TICKERS_URL, facts_url, submissions_url
from pipelines.edgar.errors import RefusedError, SourceError
from pipelines.edgar.fetch import extract
from pipelines.edgar.fetch.extract import CompanyDocuments, Document, fetch_documents, fetch_tickers
from pipelines.edgar.fetch.raw_store import RawStore
from pipelines.edgar.source.client import EdgarClient
from pipelines.edgar.source.source import Source
from pipelines.fake_sec.server import EdgarServer, Reply
from pipelines.sources import open_source
from tests.fake_time import FakeTime
from tests.mirrors import ALFA, BRAVO, Mirror

NOW = datetime(2026, 8, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
A, B, C = "0000000001", "0000000002", "0000000003"


@pytest.fixture
def live(server: EdgarServer) -> Iterator[Source]:
    time = FakeTime()
    client = EdgarClient(
        user_agent="x mail@example.org", pace=10, base_url=server.url, sleep=time.sleep, clock=time.clock
    )
    with Source("live", "edgar", client, threads=4, absence_lasts=timedelta(days=7)) as source:
        yield source


@pytest.fixture
def store(tmp_path: Path) -> RawStore:
    return RawStore(tmp_path / "home")


def document(cik: str, revision: int = 1, kind: str = "facts") -> bytes:
    return json.dumps({"cik": int(cik), "revision": revision, "kind": kind}).encode()


def reply(cik: str, revision: int, kind: str) -> Reply:
    return Reply(body=document(cik, revision, kind), headers={"ETag": f'"{cik}-{revision}"'})


def serve(server: EdgarServer, *ciks: str, revision: int = 1) -> None:
    for cik in ciks:
        server.on(facts_url(cik), reply(cik, revision, "facts"))
        server.on(submissions_url(cik), reply(cik, revision, "submissions"))


def asked_paths(server: EdgarServer) -> set[str]:
    return {path.rpartition("/")[0].rpartition("/")[2] + "/" + path[-15:-5] for path, _ in server.asked}


def changes(companies: list[CompanyDocuments]) -> list[tuple[str, str, str | None]]:
    return [(c.cik, c.facts.change, c.submissions.change if c.submissions else None) for c in companies]


def test_documents_are_kept_and_a_second_time_is_unchanged(server, live, store):
    serve(server, A, B)
    told: list[tuple[int, int, str]] = []

    first = fetch_documents(
        live, store, [B, C, A], NOW, lambda done, total, company: told.append((done, total, company.cik))
    )

    assert changes(first.companies) == [(B, "new", "new"), (C, "no_facts", None), (A, "new", "new")]
    assert first.counts == Counter(new=2, no_facts=1)
    assert told == [(1, 3, B), (2, 3, C), (3, 3, A)]
    assert store.get(first.companies[0].facts.digest) == document(B)

    # 304 where the server sent a validator; the 404 is a day old and not requested again
    for cik in (A, B):
        server.on(facts_url(cik), Reply(304))
        server.on(submissions_url(cik), Reply(304))
    server.asked.clear()
    again = RawStore(store.root.parent)
    second = fetch_documents(live, again, [B, C, A], LATER)

    assert changes(second.companies) == [
        (B, "unchanged", "unchanged"),
        (C, "skipped", None),
        (A, "unchanged", "unchanged"),
    ]
    assert second.companies[0].facts.digest == first.companies[0].facts.digest
    assert {headers["If-None-Match"] for _, headers in server.asked} == {f'"{A}-1"', f'"{B}-1"'}
    assert asked_paths(server) == {f"companyfacts/{A}", f"companyfacts/{B}", f"submissions/{A}", f"submissions/{B}"}
    assert again.seen(A, "companyfacts").fetched_at == LATER
    assert again.seen(A, "companyfacts").etag == f'"{A}-1"'
    assert again.seen(C, "companyfacts").fetched_at == NOW


def test_new_content_is_a_change_and_the_old_content_stays(server, live, store):
    """The same content without 304 is unchanged, and asked for without a condition if it had no validator."""
    server.on(facts_url(A), Reply(body=document(A)))
    assert fetch_documents(live, store, [A], NOW).companies == [
        CompanyDocuments(A, Document("new", store.seen(A, "companyfacts").digest), Document("no_facts", None))
    ]
    first = fetch_documents(live, store, [A], LATER).companies[0].facts
    assert first.change == "unchanged"
    assert "If-None-Match" not in server.asked[-1][1]
    for revision, of_submissions in ((2, "new"), (3, "changed")):
        serve(server, A, revision=revision)
        later = fetch_documents(live, store, [A], LATER + timedelta(days=8 * revision)).companies
        assert changes(later) == [(A, "changed", of_submissions)]
        assert store.get(later[0].facts.digest) == document(A, revision)
    assert store.get(first.digest) == document(A, 1)


@pytest.mark.parametrize(
    ("age", "lasts", "change"),
    [
        (timedelta(days=6), None, "skipped"),
        (timedelta(days=7), None, "no_facts"),
        (timedelta(days=-400), None, "no_facts"),  # the clock was ahead
        (timedelta(days=6), timedelta(0), "no_facts"),
        (timedelta(days=20), timedelta(days=30), "skipped"),
    ],
)
def test_a_404_is_remembered_for_a_while(live, store, age, lasts, change):
    fetch_documents(live, store, [A, B], NOW)
    companies = fetch_documents(live, store, [A, B], NOW + age, absence_lasts=lasts).companies
    assert [company.facts.change for company in companies] == [change, change]


def test_a_document_that_the_source_removes_is_kept(server, live, store):
    serve(server, A, B)
    held = fetch_documents(live, store, [A, B], NOW).companies[0].facts.digest
    server.on(facts_url(A), Reply(404))

    gone = fetch_documents(live, store, [A, B], LATER).companies[0]

    assert gone == CompanyDocuments(A, Document("gone", held))
    assert store.get(held) == document(A)
    serve(server, A)
    back = fetch_documents(live, store, [A, B], LATER + timedelta(hours=1)).companies[0]
    assert back.facts == Document("unchanged", held)


@pytest.mark.parametrize("kind", [facts_url, submissions_url])
def test_a_source_without_many_of_its_documents_fails_and_nothing_is_remembered(server, live, store, kind):
    """EDGAR removes no documents: 404 for more than a twentieth of the companies that it had before is an error."""
    ciks = [f"{number:010}" for number in range(1, 41)]
    serve(server, *ciks)
    fetch_documents(live, store, [*ciks, "0000000999"], NOW)
    before = {cik: store.seen(cik, "companyfacts").status for cik in ciks}
    for cik in ciks[7:10]:
        server.on(kind(cik), Reply(404))

    with pytest.raises(SourceError, match=r"answers 404 for 3 of 40 companies .*, at last CIK 0000000010; .* nothing"):
        fetch_documents(live, store, [*ciks, "0000000998"], LATER, absence_lasts=timedelta(0))

    again = RawStore(store.root.parent)
    assert {cik: again.seen(cik, "companyfacts").status for cik in ciks} == before
    assert again.seen(ciks[8], "submissions").status == "ok"
    assert again.seen("0000000998", "companyfacts") is None


def test_a_twentieth_of_the_documents_may_be_gone(server, live, store):
    ciks = [f"{number:010}" for number in range(1, 41)]
    serve(server, *ciks)
    fetch_documents(live, store, ciks, NOW)
    for cik in ciks[7:9]:
        server.on(facts_url(cik), Reply(404))
    for when in (LATER, LATER + timedelta(days=1)):
        server.asked.clear()
        assert fetch_documents(live, store, ciks, when).counts == Counter(unchanged=38, gone=2)
        assert f"companyfacts/{ciks[7]}" in asked_paths(server)


def test_a_live_source_that_has_nothing_at_all_fails(live, store):
    ciks = [f"{number:010}" for number in range(extract.LEAST_COMPANIES_WITH_DOCUMENTS)]
    with pytest.raises(SourceError, match="answers 404 for all of 20 companies; check EDGAR_BASE_URL"):
        fetch_documents(live, store, ciks, NOW)
    assert store.seen(ciks[0], "companyfacts") is None
    assert fetch_documents(live, store, ciks[1:], NOW).counts == Counter(no_facts=19)


def test_a_mirror_without_any_document_fails(tmp_path, store):
    mirror = Mirror(tmp_path / "mirror", ALFA, BRAVO)
    for filer in (ALFA, BRAVO):
        mirror.facts(filer).unlink()
    with (
        open_source(str(mirror.folder)) as source,
        pytest.raises(SourceError, match="answers 404 for all of 2 companies; check what is in it"),
    ):
        fetch_documents(source, store, [ALFA.cik, BRAVO.cik], NOW)


def test_a_document_deleted_from_the_raw_zone_is_requested_unconditionally(server, live, store):
    serve(server, A)
    digest = fetch_documents(live, store, [A], NOW).companies[0].facts.digest
    store.path(digest).unlink()
    server.asked.clear()

    fetch_documents(live, store, [A], LATER)

    assert [headers["If-None-Match"] for _, headers in server.asked] == [None, f'"{A}-1"']
    assert store.get(digest) == document(A)


def test_a_truncated_document_is_kept_as_evidence_and_requested_again(server, live, store):
    server.on(facts_url(A), Reply(body=document(A)[:-3], headers={"ETag": '"cut"'}))
    fetch_documents(live, store, [A], NOW)
    assert store.get(store.seen(A, "companyfacts").digest) == document(A)[:-3]
    serve(server, A)

    assert fetch_documents(live, store, [A], LATER).companies[0].facts.change == "changed"

    assert all("If-None-Match" not in headers for _, headers in server.asked)


def test_documents_missing_in_a_mirror_are_requested_from_the_sec(server, live, store, tmp_path):
    """The SEC's validators are not sent to a mirror, and a mirror's document does not count as the SEC's."""
    serve(server, A)
    serve(server, C)
    fetch_documents(live, store, [C], NOW)
    mirror = tmp_path / "mirror"
    for url, content in ((TICKERS_URL, b"{}"), (facts_url(B), document(B))):
        file = mirror / url.removeprefix("https://")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    with open_source(str(mirror)) as source:
        companies = fetch_documents(source, store, [A, B], NOW).companies
        assert changes(companies) == [(A, "no_facts", None), (B, "new", "no_facts")]

    companies = fetch_documents(live, store, [A, B, C], NOW).companies
    assert changes(companies) == [(A, "new", "new"), (B, "gone", None), (C, "unchanged", "unchanged")]

    with open_source(str(mirror)) as source:
        companies = fetch_documents(source, store, [A, B], NOW).companies
        assert changes(companies) == [(A, "gone", None), (B, "unchanged", "no_facts")]


# --- failures


def test_a_failing_company_does_not_stop_the_others(server, live, store):
    serve(server, A, B, C)
    fetch_documents(live, store, [A, B, C], NOW)
    held = store.seen(B, "companyfacts")
    server.on(facts_url(B), Reply(500))
    server.on(submissions_url(C), Reply(500))

    companies = fetch_documents(live, store, [A, B, C], LATER).companies

    assert changes(companies) == [(A, "unchanged", "unchanged"), (B, "failed", None), (C, "unchanged", "failed")]
    assert [bool(company.failure) for company in companies] == [False, True, True]
    assert f"CIK{B}.json: answers 500" in companies[1].failure
    assert f"submissions/CIK{C}.json: answers 500" in companies[2].failure
    assert companies[1].facts.digest == held.digest
    assert store.seen(B, "companyfacts") == held


def test_a_source_that_fails_for_all_stops_with_one_error(server, live, store):
    ciks = [f"{number:010}" for number in range(1, 60)]
    serve(server, *ciks[:3])
    server.otherwise = Reply(503)

    with pytest.raises(
        SourceError, match=r"answers 503.*; 5 companies in a row failed, so the source itself counts as failed$"
    ):
        fetch_documents(live, store, ciks, NOW)

    assert len({path for path, _ in server.asked}) < 30  # requests in progress, not all companies
    assert RawStore(store.root.parent).seen(ciks[2], "companyfacts").status == "ok"


def test_a_refusal_of_everything_stops_the_run_after_a_few_requests(server, live, store):
    server.otherwise = Reply(403, b"<h1>Your Request Originates from an Undeclared Automated Tool</h1>")
    with pytest.raises(
        RefusedError, match=r'answers 403 \("Your Request Originates from an Und.*check EDGAR_USER_AGENT'
    ):
        fetch_documents(live, store, [f"{number:010}" for number in range(1, 60)], NOW)
    assert len(server.asked) <= 7


def test_a_failure_of_the_only_company_is_an_error(server, live, store):
    server.otherwise = Reply(503)
    with pytest.raises(SourceError, match=r"answers 503.*; nothing was fetched$"):
        fetch_documents(live, store, [A], NOW)


def test_companies_that_are_not_requested_do_not_count_as_success(server, live, store):
    """Failures in a row are counted over the requested companies."""
    absent = [f"{number:010}" for number in range(100, 110)]
    fetch_documents(live, store, absent, NOW)
    server.otherwise = Reply(503)
    mixed = [cik for number, cik in enumerate(absent, 1) for cik in (cik, f"{number:010}")]
    with pytest.raises(SourceError, match="5 companies in a row failed"):
        fetch_documents(live, store, mixed, LATER)


def test_a_refusal_of_one_document_is_the_failure_of_its_company(server, live, store):
    ciks = [f"{number:010}" for number in range(1, 12)]
    serve(server, *ciks)
    server.on(facts_url(ciks[4]), Reply(403))
    server.on(submissions_url(ciks[8]), Reply(403, b"blocked"))
    companies = fetch_documents(live, store, ciks, NOW).companies
    assert [company.cik for company in companies if company.failure] == [ciks[4], ciks[8]]
    assert 'answers 403 ("blocked"); if all documents are refused' in companies[8].failure


def test_checkpoints_are_written_during_the_run(server, live, store, monkeypatch):
    """A process that is killed or interrupted loses little of its progress."""
    monkeypatch.setattr(extract, "CHECKPOINT_SECONDS", 0.0)
    serve(server, A)
    known: list[bool] = []

    def look(done: int, total: int, company: CompanyDocuments) -> None:
        known.append(RawStore(store.root.parent).seen(A, "companyfacts") is not None)

    fetch_documents(live, store, [A, B, C], NOW, look)
    assert known == [False, True, True]


def test_an_interruption_keeps_the_progress(server, live, store):
    def interrupt(done: int, total: int, company: CompanyDocuments) -> None:
        raise KeyboardInterrupt

    serve(server, A)
    with pytest.raises(KeyboardInterrupt):
        fetch_documents(live, store, [A, B, C], NOW, interrupt)
    assert RawStore(store.root.parent).seen(A, "companyfacts").status == "ok"


def test_an_empty_list_of_companies_is_no_failure(live, store):
    assert fetch_documents(live, store, [], NOW).companies == []


# --- the tickers file


def test_the_tickers_file_is_kept(server, live, store):
    server.on(TICKERS_URL, Reply(body=b"{}", headers={"ETag": '"t"'}), Reply(304))
    first = fetch_tickers(live, store, NOW)
    assert first.change == "new"
    assert store.get(first.digest) == b"{}"
    assert fetch_tickers(live, RawStore(store.root.parent), LATER) == Document("unchanged", first.digest)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Reply(404), "answers 404, but it lists the companies"), (Reply(500), "answers 500"), (Reply(403), "answers 403")],
)
def test_without_the_tickers_file_the_run_fails(server, live, store, answer, reason):
    server.on(TICKERS_URL, answer)
    with pytest.raises(SourceError, match=reason):
        fetch_tickers(live, store, NOW)
