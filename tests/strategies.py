"""Hypothesis strategies that several tests share: simulated filers with any mix of traits, and cuts of their history.

Belongs here: what hypothesis draws, and how many examples. Does not: the properties (the tests).

`PROPERTY_DEPTH=20 pytest tests/property` draws twenty times as many examples, different ones each time, and shrinks
failures, which takes minutes.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from pipelines.sample import (
    Columns,
    Conversion,
    Dividend,
    Economics,
    Error,
    Extra,
    Filer,
    FiscalCalendar,
    Kind,
    Moved,
    NewYearEnd,
    Offering,
    RevisedBy,
    Revision,
    Split,
)

FIRST_YEAR = 2021
FIRST_DAY, LAST_DAY = date(2021, 1, 1), date(2025, 11, 21)
"""The drawn filers file between these days."""

AMONG_OTHERS = 2023
"""The fiscal year with errors in its reports; reports of the years before and after state its figures too."""

DEPTH = int(os.environ.get("PROPERTY_DEPTH", "1"))

Drawn = TypeVar("Drawn")
Trait = st.SearchStrategy[dict[str, Any]]
"""Draws the arguments of Filer that give a filer the trait."""


def examples(count: int) -> settings:
    """A number of examples, the same each time; with PROPERTY_DEPTH many new ones."""
    return settings(
        max_examples=count * DEPTH,
        derandomize=DEPTH == 1,
        database=None,
        phases=(Phase.explicit, Phase.generate, *([Phase.shrink] if DEPTH > 1 else [])),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def not_the_simplest(strategy: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    """Leaves out the first example of hypothesis, the simplest of all, which has hardly any trait."""
    return st.tuples(st.integers(0, 999).filter(bool), strategy).map(lambda drawn: drawn[1])


# -- calendars -------------------------------------------------------------------------------------------------------

weekdays = st.integers(0, 6)
sixteen_weeks = st.sampled_from([(12, 12, 12, 16), (16, 12, 12, 12)])

CALENDARS: dict[str, Trait] = {
    "months": st.fixed_dictionaries(
        {"calendar": st.builds(FiscalCalendar, month=st.integers(1, 12), named_after_start=st.booleans())}
    ),
    "weeks_52_or_53": st.fixed_dictionaries(
        {
            "calendar": st.builds(
                FiscalCalendar,
                month=st.integers(1, 12),
                weekday=weekdays,
                nearest=st.booleans(),
                named_after_start=st.booleans(),
            )
        }
    ),
    "sixteen_week_quarter": st.fixed_dictionaries(
        {
            "calendar": st.builds(
                FiscalCalendar, month=st.integers(1, 12), weekday=weekdays, nearest=st.booleans(), weeks=sixteen_weeks
            )
        }
    ),
    "early_january_year_end": st.fixed_dictionaries(
        {"calendar": st.builds(FiscalCalendar, weekday=weekdays, nearest=st.just(True))}
    ),
    "fiscal_year_change": st.sampled_from([(12, 9), (12, 6), (12, 3), (9, 6), (9, 3), (6, 3)]).flatmap(
        lambda months: st.fixed_dictionaries(
            {
                "calendar": st.builds(
                    FiscalCalendar,
                    month=st.just(months[0]),
                    change=st.builds(NewYearEnd, year=st.integers(2022, 2024), month=st.just(months[1])),
                )
            }
        )
    ),
}

# -- statements ------------------------------------------------------------------------------------------------------

INDUSTRIES = (
    Kind.BANK,
    Kind.BROKER,
    Kind.ASSET_MANAGER,
    Kind.EXCHANGE,
    Kind.PAYMENTS,
    Kind.INSURER,
    Kind.REIT,
    Kind.UTILITY,
    Kind.OIL_AND_GAS,
    Kind.CAPTIVE_FINANCE,
    Kind.PARTNERSHIP,
)

STATEMENTS: dict[str, Trait] = {
    **{f"industry_{kind.name.lower()}": st.fixed_dictionaries({"kind": st.just(kind)}) for kind in INDUSTRIES},
    "industry_shell": st.just(
        {"kind": Kind.SHELL, "dividend": None, "economics": Economics(revenue=2_000_000, overhead=0.9, debt=0)}
    ),
    "annual_only": st.fixed_dictionaries({"kind": st.just(Kind.FOREIGN), "currency": st.sampled_from(["EUR", "JPY"])}),
    "half_years": st.fixed_dictionaries(
        {"kind": st.just(Kind.FOREIGN), "currency": st.just("EUR"), "half_years": st.just(True)}
    ),
    "second_currency": st.fixed_dictionaries(
        {"kind": st.just(Kind.FOREIGN), "currency": st.sampled_from(["EUR", "TWD"]), "convenience": st.just(True)}
    ),
    "ifrs_to_us_gaap": st.fixed_dictionaries(
        {
            "kind": st.just(Kind.FOREIGN),
            "conversion": st.builds(Conversion, year=st.just(2023), share=st.sampled_from([0.03, 0.2])),
        }
    ),
}

# -- shares ----------------------------------------------------------------------------------------------------------

ratios = st.sampled_from([Fraction(2), Fraction(3), Fraction(4), Fraction(3, 2), Fraction(20)])
reverse_ratios = st.sampled_from([Fraction(1, 4), Fraction(1, 10), Fraction(1, 20)])
# a split shows in a period that is stated before and after it: not in the first years, and one at a time
earlier_days, later_days = st.dates(date(2023, 6, 1), date(2024, 1, 15)), st.dates(date(2024, 7, 1), date(2025, 6, 30))


def splits_of(ratio: st.SearchStrategy[Fraction], days: st.SearchStrategy[date]) -> st.SearchStrategy[Split]:
    return st.builds(Split, ratio=ratio, effective=days)


SHARES: dict[str, Trait] = {
    "split": st.fixed_dictionaries({"splits": st.tuples(splits_of(ratios, earlier_days | later_days))}),
    "reverse_split": st.fixed_dictionaries({"splits": st.tuples(splits_of(reverse_ratios, earlier_days | later_days))}),
    "two_splits": st.fixed_dictionaries(
        {"splits": st.tuples(splits_of(ratios | reverse_ratios, earlier_days), splits_of(ratios, later_days))}
    ),
    "announced_split": st.fixed_dictionaries({"announced": st.tuples(splits_of(ratios | reverse_ratios, later_days))}),
    "offering": st.fixed_dictionaries(
        {
            "dividend": st.none(),
            "offering": st.builds(
                Offering, day=st.dates(date(2021, 1, 4), date(2021, 12, 30)), before=st.sampled_from([0.02, 0.1, 0.4])
            ),
        }
    ),
}

# -- tags ------------------------------------------------------------------------------------------------------------

CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax"
SECURITIES = (
    "MarketableSecuritiesCurrent",
    "DebtSecuritiesCurrent",
    "AvailableForSaleSecuritiesDebtSecuritiesCurrent",
    "AvailableForSaleSecuritiesCurrent",
)


def retagged(item: str, tag: str, since: int, **extra: Any) -> dict[str, Any]:
    """From some fiscal year's filings on, a line has another tag."""
    return {"extras": (Extra(tag=tag, like=item, since=since, **extra),), "ceased": ((item, since),)}


