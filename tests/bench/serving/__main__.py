"""Measure the service in turns with the bare framework, and print each figure with its limit; the last line is JSON.

Run it with `make bench-http`. The companies of the published build of the home are copied until there are 6,000. One
worker runs on one processor core and the load on another; several workers, and the framework with as many, share all
cores with the load. The framework alone is Starlette with a constant JSON as large as an answer (bare.py), run by
uvicorn with httptools and uvloop. All requests have keys, so many that no limit is reached.
"""

import argparse
import json
import os
import shutil
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import repeat
from pathlib import Path

from rich.console import Console

from pipelines.dagster_app.follow import NICENESS
from serve.settings import from_environment
from tests.bench.memory import megabytes
from tests.bench.serving import figures
from tests.bench.serving.copies import Copies
from tests.bench.serving.frameworks import uvicorn, write_sqlite
from tests.bench.serving.load import Load, measure, on_core, send_all, wrk
from tests.bench.serving.requests import Requests, ask, create_keys
from tests.servers import PROJECT, as_process, redis_server

COMPANIES = 6_000
SERVER, LOAD = 0, 1  # processor cores of one worker and of its load
FEWEST_SECONDS = 10  # of questions that are never asked twice
FASTEST = 25_000  # of these questions, each second
SEVERAL = {2: "two workers", 4: "four workers"}
ANSWERS = 101  # answers with the median size of the constant JSON
MINUTES_ALONE = 5  # of the load before updates
PUBLISHED_AFTER = 0.25  # share of the seconds of a turn after which a new build is published under load
TAKEN_OVER = 18  # seconds of this load at least: on a core that is never idle, reading the build takes about ten

progress = Console(stderr=True)


