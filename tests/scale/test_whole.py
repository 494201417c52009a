"""All parts together: machines share a synchronization, one is killed, and replicas serve the published build."""

from pathlib import Path

import httpx
import pytest

from serve.access.accounts import Accounts
from tests.e2e.homes import published
from tests.scale import fleet, postgres, redis
from tests.scale.cluster import SITE, Replica, stopped_at_the_end
from tests.scale.conftest import Finder
from tests.scale.front import nginx
from tests.servers import NOON, ONCE_IN_A_WHILE, wait_until

BATCH = 4
"""Companies, so that the sample has several batches."""


@pytest.mark.long
def test_what_several_machines_made_is_served_by_all_replicas(tmp_path: Path, installed: Finder) -> None:
    pytest.importorskip("distributed", reason="distributed is not installed: run `make scale`")
    for name in ("fleet", "redis", "accounts", "replica-0", "replica-1"):
        (tmp_path / name).mkdir()
    with (
        fleet.running(tmp_path / "fleet", BATCH, workers=2) as machines,
        redis.running(installed("redis-server"), tmp_path / "redis") as counting,
        postgres.running(tmp_path / "accounts") as server,
    ):
        variables = {
            **machines.objects.environment,
            "REDIS_URL": counting.url,
            "FUNDAMENTALS_ACCOUNTS_URL": server.url,
            "FUNDAMENTALS_BASE_URL": f"{SITE}/v1",
            "FUNDAMENTALS_TRUSTED_PROXY": "127.0.0.1",
        }
        replicas = tuple(Replica(tmp_path / f"replica-{number}", variables) for number in range(2))
        addresses = [f"127.0.0.1:{each.port}" for each in replicas]
        with stopped_at_the_end(replicas), nginx(installed("nginx"), tmp_path / "nginx", addresses) as front:
            for replica in replicas:
                replica.start()
            assert {replica.status()["build"] for replica in replicas} == {None}, "nothing is published yet"

            lost = machines.machines[1]
            leading = machines.sync("sample")
            machines.frozen_in_a_batch(lost, leading)
            lost.kill()
            assert leading.ended() == (0, ""), leading.log

            made = published(leading.home)
            assert made.is_whole
            wait_until(
                lambda: {replica.status().get("build") for replica in replicas} == {made.pointer.build}, ONCE_IN_A_WHILE
            )
            accounts = Accounts(server.url)
            key = accounts.create_key("reader@example.org", NOON)
            accounts.set_subscription("reader@example.org", "active", NOON)
            accounts.close()
            with httpx.Client(base_url=front.address, headers={"X-Api-Key": key}) as client:
                for replica in replicas:
                    own = client.get(f"{replica.address}/v1/companies").json()
                    assert own["data"] == client.get("/v1/companies").json()["data"]
                    assert own["meta"]["total"] > 5