def with_a_line_left_out(line: str, quarter: int, *, adds_up: bool) -> dict[str, Any]:
    """Balance sheets with totals and all lines; one report leaves one line out on its own day.

    adds_up: whether the lines of the current liabilities add up; else one of them is never tagged.
    """
    parts = {
        "AccountsPayableCurrent": {"assets": 0.05},
        "AccruedLiabilitiesCurrent": {"assets": 0.02},
        "OtherLiabilitiesNoncurrent": {
            **{"liabilities": 1, "debt": -1},
            **{"AccountsPayableCurrent": -1, "AccruedLiabilitiesCurrent": -1},
        },
        "LiabilitiesCurrent": {
            **{"AccountsPayableCurrent": 1, "AccruedLiabilitiesCurrent": 1},
            **{"debt_current": 1, "short_term_debt": 1},
        },
        "InventoryNet": {"assets": 0.1},
        "AssetsCurrent": {"InventoryNet": 1, "cash": 1, "short_term_investments": 1},
    }
    extras = [Extra(tag=tag, like="assets", of=tuple(of.items())) for tag, of in parts.items()]
    if not adds_up:
        extras[1] = replace(extras[1], until=0)
    error = Error(items=frozenset({line}), report=(AMONG_OTHERS, quarter), columns=Columns.OWN, untagged=True)
    return {"extras": tuple(extras), "errors": (error,)}


