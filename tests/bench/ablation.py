"""Effect of each rule: the values without it, for companies of mirrors and for copies of them with one wrong fact.

Run it with `make ablation SOURCE=../shared/edgar` (one mirror directory or several). Each rule is switched off, and so
are all rules of each module together. Only the companies in which the rules decided are standardized again.

Belongs here: the companies, and the changes without a rule. Does not: which facts are made wrong (mutations), what the
vendor states (tests.accuracy), switching a rule off (pipelines.normalize.rule).
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.progress import track

from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.normalize.rule import switched_off
from pipelines.normalize.rules import FILES, REGISTRY, REPLACED
from pipelines.storage.lake import Lake
from tests import accuracy
from tests.bench.mutations import (
    KEY,
    PROJECT,
    THIS,
    WITHHELD,
    WRONG,
    Companies,
    current,
    drawn,
    mutated,
    outcome_of,
    show,
    synchronized,
)

PAGE = PROJECT / "docs" / "ablation.md"
HEADER = ("rule", "decides for", "changes values", "of companies", "vendor matches", "served wrong", "withheld")
TABLE = Path("pipelines/normalize/elements/sources.toml")
"""Its rules, the sources of elements, are not switched off as a group: without all of them there is no value."""
OF_MIRROR, OF_COPIES = 1_000_000_000, 5_000_000_000
"""The companies of each mirror, and the copies with a wrong fact, are numbered from here: mirrors share companies."""


@dataclass(frozen=True)
class Corpus:
    """The companies of some mirrors, and copies of them with one wrong fact.

    facts, accepted, registrants: as standardize takes them. symbols: `cik`, `symbol`.
    copies: for the CIK of each copy the period end, item and right value of its mutation.
    """

    facts: pl.DataFrame
    accepted: pl.DataFrame
    registrants: pl.DataFrame
    symbols: pl.DataFrame
    copies: dict[str, tuple[str, str, float]]

    @classmethod
    def of(cls, homes: Iterable[Path], each: int, seed: int) -> "Corpus":
        """The companies of homes, and so many mutations of each item and kind."""
        facts, accepted, registrants, symbols = [], [], [], []
        copies: dict[str, tuple[str, str, float]] = {}
        for number, home in enumerate(homes, start=1):
            companies = Companies(home)
            own = (pl.col("cik").cast(pl.Int64) + number * OF_MIRROR).cast(pl.String)
            facts.append(companies.facts.with_columns(cik=own))
            accepted.append(companies.accepted.with_columns(cik=own))
            registrants.append(companies.registrants.with_columns(cik=own))
            symbols.append(Lake(home / "tables").read("listings").filter("is_primary").select("symbol", cik=own))
            for mutation in drawn(companies, each, seed):
                copy = str(OF_COPIES + len(copies))
                facts.append(mutated(companies.rows[mutation["cik"]].with_columns(cik=pl.lit(copy)), mutation))
                accepted.append(companies.accepted.filter(cik=mutation["cik"]).with_columns(cik=pl.lit(copy)))
                registrants.append(companies.registrants.filter(cik=mutation["cik"]).with_columns(cik=pl.lit(copy)))
                copies[copy] = mutation["period_end"], mutation["item"], mutation["right"]
        return cls(*map(pl.concat, (facts, accepted, registrants, symbols)), copies)

    def standardized(self, ciks: Iterable[str]) -> Standardized:
        """The result for some companies."""
        ciks = list(ciks)
        return standardize(
            self.facts.filter(pl.col("cik").is_in(ciks)),
            self.accepted,
            self.registrants.filter(pl.col("cik").is_in(ciks)),
        )


@dataclass(frozen=True)
class Ablated:
    """Changes without some rules: values of companies, matches with the vendor, and outcomes of mutations."""

    name: str
    decides_for: int
    values: int
    companies: int
    matches: int
    outcomes: Counter[str]

    @property
    def cells(self) -> list[str]:
        """A row of the page."""
        changes = (self.matches, self.outcomes[WRONG], self.outcomes[WITHHELD])
        counts = (self.decides_for, self.values, self.companies)
        return [self.name, *(f"{each:,}" for each in counts), *(f"{each:+,}" if each else "0" for each in changes)]


class Ablation:
    """The values of the companies with all rules, and without some of them."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        found = corpus.standardized(corpus.facts["cik"].unique())
        self.values = current(found.versions).select(*KEY, "value")
        self.of_rule = _companies_of_rules(found)
        self.vendor = accuracy.read_vendor(accuracy.VENDOR) if accuracy.VENDOR.exists() else None

    def without(self, name: str, rules: Iterable[str]) -> Ablated:
        """The changes without some rules."""
        rules = list(rules)
        ciks = {cik for rule in rules for cik in self.of_rule.get(rule, ())}
        originals = ciks - self.corpus.copies.keys()
        if not ciks:
            return Ablated(name, 0, 0, 0, 0, Counter())
        with switched_off(rules):
            after = current(self.corpus.standardized(ciks).versions).select(*KEY, "value")
        before = self.values.filter(pl.col("cik").is_in(ciks))
        both = before.join(after, on=KEY, how="full", coalesce=True, suffix="_after")
        is_own = pl.col("cik").is_in(originals)
        changed = both.filter(is_own, ~pl.col("value").eq_missing(pl.col("value_after")))
        outcomes = self._outcomes(after, ciks)
        outcomes.subtract(self._outcomes(before, ciks))
        matches = self._matches(after.filter(is_own)) - self._matches(before.filter(is_own))
        return Ablated(name, len(originals), changed.height, changed["cik"].n_unique(), matches, outcomes)

    def _outcomes(self, values: pl.DataFrame, ciks: Iterable[str]) -> Counter[str]:
        """The outcomes of the mutations of some copies."""
        of_copies = values.filter(pl.col("cik").is_in(self.corpus.copies.keys()))
        served = {tuple(map(str, row[:3])): row[3] for row in of_copies.select(*KEY, "value").iter_rows()}
        copies = {cik: self.corpus.copies[cik] for cik in ciks if cik in self.corpus.copies}
        return Counter(outcome_of(right, served.get((cik, end, item))) for cik, (end, item, right) in copies.items())

    def _matches(self, values: pl.DataFrame) -> int:
        """The number of values that are the vendor's."""
        if self.vendor is None or values.is_empty():
            return 0
        wide = values.join(self.corpus.symbols, on="cik").pivot(
            "item", index=["symbol", "cik", "period_end"], values="value"
        )
        kinds = pl.DataFrame({"period_kind": ["ttm", "annual"]})
        return int(accuracy.compared(self.vendor, wide.join(kinds, how="cross"))["within"].sum())


