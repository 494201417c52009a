"""The response cache: validators, ages, content codings and eviction, partly over the whole application."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from serve.http import caching
from serve.http.caching import Representation, Representations, preferred_coding
from serve.settings import Settings
from tests import builds
from tests.servers import NOON, Clock, active_key, in_process
from warehouse.build.pointer import current

MODIFIED = "Mon, 02 Mar 2026 06:05:00 GMT"
MODIFIED_AT = 1_772_431_500.0


def held(**headers: str) -> bool:
    """Whether the copy of a client that sends these headers is current."""
    sent = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
    return Representation(b"{}", "abc", MODIFIED_AT).is_current_for(sent)


@pytest.mark.parametrize("tags", ['W/"abc"', '"abc"', '"x", W/"abc"', ' W/"abc" ,"x"', "*"])
def test_a_matching_tag_is_enough(tags: str) -> None:
    """By the weak comparison (RFC 9110, 8.8.3.2)."""
    assert held(if_none_match=tags)
    assert held(if_none_match=tags, if_modified_since="Thu, 01 Jan 1970 00:00:00 GMT")


@pytest.mark.parametrize("tags", ['"abd"', 'W/"ab"', "abc", "", '"a*c"'])
def test_another_tag_is_not_and_the_date_is_then_ignored(tags: str) -> None:
    assert not held(if_none_match=tags)
    assert not held(if_none_match=tags, if_modified_since=MODIFIED)


@pytest.mark.parametrize(
    ("since", "is_held"),
    [
        (MODIFIED, True),
        ("Mon, 02 Mar 2026 06:05:01 GMT", True),
        ("Mon, 02 Mar 2026 06:04:59 GMT", False),
        ("Mon, 02 Mar 2026 07:05:00 +0100", False),
        ("Monday, 02-Mar-26 06:05:00 GMT", False),
        ("yesterday", False),
        ("", False),
        ("Mon, 99 Mar 2026 06:05:00 GMT", False),
        ("Mon, 02 Mar 99999999999 06:05:00 GMT", False),
    ],
)
def test_without_tags_a_valid_date_decides(since: str, is_held: bool) -> None:
    assert held(if_modified_since=since) == is_held


def test_without_a_last_modification_only_the_tag_counts() -> None:
    held = Representation(b"{}", "abc").is_current_for
    assert not held({b"if-modified-since": MODIFIED.encode()})
    assert held({b"if-none-match": b'"abc"'})


@pytest.mark.parametrize(
    ("now", "age"),
    [
        (NOON, 4 * 3600),  # 7 a.m. in New York, the next one is tomorrow
        (NOON - 3600 - 60, 60),
        (NOON - 3600, 4 * 3600),
        (NOON - 2 * 3600, 3600),
        (NOON - 3600 - 0.5, 0),
    ],
)
def test_max_age_ends_with_the_next_synchronization_or_after_a_few_hours(now: float, age: int) -> None:
    answer = Representation(b"{}", "abc", MODIFIED_AT, generated_at=now).answer({}, now, is_current=True)
    assert b"".join(answer.head).decode().splitlines() == [
        'etag: W/"abc"',
        f"last-modified: {MODIFIED}",
        "vary: X-Api-Key, Accept-Encoding",
        f"cache-control: private, max-age={age}",
    ]


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", ""),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("zstd;q=0.5, gzip", "gzip"),
        ("zstd;q=0, gzip;q=0", ""),
        ("br", ""),
        ("*", "zstd"),
        ("*;q=0", ""),
        ("*;q=0.3, gzip;q=0.4", "gzip"),
        ("zstd;q=0, *", "gzip"),
        ("identity, gzip;q=0.5", ""),
        ("identity;q=0.5, gzip;q=1.0", "gzip"),
        ("identity;q=0", ""),
        ("gzip;q=much", ""),
        ("gzip ; q=0.001", "gzip"),
        (";;,=,q=1", ""),
    ],
)
def test_the_coding_is_the_one_that_the_client_prefers(accepted: str, coding: str) -> None:
    """RFC 9110, 12.5.3."""
    assert preferred_coding(accepted.encode()) == coding


@given(accepted=st.text(alphabet="gzipstd*;q=.,0 1-x", max_size=40))
def test_any_text_gives_a_coding_or_none(accepted: str) -> None:
    assert preferred_coding(accepted.encode()) in ("", "gzip", "zstd")


def test_a_body_is_compressed_once_and_can_be_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'{"data":[]}' * 100
    made = Representation(body, "abc", MODIFIED_AT)
    assert made.coded("").body == body
    assert gzip.decompress(made.coded("gzip").body) == body
    assert zstandard.decompress(made.coded("zstd").body) == body
    monkeypatch.setattr(caching, "CODERS", {})
    assert made.coded("gzip") is made.coded("gzip")


def test_a_small_body_is_not_compressed() -> None:
    assert Representation(b"{}", "abc").coding_for({b"accept-encoding": b"gzip"}) == ""
    assert Representation(b" " * 512, "abc").coding_for({b"accept-encoding": b"gzip"}) == "gzip"


def test_the_most_recently_used_responses_are_cached() -> None:
    size = Representation(b"x" * 100, "").size
    kept = Representations(3 * size)
    made = {tag: kept.keep(tag, Representation(b"x" * 100, tag, generated_at=NOON), NOON) for tag in "abc"}
    assert kept.get("a") is made["a"]
    kept.keep("d", Representation(b"x" * 100, "d", generated_at=NOON), NOON)
    assert [tag for tag in "abcd" if kept.get(tag)] == ["a", "c", "d"]
    kept.keep("e", Representation(b"x" * 10_000, "e", generated_at=NOON), NOON)
    assert not any(map(kept.get, "abcde")), "one that is too large is not kept, and what was is gone for it"
    kept.keep("f", made["a"], NOON)
    assert kept.get("f")


def test_a_new_build_drops_the_responses_of_the_one_before(tmp_path: Path) -> None:
    """Otherwise they would need memory until they are the oldest, though no request can find them."""
    builds.small(tmp_path)
    first = current(tmp_path)
    assert first
    second = msgspec.structs.replace(first, build="b2")
    kept = Representations()
    for pointer, tag in ((first, "a"), (first, "b"), (second, "c")):
        kept.note(pointer, b"/" + tag.encode(), kept.keep(tag, Representation(b"x", tag, generated_at=NOON), NOON))
    assert [tag for tag in "abc" if kept.get(tag)] == ["c"]
    assert kept.by_target(second, b"/c") is kept.get("c")
    assert not kept.by_target(first, b"/a")


def test_a_response_is_found_by_its_targets_until_it_is_dropped(tmp_path: Path) -> None:
    """By at most two of them, which need memory too."""
    builds.small(tmp_path)
    pointer = current(tmp_path)
    assert pointer
    kept = Representations(2 * Representation(b"", "").size)
    made = kept.keep("a", Representation(b"", "a", generated_at=NOON), NOON)
    targets = [b"/a", b"/A", b"/%61"]
    for target in targets:
        kept.note(pointer, target, made)
    assert [kept.by_target(pointer, target) for target in targets] == [made, made, None]
    for tag in "bcd":
        kept.keep(tag, Representation(b"", tag, generated_at=NOON), NOON)
    assert not any(kept.by_target(pointer, target) for target in targets)
    kept.note(pointer, b"/a", made)
    assert not kept.by_target(pointer, b"/a"), "one that is not kept would need memory that is not counted"


def test_a_response_that_is_noted_twice_can_be_dropped(tmp_path: Path) -> None:
    """By two requests at once whose uses are counted elsewhere, or after the same pointer was read again."""
    builds.small(tmp_path)
    pointers = [current(tmp_path), current(tmp_path)]
    assert pointers[0] == pointers[1]
    kept = Representations(2 * Representation(b"", "").size)
    made = kept.keep("a", Representation(b"", "a", generated_at=NOON), NOON)
    for pointer in (pointers[0], *pointers):
        assert pointer
        kept.note(pointer, b"/a", made)
        assert kept.by_target(pointer, b"/a") is made
    for tag in "bcd":
        kept.keep(tag, Representation(b"", tag, generated_at=NOON), NOON)
    assert kept.get("a") is None


def test_of_two_representations_made_at_once_the_first_stays() -> None:
    kept = Representations()
    first, second = (Representation(body, "a", generated_at=NOON) for body in (b"1", b"2"))
    assert kept.keep("a", first, NOON) is first
    assert kept.keep("a", second, NOON) is first


def test_a_cache_of_size_zero_keeps_nothing() -> None:
    kept = Representations(0)
    made = kept.keep("a", Representation(b"1", "a", generated_at=NOON), NOON)
    assert made.coded("").body == b"1"
    assert kept.get("a") is None


def test_a_tag_depends_on_build_synchronization_and_request(tmp_path: Path) -> None:
    def tag(path: str = "/companies/{symbol}", symbol: str = "LNTR", **values: Any) -> str:
        pointer = current(tmp_path)
        assert pointer
        return caching.tag_of(pointer, path, symbol, values)

    builds.small(tmp_path)
    first = tag(limit=1, items=("revenue", "roic"))
    assert first == tag(symbol="lntr", items=("revenue", "roic"), limit=1)
    others = {
        tag(limit=2, items=("revenue", "roic")),
        tag(limit=1, items=("roic", "revenue")),
        tag(symbol="ABCX", limit=1, items=("revenue", "roic")),
        tag(path="/other", limit=1, items=("revenue", "roic")),
    }
    for number, change in enumerate([{"sync_id": "s2"}, {"finished_at": "2026-03-03T06:05:00Z"}]):
        builds.publish_small(tmp_path, f"b{number + 2}", **change)  # type: ignore[arg-type]
        others.add(tag(limit=1, items=("revenue", "roic")))
    assert len(others - {first}) == 6
    assert tag(symbol="straße") != tag(symbol="STRASSE"), "no symbol is found by the capitals of another letter"


# --- over the whole application


@dataclass
class Service:
    """A service in this process, with a clock that tests set."""

    client: httpx.Client
    clock: Clock
    published: Path

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})


Serve = Callable[..., Service]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a service over the small build."""
    opened = []

    def start(**settings: Any) -> Service:
        builds.small(tmp_path / "published")
        clock = Clock()
        running = in_process(Settings(tmp_path, **settings), clock)
        client = httpx.Client(
            base_url=f"{running.__enter__()}/v1",
            headers={"X-Api-Key": active_key(tmp_path), "Accept-Encoding": "identity"},
        )
        opened.append((client, running))
        return Service(client, clock, tmp_path / "published")

    yield start
    for client, running in opened:
        client.close()
        running.__exit__(None, None, None)