years_of_change = st.integers(2022, 2024)
pairs_of_securities = st.permutations(SECURITIES).map(lambda tags: tags[:2])

TAGS: dict[str, Trait] = {
    "tag_switch_interchangeable": st.builds(
        lambda since, pair: {"revenue_tags": ((0, pair[0]),), **retagged("revenue", pair[1], since)},
        years_of_change,
        st.permutations(["Revenues", CONTRACTS, "SalesRevenueNet"]).map(lambda tags: tags[:2]),
    ),
    "tag_switch_of_flows": st.builds(
        lambda since, pair: retagged(*pair, since),
        years_of_change,
        st.sampled_from(
            [
                ("capex", "PaymentsToAcquireProductiveAssets"),
                ("net_income", "ProfitLoss"),
                ("eps_basic", "EarningsPerShareBasicAndDiluted"),
                ("dividends_per_share", "CommonStockDividendsPerShareCashPaid"),
                ("operating_cash_flow", "NetCashProvidedByUsedInOperatingActivitiesContinuingOperations"),
            ]
        ),
    ),
    # the total is no longer stated, and the remaining line was always a part of it
    "tag_switch_not_interchangeable": st.builds(
        lambda since, share: {
            "revenue_tags": ((0, "Revenues"),),
            "extras": (Extra(tag=CONTRACTS, like="revenue", of=(("revenue", share),)),),
            "ceased": (("revenue", since),),
        },
        years_of_change,
        st.sampled_from([0.6, 0.8, 0.97]),
    ),
    "tag_of_a_part_beside_the_total": st.builds(
        lambda share: {
            "revenue_tags": ((0, "Revenues"),),
            "extras": (Extra(tag=CONTRACTS, like="revenue", of=(("revenue", share),)),),
        },
        st.sampled_from([0.6, 0.97, 1.4]),
    ),
    "securities_tag_replaced": st.builds(
        lambda since, pair: {"investments_tag": pair[0], **retagged("short_term_investments", pair[1], since)},
        years_of_change,
        pairs_of_securities,
    ),
    "line_left_out": st.builds(
        with_a_line_left_out,
        st.sampled_from(["debt_noncurrent", "short_term_investments"]),
        st.integers(1, 4),
        adds_up=st.booleans(),
    ),
    "never_tagged": st.fixed_dictionaries(
        {"untagged": st.frozensets(st.sampled_from(["capex", "debt_current", "eps_basic", "cash"]), max_size=2)}
    ),
    "proxies": st.just({"proxies": True}),
}

# -- facts that are filed twice, restated, or wrong --------------------------------------------------------------------

FLOWS = ("revenue", "net_income", "operating_cash_flow")
COUNTS = frozenset({"shares_basic", "shares_diluted"})
EARNINGS = frozenset({"eps_basic", "eps_diluted"})
reports = st.tuples(st.just(AMONG_OTHERS), st.integers(1, 4))
factors = st.sampled_from([Fraction(1000), Fraction(1_000_000), Fraction(1, 1000)])
one_of_quarters = st.sampled_from(["revenue", "net_income"]).map(lambda item: frozenset({item}))
one_flow = st.sampled_from(FLOWS).map(lambda item: frozenset({item}))


