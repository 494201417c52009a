"""Each part is killed and brought back under load: the promises of docs/scaling.md hold.

A promise is a row of its table "What happens without". The load goes through nginx, with valid keys.
"""

import time
from collections.abc import Callable, Iterator, Sequence

import httpx
import pytest

from serve.access.keys import new_key
from tests.contract.conftest import assert_error
from tests.scale.cluster import Cluster, Visitor
from tests.scale.load import KEYS, Asked, Load, slowest, statuses
from tests.servers import away, wait_until

AWAY = 4.0
"""Seconds that a part is away."""
SOON = 5.0
"""Seconds within which everything is as before, once the part is back."""
PROMPT = 3.0
"""Seconds that no request takes longer, on a machine that tests share with others."""
TO_ALL = 8
"""Requests one after the other that reach all workers of all replicas."""


@pytest.fixture(scope="module")
def keys(cluster: Cluster) -> list[str]:
    return cluster.keys(KEYS, "load")


def each_status(cluster: Cluster) -> list[str]:
    """The status of each replica, requested past nginx."""
    return [str(replica.status().get("status", "away")) for replica in cluster.replicas]


def unknown_key(cluster: Cluster) -> httpx.Response:
    """The answer to a key that nobody has."""
    return httpx.get(f"{cluster.front.address}/v1/companies", headers={"X-Api-Key": new_key()})


def soon(state: Callable[[], bool], seconds: float = SOON) -> None:
    """Wait for a state that is promised within seconds."""
    start = time.monotonic()
    wait_until(state)
    assert time.monotonic() - start < seconds + PROMPT


def assert_prompt(asked: Sequence[Asked], status: int = 200) -> None:
    """Each request has this status, without a delay."""
    assert set(statuses(asked)) == {status}
    assert slowest(asked) < PROMPT


@pytest.fixture
def load(cluster: Cluster, keys: list[str]) -> Iterator[Load]:
    """Requests through nginx, which have been answered for some time."""
    with Load(cluster.front.address, keys) as load:
        assert set(statuses(load.for_some_time(2))) == {200}
        yield load


@pytest.mark.long
def test_without_redis_every_request_is_answered_and_each_worker_counts(cluster: Cluster, load: Load) -> None:
    with away(cluster.redis.stop, cluster.redis.start):
        assert_prompt(load.for_some_time(AWAY))
        assert each_status(cluster) == ["degraded"] * len(cluster.replicas)
    soon(lambda: each_status(cluster) == ["up"] * len(cluster.replicas))
    assert set(statuses(load.for_some_time(1))) == {200}


@pytest.mark.long
def test_without_postgresql_known_keys_are_answered_and_pages_for_users_say_503(cluster: Cluster, load: Load) -> None:
    """Keys that no worker knows get the error of the contract at once; nothing has to be restarted afterwards."""
    with Visitor(cluster.front.address) as visitor:
        assert visitor.sign_in(cluster.sign_in_link("fault@example.org")).status_code == 200
        assert set(statuses(load.for_some_time(3))) == {200}
        with away(cluster.database.kill, cluster.database.start):
            time.sleep(3)  # until then a worker may not know that it is away, and wait for it
            start = time.monotonic()
            pages, unknown = [], []
            while time.monotonic() < start + AWAY:
                pages.append(visitor.get("/profile"))
                unknown.append(unknown_key(cluster))
                time.sleep(0.2)
            assert_prompt(load.since(start))
            assert {page.status_code for page in pages} == {503}
            assert {response.json()["error"]["code"] for response in unknown} == {"server_error"}
            assert max(response.elapsed.total_seconds() for response in (*pages, *unknown)) < PROMPT
            assert each_status(cluster) == ["degraded"] * len(cluster.replicas)
        soon(  # each worker notices for itself
            lambda: (
                each_status(cluster) == ["up"] * len(cluster.replicas)
                and {visitor.get("/profile").status_code for _ in range(TO_ALL)} == {200}
                and {unknown_key(cluster).status_code for _ in range(TO_ALL)} == {401}
            )
        )
        assert_error(unknown_key(cluster), 401, "unauthenticated")
        assert set(statuses(load.for_some_time(1))) == {200}


@pytest.mark.long
def test_without_the_store_the_last_build_is_served_and_the_next_one_follows_at_once(
    cluster: Cluster, load: Load
) -> None:
    """A replica that is restarted meanwhile serves its copy; the log says once that the store is away."""
    replica = cluster.replicas[0]
    before = replica.status()["build"]
    since = len(replica.log())
    with away(cluster.storage.stop, cluster.storage.start):
        assert_prompt(load.for_some_time(AWAY))
        assert each_status(cluster) == ["up"] * len(cluster.replicas)
        assert replica.log()[since:].count("the last build is served meanwhile") == 1
        replica.stop()
        replica.start()
        assert replica.status()["build"] == before
    cluster.publish(f"{before}-next")
    soon(lambda: {each.status().get("build") for each in cluster.replicas} == {f"{before}-next"})
    wait_until(lambda: "the store is back: builds are taken over again" in cluster.replicas[1].log())
    assert set(statuses(load.for_some_time(1))) == {200}


def test_a_killed_replica_costs_no_request_that_had_not_begun(cluster: Cluster, load: Load) -> None:
    """The other one answers; the killed one takes requests again as soon as it is back."""
    first = cluster.replicas[0]
    first.kill()
    assert_prompt(load.for_some_time(AWAY))
    assert each_status(cluster) == ["away", "up"]
    since = len(first.requests())
    first.start()
    soon(lambda: any(line["key"] for line in first.requests()[since:]))
    assert set(statuses(load.for_some_time(1))) == {200}


@pytest.mark.long
def test_both_replicas_away_is_an_error_in_the_form_of_the_contract_until_one_is_back(
    cluster: Cluster, load: Load
) -> None:
    for replica in cluster.replicas:
        replica.kill()
    time.sleep(5)  # until then the status may be answered from what nginx keeps
    asked = load.for_some_time(2)
    refused = [each for each in asked if each.path.startswith("/v1/")]
    assert_prompt(refused, 500)
    assert {each.body["error"]["code"] for each in refused} == {"server_error"}
    assert slowest(asked) < PROMPT
    for replica in cluster.replicas:
        replica.start()
    soon(lambda: httpx.get(f"{cluster.front.address}/v1/status").status_code == 200)
    soon(lambda: set(statuses(load.for_some_time(0.5))) == {200})


@pytest.mark.long
def test_without_nginx_every_request_is_refused_at_once_and_answered_when_it_is_back(
    cluster: Cluster, load: Load
) -> None:
    """The replicas notice nothing. nginx keeps its cache; a reload of its configuration costs no request."""
    with away(cluster.front.kill, cluster.front.start):
        time.sleep(0.5)  # requests in progress end without a response
        assert_prompt(load.for_some_time(AWAY), 0)
        assert each_status(cluster) == ["up"] * len(cluster.replicas)
    since = len(cluster.front.requests())
    assert set(statuses(load.for_some_time(2))) == {200}
    assert {line["cache"] for line in cluster.front.requests()[since:] if line["path"] == "/errors"} == {"HIT"}
    began = time.monotonic()
    for _ in range(3):
        cluster.front.reload()
        time.sleep(1)
    assert set(statuses(load.since(began))) == {200}