FINANCIALS = "/companies/LNTR/financials"


def test_a_response_is_cached_with_its_time_until_the_data_changes(serve: Serve) -> None:
    service = serve()
    first = service.get(FINANCIALS)
    service.clock.now += 30
    again = service.get("/companies/lntr/financials?period=ttm&limit=20")
    assert again.content == first.content, "the same question, written in another way"
    assert again.json()["meta"]["generated_at"] == "2026-03-02T12:00:00Z"
    assert again.headers["ETag"] == first.headers["ETag"]
    builds.small(service.published, "b2")
    changed = service.get(FINANCIALS)
    assert changed.json()["meta"]["generated_at"] == "2026-03-02T12:00:30Z"
    assert changed.headers["ETag"] != first.headers["ETag"]
    assert changed.json()["data"] == first.json()["data"]


def test_without_the_cache_responses_are_equal_except_for_their_time(serve: Serve) -> None:
    service = serve(cache=False)
    first = service.get(FINANCIALS)
    service.clock.now += 30
    again = service.get(FINANCIALS)
    assert again.headers["ETag"] == first.headers["ETag"]
    assert again.content == first.content.replace(b"12:00:00Z", b"12:00:30Z")
    assert service.get(FINANCIALS, If_None_Match=first.headers["ETag"]).status_code == 304


