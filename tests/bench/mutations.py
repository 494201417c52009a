"""What share of filers' errors would reach users: one fact of one filing is made wrong, and the values are made again.

Run it with `make mutations SOURCE=../shared/edgar` (a mirror directory). Each mutation changes one fact that is a leg
of a current value of the last five years. The company is copied under another CIK with that one fact changed, many
copies in one call of the rules. The value is then the same, withheld, or served wrong. With FUNDAMENTALS_FILINGS=all
and a mirror that has filings, the fact is made wrong in the filing's statements, too.

Belongs here: drawing the mutations, applying them, and the page docs/mutations.md. Does not: which errors simulated
filers make (tests.property.errors).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import date
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table

from pipelines.normalize.faces.facts import Filed
from pipelines.normalize.periods.predecessors import stitched, under_successors
from pipelines.normalize.pipeline import standardize
from pipelines.stages.batch.predecessors import held_predecessors
from pipelines.stages.filed import filed_of_batch
from pipelines.stages.values import filings_read
from pipelines.storage.lake import Lake

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "mutations.md"
ROBUST = ("revenue", "net_income", "eps_basic", "dividends_per_share", "shares_basic", "shares_diluted")
"""Items for which several facts of a filing are witnesses."""
COMPOSED = ("free_cash_flow", "total_debt", "cash_and_equivalents")
"""Items that are composed of lines."""
ITEMS = ROBUST + COMPOSED
SIGN, THOUSAND, DIGIT, CONTEXT, LEFT_OUT = "sign", "factor of 1,000", "one digit", "other context", "line left out"
KINDS = (SIGN, THOUSAND, CONTEXT, LEFT_OUT, DIGIT)
"""Other context: a quarter's figure in the context of a longer duration, or a balance in the context of the next
balance.
"""
SAME, WITHHELD, WRONG, ABSENT = "same", "withheld", "served wrong", "no value"
"""Outcomes; no value: the version has no value there without the mutation either."""
TOLERANCE = 0.005
YEARS = 5
QUARTER = (75, 110)
"""Days of a quarter."""
LONGER = 150
"""A duration of more days spans several quarters."""
DIGITS = 3
"""One of the first three significant digits is changed: later digits move no value by half a per cent."""
FILERS = 2_000
"""Simulated filers that are drawn, with and without a witness each."""
THIS = "this version"
IN_A_CALL = 120
"""Companies in one call of the rules."""

FACT = ["taxonomy", "tag", "unit", "start", "end", "accession"]
"""The columns that name a fact of a company."""
KEY = ["cik", "period_end", "item"]


# --- The values of a home -----------------------------------------------------------------------------------------


class Companies:
    """The facts of the companies of a home, and the results of the rules."""

    def __init__(self, home: Path) -> None:
        lake = Lake(home / "tables")
        earlier = held_predecessors(lake)
        self.facts = stitched(lake.read("facts"), earlier)[0].sort("cik", maintain_order=True)
        self.accepted = under_successors(lake.read("acceptances"), earlier)
        self.registrants = lake.read("registrants")
        filers = [*self.facts["cik"].unique(), *(cik for chain in earlier.values() for cik in chain)]
        self.filed = filed_of_batch.read(lake, filers, [*filings_read(lake)], self.facts, earlier)
        ranges = self.facts.with_row_index("row").group_by("cik").agg(first="row", rows=pl.len())
        self.rows = {cik: self.facts.slice(first[0], rows) for cik, first, rows in ranges.iter_rows()}

    def versions(self) -> pl.DataFrame:
        """The current version of each value."""
        return current(standardize(self.facts, self.accepted, self.registrants, filed=self.filed).versions)

    def copies(self, of: list[tuple[str, dict[str, Any] | None]]) -> pl.DataFrame:
        """The current values of copies, each with one mutation or none: `copy` (place in the list), and the value."""
        parts = []
        for number, (cik, mutation) in enumerate(of):
            rows = self.rows[cik].with_columns(cik=pl.lit(f"{number + 1:010}"))
            parts.append(mutated(rows, mutation) if mutation else rows)
        names = pl.DataFrame(
            {"copy": [f"{number + 1:010}" for number in range(len(of))], "cik": [cik for cik, _ in of]}
        )
        accepted, registrants = (
            names.join(rows, on="cik").drop("cik").rename({"copy": "cik"}) for rows in (self.accepted, self.registrants)
        )
        of_filings = self._filed_copies(of)
        found = current(standardize(pl.concat(parts), accepted, registrants, filed=of_filings).versions)
        return found.select("period_end", "item", "value", copy=pl.col("cik").cast(pl.Int64) - 1)

    def _filed_copies(self, of: list[tuple[str, dict[str, Any] | None]]) -> Filed | None:
        """The statements of the filings of copies: the mutation is in the filing, so its statements have it, too."""
        if self.filed is None:
            return None
        frames: dict[str, list[pl.DataFrame]] = {each.name: [] for each in fields(self.filed)}
        for number, (cik, mutation) in enumerate(of):
            for name, of_name in frames.items():
                rows = getattr(self.filed, name).filter(pl.col("cik") == cik)
                rows = rows.with_columns(cik=pl.lit(f"{number + 1:010}"))
                of_name.append(_mutated_statement(rows, mutation) if mutation and "element" in rows.columns else rows)
        return replace(self.filed, **{name: pl.concat(of_name) for name, of_name in frames.items()})


def _mutated_statement(rows: pl.DataFrame, mutation: dict[str, Any]) -> pl.DataFrame:
    """The statements of a filing, with the mutation wherever they have the amount of the fact under its element."""
    of_fact = pl.all_horizontal(
        pl.col("accession") == mutation["accession"],
        pl.col("element") == mutation["tag"],
        pl.col("value") == mutation["filed"],
    ).fill_null(value=False)
    if mutation["wrong"] is None:
        return rows.filter(~of_fact)
    return rows.with_columns(value=pl.when(of_fact).then(pl.lit(mutation["wrong"])).otherwise("value"))


def current(versions: pl.DataFrame) -> pl.DataFrame:
    """The newest version of each value."""
    return versions.group_by(KEY, maintain_order=True).last()


def mutated(rows: pl.DataFrame, mutation: dict[str, Any]) -> pl.DataFrame:
    """The facts of a company with a mutation."""
    of_fact = pl.all_horizontal(*(pl.col(name).eq_missing(pl.lit(mutation[name])) for name in FACT))
    if mutation["wrong"] is None:
        return rows.filter(~of_fact)
    return rows.with_columns(value=pl.when(of_fact).then(pl.lit(mutation["wrong"])).otherwise("value"))


# --- Drawing ------------------------------------------------------------------------------------------------------


def drawn(companies: Companies, each: int, seed: int) -> list[dict[str, Any]]:
    """The mutations: for each item and kind the legs with the smallest random numbers.

    The random number of a leg depends on the seed and the leg alone. Two versions of the rules that have the same legs
    therefore draw the same mutations.
    """
    legs = _legs(companies)
    numbered = ((_random(seed, leg, kind), kind, leg) for leg in legs for kind in KINDS)
    found: list[dict[str, Any]] = []
    taken: dict[tuple[str, str], int] = {}
    for number, kind, leg in sorted(numbered, key=lambda each: each[0]):
        pair = leg["item"], kind
        if taken.get(pair, 0) >= each:
            continue
        wrong = _wrong(kind, leg, number)
        if kind != LEFT_OUT and (wrong is None or wrong == leg["filed"]):
            continue
        taken[pair] = taken.get(pair, 0) + 1
        found.append({**leg, "kind": kind, "wrong": wrong})
    return found


def _legs(companies: Companies) -> list[dict[str, Any]]:
    """The filed facts behind the current values of the last years, with the figure of another context."""
    since = date.fromisoformat(str(companies.facts["filed"].max())).replace(day=1)
    since = since.replace(year=since.year - YEARS)
    recent = companies.versions().filter(
        (pl.col("period_end") >= since) & pl.col("item").is_in(ITEMS) & pl.col("value").is_not_null()
    )
    legs = (
        recent.select(*KEY, "is_year_end", right="value", leg="legs")
        .explode("leg")
        .unnest("leg")
        .with_columns(
            pl.col("tag").str.split(":").list.first().alias("taxonomy"),
            pl.col("tag").str.split(":").list.last(),
            pl.col("start", "end", "filed").cast(pl.String),
            pl.col("period_end").cast(pl.String),
        )
        .unique([*KEY, *FACT], maintain_order=True)
    )
    filed = companies.facts.unique(["cik", *FACT], keep="last", maintain_order=True)
    known = legs.drop("value", "filed").join(
        filed.select("cik", *FACT, "filed", stated="value"), on=["cik", *FACT], nulls_equal=True, maintain_order="left"
    )
    known = known.with_row_index("leg_number")
    others = filed.select("cik", "taxonomy", "tag", "unit", "start", "end", "filed", "value")
    pairs = known.select("leg_number", "cik", "taxonomy", "tag", "unit", "start", "end", "filed", "stated").join(
        others, on=["cik", "taxonomy", "tag", "unit"], suffix="_other"
    )
    days = _days("start", "end")
    days_other = _days("start_other", "end_other")
    is_quarter = (
        (days > LONGER)
        & days_other.is_between(*QUARTER)
        & (pl.col("end_other") <= pl.col("end"))
        & (pl.col("start_other") >= pl.col("start"))
    )
    is_before = (
        pl.col("start").is_null()
        & pl.col("start_other").is_null()
        & (pl.col("end_other") < pl.col("end"))
        & (_days("end_other", "end") < 400)
    )
    other = (
        pairs.filter(is_quarter.fill_null(value=False) | is_before)
        .filter(pl.col("filed_other") <= pl.col("filed"))
        .sort("leg_number", "end_other", "filed_other")
        .group_by("leg_number", maintain_order=True)
        .agg(other=pl.col("value").last())
    )
    columns = [*KEY, "is_year_end", "right", *FACT, "filed", "concept", "other"]
    return (
        known.join(other, on="leg_number", how="left", maintain_order="left")
        .rename({"filed": "filed_on", "stated": "filed"})
        .select([*columns[:-3], "filed_on", "filed", "concept", "other"])
        .to_dicts()
    )


def _days(first: str, last: str) -> pl.Expr:
    return (pl.col(last).str.to_date() - pl.col(first).str.to_date()).dt.total_days()


def _random(seed: int, leg: dict[str, Any], kind: str) -> int:
    named = [seed, kind, *(leg[name] for name in (*KEY, *FACT))]
    return int.from_bytes(blake2b(json.dumps(named).encode(), digest_size=8).digest())


def _wrong(kind: str, leg: dict[str, Any], number: int) -> float | None:
    """The wrong figure; null for a line that is left out or where the kind cannot happen."""
    filed: float = leg["filed"]
    match kind:
        case "sign":
            return -filed if filed else None
        case "factor of 1,000":
            return filed * 1000 if number % 2 else filed / 1000
        case "one digit":
            return _other_digit(filed, number)
        case "other context":
            return leg["other"]
    return None


def _other_digit(filed: float, number: int) -> float | None:
    """The figure with another digit at one of its first significant places."""
    sign, digits, exponent = Decimal(repr(filed)).normalize().as_tuple()
    if not any(digits):
        return None
    place = number % min(DIGITS, len(digits))
    choices = [digit for digit in range(place == 0, 10) if digit != digits[place]]
    changed = (*digits[:place], choices[number // DIGITS % len(choices)], *digits[place + 1 :])
    return float(Decimal((sign, changed, exponent)))


# --- Outcomes -----------------------------------------------------------------------------------------------------


def outcomes(companies: Companies, mutations: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each mutation with `outcome`, `served`, and how many other values of the company are now wrong or withheld.

    Raises:
        ValueError: a copy without a mutation has other values than the company.
    """
    before = companies.versions().select(*KEY, pl.col("value").alias("right"))
    values = {row[:3]: row[3] for row in before.with_columns(pl.col("period_end").cast(pl.String)).iter_rows()}
    calls = range(0, len(mutations), IN_A_CALL)
    for start in track(calls, description="mutations", console=Console(stderr=True)):
        batch = mutations[start : start + IN_A_CALL]
        unchanged = batch[0]["cik"]
        of = [(each["cik"], each) for each in batch]
        found = companies.copies([*of, (unchanged, None)])
        names = pl.DataFrame({"copy": range(len(of) + 1), "cik": [*(cik for cik, _ in of), unchanged]})
        compared = (
            before.join(names, on="cik")
            .join(found, on=["copy", "period_end", "item"], how="full", coalesce=True)
            .with_columns(is_same=((pl.col("value") - pl.col("right")).abs() <= TOLERANCE * pl.col("right").abs()))
            .with_columns(
                is_same=pl.col("is_same").fill_null(value=False)
                | (pl.col("value").is_null() & pl.col("right").is_null())
            )
        )
        if not compared.filter(pl.col("copy") == len(of))["is_same"].all():
            raise ValueError(f"a copy of {unchanged} without a mutation has other values")
        moved = (
            compared.filter(~pl.col("is_same"))
            .group_by("copy")
            .agg(moved=pl.col("value").is_not_null().sum(), gone=pl.col("value").is_null().sum())
        )
        of_copy = {row[0]: row[1:] for row in moved.iter_rows()}
        served = {
            (copy, period, item): value
            for copy, period, item, value in found.select(
                "copy", pl.col("period_end").cast(pl.String), "item", "value"
            ).iter_rows()
        }
        for number, each in enumerate(batch):
            right = values.get((each["cik"], each["period_end"], each["item"]))
            value = served.get((number, each["period_end"], each["item"]))
            outcome = outcome_of(right, value)
            wrong, gone = of_copy.get(number, (0, 0))
            yield {
                **each,
                "right": right,
                "served": value,
                "outcome": outcome,
                "others_wrong": wrong - (outcome == WRONG),
                "others_withheld": gone - (outcome == WITHHELD),
            }