@dataclass
class Bench:
    """Inputs and results of the measurement.

    copies: the served companies. requests, keys: the requests of the load, and the file of its keys. body: the file of
    the constant JSON. seconds, rounds: the length of each turn, and the number of turns. values: the values of each
    figure. loads: what wrk measured, by figure: of the service, and of the frameworks for comparison.
    """

    copies: Copies
    requests: Requests
    keys: Path
    body: Path
    seconds: int
    rounds: int
    values: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    loads: defaultdict[str, list[tuple[Load, Load]]] = field(default_factory=lambda: defaultdict(list))

    def load(self, address: str, requests: Path, core: int | None, seconds: int, *, once: bool = False) -> Load:
        """Put load on a server; a request that fails ends the program."""
        with on_core(core):
            load = measure(address, requests, self.keys, seconds, once=once)
        if load.errors:
            raise SystemExit(f"{load.errors} of {load.requests} requests of {requests} to {address} failed")
        return load

    def warm(self, address: str, requests: Path, core: int | None = LOAD) -> None:
        """Send each request once, so that the service has answered it before."""
        progress.print(f"each of the {requests.stem} once")
        with on_core(core):
            send_all(address, requests, self.keys)

    def compare(
        self,
        address: str,
        files: Iterator[Path],
        references: Mapping[str, str],
        *,
        core: int | None = LOAD,
        fewest_seconds: int = 0,
        once: bool = False,
    ) -> None:
        """Measure the service in turns with others, and keep the ratios.

        Args:
            address: address of the service.
            files: the requests of each turn.
            references: addresses of the others, by the name of the figure.
            core: processor core of the load; None: all.
            fewest_seconds: least length of a turn of the service.
            once: the service gets each request once.
        """
        for turn, file in zip(range(self.rounds), files, strict=False):
            progress.print(f"{', '.join(references)}: turn {turn + 1} of {self.rounds}")
            others = {name: self.load(other, file, core, self.seconds) for name, other in references.items()}
            own = self.load(address, file, core, max(self.seconds, fewest_seconds), once=once)
            for name, other in others.items():
                self.values[name].append(own.rate / other.rate)
                self.loads[name].append((own, other))

    def one_worker(self, ordinary: Path, packages: Path | None) -> None:
        """All figures of one worker on a core of its own.

        Args:
            ordinary: the SQLite file of the ordinary service.
            packages: the folder of its packages; None: it is not measured.
        """
        home, requests = self.copies.home, self.requests
        with ExitStack() as servers:
            with on_core(SERVER):
                served = servers.enter_context(as_process(home))
                self._write_body(served.address)
                bare = servers.enter_context(uvicorn("bare", BODY=str(self.body)))
                others = {"financials": bare}
                if packages:
                    others["ordinary"] = servers.enter_context(
                        uvicorn("ordinary", packages=packages, DATABASE=str(ordinary))
                    )
            address = served.address
            different = requests.different(max(self.seconds, FEWEST_SECONDS) * FASTEST)
            self.compare(address, different, {"different": bare}, fewest_seconds=FEWEST_SECONDS, once=True)
            for file in (requests.financials, requests.revisions, requests.companies, requests.valuations):
                self.warm(address, file)
            self.compare(address, repeat(requests.financials), others)
            self.values["p99"] += [own.p99 / other.p99 for own, other in self.loads["financials"]]
            for name in ("revisions", "companies", "valuations"):
                self.compare(address, repeat(getattr(requests, name)), {name: bare})
            unchanged = requests.unchanged(address, self.keys)
            self.compare(address, repeat(unchanged), {"unchanged": bare})
            if any(own.size > self.body.stat().st_size / 2 for own, _ in self.loads["unchanged"]):
                raise SystemExit("requests with the entity tags of the answers get whole answers instead of 304")
            self.values["memory"].append(megabytes(served.process.pid))
            for turn in range(self.rounds):
                progress.print(f"new build: turn {turn + 1} of {self.rounds}")
                self._publish_under_load(address)
            self.values["memory"].append(megabytes(served.process.pid))

    def several_workers(self, redis: str, folder: Path) -> None:
        """Several workers with Redis, and the framework with as many; all of them share all cores with the load."""
        with redis_server(redis, folder) as (redis_address, _):
            for workers, name in SEVERAL.items():
                with (
                    as_process(self.copies.home, "--workers", str(workers), REDIS_URL=redis_address) as served,
                    uvicorn("bare", workers, BODY=str(self.body)) as bare,
                ):
                    for _ in range(workers):
                        self.warm(served.address, self.requests.financials, None)
                    self.compare(served.address, repeat(self.requests.financials), {name: bare}, core=None)

    def with_updates(self, minutes: int) -> None:
        """Load for some minutes alone, and for so many with an update in each: p99, memory, and disk."""
        with ExitStack() as servers:
            with on_core(SERVER):
                service = servers.enter_context(as_process(self.copies.home))
            self.copies.publish_other()  # a base of today
            self.warm(service.address, self.requests.financials)
            alone = min(minutes, MINUTES_ALONE)
            progress.print(f"updates: {alone} minutes before them")
            before = self.load(service.address, self.requests.financials, LOAD, 60 * alone)
            memory, disk = megabytes(service.process.pid), self._disk()
            progress.print(f"updates: {minutes} minutes with one each")
            with ThreadPoolExecutor(1) as publishing:
                published = publishing.submit(self._update_each_minute, minutes)
                with on_core(LOAD):
                    during = measure(service.address, self.requests.financials, self.keys, 60 * minutes)
                published.result()
            self.values["updates"].append(during.p99 / before.p99)
            self.values["updates: memory"].append(megabytes(service.process.pid) / memory)
            self.values["updates: disk"].append(self._disk() - disk)
            self.values["errors"].append(during.errors)
            self.loads["updates"].append((during, before))

    def _update_each_minute(self, minutes: int) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)  # as `fundamentals follow` does
        for number in range(minutes):
            began = time.monotonic()
            self.copies.publish_update(number)
            time.sleep(max(0.0, 60 - (time.monotonic() - began)))

    def _disk(self) -> float:
        """MB of the folder of builds; a file with several names counts once."""
        files = {path.stat().st_ino: path.stat().st_size for path in self.copies.published.rglob("*") if path.is_file()}
        return sum(files.values()) / 1e6

    def _publish_under_load(self, address: str) -> None:
        """Load before a publication, and load during which the other build is published, read and taken over."""
        before = self.load(address, self.requests.financials, LOAD, self.seconds)
        publication = threading.Timer(self.seconds * PUBLISHED_AFTER, self.copies.publish_other)
        publication.start()
        with on_core(LOAD):
            during = measure(address, self.requests.financials, self.keys, max(2 * self.seconds, TAKEN_OVER))
        publication.join()
        self.values["new build"].append(during.p99 / before.p99)
        self.values["errors"].append(during.errors)
        self.loads["new build"].append((during, before))

    def _write_body(self, address: str) -> None:
        """Write the constant JSON: the answer of median size of some."""
        paths = self.requests.financials.read_text().split()[:ANSWERS]
        bodies = [body for _, _, body in ask(address, paths, self.keys.read_text().split())]
        self.body.write_bytes(sorted(bodies, key=len)[len(bodies) // 2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="length of a turn")
    parser.add_argument("--rounds", type=int, default=3, help="number of turns")
    parser.add_argument("--companies", type=int, default=COMPANIES)
    parser.add_argument("--updates", type=int, default=0, help="only measure so many minutes with an update each")
    parser.add_argument("--peer", type=Path, help="the folder with the packages of fastapi.lock")
    parser.add_argument("--folder", type=Path, default=PROJECT / "build", help="where the home of the copies is kept")
    given = parser.parse_args()
    wrk()
    redis = shutil.which("redis-server")
    home = given.folder / "bench-http"
    progress.print(f"companies: {home} (copying takes a minute, the first time only)")
    copies = Copies(home, from_environment().published, given.companies)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        bench = Bench(
            copies,
            Requests(folder, copies.file),
            create_keys(copies.home),
            folder / "body",
            given.seconds,
            given.rounds,
        )
        if given.updates:
            bench.with_updates(given.updates)
        else:
            bench.one_worker(write_sqlite(copies.file, folder / "ordinary.sqlite"), given.peer)
            if redis:
                bench.several_workers(redis, folder)
            else:
                progress.print("Not measured: several workers; install the Debian package redis-server (make system)")
    (copies.home / "stderr").unlink()  # the access log, some hundred megabytes
    figures.show(bench.values, bench.values if given.updates else figures.FIGURES)
    print(
        json.dumps(
            {
                "seconds": given.seconds,
                "values": bench.values,
                "rates": {
                    name: [[round(own.rate), round(other.rate)] for own, other in pairs]
                    for name, pairs in bench.loads.items()
                },
                "loads": {
                    name: [[asdict(own), asdict(other)] for own, other in pairs] for name, pairs in bench.loads.items()
                },
            }
        )
    )


if __name__ == "__main__":
    main()
