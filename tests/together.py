"""Tests of the rules that share one call of the pipeline: it costs the same for one company as for a hundred.

Belongs here: the mark of such tests, and the call for all of a module. Does not: the filings, and the expected results.

A test yields the facts that its company filed, and receives the result:

    @in_one_call
    def test_twelve_months_are_the_last_four_quarters():
        found = yield company.facts()
        assert ...

It may yield the facts of several companies as a tuple, and receives a tuple. The facts of a company are a frame or a
list of rows.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest

from pipelines.normalize.pipeline import Standardized
from tests.factories import CIK, Row, Today, of_companies, standardized

Facts = pl.DataFrame | Sequence[Row]
Filed = Facts | tuple[Facts, ...]
Test = Callable[..., Generator[Filed, Any, None]]


def in_one_call(test: Test) -> Callable[..., None]:
    """Mark a test that yields facts; its arguments are parameters, not fixtures."""

    @wraps(test)
    def run(**_: object) -> None:
        raise AssertionError("tests.conftest runs it")

    run.yields_facts, run.run_with_others = test, run_with_others  # type: ignore[attr-defined]
    return run


class Results:
    """The results of several companies, from one call."""

    def __init__(self, filed: Mapping[str, Facts]) -> None:
        """Standardize the facts of each company; their CIK is the CIK of the factories."""
        rows, self._ciks = of_companies(filed)
        found = standardized(rows)
        self._today = {name: by_company(getattr(found, name)) for name in ("values", "lineage", "gaps")}
        self._found = {field.name: by_company(getattr(found.found, field.name)) for field in fields(Standardized)}

    def of(self, name: str) -> Today:
        """The result of a company, as if it had been alone."""
        cik = self._ciks[name]
        return Today(**alone(self._today, cik), found=Standardized(**alone(self._found, cik)))


def each_standardized(filed: Sequence[Facts]) -> list[Today]:
    """The result of each of several companies, from one call."""
    named = {str(number): facts for number, facts in enumerate(filed)}
    results = Results(named)
    return [results.of(name) for name in named]


def filed_by(items: list[pytest.Function]) -> dict[str, Facts]:
    """The facts of each company of these tests; a test whose facts cannot be made has no facts."""
    filed: dict[str, Facts] = {}
    for item in items:
        try:
            facts = next(item.obj.yields_facts(**parameters(item)))
        except Exception:  # noqa: BLE001 - the test itself fails with it
            continue
        filed |= dict(zip(names(item, facts), several(facts), strict=True))
    return filed


def names(item: pytest.Function, facts: Filed) -> list[str]:
    """The names of the companies of a test."""
    return [f"{item.nodeid} {number}" for number in range(len(several(facts)))]


def several(facts: Filed) -> tuple[Facts, ...]:
    return facts if isinstance(facts, tuple) else (facts,)


def parameters(item: pytest.Function) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


ByCompany = dict[str, pl.DataFrame]


def by_company(frame: pl.DataFrame) -> ByCompany:
    """The rows of each company, and under "" a frame without rows."""
    parts = frame.partition_by("cik", as_dict=True, maintain_order=True)
    return {"": frame.clear(), **{str(cik): part for (cik,), part in parts.items()}}


def alone(tables: dict[str, ByCompany], cik: str) -> ByCompany:
    """The tables of one company, with the CIK and the accession numbers that the test gave it."""
    return {name: renamed(parts.get(cik, parts[""]), cik) for name, parts in tables.items()}


def renamed(frame: pl.DataFrame, cik: str) -> pl.DataFrame:
    """The rows with CIK, and with the accession numbers as filed: of_companies puts the CIK before them."""
    legs = [name for name, kind in frame.schema.items() if kind == pl.List(pl.Struct)]
    of_leg = pl.element().struct.with_fields(pl.field("accession").str.strip_prefix(cik))
    return frame.with_columns(
        pl.lit(CIK).alias("cik"),
        cs.string().exclude("cik").str.strip_prefix(cik),
        *(pl.col(name).list.eval(of_leg) for name in legs),
    )


RESULTS = pytest.StashKey[Results]()


def run_with_others(test: pytest.Function) -> None:
    """Run a marked test with the result of its facts; the first test of a module standardizes all facts."""
    module = test.getparent(pytest.Module)
    assert module
    if RESULTS not in module.stash:
        items = [item for item in test.session.items if item.getparent(pytest.Module) is module]
        module.stash[RESULTS] = Results(filed_by([item for item in items if hasattr(item.obj, "yields_facts")]))
    steps = test.obj.yields_facts(**parameters(test))
    facts = next(steps)
    found = tuple(module.stash[RESULTS].of(name) for name in names(test, facts))
    with pytest.raises(StopIteration):
        steps.send(found if isinstance(facts, tuple) else found[0])