def outcome_of(right: float | None, value: float | None) -> str:
    """The outcome of a value that was right without the mutation."""
    if right is None:
        return ABSENT
    if value is None:
        return WITHHELD
    return SAME if abs(value - right) <= TOLERANCE * abs(right) else WRONG


# --- Tables -------------------------------------------------------------------------------------------------------

Counted = dict[str, float]


def _counted(rows: Iterable[dict[str, Any]]) -> Counted:
    rows = [each for each in rows if each["outcome"] != ABSENT]
    number = len(rows)
    of = {outcome: sum(each["outcome"] == outcome for each in rows) for outcome in (SAME, WITHHELD, WRONG)}
    return {
        "number": number,
        **of,
        "share": of[WRONG] / number if number else 0.0,
        "others_wrong": sum(each["others_wrong"] for each in rows),
    }


def groups(rows: list[dict[str, Any]]) -> dict[tuple[str, str], Counted]:
    """Counts of each pair of item and kind, and the totals, by two words."""
    found = {
        (item, kind): _counted(each for each in rows if each["item"] == item and each["kind"] == kind)
        for item in ITEMS
        for kind in KINDS
    }
    for name, items in (
        ("income, shares and dividends", ROBUST),
        ("cash flow, debt and cash", COMPOSED),
        ("all", ITEMS),
    ):
        of = [each for each in rows if each["item"] in items]
        found[name, "gross"] = _counted(each for each in of if each["kind"] != DIGIT)
        found[name, DIGIT] = _counted(each for each in of if each["kind"] == DIGIT)
    return found


