"""Measures the inputs of the model: requests, bytes, seconds, memory, processor time.

    python -m tests.scale.measure HOME

Belongs here: measuring, with moto, Redis and nginx on this machine. Does not: the formulas (model), comparing
(test_model).
"""

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import httpx

from pipelines.shared.shared_home import of_home
from pipelines.storage.home import Home
from serve.access.accounts import Accounts
from tests.scale import objects, redis
from tests.scale.__main__ import program
from tests.scale.cluster import SITE, Replica, stopped_at_the_end
from tests.scale.front import nginx
from tests.servers import active_key, started_by

TICKS = os.sysconf("SC_CLK_TCK")
REQUEST = re.compile(r"(GET|PUT|HEAD|POST|DELETE) /fundamentals")
SHARED = ("raw", "tables", "log", "published")
KEYS = 1_200
SECONDS = 3
MOST = 50
"""Companies that are asked for, fewer than a key may ask for in a minute."""
SCRIPT = """
local keys, symbols, number = {{ {keys} }}, {{ {symbols} }}, 0
function request()
  number = number + 1
  local path = '/v1/companies/' .. symbols[number % #symbols + 1] .. '/financials'
  return wrk.format('GET', path, {{ ['X-Api-Key'] = keys[number % #keys + 1], ['Accept-Encoding'] = 'gzip' }})
end
"""

Result = TypeVar("Result")


class Asked:
    """The requests that the object storage was sent, by their method."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "moto.log"

    def during(self, work: Callable[[], Result]) -> tuple[Result, float, dict[str, int]]:
        """The result of some work, its seconds, and the requests."""
        before, start = len(self._log.read_text()), time.monotonic()
        result = work()
        seconds = time.monotonic() - start
        time.sleep(0.2)  # a line of the log follows its response
        return result, seconds, dict(Counter(REQUEST.findall(self._log.read_text()[before:])))


def store(home: Path, folder: Path, storage: objects.Objects) -> Iterator[tuple[str, float | dict[str, int]]]:
    """Commit a copy of a home, and check it out into an empty one; returns the costs of each, by name."""
    asked, copied, empty = Asked(folder), folder / "copied", folder / "empty"
    shutil.copytree(home, copied, symlinks=True, ignore=shutil.ignore_patterns("dagster", "store.json", "cache"))
    empty.mkdir()

    def checkout(root: Path, run: str = "") -> None:
        copy = of_home(Home(root))
        assert copy
        copy.checkout()
        if run:
            copy.commit(run)

    with objects.used(storage.environment):
        for name, work in (
            ("first commit", lambda: checkout(copied, "first")),
            ("commit with nothing new", lambda: checkout(copied, "second")),
            ("checkout into an empty home", lambda: checkout(empty)),
            ("checkout with nothing new", lambda: checkout(empty)),
        ):
            _, seconds, requests = asked.during(work)
            yield f"{name}, seconds", round(seconds, 2)
            yield f"{name}, requests", requests
    for name in SHARED:
        yield f"{name}, MB", round(size(copied / name) / 1e6, 2)


def size(folder: Path) -> int:
    """The bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


@contextmanager
def replica(folder: Path, variables: dict[str, str]) -> Iterator[Replica]:
    """A replica with an empty home, that has not started."""
    home = folder / "replica"
    home.mkdir()
    made = Replica(
        home, {**variables, "FUNDAMENTALS_BASE_URL": f"{SITE}/v1", "FUNDAMENTALS_TRUSTED_PROXY": "127.0.0.1"}
    )
    with stopped_at_the_end((made,)):
        yield made


def until_up(made: Replica) -> None:
    """Start a replica, and wait until it serves a build."""
    made.start()
    while made.status().get("status") != "up":
        time.sleep(0.02)


def memory(process: int) -> float:
    """The proportional set size of a process, MB."""
    found = re.search(r"Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text())
    assert found
    return round(int(found[1]) / 1024, 1)


def processor_time(processes: Sequence[int]) -> float:
    """The seconds of processor time of processes."""
    fields = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in processes]
    return sum(int(each[11]) + int(each[12]) for each in fields) / TICKS


