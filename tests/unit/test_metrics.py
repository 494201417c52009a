"""The metrics: counting, the sum over workers, and the exposition."""

import json
import re
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import httpx
import pytest
from dagster._daemon.types import DaemonHeartbeat
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from serve.access.attempts import ATTEMPTS
from serve.access.limits import LIMITS
from serve.access.transfers import ACCOUNT
from serve.app import PATHS
from serve.cli.workers import exposed
from serve.errors import CommandError
from serve.metrics.counts import BOUNDS, NOTED_AT, OF_CONNECTIONS, REFUSALS, TALLIES, Counts, opened, shared
from serve.metrics.exposition import Collector
from serve.metrics.families import FAMILIES
from serve.settings import Settings, from_environment
from tests import builds
from tests.servers import NOON, PROJECT, Clock, active_key, in_process, wait_until
from warehouse.build import pointer, runs
from warehouse.build.delays import Delay
from warehouse.record import follower
from warehouse.record.follower import Heartbeat


def samples(published: Path, *counts: Counts, now: float = NOON) -> dict[str, Any]:
    """The samples that Prometheus reads, by name and label values: `name{a,b}`."""
    registry = CollectorRegistry()
    registry.register(Collector(published, counts, lambda: now))
    text = generate_latest(registry).decode()
    return {
        f"{sample.name}{{{','.join(sample.labels.values())}}}" if sample.labels else sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("metrics") / "published"
    builds.small(folder)
    return folder


def test_the_metrics_are_the_sum_of_all_workers_and_outlive_them(published: Path) -> None:
    """A gauge begins with 0 in a worker that was started again; a counter goes on."""
    with shared(PATHS, 3) as (file, counts):
        for place, seconds in enumerate((0.0001, 0.003, 99.0)):
            worker = opened(PATHS, file, place)
            worker.request("/v1/companies", 200, seconds)
            worker.add("fundamentals_connections", number=7)
            worker.set(NOTED_AT, NOON - 5 * place)
        again = opened(PATHS, file, 1)
        again.request("/v1/companies", 200, 0.25)
        again.request("/no/such/path", 418, 0.25)
        found = samples(published, *counts)
    assert (
        found.items()
        >= {
            "fundamentals_requests_total{/v1/companies,200}": 4,
            "fundamentals_requests_total{other,other}": 1,
            "fundamentals_connections": 14,
            "fundamentals_workers": 3,
            "fundamentals_responsive_workers": 1,
            "fundamentals_request_seconds_count{/v1/companies}": 4,
        }.items()
    )
    up_to = [found[f"fundamentals_request_seconds_bucket{{{bound},/v1/companies}}"] for bound in (*BOUNDS, "+Inf")]
    assert up_to == [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4]
    assert found["fundamentals_request_seconds_sum{/v1/companies}"] == pytest.approx(99.2531)


def test_every_limit_is_counted_and_every_path_has_a_name() -> None:
    limits = {*(limit.window for limit in LIMITS), *ATTEMPTS, ACCOUNT, OF_CONNECTIONS}
    assert {label for tally, label in TALLIES if tally == REFUSALS} == limits
    assert {"/v1/companies/{symbol}/financials", "/v1/openapi.json", "/", "/sign-in"} <= set(PATHS)
    assert len(set(PATHS)) == len(PATHS)


def test_requests_refusals_look_ups_and_connections_are_counted(tmp_path: Path) -> None:
    builds.small(tmp_path / "published")
    counts, settings = Counts(PATHS), Settings(tmp_path, metrics_port=0)
    key = {"X-Api-Key": active_key(tmp_path)}
    with in_process(settings, Clock(), counts) as address, httpx.Client(base_url=address) as client:
        asked = [client.get(path, headers=key).status_code for path in ["/v1/companies", "/v1/companies/NONE"] * 31]
        assert asked == [200, 404] * 30 + [429] * 2
        without_key = [client.get(path).status_code for path in (*["/v1/companies"] * 61, "/v1/nowhere", "/errors")]
        assert without_key == [401] * 60 + [429, 404, 200]
        wait_until(lambda: counts.of("fundamentals_connections")[""] == 1)
        found = samples(settings.published, counts)
    assert {name: number for name, number in found.items() if "requests_total" in name} == {
        "fundamentals_requests_total{/v1/companies,200}": 30,
        "fundamentals_requests_total{/v1/companies,401}": 60,
        "fundamentals_requests_total{/v1/companies,429}": 2,
        "fundamentals_requests_total{/v1/companies/{symbol},404}": 30,
        "fundamentals_requests_total{/v1/companies/{symbol},429}": 1,
        "fundamentals_requests_total{other,404}": 1,
        "fundamentals_requests_total{/errors,200}": 1,
    }
    assert {name for name, number in found.items() if "refusals" in name and number} == {
        "fundamentals_refusals_total{minute}",
        "fundamentals_refusals_total{failed keys}",
    }
    assert (
        found.items()
        >= {
            "fundamentals_refusals_total{minute}": 2,
            "fundamentals_cache_lookups_total{hit}": 29,
            "fundamentals_cache_lookups_total{miss}": 1,
        }.items()
    )
    assert counts.of("fundamentals_connections")[""] == 0


def test_a_refused_connection_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serve.http.server.CONNECTIONS", 0)
    counts = Counts(PATHS)
    with in_process(Settings(tmp_path), Clock(), counts) as address, pytest.raises(httpx.TransportError):
        httpx.get(f"{address}/v1/status")
    assert counts.of(REFUSALS)["connections"] == 1


def test_a_degraded_worker_is_counted(tmp_path: Path) -> None:
    """Here the service cannot know which build is the newest."""
    builds.small(tmp_path / "published")
    (tmp_path / "published" / pointer.POINTER).write_text("{")
    counts = Counts(PATHS)
    with in_process(Settings(tmp_path), Clock(), counts) as address:
        assert httpx.get(f"{address}/v1/status").json()["data"]["status"] == "degraded"
        wait_until(lambda: counts.of("fundamentals_build_unreadable")[""] == 1)
        assert counts.of("fundamentals_degraded")[""] == 1
        assert samples(tmp_path / "published", counts, now=time.time())["fundamentals_responsive_workers"] == 1


def test_the_age_of_the_last_sign_of_life_of_the_daemon(tmp_path: Path) -> None:
    """The newest of its parts, as Dagster stores it; no sample before the first, and none if the record is damaged."""
    name, published = "fundamentals_daemon_heartbeat_age_seconds", tmp_path / "published"
    published.mkdir()
    (folder := tmp_path / "dagster").mkdir()
    assert name not in samples(published, Counts(PATHS), now=NOON)
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        assert name not in samples(published, Counts(PATHS), now=NOON)
        for kind, age in (("SENSOR", 90), ("SCHEDULER", 30)):
            instance.add_daemon_heartbeat(DaemonHeartbeat(NOON - age, kind, None))
        assert samples(published, Counts(PATHS), now=NOON)[name] == 30
    (folder / "history" / "runs.db").write_bytes(b"damaged")
    assert name not in samples(published, Counts(PATHS), now=NOON)


def test_what_follows_the_feed_is_measured_by_its_last_sign_of_life(tmp_path: Path) -> None:
    """No sample before the first one, and none if it is damaged; without a waiting report, the oldest has no age."""

    def of_follower() -> dict[str, float]:
        found = samples(tmp_path / "published", Counts(PATHS), now=NOON)
        return {name: number for name, number in found.items() if re.search("follower|feed|waiting", name)}

    assert of_follower() == {}
    at = datetime.fromtimestamp(NOON, UTC)
    follower.write(tmp_path, Heartbeat(at - timedelta(seconds=30)))
    first = {"fundamentals_follower_heartbeat_age_seconds": 30, "fundamentals_waiting_reports": 0}
    assert of_follower() == first | {"fundamentals_waiting_report_age_seconds": 0}
    follower.write(tmp_path, Heartbeat(at, at - timedelta(minutes=1), 7, at - timedelta(hours=2)))
    assert of_follower() == {
        "fundamentals_follower_heartbeat_age_seconds": 0,
        "fundamentals_feed_age_seconds": 60,
        "fundamentals_waiting_reports": 7,
        "fundamentals_waiting_report_age_seconds": 7200,
    }
    (tmp_path / follower.FILE).write_bytes(b"{")
    assert of_follower() == {}


def test_the_ages_and_counts_of_the_build(published: Path) -> None:
    now = pointer.current(published)
    assert now
    published_at, newest = (
        datetime.fromisoformat(str(day)).replace(tzinfo=UTC).timestamp()
        for day in (now.published_at, now.newest_filing)
    )
    assert (
        samples(published, Counts(PATHS), now=published_at + 90).items()
        >= {
            "fundamentals_build_age_seconds": 90,
            "fundamentals_newest_filing_age_seconds": published_at + 90 - newest,
            "fundamentals_companies": now.companies,
        }.items()
    )


@pytest.mark.parametrize("damaged", [b"{", b"yesterday"], ids=["no JSON", "no time"])
def test_a_damaged_pointer_leaves_the_other_metrics(published: Path, tmp_path: Path, damaged: bytes) -> None:
    whole = pointer.current(published)
    assert whole
    content = (published / pointer.POINTER).read_bytes()
    replaced = content.replace(whole.published_at.encode(), damaged) if damaged != b"{" else damaged
    (tmp_path / pointer.POINTER).write_bytes(replaced)
    found = samples(tmp_path, Counts(PATHS))
    assert (found.get("fundamentals_companies"), found["fundamentals_workers"]) == (None, 1)


def test_the_record_of_synchronizations(tmp_path: Path) -> None:
    at = datetime.fromtimestamp(NOON, UTC)
    runs.note(tmp_path, runs.PUBLISHED, at, 12.5, 0, 0)
    runs.note(tmp_path, runs.FAILED, at, 1.0, None, None)
    runs.note(tmp_path, runs.PUBLISHED, at, 13.25, 3, 2)
    found = samples(tmp_path, Counts(PATHS), now=NOON + 60)
    assert {name: number for name, number in found.items() if "synchronization" in name or "_companies" in name} == {
        "fundamentals_synchronizations_total{published}": 2,
        "fundamentals_synchronizations_total{failed}": 1,
        "fundamentals_synchronization_age_seconds{published}": 60,
        "fundamentals_synchronization_age_seconds{failed}": 60,
        "fundamentals_synchronization_seconds{published}": 13.25,
        "fundamentals_synchronization_seconds{failed}": 1,
        "fundamentals_quarantined_companies": 3,
        "fundamentals_failed_companies": 2,
    }
    for damaged in ({"by_result": 1}, {"by_result": {"failed": {"number": 1, "finished_at": "today", "seconds": 1}}}):
        (tmp_path / runs.FILE).write_text(json.dumps(damaged))
        assert runs.read(tmp_path) == runs.Runs(), "a damaged record is as none"
    runs.note(tmp_path, runs.FAILED, datetime(2026, 1, 5, tzinfo=UTC), 1.5, 12, None)
    sealed = (tmp_path / runs.FILE).read_text()
    assert runs.read(tmp_path).quarantined == 12
    (tmp_path / runs.FILE).write_text(sealed.replace("12", "13"))
    assert runs.read(tmp_path) == runs.Runs(), "another number than the sealed one"


def test_the_delays_of_filings_are_counted_over_all_builds(tmp_path: Path) -> None:
    """Up to each bound, which is included; a filing counts once, in the build that adds it."""
    name, at = "fundamentals_filing_delay_seconds", datetime.fromtimestamp(NOON, UTC)
    assert samples(tmp_path, Counts(PATHS))[f"{name}_count"] == 0, "a counter begins with 0"
    runs.note(tmp_path, runs.PUBLISHED, at, 9.0, 0, 0, delays=[Delay(0.0, 60.0), Delay(1.0, 60.0)])
    runs.note(tmp_path, runs.UNCHANGED, at, 9.0, 0, 0)
    runs.note(tmp_path, runs.PUBLISHED, at, 9.0, 0, 0, delays=[Delay(86_401.0, 0.0)])
    assert (
        samples(tmp_path, Counts(PATHS)).items()
        >= {
            f"{name}_bucket{{60.0}}": 1,
            f"{name}_bucket{{120.0}}": 2,
            f"{name}_bucket{{86400.0}}": 2,
            f"{name}_bucket{{+Inf}}": 3,
            f"{name}_count": 3,
            f"{name}_sum": 86_522,
            "fundamentals_filing_wait_seconds_sum": 86_402,
            "fundamentals_filing_work_seconds_sum": 120,
        }.items()
    )


@pytest.mark.parametrize(("environment", "port"), [({}, None), ({"FUNDAMENTALS_METRICS_PORT": "9464"}, 9464)])
def test_the_port_is_a_setting(environment: dict[str, str], port: int | None) -> None:
    assert from_environment(environment=environment).metrics_port == port


@pytest.mark.parametrize("wrong", ["65536", "-1", "http", "9464 "])
def test_a_wrong_port_is_an_error(wrong: str) -> None:
    with pytest.raises(CommandError, match="expected a port"):
        from_environment(environment={"FUNDAMENTALS_METRICS_PORT": wrong})


def test_every_metric_is_exposed_with_its_meaning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also before anything is published; on this machine only."""
    with exposed(Settings(tmp_path, metrics_port=0), [Counts(PATHS)]):
        printed = capsys.readouterr().err
        address = printed.removeprefix("metrics are on ").strip()
        assert address.startswith("http://127.0.0.1:")
        text = httpx.get(address).text
        with (
            socket.create_server(("127.0.0.1", 0)) as taken,
            pytest.raises(CommandError, match="Address already in use; set FUNDAMENTALS_METRICS_PORT to another port"),
            exposed(Settings(tmp_path, metrics_port=taken.getsockname()[1]), [Counts(PATHS)]),
        ):
            pass
    read = {(each.name, each.type, each.documentation) for each in text_string_to_metric_families(text)}
    assert read == {(family.name, family.type, family.meaning) for family in FAMILIES}


def test_the_page_for_operators_has_every_metric_with_its_labels() -> None:
    page = (PROJECT / "docs" / "operations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(fundamentals_\w+)` \| (.*?) \|", page, re.MULTILINE)
    assert [(name, tuple(re.findall(r"`(\w+)`", labels))) for name, labels in rows] == [
        (family.exposed, family.labels) for family in FAMILIES
    ]