TEXTS = ("item", "kind", "error", "rule")
COLUMNS = ("item", "kind", "mutations", "same", "withheld", "served wrong", "share", "others wrong")


def _cells(counted: Counted) -> list[str]:
    counts = [f"{counted[name]:,.0f}" for name in ("number", SAME, WITHHELD, WRONG)]
    return [*counts, f"{counted['share']:.1%}", f"{counted['others_wrong']:,.0f}"]


def table(of: dict[str, list[dict[str, Any]]]) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the table: all counts of the first version, and next to them three counts of the
    others.
    """
    first, *second = (groups(rows) for rows in of.values())
    header = [
        *COLUMNS,
        *(f"{name}: {column}" for name in list(of)[1:] for column in ("withheld", "served wrong", "share")),
    ]
    rows = [
        [*pair, *_cells(counted), *(cell for each in second for cell in _cells(each[pair])[2:5])]
        for pair, counted in first.items()
    ]
    return header, rows


def show(header: list[str], rows: list[list[str]], title: str = "What mutations of one fact lead to") -> None:
    """Print the table."""
    shown = Table(title=title, title_justify="left")
    for column in header:
        shown.add_column(column, justify="left" if column in TEXTS else "right")
    for row in rows:
        shown.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 200).print(shown)


SIMULATED = (
    "error",
    "filers",
    "wrong that day",
    "withheld that day",
    "wrong at the end",
    "withheld at the end",
    "values",
)


def simulated(filers: int) -> list[list[str]]:
    """Errors of drawn filers of the simulator: values served wrong and withheld, by error."""
    from tests.property.errors import WITHOUT, WITNESSED, counted  # of this version only

    rows = []
    for title, traits in (("with a witness", WITNESSED), ("without a witness", WITHOUT)):
        for name, of in counted(traits, filers).items():
            numbers = (of[key] for key in ("filers", "wrong_of_day", "withheld_of_day", "wrong", "withheld", "values"))
            rows.append([f"{name} ({title})", *(f"{number:,}" for number in numbers)])
    return rows


def _table(header: Iterable[str], rows: list[list[str]], texts: int) -> list[str]:
    columns = list(header)
    rule = "|" + "---|" * texts + "---:|" * (len(columns) - texts)
    return ["| " + " | ".join(columns) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows)]


@dataclass(frozen=True)
class Measured:
    """The mutations of one mirror: the table of all versions, and the results of this one."""

    header: list[str]
    rows: list[list[str]]
    results: list[dict[str, Any]]

    @property
    def companies(self) -> int:
        """The number of companies with a mutation."""
        return len({each["cik"] for each in self.results})


def page(measured: Measured, apart: Measured | None, seed: int, of_simulated: list[list[str]]) -> str:
    """The page docs/mutations.md."""
    lines = [
        "# Mutations",
        "",
        "What share of filers' errors would reach users. One fact of one filing is made wrong, and the values of the",
        f"company are made again. The fact is a leg of a current value of the last {YEARS} years, of",
        f"{measured.companies} companies of a mirror of EDGAR, drawn at random, equally over items and kinds of error.",
        "The value is then the same (within half a per cent), withheld, or served wrong. The last columns show the",
        "same mutations with the version before; a value that a version does not have without the mutation either is",
        "not counted.",
        "",
        f"Written by `make mutations` (seed {seed}).",
        "",
        f"- {SIGN}: the fact with the other sign.",
        f"- {THOUSAND}: the fact times or divided by 1,000.",
        f"- {CONTEXT}: a quarter's figure in the context of a longer one, or an earlier balance in that of this one.",
        f"- {LEFT_OUT}: the filing lacks the fact.",
        f"- {DIGIT}: another digit at one of the first {DIGITS} significant places.",
        "- gross: all kinds but one digit.",
        "- others wrong: other values of the company that moved by more than half a per cent.",
        "",
        *_table(measured.header, measured.rows, 2),
        "",
        *(_of_others(apart) if apart else []),
        "## Errors of simulated filers",
        "",
        "Fictional filers with one error each, judged on the day of the erroneous report and after all filings. An",
        "error with a witness is contradicted by another fact of the same or an earlier filing; without one it may be",
        "believed. Values are the true values of these filers; those withheld are true values that are not served.",
        "",
        *_table(SIMULATED, of_simulated, 1),
    ]
    return "\n".join(lines) + "\n"


def _of_others(apart: Measured) -> list[str]:
    """The section on companies of other kinds."""
    return [
        "## Companies of other kinds",
        "",
        f"The same for {apart.companies} companies of other kinds, of each of which only some filings are there: few",
        "repeat a figure, so fewer errors have a witness.",
        "",
        *_table(apart.header, apart.rows, 2),
        "",
    ]


# --- Commands -----------------------------------------------------------------------------------------------------


def synchronized(name: str, code: Path, mirror: Path, folder: Path) -> tuple[Path, dict[str, str]]:
    """The home of a mirror that a version of the program has, made if needed; and the environment to run it in."""
    home = folder / f"home of {name}"
    environment = {**os.environ, "FUNDAMENTALS_HOME": str(home), "PYTHONPATH": str(code)}
    if not (home / "tables" / "listings.parquet").exists():
        sync = [sys.executable, "-m", "fundamentals", "sync", "--source", str(mirror)]
        subprocess.run(
            sync, cwd=code, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    return home, environment


def of_version(name: str, code: Path, mirror: Path, folder: Path, *command: str) -> None:
    """Run this file with a version of the program on its own home of the mirror."""
    home, environment = synchronized(name, code, mirror, folder)
    subprocess.run([sys.executable, str(Path(__file__).resolve()), *command, str(home)], env=environment, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("place", type=Path, help="the mirror directory to synchronize with")
    parser.add_argument("--beside", type=Path, help="the folder of another version, with which the same is done")
    parser.add_argument("--apart", type=Path, help="another mirror, which is reported in a table of its own")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=100, help="mutations of each pair of item and kind")
    parser.add_argument("--filers", type=int, default=FILERS, help="simulated filers, with and without a witness each")
    parser.add_argument("--json", type=Path, help="a file for the mutations that are served wrong")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--folder", type=Path, help="a folder for homes and mutations, which are then used again")
    parser.add_argument("--draw", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--apply", type=Path, nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.draw:
        given.draw.write_text(json.dumps(drawn(Companies(given.place), given.each, given.seed)))
    elif given.apply:
        mutations, results = given.apply
        results.write_text(json.dumps(list(outcomes(Companies(given.place), json.loads(mutations.read_text())))))
    elif given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
        _report(given, given.folder.resolve())
    else:
        with tempfile.TemporaryDirectory() as folder:
            _report(given, Path(folder))


def _measured(given: argparse.Namespace, mirror: Path, folder: Path) -> Measured:
    """Draw mutations of a mirror, apply them with each version, and print the table."""
    draws = folder / "mutations.json"
    folders = {THIS: PROJECT} | ({"before": given.beside.resolve()} if given.beside else {})
    if not draws.exists():
        drawing = ("--each", str(given.each), "--seed", str(given.seed), "--draw", str(draws))
        of_version(THIS, PROJECT, mirror, folder, *drawing)
    results: dict[str, list[dict[str, Any]]] = {}
    for name, code in folders.items():
        path = folder / f"{name}.json"
        of_version(name, code, mirror, folder, "--apply", str(draws), str(path))
        results[name] = json.loads(path.read_text())
    header, rows = table(results)
    show(header, rows)
    return Measured(header, rows, results[THIS])


def _report(given: argparse.Namespace, folder: Path) -> None:
    """Measure, and write the page and the list of mutations that are served wrong."""
    measured = _measured(given, given.place.resolve(), folder)
    apart = None
    if given.apart:
        (folder / "apart").mkdir(exist_ok=True)
        apart = _measured(given, given.apart.resolve(), folder / "apart")
    if given.json:
        wrong = [each for each in measured.results if each["outcome"] == WRONG]
        given.json.write_text(json.dumps(wrong, indent=1))
    of_simulated = simulated(given.filers)
    show(list(SIMULATED), of_simulated, "What errors of simulated filers lead to")
    given.page.write_text(page(measured, apart, given.seed, of_simulated))
    print(f"{given.page}: {len(measured.results)} mutations")


if __name__ == "__main__":
    main()