def _companies_of_rules(found: Standardized) -> dict[str, set[str]]:
    """The companies in which each rule decided, as decisions, values, legs, gaps, proofs and repairs name it."""
    legs = found.versions.select("cik", "legs").explode("legs").unnest("legs")
    frames = [legs, *(getattr(found, field.name) for field in fields(found))]
    named = pl.concat([frame.select("cik", "rule") for frame in frames if "rule" in frame.columns]).drop_nulls()
    return {rule: set(ciks) for rule, ciks in named.unique().group_by("rule").agg("cik").iter_rows()}


def asked() -> list[tuple[str, tuple[str, ...]]]:
    """Each rule, and the rules of each module that has several, with the name of either."""
    modules: dict[str, list[str]] = {}
    for rule in REGISTRY:
        if rule not in REPLACED:
            modules.setdefault(FILES[rule], []).append(rule)
    of_modules = [(file, tuple(rules)) for file, rules in modules.items() if len(rules) > 1 and Path(file) != TABLE]
    return [*((rule, (rule,)) for rules in modules.values() for rule in rules), *of_modules]


@cache
def _ablation(homes: tuple[Path, ...], each: int, seed: int) -> Ablation:
    """The ablation of this process."""
    return Ablation(Corpus.of(homes, each, seed))


def _without(given: tuple[tuple[Path, ...], int, int, str, tuple[str, ...]]) -> Ablated:
    homes, each, seed, name, rules = given
    return _ablation(homes, each, seed).without(name, rules)


def page(rows: list[Ablated], companies: int, mutations: int) -> str:
    """The page docs/ablation.md."""
    of_modules = [row for row in rows if row.name in FILES.values()]
    of_rules = [row for row in rows if row.name not in FILES.values()]
    return "\n".join(
        [
            "# Ablation",
            "",
            f"What changes without a rule, on {companies} companies of mirrors of EDGAR, and on {mutations} copies of",
            "them with one wrong fact (docs/mutations.md): in how many companies it decides, how many current values",
            "of how many companies change, and by how many the values that match the vendor's, the mutations that are",
            "served wrong and those that are withheld become more or fewer. Values are computed anew, so rules of",
            "flags, of stored versions and of predecessors show 0; tests have documents for them. Written by",
            "`make ablation`.",
            "",
            "## Modules",
            "",
            *_table(of_modules),
            "",
            "## Rules",
            "",
            *_table(of_rules),
            "",
        ]
    )


def _table(rows: Iterable[Ablated]) -> list[str]:
    cells = [[f"`{row.name}`", *row.cells[1:]] for row in rows]
    lines = [HEADER, ("---", *("---:" for _ in HEADER[1:])), *cells]
    return [f"| {' | '.join(line)} |" for line in lines]


def main() -> None:
    """Switch the rules off, print the changes, and write the page; with `--rules` the page stays as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirrors", type=Path, nargs="+", help="mirror directories to synchronize with")
    parser.add_argument("--each", type=int, default=2, help="mutations of each pair of item and kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--rules", default="", help="only the rules and modules whose names begin with this")
    parser.add_argument("--folder", type=Path, help="a folder for homes, which are then used again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        _report(given, given.folder or Path(temporary))


def _report(given: argparse.Namespace, folder: Path) -> None:
    homes = tuple(
        synchronized(f"{THIS}, {mirror.name}", PROJECT, mirror.resolve(), folder.resolve())[0]
        for mirror in given.mirrors
    )
    tasks = [(homes, given.each, given.seed, *one) for one in asked() if one[0].startswith(given.rules)]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as workers:
        found = workers.map(_without, tasks)
        rows = list(track(found, "ablation", len(tasks), console=Console(stderr=True)))
    corpus = Corpus.of(homes, given.each, given.seed)
    mutations = len(corpus.copies)
    if not given.rules:
        given.page.write_text(page(rows, corpus.facts["cik"].n_unique() - mutations, mutations), encoding="utf-8")
    show(list(HEADER), [row.cells for row in rows], "What changes without a rule")


if __name__ == "__main__":
    main()