def test_an_answer_that_is_kept_says_how_old_it_is_and_ends_at_the_same_time(serve: Serve) -> None:
    """RFC 9111: max-age less Age is the remaining time; 304 has the headers that 200 would have (RFC 9110, 15.4.5)."""
    service = serve()
    service.clock.now = NOON - 3 * 3600  # two hours before a synchronization
    first = service.get(FINANCIALS)
    assert "Age" not in first.headers
    assert first.headers["Cache-Control"] == "private, max-age=7200"
    service.clock.now += 90
    for kept in (service.get(FINANCIALS), service.get(FINANCIALS, If_None_Match=first.headers["ETag"])):
        assert (kept.headers["Age"], kept.headers["Cache-Control"]) == ("90", "private, max-age=7200")
    assert service.get(FINANCIALS).json()["meta"]["generated_at"] == first.json()["meta"]["generated_at"]


@pytest.mark.parametrize("path", [FINANCIALS, "/companies?search=%C3%A4"])
def test_an_answer_is_kept_for_a_few_hours_and_then_made_again(serve: Serve, path: str) -> None:
    """So `generated_at` is never older; in memory and by DuckDB alike."""
    service = serve()
    first = service.get(path)
    service.clock.now += 4 * 3600 - 1
    assert service.get(path).headers["Age"] == "14399"
    service.clock.now += 1
    again = service.get(path)
    assert "Age" not in again.headers
    assert again.json() == {**first.json(), "meta": {**first.json()["meta"], "generated_at": "2026-03-02T16:00:00Z"}}
    service.clock.now += 10
    assert service.get(path).headers["Age"] == "10"


