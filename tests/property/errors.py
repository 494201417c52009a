"""Errors of filers, drawn at random: errors that another fact of the filings contradicts, and errors without a witness.

Belongs here: drawing the errors, and counting which true values are served, withheld or served wrong. Does not: how an
error changes a report (pipelines.sample.business.errors), the property (test_errors).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from itertools import cycle, islice

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pipelines.sample import Columns, Filer, Moved, RevisedBy, Revision
from pipelines.sample.business.schedule import report_filed
from tests.property.histories import truth
from tests.property.truths import Found, Key, found, is_silent, missed, untrue
from tests.strategies import AMONG_OTHERS, Trait, erring, filer_of, not_the_simplest, plain, with_quarterly_data

IN_A_CALL = 50
"""Filers that are standardized together."""

INCOME_STATEMENT = frozenset({"revenue", "cost", "gross_profit", "operating_income", "pretax", "tax", "net_income"})
own, comparative = st.just(Columns.OWN), st.just(Columns.COMPARATIVE)
annual = st.just((AMONG_OTHERS, 4))
interim = st.sampled_from([(AMONG_OTHERS, number) for number in (1, 2, 3)])
any_report = st.sampled_from([(AMONG_OTHERS, number) for number in (1, 2, 3, 4)])
next_reports = st.sampled_from([(AMONG_OTHERS + 1, number) for number in (1, 2, 3, 4)])


def lines(*names: str) -> st.SearchStrategy[frozenset[str]]:
    """One of some lines."""
    return st.sampled_from(names).map(lambda name: frozenset({name}))


WITNESSED: dict[str, Trait] = {
    # by earnings per share, and income before tax
    "sign of net income": erring(
        items=lines("net_income"), report=any_report, columns=own, factor=st.just(Fraction(-1))
    ),
    # by net income and shares
    "sign of earnings per share": erring(
        items=lines("eps_basic"), report=any_report, columns=own, factor=st.just(Fraction(-1))
    ),
    # by earnings per share and shares
    "income statement in thousands": erring(
        items=st.just(INCOME_STATEMENT), report=any_report, factor=st.just(Fraction(1, 1000))
    ),
    # by the other quarters of the year
    "quarterly dividend for the year to date": erring(
        items=lines("dividends_per_share"), report=interim, columns=own, moved=st.just(Moved.TO_YEAR_TO_DATE)
    ),
    "quarterly figure for the year": erring(
        items=lines("revenue", "net_income", "dividends_per_share"),
        report=annual,
        columns=own,
        moved=st.just(Moved.TO_YEAR),
    ).map(with_quarterly_data),
    # by the nine months
    "capital expenditure of the year in thousands": erring(
        items=lines("capex"), report=annual, columns=own, factor=st.just(Fraction(1, 1000))
    ),
    # by the exact figures of the reports before
    "rounded repetition": erring(
        items=lines("revenue", "net_income"), report=next_reports, columns=comparative, digits=st.just(2)
    ).map(lambda traits: {**traits, "unit": 1_000}),
    # by the balance of that day, and total assets
    "cash of the last year end": erring(items=lines("cash"), report=interim, moved=st.just(Moved.TO_REPORT_DATE)).map(
        lambda traits: {**traits, "unit": 1_000}
    ),
    # by the full report
    "thin amendment": st.fixed_dictionaries({"thin_amendments": st.frozensets(st.integers(2021, 2025), min_size=1)}),
}
"""Errors that another fact of the same or an earlier filing contradicts."""

WITHOUT: dict[str, Trait] = {
    "sign of operating cash flow": erring(
        items=lines("operating_cash_flow"), report=any_report, columns=own, factor=st.just(Fraction(-1))
    ),
    "scale of capital expenditure": erring(
        items=lines("capex"), report=interim, columns=own, factor=st.sampled_from([Fraction(10), Fraction(1, 1000)])
    ),
    "outlier among comparatives": erring(
        items=lines("revenue", "operating_cash_flow", "capex"),
        report=next_reports,
        columns=comparative,
        factor=st.sampled_from([Fraction(13, 10), Fraction(4, 5)]),
    ),
    "scale of a balance": erring(
        items=lines("cash", "debt_noncurrent", "debt_current"),
        report=interim,
        columns=own,
        factor=st.sampled_from([Fraction(9, 10), Fraction(1, 10), Fraction(2)]),
    ),
    "line under an element of the filer's own": st.builds(
        lambda item, since: {"ceased": ((item, since),)},
        st.sampled_from(["short_term_investments", "debt_current", "short_term_debt"]),
        st.integers(2022, 2024),
    ),
    "recast year without recast quarters": st.builds(
        lambda year: {
            "revisions": (Revision(year=year, by=RevisedBy.COMPARATIVES),),
            "missing": frozenset((year + 1, number) for number in (1, 2, 3)),
        },
        st.integers(2022, 2023),
    ),
    "recast year with recast quarters": st.builds(
        lambda year: {"revisions": (Revision(year=year, by=RevisedBy.COMPARATIVES),)}, st.integers(2022, 2023)
    ),
}
"""Errors and changes that may be believed: no other fact so far says otherwise."""


def drawn(traits: Mapping[str, Trait]) -> st.SearchStrategy[list[tuple[str, Filer]]]:
    """Filers that pay dividends, each with one of the errors, by its name; all errors equally often."""
    names = list(islice(cycle(traits), IN_A_CALL))
    several = st.tuples(*(st.tuples(plain, traits[name]) for name in names))
    return several.map(
        lambda given: [
            (name, filer_of(100 + number, *of)) for number, (name, of) in enumerate(zip(names, given, strict=True))
        ]
    )


def day_of_error(filer: Filer) -> date | None:
    """When the report with the error is filed; None for an error that is in no single report."""
    reports = [error.report for error in filer.errors if error.report]
    return report_filed(filer, *reports[0]) if reports else None


def served_wrong(filer: Filer, told: Found, day: date | None = None) -> list[object]:
    """Values that differ from the true values of a day; withheld values do not count."""
    rows = truth(filer, day)
    of_truth = [(row, value) for row, value in missed(told.values, rows) if value is not None]
    if day:
        return of_truth
    guessed = [one for one in untrue(filer, told.values, rows) if not is_silent(filer, one[0])]
    return [*of_truth, *(one for one in guessed if "other_element" not in told.flags[one[0]])]


def withheld(filer: Filer, told: Found, day: date | None = None) -> list[Key]:
    """True values of a day that are not served."""
    rows = missed(told.values, truth(filer, day))
    return [(row.cik, row.period_end, row.item) for row, value in rows if value is None]


Judged = tuple[str, Filer, Found, date | None]


def judged(several: Sequence[tuple[str, Filer]]) -> Iterator[Judged]:
    """The result for each filer after all filings, and on the day of the error; one call of the pipeline reads all
    filers.
    """
    filers = [filer for _, filer in several]
    days = [day_of_error(filer) for filer in filers]
    for filed_by in (None, days):
        told = found(*filers, filed_by=filed_by)
        for (name, filer), day in zip(several, days, strict=True):
            if filed_by is None or day:
                yield name, filer, told.of(filer), filed_by and day


def counted(traits: Mapping[str, Trait], filers: int) -> dict[str, Counter[str]]:
    """For each error the number of filers drawn, of filers with a wrong value, and of values by outcome.

    Each filer is judged twice: after all filings, and on the day of the error (`of_day`).
    """
    found_of: dict[str, Counter[str]] = {name: Counter() for name in traits}

    @settings(
        max_examples=max(1, filers // IN_A_CALL),
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(several=not_the_simplest(drawn(traits)))
    def count(several: list[tuple[str, Filer]]) -> None:
        for name, filer, told, day in judged(several):
            wrong, gone = served_wrong(filer, told, day), withheld(filer, told, day)
            counts = {"wrong_filers": bool(wrong), "wrong": len(wrong), "withheld": len(gone)}
            if day:
                counts = {f"{name}_of_day": count for name, count in counts.items()}
            else:
                counts |= {"filers": 1, "values": len(truth(filer))}
            found_of[name].update(counts)

    count()
    return found_of
