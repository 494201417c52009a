"""Corrupted facts of some companies: no row of another company changes, and each lost company is named in the output.

Belongs here: the ways in which facts are corrupted, and the judgement. Does not: hostile bytes (tests.fuzz), errors of
filers and the results of the rules for them (tests.bench.mutations).
"""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from pipelines.edgar.answers import TICKERS_URL, facts_url, submissions_url
from pipelines.sample import Filer
from pipelines.sample.edgar.transport import SampleTransport
from pipelines.sample.filer.filers import SAMPLE
from tests.e2e.homes import query, sync, sync_unrecorded
from tests.torture.ground import Found, Ground, failures

Fact = dict[str, Any]
FILERS = SAMPLE[:6]
SHARES = (0.0, 0.03, 0.3, 1.0)
"""The shares of the facts that are corrupted; 0: one fact."""


def _other_date(value: str | None, drawn: random.Random) -> str:
    year = drawn.choice((1990, 2019, 2031, int((value or "2020")[:4]) + drawn.choice((-1, 1))))
    return f"{year}{(value or '2020-03-31')[4:7]}-{drawn.randint(1, 28):02}"


OF_OTHER_TYPES: tuple[Any, ...] = (None, "", "12", [], {}, True, -0.0, 1e29, -1e29, 0.1, 10**18)


CHANGES: dict[str, Callable[[Fact, random.Random], None]] = {
    "sign": lambda fact, _: fact.update(val=-fact["val"]),
    "zero": lambda fact, _: fact.update(val=0),
    "scale": lambda fact, drawn: fact.update(val=fact["val"] * 1000 ** drawn.choice((-2, -1, 1, 2, 3))),
    "form": lambda fact, drawn: fact.update(form=drawn.choice(("", "8-K", "10-K", "10-Q/A", "S-1", "20-F"))),
    "fiscal year": lambda fact, drawn: fact.update(fy=drawn.choice((None, 0, 1980, 2150))),
    **{
        f"date of {name}": lambda fact, drawn, name=name: fact.update({name: _other_date(fact.get(name), drawn)})
        for name in ("start", "end", "filed")
    },
    **{
        f"type of {name}": lambda fact, drawn, name=name: fact.update({name: drawn.choice(OF_OTHER_TYPES)})
        for name in ("val", "end", "form", "fy", "accn")
    },
}
"""Corruptions of single facts."""


def corrupted(document: dict[str, Any], drawn: random.Random) -> tuple[str, dict[str, Any]]:
    """A way to corrupt a companyfacts document, and the document."""
    way, share = drawn.choice([*CHANGES, "dropped", "unit", "element"]), drawn.choice(SHARES)
    for tags in document["facts"].values():
        for tag, concept in [*tags.items()]:
            if way == "element" and drawn.random() < (share or 0.1):
                tags[drawn.choice((f"{tag}X", *tags))] = tags.pop(tag)
            if way == "unit" and drawn.random() < (share or 0.1):
                concept["units"] = {
                    drawn.choice(("USD", "EUR", "shares", "USD/shares", "pure", "")): facts
                    for facts in concept["units"].values()
                }
    lists = [facts for tags in document["facts"].values() for tag in tags.values() for facts in tag["units"].values()]
    if way == "dropped":
        for facts in lists:
            facts[:] = [fact for fact in facts if drawn.random() >= (share or 0.01)]
    if way in CHANGES:
        every = [fact for facts in lists for fact in facts]
        for fact in [each for each in every if drawn.random() < share] or [drawn.choice(every)]:
            CHANGES[way](fact, drawn)
    return f"{way}, {share:.0%}" if share else way, document


class Source:
    """A mirror of some companies of the sample, a home that was synchronized with it, and a copy for each draw."""

    def __init__(self, folder: Path) -> None:
        self.mirror, self.whole, self.home = folder / "mirror", folder / "whole", folder / "home"
        with httpx.Client(transport=SampleTransport(FILERS)) as client:
            for address in [
                TICKERS_URL,
                *(make(filer.cik) for filer in FILERS for make in (facts_url, submissions_url)),
            ]:
                path = self._path(address)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(client.get(address).content)
        done = sync(self.whole, self.mirror)
        assert done.returncode == 0, done.stderr

    def tried(self, drawn: random.Random, companies: int = 1) -> tuple[str, list[str], list[str]]:
        """Corrupt the facts of some companies, and synchronize a copy of the home.

        Returns:
            the ways; the errors, one sentence each; and the outcome of each company.
        """
        filers, ways, became = drawn.sample(FILERS, companies), [], []
        before = {self._path(facts_url(filer.cik)): self._path(facts_url(filer.cik)).read_bytes() for filer in filers}
        for filer, (path, whole) in zip(filers, before.items(), strict=True):
            way, document = corrupted(json.loads(whole), drawn)
            ways.append(f"{way} of {filer.symbols[0]}")
            path.write_text(json.dumps(document))
        shutil.copytree(self.whole, self.home, symlinks=True)
        try:
            done = sync_unrecorded(self.home, self.mirror)
            losses, served = failures(done), dict(query(self.home, SERVED))
            for filer in filers:
                is_named, is_served = filer.cik in done.stderr, filer.symbols[0] in served
                losses += [] if is_served or is_named else [f"{filer.symbols[0]} vanished without a word"]
                became.append("held back" if is_named else "taken over" if is_served else "gone")
            losses += [f"rows of another company changed in {name}" for name in self._changed(filers)]
        finally:
            for path, whole in before.items():
                path.write_bytes(whole)
            shutil.rmtree(self.home)
        return "; ".join(ways), losses, became

    def _changed(self, but: list[Filer]) -> Iterator[str]:
        """The published tables in which rows of other companies differ from the rows before."""
        ciks = ", ".join(f"'{filer.cik}'" for filer in but)
        for (name,) in query(self.whole, OF_COMPANIES):
            columns = "* EXCLUDE (data_updated_at)" if name == "companies" else "*"
            others = f"SELECT {columns} FROM {name} WHERE cik NOT IN ({ciks})"
            sums = f"SELECT count(*), sum(hash(row)) FROM ({others}) AS row"
            if query(self.whole, sums) != query(self.home, sums):
                yield str(name)

    def _path(self, address: str) -> Path:
        place = urlsplit(address)
        return self.mirror / place.netloc / place.path.lstrip("/")


SERVED = "SELECT symbol, cik FROM companies"
OF_COMPANIES = "SELECT table_name FROM duckdb_columns() WHERE column_name = 'cik' AND NOT internal ORDER BY ALL"


def drawn_corruptions(ground: Ground, times: int) -> Found:
    """Corrupt the facts of one company after the other, in ways that are drawn."""
    found, source = Found(), Source(ground.folder / "corrupted")
    for _ in range(times):
        way, losses, (became,) = source.tried(ground.drawn)
        found.times += 1
        found.note(became)
        found.losses += [f"{way}: {loss}" for loss in losses]
        ground.step()
    return found