def erring(**of: Any) -> Trait:
    """One error of a report."""
    return st.fixed_dictionaries({"errors": st.tuples(st.builds(Error, **of))})


def with_quarterly_data(traits: dict[str, Any]) -> dict[str, Any]:
    return {**traits, "quarterly_data": True}


CONTRADICTED: dict[str, Trait] = {
    "error_shares_in_thousands": erring(
        items=st.just(COUNTS), report=reports, factor=st.sampled_from([Fraction(1, 1000), Fraction(1, 1_000_000)])
    ),
    "error_earnings_per_share_in_cents": erring(
        items=st.just(EARNINGS), report=reports, factor=st.sampled_from([Fraction(1, 100), Fraction(100)])
    ),
    "error_money_in_thousands": erring(items=one_flow, report=reports, factor=factors),
    "error_money_of_comparatives": erring(
        items=one_flow, report=reports, columns=st.just(Columns.COMPARATIVE), factor=factors
    ),
    "error_sign_of_a_comparative": erring(
        items=st.just(frozenset({"operating_cash_flow"})) | st.just(frozenset({"net_income"})),
        report=reports,
        columns=st.just(Columns.COMPARATIVE),
        factor=st.just(Fraction(-1)),
    ),
    "error_sign_of_outflows": erring(items=st.just(frozenset({"capex"})), report=reports, factor=st.just(Fraction(-1))),
    # right, wrong, right again: three filings
    "error_quarter_in_half_year": erring(
        items=one_of_quarters,
        report=st.just((AMONG_OTHERS, 4)),
        columns=st.just(Columns.OWN),
        moved=st.just(Moved.TO_YEAR_TO_DATE),
    ).map(with_quarterly_data),
    # not stated again, but no quarter has the length of a half-year
    "error_quarter_in_half_year_of_comparatives": erring(
        items=one_of_quarters,
        report=st.sampled_from([(AMONG_OTHERS, 2), (AMONG_OTHERS, 3)]),
        columns=st.just(Columns.COMPARATIVE),
        moved=st.just(Moved.TO_YEAR_TO_DATE),
    ),
    "error_last_years_quarters": erring(
        items=one_of_quarters,
        report=st.sampled_from([(AMONG_OTHERS, 4), (AMONG_OTHERS + 1, 4)]),
        columns=st.just(Columns.COMPARATIVE),
        moved=st.just(Moved.TO_NEXT_YEAR),
    ).map(with_quarterly_data),
}

# every report with the column has the error, and no identity relates the item to another
UNCONTRADICTED: dict[str, Trait] = {
    "uncontradicted_scale": erring(
        items=st.sampled_from(["capex", "dividends_per_share", "operating_cash_flow"]).map(
            lambda item: frozenset({item})
        ),
        column=st.sampled_from([(2023, 1, 4), (2023, 1, 2), (2024, 1, 1)]),
        factor=st.sampled_from([Fraction(1000), Fraction(1, 100), Fraction(10)]),
    ),
    "uncontradicted_sign": erring(
        items=st.just(frozenset({"operating_cash_flow"})),
        column=st.sampled_from([(2023, 1, 4), (2022, 1, 3)]),
        factor=st.just(Fraction(-1)),
    ),
    "uncontradicted_balance": erring(
        items=st.sampled_from(["cash", "debt_noncurrent", "debt_current"]).map(lambda item: frozenset({item})),
        column=st.sampled_from([(2023, 4, 4), (2024, 2, 2)]),
        factor=st.sampled_from([Fraction(1000), Fraction(1, 10)]),
    ),
}

