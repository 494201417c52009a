"""Two replicas with two workers each behind nginx: one service to its readers."""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.scale.cluster import WORKERS, Cluster, Replica, early_in_a_minute, stopped_at_the_end
from tests.servers import ONCE_IN_A_WHILE, PATIENCE, PROJECT, accepts, wait_until

CLIENTS = 200
SLOW = 3.0
"""Seconds more than promised, on a machine that tests share with others."""
REQUESTS = 60
"""A minute, of a key."""
SHORT = ("test_every_endpoint.py",)
LONG = (
    "test_sections_5_7_8.py", "test_generated_client.py", "test_sections_2_6_and_4_4.py",
    "test_sections_2_and_4.py", "test_sections_4_5_and_4_7.py", "test_sections_4_parameters.py",
    "hostile/test_requests.py",
)  # fmt: skip
"""The contract tests that ask a service from outside."""


@pytest.mark.parametrize(
    "files", [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.long)]
)
def test_the_contract_holds_through_nginx(cluster: Cluster, files: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *(f"tests/contract/{file}" for file in files)]
    elsewhere = {"CONTRACT_ADDRESS": f"{cluster.front.address}/v1", "CONTRACT_ACCOUNTS": cluster.accounts}
    before = len(cluster.front.requests())
    done = subprocess.run(
        command, cwd=PROJECT, env=os.environ | elsewhere, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stdout
    asked = cluster.front.requests()[before:]
    assert len(asked) > 100
    assert {line["replica"] for line in asked} > {f"127.0.0.1:{replica.port}" for replica in cluster.replicas}


def served_builds(cluster: Cluster) -> set[str]:
    """The builds that the workers answer from, past nginx."""
    return {str(replica.status().get("build")) for replica in cluster.replicas for _ in range(2 * WORKERS)}


def test_both_replicas_take_over_a_published_build(cluster: Cluster) -> None:
    """Their homes were empty; they have the build's files, byte for byte, and ask the store for no request."""
    [before] = served_builds(cluster)
    build = f"{before}-2"
    cluster.publish(build)
    published = time.monotonic()
    wait_until(lambda: served_builds(cluster) == {build}, ONCE_IN_A_WHILE)  # a minute has 120 requests without a key
    assert time.monotonic() - published < 5 + SLOW
    for replica in cluster.replicas:
        ours, theirs = cluster.home / "published", replica.home / "published"
        for name in ("CURRENT.json", f"warehouse-{build}.duckdb"):
            assert (ours / name).read_bytes() == (theirs / name).read_bytes()
        assert not (replica.home / "tables").exists(), "a replica needs the builds only"
        assert f"build {build} was taken over from" in replica.log()
    asked = cluster.storage.requests
    keys = cluster.keys(1)
    with httpx.Client(base_url=cluster.front.address, headers={"X-Api-Key": keys[0]}) as client:
        assert [client.get(f"/v1/companies/LNTR?{number}").status_code for number in range(3)] == [422] * 3
        assert [client.get("/v1/companies/LNTR/financials", params={"limit": n}).status_code for n in range(1, 31)] == [
            200
        ] * 30
    assert cluster.storage.requests - asked < 10, "only looks at HEAD, one in two seconds"


def test_a_new_replica_listens_when_it_has_a_build(cluster: Cluster, tmp_path: Path) -> None:
    """Until then connections are refused, so nginx asks another one."""
    replica = Replica(tmp_path, cluster.variables)
    with stopped_at_the_end((replica,)):
        replica.begin()
        wait_until(lambda: accepts(replica.port))
        assert (tmp_path / "published" / "CURRENT.json").exists()
        wait_until(lambda: replica.status().get("status") == "up", ONCE_IN_A_WHILE)


def at_once(cluster: Cluster, key: str, clients: int) -> list[httpx.Response]:
    """The responses to concurrent clients, each on its own connection to nginx."""

    async def ask() -> list[httpx.Response]:
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=clients), timeout=PATIENCE) as client:
            address, headers = f"{cluster.front.address}/v1/companies", {"X-Api-Key": key}
            return await asyncio.gather(*(client.get(address, headers=headers) for _ in range(clients)))

    return asyncio.run(ask())


def test_all_workers_together_pass_sixty_requests_a_minute(cluster: Cluster) -> None:
    """Again where Redis was late on a busy machine, because each worker then counts by itself."""
    for _ in range(4):
        [key] = cluster.keys(1)
        early_in_a_minute()
        said = [len(replica.log()) for replica in cluster.replicas]
        before = [len(replica.requests()) for replica in cluster.replicas]
        minute = time.time() // 60
        responses = at_once(cluster, key, CLIENTS)
        late = [replica.log()[start:] for replica, start in zip(cluster.replicas, said, strict=True)]
        if time.time() // 60 == minute and not any("Redis is unavailable" in text for text in late):
            break
    assert Counter(each.status_code for each in responses) == {200: REQUESTS, 429: CLIENTS - REQUESTS}

    def counting() -> list[Counter[int]]:
        """The requests that each worker of each replica counted."""
        lines = [replica.requests()[start:] for replica, start in zip(cluster.replicas, before, strict=True)]
        return [Counter(line["worker"] for line in each if line["key"]) for each in lines]

    wait_until(lambda: sum(each.total() for each in counting()) == CLIENTS)  # lines follow their responses
    assert all(counting()), "a fast worker may take all requests of its replica"
    left = sorted(int(each.headers["X-RateLimit-Remaining"]) for each in responses if each.status_code == 200)
    assert left == list(range(REQUESTS))
    for refused in (each for each in responses if each.status_code == 429):
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert refused.json()["error"]["code"] == "rate_limited"


def test_one_command_revokes_a_key_at_every_worker_within_five_seconds(cluster: Cluster) -> None:
    """The workers receive requests one by one, past nginx, without using up the minute."""
    email = "revoked@example.org"
    with cluster.opened_accounts() as accounts:
        key = accounts.create_key(email, time.time())
        accounts.set_subscription(email, "active", time.time())
        [listed] = accounts.keys_of(email)
    knew: set[int] = set()
    with httpx.Client(headers={"X-Api-Key": key}) as client:
        while len(knew) < len(cluster.replicas) * WORKERS:
            for replica in cluster.replicas:
                response = client.get(f"{replica.address}/v1/companies", headers={"Connection": "close"})
                if response.status_code == 429:
                    time.sleep(int(response.headers["Retry-After"]))
            knew = cluster.workers(lambda line: line["key"] and line["status"] == 200) & set(all_of(cluster))
        early_in_a_minute()
        cluster.command("keys", "revoke", listed.id)
        revoked = time.monotonic()
        refusing: set[int] = set()
        while len(refusing) < len(knew):
            asked = time.monotonic()
            for replica in cluster.replicas:
                response = client.get(f"{replica.address}/v1/companies", headers={"Connection": "close"})
                assert response.status_code == 401 or asked < revoked + 5
            refusing = cluster.workers(lambda line: line["status"] == 401 and line["path"] == "/v1/companies") & knew
            time.sleep(0.05)
    assert time.monotonic() < revoked + PATIENCE


def all_of(cluster: Cluster) -> set[int]:
    """The workers that live."""
    return set().union(*(replica.workers() for replica in cluster.replicas))