def request_costs(
    made: Replica, folder: Path, counting: redis.Redis, symbols: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """Microseconds of processor time for a request through nginx, and the bytes of an answer; names and numbers.

    Raises:
        AssertionError: a request failed, or wrk is missing.
    """
    wrk, executable = program("wrk"), program("nginx")
    assert wrk
    assert executable
    accounts, keys = Accounts(made.home / "accounts.sqlite"), []
    for number in range(KEYS):
        keys.append(accounts.create_key(f"reader{number}@example.org", time.time()))
        accounts.set_subscription(f"reader{number}@example.org", "active", time.time())
    accounts.close()
    time.sleep(2)  # until every worker has read that there are new keys
    script = folder / "requests.lua"
    script.write_text(SCRIPT.format(keys=quoted(keys), symbols=quoted(symbols)))
    assert made.process
    with nginx(executable, folder / "nginx", [f"127.0.0.1:{made.port}"]) as front:
        if (left := 60 - time.time() % 60) < SECONDS + 3:
            time.sleep(left)
        groups = {
            "nginx": started_by(int((front.folder / "pid").read_text())),
            "worker": started_by(made.process.pid),
            "redis": [counting.process],
        }
        before = {name: processor_time(each) for name, each in groups.items()}
        command = [wrk, "-t1", "-c16", f"-d{SECONDS}", "-s", str(script), front.address]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "Non-2xx" not in said, said
        requests = re.search(r"(\d+) requests in", said)
        assert requests
        for name, each in groups.items():
            yield f"{name}, µs a request", round((processor_time(each) - before[name]) / int(requests[1]) * 1e6, 1)
        sizes = []
        for key, symbol in zip(itertools.islice(keys, 20), itertools.cycle(symbols)):
            headers = {"X-Api-Key": key, "Accept-Encoding": "gzip"}
            with httpx.stream("GET", f"{front.address}/v1/companies/{symbol}/financials", headers=headers) as response:
                head = sum(len(name) + len(value) + 4 for name, value in response.headers.raw)
                sizes.append(head + len(b"".join(response.iter_raw())))
        yield "answer, bytes", round(sum(sizes) / len(sizes))


def quoted(words: Sequence[str]) -> str:
    """Words as the elements of a table of Lua."""
    return ",".join(f"'{word}'" for word in words)


def symbols_of(made: Replica) -> list[str]:
    """Symbols of the served build that have financials."""
    key = active_key(made.home, "list@example.org")
    with httpx.Client(base_url=f"{made.address}/v1", headers={"X-Api-Key": key}) as client:
        listed = [company["symbol"] for company in client.get("/companies", params={"per_page": MOST}).json()["data"]]
        return [symbol for symbol in listed if client.get(f"/companies/{symbol}/financials").status_code == 200]


def all_of(home: Path, folder: Path) -> Iterator[tuple[str, object]]:
    """All measurements with a home; names and numbers."""
    redis_server = program("redis-server")
    assert redis_server
    with ExitStack() as parts:
        storage = parts.enter_context(objects.running(folder))
        yield from store(home, folder, storage)
        counting = parts.enter_context(redis.running(redis_server, folder))
        made = parts.enter_context(replica(folder, {**storage.environment, "REDIS_URL": counting.url}))
        asked = Asked(folder)
        _, seconds, requests = asked.during(lambda: until_up(made))
        yield "start of a replica with an empty home, seconds", round(seconds, 2)
        yield "start of a replica with an empty home, requests", requests
        yield "build, MB", round(size(made.home / "published") / 1e6, 2)
        yield "looks at the store in ten seconds", asked.during(lambda: time.sleep(10))[2].get("GET", 0)
        yield from request_costs(made, folder, counting, symbols_of(made))
        assert made.process
        yield "supervisor, MB", memory(made.process.pid)
        yield "workers, MB", [memory(each) for each in started_by(made.process.pid)]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        for name, number in all_of(Path(sys.argv[1]), Path(temporary)):
            print(f"{name}: {number}", flush=True)