RESTATEMENTS: dict[str, Trait] = {
    "amendment": st.builds(
        lambda year: {"revisions": (Revision(year=year, by=RevisedBy.AMENDMENT),)}, st.integers(2021, 2025)
    ),
    "restated_comparatives": st.builds(
        lambda year: {"revisions": (Revision(year=year, by=RevisedBy.COMPARATIVES),)}, st.integers(2021, 2025)
    ),
    "missing_quarters": st.fixed_dictionaries(
        {"missing": st.frozensets(st.tuples(st.integers(2021, 2025), st.integers(1, 3)), min_size=1, max_size=3)}
    ),
    "missing_year": st.fixed_dictionaries({"missing": st.just(frozenset({(2023, 4)}))}),
    "rounding": st.fixed_dictionaries(
        {"unit": st.just(1_000), "rounded_in": st.frozensets(st.integers(2021, 2025), min_size=1, max_size=3)}
    ),
    "quarterly_data": st.just({"quarterly_data": True}),
    "reverse_merger": st.fixed_dictionaries({"merged": st.dates(date(2022, 7, 1), date(2023, 6, 30))}),
}
VINTAGES: dict[str, Trait] = RESTATEMENTS | CONTRADICTED

TRAITS: dict[str, dict[str, Trait]] = {
    "calendars": CALENDARS,
    "statements": STATEMENTS,
    "shares": SHARES,
    "tags": TAGS,
    "restatements": RESTATEMENTS,
    "errors": CONTRADICTED,
}
"""All traits with which the truth can be found, by kind and name."""

plain: Trait = st.fixed_dictionaries(
    {
        "unit": st.sampled_from([1_000, 1_000_000]),
        "economics": st.builds(Economics, overhead=st.floats(0.1, 0.36), debt=st.sampled_from([0.5, 1.5, 4.0])),
        "dividend": st.builds(Dividend, cents=st.integers(1, 90), annual_raise=st.integers(0, 9)),
        "seed": st.integers(0, 9),
    }
)


def filer_of(number: int, *traits: dict[str, Any]) -> Filer:
    """A filer with a short history and these traits; the later ones take precedence."""
    drawn = {name: value for trait in traits for name, value in trait.items()}
    return Filer(
        cik=f"{9990000000 + number}",
        name="Example Drawn Filer Inc",
        symbols=(f"XQ{number:04d}",),
        first_year=FIRST_YEAR,
        **drawn,
    )


def filers_with(trait: Trait) -> st.SearchStrategy[Filer]:
    """Otherwise plain filers with a trait."""
    return st.builds(filer_of, st.integers(100, 9999), plain, trait)


@st.composite
def filers(draw: st.DrawFn, number: int | None = None, without: Iterable[str] = ()) -> Filer:
    """A filer with any mix of the traits, at most one of a kind; `number` distinguishes filers of one draw."""
    traits = [draw(plain)]
    if draw(st.integers(0, 3)) == 0:  # losses change signs
        traits.append({"economics": draw(st.builds(Economics, overhead=st.floats(0.36, 0.8), debt=st.floats(0, 4)))})
    # not both of the last two, because the tags belong to a manufacturer
    for kinds in (SHARES, VINTAGES, CALENDARS, draw(st.sampled_from([STATEMENTS, TAGS]))):
        names = [name for name in kinds if name not in without]
        if name := draw(st.none() | st.sampled_from(names)):
            traits.append(draw(kinds[name]))
    number = draw(st.integers(100, 9999)) if number is None else number
    return filer_of(number, *traits)


TOGETHER = 8
"""The number of filers drawn at once: a call of the pipeline costs as much as several filers."""


def together(one: st.SearchStrategy[Filer], count: int = TOGETHER) -> st.SearchStrategy[list[Filer]]:
    """Several filers, which the pipeline processes together."""
    return st.lists(one, min_size=count, max_size=count, unique_by=lambda filer: filer.cik)


days = st.dates(date(2021, 6, 1), LAST_DAY)


def different_days(count: int = TOGETHER) -> st.SearchStrategy[list[date]]:
    """Some days of the history."""
    return st.lists(days, min_size=count, max_size=count, unique=True)


def cuts(count: int) -> st.SearchStrategy[list[date]]:
    """Some days of the history, in order: each is the day of a synchronization before the last."""
    return different_days(count).map(sorted)