def test_a_304_counts_in_the_minute_and_not_in_the_day(serve: Serve) -> None:
    service = serve()
    first = service.get(FINANCIALS)
    for condition in ({"If_None_Match": first.headers["ETag"]}, {"If_Modified_Since": first.headers["Last-Modified"]}):
        unchanged = service.get(FINANCIALS, **condition)
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        for name in ("ETag", "Last-Modified", "Cache-Control", "Vary"):
            assert unchanged.headers[name] == first.headers[name]
        assert "content-type" not in unchanged.headers
        assert "content-length" not in unchanged.headers
    assert unchanged.headers["X-RateLimit-Remaining"] == "57"
    assert unchanged.headers["RateLimit"] == '"minute";r=57;t=60, "day";r=9999;t=43200'
    assert service.get(FINANCIALS, If_None_Match='W/"other"').status_code == 200


def test_a_conditional_request_changes_no_error(serve: Serve) -> None:
    service = serve()
    assert service.get("/companies/NOPE", If_None_Match="*").status_code == 404
    assert service.get("/companies?page=0", If_None_Match="*").status_code == 422
    assert service.client.get("/companies", headers={"X-Api-Key": "", "If-None-Match": "*"}).status_code == 401


def test_cache_control_of_responses(serve: Serve) -> None:
    service = serve()
    headers = service.get("/companies").headers
    assert headers["Cache-Control"] == "private, max-age=14400"
    assert headers["Vary"] == "X-Api-Key, Accept-Encoding"
    for path in ("/status", "/companies/NOPE", "/companies?page=0", "/nothing"):
        headers = service.get(path).headers
        assert headers["Cache-Control"] == "no-store", path
        assert "ETag" not in headers
    described = service.get("/openapi.json")
    assert described.headers["Cache-Control"] == "public, max-age=3600"
    assert service.get("/openapi.json", If_None_Match=described.headers["ETag"]).status_code == 304


@pytest.mark.parametrize(("coding", "decode"), [("gzip", gzip.decompress), ("zstd", zstandard.decompress)])
def test_responses_are_compressed(serve: Serve, coding: str, decode: Callable[[bytes], bytes]) -> None:
    service = serve()
    with service.client.stream("GET", FINANCIALS, headers={"Accept-Encoding": coding}) as response:
        coded = b"".join(response.iter_raw())
    assert response.headers["Content-Encoding"] == coding
    assert int(response.headers["Content-Length"]) == len(coded)
    plain = service.get(FINANCIALS)
    assert "Content-Encoding" not in plain.headers
    assert decode(coded) == plain.content
    assert plain.headers["ETag"] == response.headers["ETag"]
    assert json.loads(plain.content)["meta"]["count"] == 4
