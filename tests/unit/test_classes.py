"""Values by class of stock: each shape that filers have, as packages of filings and as data sets state it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

import polars as pl
import pytest

from pipelines.normalize.classes.members import class_of, plain
from pipelines.normalize.classes.series import CLASS, COMPANY
from pipelines.normalize.classes.symbols import NOT_STATED, REASON, SERIES_MEMBER, not_stated, series_of
from pipelines.normalize.faces.facts import FACT_COLUMNS, Filed
from pipelines.normalize.faces.sources import COVERS, DATA_SET, FILING
from pipelines.normalize.pipeline import Standardized, standardize
from pipelines.stages.batch.schemas import FILED_FACTS, STATEMENT_LINES
from tests.factories import CIK, Row, fact, raw
from tests.unit.test_faces import LINE_COLUMNS, TEXT
from warehouse.contract.line_items import ITEMS_BY_CLASS

EARNINGS, COUNT, DILUTED = (
    "EarningsPerShareBasic",
    "WeightedAverageNumberOfSharesOutstandingBasic",
    "WeightedAverageNumberOfDilutedSharesOutstanding",
)
REVENUE, INCOME, DIVIDENDS = "Revenues", "NetIncomeLoss", "CommonStockDividendsPerShareDeclared"
UNITS = {EARNINGS: "USD/shares", DIVIDENDS: "USD/shares", COUNT: "shares", DILUTED: "shares", INCOME: "USD"}
A, B, C = (f"us-gaap:StatementClassOfStockAxis=us-gaap:CommonClass{letter}Member" for letter in "ABC")
B_1, B_2 = (f"us-gaap:StatementClassOfStockAxis=own:CommonClassB{number}Member" for number in (1, 2))
OWN_A, OWN_B = (f"own:ClassesOfSharesAxis=own:Class{letter}CommonSharesMember" for letter in "AB")
EQUIVALENT_A = "us-gaap:StatementEquityComponentsAxis=own:EquivalentClassAMember"
LIMITED = "us-gaap:PartnerTypeOfPartnersCapitalAccountAxis=us-gaap:LimitedPartnerMember"
IN_A, IN_B = "CommonClassAMember", "CommonClassBMember"
FIRST, LAST = 2021, 2024

Stated = Mapping[tuple[str, str], Sequence[float]]
"""By element and member: the amounts of the fiscal year and, if stated, of the one before."""


@dataclass(frozen=True)
class Shape:
    """A company's annual reports of 2021 to 2024.

    by_class: the amounts of each report by class, by its fiscal year; whole: the amounts without a class. income: of
    all years. expected: by class, item and year the value; None: there is no value.
    """

    by_class: Mapping[int, Stated]
    expected: Mapping[tuple[str, str, int], float | None]
    whole: Mapping[int, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    income: float = 300e6


def every_year(stated: Stated) -> dict[int, Stated]:
    return dict.fromkeys(range(FIRST, LAST + 1), stated)


def of_two(a: Mapping[str, Sequence[float]], b: Mapping[str, Sequence[float]], members: Sequence[str]) -> Stated:
    of_each = zip(members, (a, b), strict=True)
    return {(element, member): amounts for member, held in of_each for element, amounts in held.items()}


LARGE = {EARNINGS: (150.0, 150.0), COUNT: (2e6, 2e6), DILUTED: (2e6, 2e6)}
SMALL = {EARNINGS: (0.10, 0.10), COUNT: (3e9, 3e9), DILUTED: (3e9, 3e9)}
SENIOR = {EARNINGS: (2.2, 2.2), COUNT: (100e6, 100e6), DILUTED: (100e6, 100e6)}
JUNIOR = {EARNINGS: (2.0, 2.0), COUNT: (40e6, 40e6), DILUTED: (40e6, 40e6)}
SPLIT = {EARNINGS: (5.0, 5.0), COUNT: (60e6, 60e6), DILUTED: (60e6, 60e6)}
AFTER = {EARNINGS: (0.1, 0.1), COUNT: (3e9, 3e9), DILUTED: (3e9, 3e9)}

SHAPES: dict[str, Shape] = {
    "equal earnings": Shape(
        every_year(
            of_two(
                {EARNINGS: (2.0, 2.0), COUNT: (100e6, 100e6), DIVIDENDS: (0.5,)},
                {EARNINGS: (2.0, 2.0), COUNT: (50e6, 50e6), DIVIDENDS: (0.5,)},
                (A, B),
            )
        ),
        {
            (COMPANY, "eps_basic", 2023): 2.0,
            (COMPANY, "shares_basic", 2023): 150e6,
            (COMPANY, "dividends_per_share", 2023): 0.5,
            (IN_A, "eps_basic", 2023): None,
        },
    ),
    "one share of class A is 1,500 of class B": Shape(
        every_year(of_two(LARGE, SMALL, (EQUIVALENT_A, B))),
        {
            (IN_A, "eps_basic", 2023): 150.0,
            (IN_A, "shares_basic", 2023): 2e6,
            (IN_B, "eps_basic", 2023): 0.10,
            (IN_B, "shares_diluted", 2023): 3e9,
            (COMPANY, "eps_basic", 2023): None,
            (COMPANY, "net_income", 2023): 300e6,
            (IN_B, "net_income", 2023): None,
        },
    ),
    "classes that convert at different rates": Shape(
        every_year(
            {
                **{(EARNINGS, A): (2.0, 2.0), (EARNINGS, B_1): (3.1, 3.1), (EARNINGS, B_2): (3.0, 3.0)},
                **{(EARNINGS, C): (8.0, 8.0), (COUNT, A): (90e6, 90e6), (COUNT, B_1): (12e6, 12e6)},
                **{(COUNT, B_2): (7e6, 7e6), (COUNT, C): (5e6, 5e6)},
            }
        ),
        {
            (IN_A, "eps_basic", 2023): 2.0,
            (IN_A, "shares_basic", 2023): 90e6,
            ("CommonClassB1Member", "eps_basic", 2023): 3.1,
            ("CommonClassB2Member", "shares_basic", 2023): 7e6,
            ("CommonClassCMember", "eps_basic", 2023): 8.0,
        },
    ),
    "a diluted count of the senior class that includes the other": Shape(
        every_year(
            of_two(
                {EARNINGS: (2.0, 2.0), COUNT: (100e6, 100e6), DILUTED: (153e6, 153e6)},
                {EARNINGS: (2.0, 2.0), COUNT: (50e6, 50e6), DILUTED: (50e6, 50e6)},
                (A, B),
            )
        ),
        {(COMPANY, "shares_basic", 2023): 150e6, (COMPANY, "shares_diluted", 2023): 153e6},
    ),
    "members and axis renamed": Shape(
        {
            **dict.fromkeys((2021, 2022), of_two(SENIOR, JUNIOR, (A, B))),
            **dict.fromkeys((2023, 2024), of_two(SENIOR, JUNIOR, (OWN_A, OWN_B))),
        },
        {(IN_A, "eps_basic", year): 2.2 for year in (2021, 2022, 2023, 2024)}
        | {(IN_B, "shares_basic", year): 40e6 for year in (2021, 2022, 2023, 2024)},
    ),
    "units of limited partners": Shape(
        every_year({(EARNINGS, LIMITED): (3.0, 3.0), (COUNT, LIMITED): (98e6, 98e6)}),
        {(COMPANY, "eps_basic", 2023): 3.0, (COMPANY, "shares_basic", 2023): 98e6},
    ),
    "a class listed later": Shape(
        dict.fromkeys((2023, 2024), of_two(SENIOR, JUNIOR, (A, B))),
        {
            (IN_A, "eps_basic", 2021): 2.2,
            (IN_A, "eps_basic", 2024): 2.2,
            (IN_A, "shares_basic", 2021): None,
            (IN_A, "shares_basic", 2024): 100e6,
            (IN_B, "eps_basic", 2021): None,
            (IN_B, "eps_basic", 2022): 2.0,
        },
        {year: {EARNINGS: (2.2, 2.2), COUNT: (136e6, 136e6)} for year in (2021, 2022)},
    ),
    "a split of one class": Shape(
        {
            **dict.fromkeys((2021, 2022), of_two(LARGE, SPLIT, (A, B))),
            **dict.fromkeys((2023, 2024), of_two(LARGE, AFTER, (A, B))),
        },
        {
            (IN_A, "eps_basic", 2021): 150.0,
            (IN_A, "shares_basic", 2021): 2e6,
            (IN_B, "eps_basic", 2021): 0.1,
            (IN_B, "shares_basic", 2021): 3e9,
            (IN_B, "eps_basic", 2024): 0.1,
        },
    ),
    "facts by class in some years": Shape(
        {2022: of_two(SENIOR, JUNIOR, (A, B)), 2023: of_two(SENIOR, JUNIOR, (A, B))},
        {(IN_A, "eps_basic", year): 2.2 for year in (2021, 2022, 2023, 2024)},
        {2021: {EARNINGS: (2.2,)}, 2024: {EARNINGS: (2.2, 2.2)}},
    ),
    "distributed and undistributed earnings": Shape(
        every_year(
            {
                ("EarningsPerShareBasicDistributed", A): (0.5,),
                ("EarningsPerShareBasicUndistributed", A): (1.7,),
                ("EarningsPerShareBasicDistributed", B): (0.45,),
                ("EarningsPerShareBasicUndistributed", B): (1.55,),
                (EARNINGS, B): (2.0,),
            }
        ),
        {(IN_A, "eps_basic", 2023): 2.2, (IN_B, "eps_basic", 2023): 2.0},
    ),
    "net income of each class": Shape(
        every_year(
            of_two({**SENIOR, INCOME: (220e6, 220e6)}, {**JUNIOR, INCOME: (80e6, 80e6)}, (A, B)),
        ),
        {(IN_A, "shares_basic", 2023): 100e6, (IN_B, "shares_basic", 2023): 40e6, (COMPANY, "net_income", 2023): 300e6},
    ),
}


def cik_of(name: str) -> str:
    return f"{7_000 + [*SHAPES].index(name):010d}"


def in_data_set(member: str) -> str:
    """Dimensions as data sets write them."""
    axis, _, name = member.partition("=")
    local = [part.rpartition(":")[2] for part in (axis, name)]
    return f"{local[0].removesuffix('Axis').removeprefix('Statement')}={local[1].removesuffix('Member')};"


def standardized(shapes: Mapping[str, Shape], source: str) -> Standardized:
    """The values of companies with reports of these shapes, in addition to companyfacts of the whole company."""
    of_whole: list[Row] = []
    of_classes: list[dict[str, object]] = []
    for name, shape in shapes.items():
        for year in range(FIRST, LAST + 1):
            filed = date(year + 1, 2, 20)
            accession = f"{cik_of(name)}-{year}"
            head = {"cik": cik_of(name), "accession": accession}
            held = {INCOME: (shape.income,) * 2, REVENUE: (2e9, 2e9), **shape.whole.get(year, {})}
            of_whole += [
                {**fact(tag, amount, f"{of}-01-01", f"{of}-12-31", filed=filed, unit=UNITS.get(tag)), **head}
                for tag, amounts in held.items()
                for of, amount in zip((year, year - 1), amounts, strict=False)
            ]
            for (element, member), amounts in shape.by_class.get(year, {}).items():
                for of, amount in zip((year, year - 1), amounts, strict=False):
                    is_set = source == DATA_SET
                    of_classes.append(
                        {
                            **head,
                            **{"source": source, "taxonomy": "us-gaap", "element": element, "own": False},
                            "unit": UNITS.get(element, "USD/shares"),
                            "start": None if is_set else date(of, 1, 1),
                            "end": date(of, 12, 31),
                            "quarters": 4 if is_set else None,
                            "value": amount,
                            "member": in_data_set(member) if is_set else member,
                        }
                    )
    by_class = pl.DataFrame(of_classes, schema=dict(FILED_FACTS)).select(FACT_COLUMNS).with_columns(TEXT)
    nothing = by_class.clear()
    lines = STATEMENT_LINES.to_frame().select(LINE_COLUMNS).with_columns(TEXT)
    filings = pl.DataFrame(schema={"cik": pl.String, "accession": pl.String, "form": pl.String, "filed": pl.Date})
    return standardize(raw(of_whole), filed=Filed(nothing, lines, filings, by_class), validate=True)


@pytest.fixture(scope="module", params=[FILING, DATA_SET])
def found(request: pytest.FixtureRequest) -> Standardized:
    return standardized(SHAPES, request.param)


@pytest.mark.parametrize("name", SHAPES)
def test_each_class_has_its_own_values(found: Standardized, name: str) -> None:
    of_company = found.versions.filter(pl.col("cik") == cik_of(name)).unique(
        [CLASS, "period_end", "item"], keep="last", maintain_order=True
    )
    values = {
        (member, item, end.year): value
        for member, item, end, value in of_company.select(CLASS, "item", "period_end", "value").iter_rows()
    }
    expected = SHAPES[name].expected
    assert {key: values.get(key) for key in expected} == {
        key: value if value is None else pytest.approx(value) for key, value in expected.items()
    }


def test_a_split_of_one_class_changes_only_that_class(found: Standardized) -> None:
    splits = found.splits.filter(pl.col("cik") == cik_of("a split of one class"))
    assert splits.select(CLASS, "ratio").rows() == [(IN_B, 50.0)]


def test_what_classes_have_in_common_is_the_companys(found: Standardized) -> None:
    """Net income and its reasons are stated once; a class has amounts per share and counts."""
    of_class = found.versions.filter(pl.col(CLASS) != COMPANY)
    assert set(of_class["item"]) <= set(ITEMS_BY_CLASS)
    assert found.periods["cik"].n_unique() == len(SHAPES)
    assert found.filings.unique(["cik", "accession"]).height == found.filings.height


def test_each_leg_names_the_class_of_its_fact(found: Standardized) -> None:
    name = "one share of class A is 1,500 of class B"
    of_class = found.versions.filter(pl.col("cik") == cik_of(name), pl.col(CLASS) == IN_B)
    legs = of_class.filter(pl.col("item") == "eps_basic").explode("legs").unnest("legs", separator=".")
    assert {class_of(member) for member in legs["legs.member"]} == {IN_B}


@pytest.mark.parametrize(
    ("dimensions", "expected"),
    [
        (A, IN_A),
        (EQUIVALENT_A, IN_A),
        (OWN_B, IN_B),
        ("ClassOfStock=CapitalClassC;", "CommonClassCMember"),
        (B_1, "CommonClassB1Member"),
        ("us-gaap:StatementClassOfStockAxis=own:ClassfSharesMember", "CommonClassFMember"),
        (LIMITED, "LimitedPartnerMember"),
        ("us-gaap:StatementClassOfStockAxis=us-gaap:CommonStockMember", "CommonStockMember"),
        ("us-gaap:StatementClassOfStockAxis=us-gaap:SeriesAPreferredStockMember", None),
        ("us-gaap:AwardTypeAxis=us-gaap:RestrictedStockUnitsRSUMember", None),
        ("us-gaap:RestatementAxis=srt:ScenarioPreviouslyReportedMember", None),
        (f"{A};us-gaap:RestatementAxis=srt:RestatementAdjustmentMember", None),
        ("own:PlanAxis=own:ClassActionMember", None),
    ],
)
def test_members_are_classes_by_their_words(dimensions: str, expected: str | None) -> None:
    assert class_of(dimensions) == expected


# --- Symbols ----------------------------------------------------------------------------------------------------

SYMBOLS = ("QBK-B", "QBK-A")


def series(
    symbols: Sequence[str], classes: Sequence[tuple[str, str | None, bool]], count: float
) -> dict[str, tuple[str | None, str]]:
    """Symbol to its class and its series; the first symbol is the primary one."""
    listed = pl.DataFrame({"cik": CIK, "symbol": symbols, "is_primary": [n == 0 for n in range(len(symbols))]})
    held = pl.DataFrame(
        [(CIK, *each) for each in classes],
        schema={"cik": pl.String, CLASS: pl.String, "symbol": pl.String, "has_series": pl.Boolean},
        orient="row",
    )
    newest = {"cik": CIK, CLASS: COMPANY, "period_end": date(2024, 12, 31)}
    current = pl.DataFrame(
        [newest | {"item": "shares_basic", "value": count}, newest | {"item": "revenue", "value": 5e9}]
    )
    found = series_of(listed, held, current)
    return {symbol: (member, of) for symbol, member, of in found.select("symbol", CLASS, SERIES_MEMBER).iter_rows()}


UNKNOWN = {"QBK-B": (None, NOT_STATED), "QBK-A": (None, COMPANY)}
ON_COVERS = [(IN_A, plain("QBK.A"), True), (IN_B, plain("qbk b"), True)]
ALIKE = [(IN_A, plain("QBK-A"), False), (IN_B, plain("QBK-B"), False)]


@pytest.mark.parametrize(
    ("symbols", "classes", "count", "expected"),
    [
        (SYMBOLS, ON_COVERS, 100e6, {"QBK-B": (IN_B, IN_B), "QBK-A": (IN_A, IN_A)}),
        # classes that earn the same share the series of the company
        (SYMBOLS, ALIKE, 100e6, {"QBK-B": (IN_B, COMPANY), "QBK-A": (IN_A, COMPANY)}),
        (SYMBOLS, [], 100e6, {"QBK-B": (None, COMPANY), "QBK-A": (None, COMPANY)}),
        # a symbol of an unknown class has no values by class where classes earn differently, or the count of shares is
        # so low that they may; class A has the amounts stated without a class
        (SYMBOLS, [(IN_A, None, True), (IN_B, None, True)], 100e6, UNKNOWN),
        (SYMBOLS, [], 1.6e6, UNKNOWN),
        (("QBK", "QBKB"), [], 1.6e6, {"QBK": (None, COMPANY), "QBKB": (None, NOT_STATED)}),
        (("QBK-B",), [], 1.6e6, {"QBK-B": (None, COMPANY)}),
        (("QBK-B",), [(IN_A, None, True), (IN_B, "QBKB", False)], 100e6, {"QBK-B": (IN_B, NOT_STATED)}),
    ],
)
def test_a_symbol_has_the_series_of_its_class(
    symbols: Sequence[str],
    classes: Sequence[tuple[str, str | None, bool]],
    count: float,
    expected: dict[str, tuple[str | None, str]],
) -> None:
    assert series(symbols, classes, count) == expected


def test_the_gaps_of_an_unknown_class_name_the_reason() -> None:
    held = pl.DataFrame({"cik": [CIK, CIK], "symbol": SYMBOLS, CLASS: None, SERIES_MEMBER: [NOT_STATED, COMPANY]})
    periods = pl.DataFrame({"cik": [CIK], "period_end": [date(2024, 12, 31)]})
    gaps = not_stated(held, periods)
    assert gaps.select(CLASS, "item", "reason").rows() == [(NOT_STATED, item, REASON) for item in ITEMS_BY_CLASS]


def test_the_newest_cover_says_which_symbol_is_which_class() -> None:
    """An older one, the cover of a current report, and titles of other securities do not count."""
    of_filings = [("1", "10-K", date(2024, 2, 1)), ("2", "10-Q", date(2024, 5, 1)), ("3", "8-K", date(2024, 6, 1))]
    filings = pl.DataFrame(
        [(CIK, accession, form, filed) for accession, form, filed in of_filings],
        schema={"cik": pl.String, "accession": pl.String, "form": pl.String, "filed": pl.Date},
        orient="row",
    )
    preferred = "us-gaap:StatementClassOfStockAxis=us-gaap:SeriesAPreferredStockMember"
    covers = pl.DataFrame(
        [
            (CIK, "1", "OLDA", A, None),
            (CIK, "2", "NEW.A", A, "Common shares"),
            (CIK, "2", "NEW.PA", preferred, "Series A preferred shares, convertible into class B shares"),
            (CIK, "2", "NEW.B", "", "Class B common stock, par value $0.01"),
            (CIK, "3", "LATE.B", B, None),
        ],
        schema=COVERS,
        orient="row",
    )
    nothing = FILED_FACTS.to_frame().select(FACT_COLUMNS).with_columns(TEXT)
    lines = STATEMENT_LINES.to_frame().select(LINE_COLUMNS).with_columns(TEXT)
    rows = raw([fact(INCOME, 5e6, "2023-01-01", "2023-12-31", filed=date(2024, 2, 1) + timedelta(1))])
    found = standardize(rows, filed=Filed(nothing, lines, filings, covers=covers))
    assert found.classes.rows() == [(CIK, IN_A, "NEWA", False), (CIK, IN_B, "NEWB", False)]
