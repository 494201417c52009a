"""Real documents cut at a filing date, and then whole: the first values, the later ones, and the causes."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from pipelines.edgar.decode.documents import decode_submissions
from pipelines.normalize.facts.reports import ACCEPTED
from pipelines.normalize.history.log import LOG, VERSION_OF
from pipelines.normalize.history.versions import numbered, on_basis_of_today, recorded, to_append
from pipelines.normalize.items.line_items import recomputed
from pipelines.normalize.pipeline import ITEM_SIGNS, Standardized, standardize
from tests.factories import day
from tests.golden.conftest import facts_of

MILLION = 1e6
FIRST = datetime(2026, 1, 5, 6, tzinfo=UTC)
SECOND = FIRST + timedelta(days=1)

CASES = [
    # symbol, cut, fiscal year end, item, the first and the later value (millions; per share), form, filed, cause
    ("AAPL", "2009-12-31", "2009-09-26", "revenue", 36537, 42905, "10-K/A", "2010-01-25", "restatement"),
    ("AAPL", "2009-12-31", "2009-09-26", "net_income", 5704, 8235, "10-K/A", "2010-01-25", "restatement"),
    ("MSFT", "2018-06-30", "2017-06-30", "revenue", 89950, 96571, "10-K", "2018-08-03", "accounting_change"),
    ("MSFT", "2018-06-30", "2017-06-30", "net_income", 21204, 25489, "10-K", "2018-08-03", "accounting_change"),
    ("MSFT", "2018-06-30", "2017-06-30", "eps_basic", 2.74, 3.29, "10-K", "2018-08-03", "accounting_change"),
    ("VRT", "2021-03-31", "2020-12-31", "net_income", -183.6, -327.3, "10-K/A", "2021-04-30", "restatement"),
    ("VRT", "2021-03-31", "2020-12-31", "eps_basic", -0.60, -1.07, "10-K/A", "2021-04-30", "restatement"),
]
CUTS = {symbol: cut for symbol, cut, *_ in CASES}
RESTATING = ("AAPL", "MSFT", "VRT", "TMUS", "GE", "WMT", "KO", "JPM")

HISTORIES = [
    # symbol, item, period end, and its values (millions), with form and filing date of each
    # one annual report states the second quarter's figures for the six months: not a restatement
    ("NVDA", "revenue", "2017-07-30", [(6910 + 4167 - 2733, "10-Q", "2017-08-23")]),
    ("NVDA", "net_income", "2017-07-30", [(1666 + 1091 - 469, "10-Q", "2017-08-23")]),
    # restated quarters, and a year to date that is restated only a year later
    (
        "MSFT",
        "net_income",
        "2015-12-31",
        [(12193 + 9618 - 10403, "10-Q", "2016-01-28"), (12193 + 9920 - 10403, "10-Q", "2017-01-26")],
    ),
    # a quarter on a new standard and a year that is not; then both
    ("MSFT", "revenue", "2017-06-30", [(89950, "10-K", "2017-08-02"), (96571, "10-K", "2018-08-03")]),
    # other lines of the cash flow statement, adopted for two years at once
    (
        "AAPL",
        "free_cash_flow",
        "2016-09-24",
        [(65824 - 12734, "10-K", "2016-10-26"), (66231 - 12734, "10-K", "2018-11-05")],
    ),
    (
        "AAPL",
        "free_cash_flow",
        "2017-09-30",
        [(63598 - 12451, "10-K", "2017-11-03"), (64225 - 12451, "10-K", "2018-11-05")],
    ),
    ("TMUS", "free_cash_flow", "2016-12-31", [(6135 - 4702, "10-K", "2017-02-14"), (2779 - 4702, "8-K", "2018-06-18")]),
    # complete statements in a current report, after a business was spun off, and after a second one
    (
        "GE",
        "revenue",
        "2022-12-31",
        [(76555, "10-K", "2023-02-10"), (58100, "8-K", "2023-04-25"), (29139, "10-K", "2025-02-03")],
    ),
    # the same year under two standards
    ("CLS", "net_income", "2022-12-31", [(145.5, "20-F", "2023-03-13"), (180.1, "10-K", "2025-03-03")]),
    # the company that was merged into the CIK, and the one before it
    ("TMUS", "net_income", "2012-12-31", [(394.172, "10-K", "2013-03-01"), (-7336, "10-K", "2014-02-25")]),
    ("VRT", "net_income", "2019-09-30", [(5.030748 + 7.566113 - 2.681879, "10-Q", "2019-11-05")]),
    ("TMUS", "net_income", "2012-09-30", [(453.777, "10-Q", "2012-10-30")]),
    # a proxy statement, filed later, rounds it to 21,400
    ("CVX", "net_income", "2023-12-31", [(21369, "10-K", "2024-02-26")]),
]


def acceptances_of(companies: Path, ciks: Iterable[str]) -> pl.DataFrame:
    """When EDGAR accepted the filings of some companies; the mirror lacks the submissions of a few."""
    documents = {cik: companies / f"data.sec.gov/submissions/CIK{cik}.json" for cik in ciks}
    rows = [
        (cik, filing.accession, filing.accepted_at)
        for cik, document in documents.items()
        if document.exists()
        for filing in decode_submissions(document.read_bytes(), cik).filings
        if filing.accepted_at
    ]
    frame = pl.DataFrame(rows, schema={**ACCEPTED, "accepted_at": pl.String}, orient="row")
    return frame.with_columns(pl.col("accepted_at").str.to_datetime(time_unit="us", time_zone="UTC"))


def followed(documents: Iterable[pl.DataFrame], accepted: pl.DataFrame) -> tuple[pl.DataFrame, Standardized]:
    """The log, numbered and on the newest share basis, after a synchronization with each of the documents in turn."""
    log = pl.DataFrame(schema=LOG)
    for number, facts in enumerate(documents):
        found = standardize(facts, accepted)
        known = on_basis_of_today(log, found.share_bases, ITEM_SIGNS)
        new = to_append(known, found.versions, found.filings.select("cik", "accession", "seq"), "rules")
        told = recorded(new, (FIRST, SECOND)[number], "rules")
        log, today = pl.concat([log, told]), pl.concat([known, told])
    return numbered(today), found


@pytest.fixture(scope="module")
def documents(mirror: Path, company_numbers: dict[str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The facts of all companies of these tests, and when EDGAR accepted their filings."""
    ciks = sorted(company_numbers[symbol] for symbol in {*CUTS, *RESTATING, *(symbol for symbol, *_ in HISTORIES)})
    return facts_of(mirror, ciks), acceptances_of(mirror, ciks)


@pytest.fixture(scope="module")
def cut_then_whole(
    documents: tuple[pl.DataFrame, pl.DataFrame], company_numbers: dict[str, str]
) -> tuple[pl.DataFrame, Standardized]:
    """The log of companies that were synchronized on the day of their cuts, and again with the whole documents."""
    facts, accepted = documents
    cuts = pl.DataFrame({"cik": [company_numbers[symbol] for symbol in CUTS], "cut": CUTS.values()})
    before = facts.join(cuts, on="cik", maintain_order="left").filter(pl.col("filed") <= pl.col("cut")).drop("cut")
    return followed([before, facts], accepted)


@pytest.fixture(scope="module")
def whole(cut_then_whole: tuple[pl.DataFrame, Standardized]) -> pl.DataFrame:
    """All versions of the companies, by all of their filings."""
    return cut_then_whole[1].versions


def versions_of(log: pl.DataFrame, cik: str, item: str, end: str) -> list[dict[str, object]]:
    return log.filter(cik=cik, item=item, period_end=day(end)).sort("version").to_dicts()


@pytest.mark.parametrize(("symbol", "cut", "end", "item", "first", "later", "form", "filed", "cause"), CASES)
def test_the_first_and_the_later_value(
    cut_then_whole, company_numbers, symbol, cut, end, item, first, later, form, filed, cause
):
    """Two versions, each recorded when it was current, the second with its filing and the cause."""
    log, found = cut_then_whole
    before, after = versions_of(log, company_numbers[symbol], item, end)
    factors = dict(found.filings.select("accession", "factor").iter_rows())
    in_units, within = (1 / factors[before["accession"]], 2e-3) if item == "eps_basic" else (MILLION, 1e-9)

    assert [before["value"], after["value"]] == pytest.approx([first * in_units, later * in_units], rel=within)
    told = {"cause": "initial", "form": "10-K", "recorded_at": FIRST, "is_current": False}
    assert before == {**before, **told}
    assert before["filed"] <= day(cut)
    told = {"cause": cause, "form": form, "filed": day(filed), "recorded_at": SECOND, "is_current": True}
    assert after == {**after, **told}


def test_a_reverse_merger_shows_another_companys_figures(cut_then_whole, company_numbers):
    """The shell that took over Vertiv earned 4.4 million in 2019; the annual report of 2020 shows Vertiv's loss."""
    shell, vertiv = versions_of(cut_then_whole[0], company_numbers["VRT"], "net_income", "2019-12-31")

    assert (shell["value"], vertiv["value"]) == (4_389_796, -140.8 * MILLION)
    assert (vertiv["cause"], vertiv["filed"]) == ("entity_change", date(2021, 3, 1))


@pytest.mark.parametrize(("symbol", "item", "end", "expected"), HISTORIES)
def test_all_values_of_a_period(whole, company_numbers, symbol, item, end, expected):
    """Each value once, with the filing that stated it."""
    found = whole.filter(cik=company_numbers[symbol], item=item, period_end=day(end))

    assert found.select("form", "filed").rows() == [(form, day(filed)) for _, form, filed in expected]
    assert found["value"].to_list() == pytest.approx([value * MILLION for value, *_ in expected], rel=1e-9)


def test_mixed_accounting_bases_have_no_value_until_resolved(whole, company_numbers):
    """Quarters under the new revenue standard and a year under the old: no value until the next annual report."""
    found = whole.filter(cik=company_numbers["MSFT"], item="revenue")

    for end in ("2017-09-30", "2017-12-31", "2018-03-31"):
        assert found.filter(period_end=day(end)).select("flags", "filed").rows() == [("", date(2018, 8, 3))]


def test_values_known_on_a_day_do_not_depend_on_later_filings(documents, whole):
    """The versions computed from the filings until a day equal the versions of all filings, restricted to that day.

    Repairs, bases, breaks and splits depend on earlier filings only; the share basis is the newest one. For each day
    the companies have other numbers, so that one call reads all.
    """
    facts, accepted = documents
    days = dict(enumerate(("2013-06-30", "2018-03-31", "2022-06-30"), start=1))

    def renumbered(number: int, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(
            pl.format(f"{number}{{}}", pl.col(name).str.slice(1)).alias(name) for name in ("cik", "accession")
        )

    def of_money(versions: pl.DataFrame) -> pl.DataFrame:
        told = versions.filter(~pl.col("item").is_in(list(ITEM_SIGNS)))
        return told.select("cik", "period_end", "item", "accession", "form", "cause", "method", "flags", "value")

    then = of_money(
        standardize(
            pl.concat(renumbered(number, facts.filter(pl.col("filed") <= cut)) for number, cut in days.items()),
            pl.concat(renumbered(number, accepted) for number in days),
        ).versions
    )
    until_then = (renumbered(number, whole.filter(pl.col("filed") <= day(cut))) for number, cut in days.items())
    expected = of_money(pl.concat(until_then))

    assert then["cik"].str.head(1).value_counts()["count"].min() > 500
    apart = then.join(expected, on=then.columns, how="anti", nulls_equal=True)
    assert apart.sort("cik", "period_end", "item", "accession").to_dicts() == []
    assert expected.height == then.height


def test_two_synchronizations_give_the_log_of_one(cut_then_whole):
    """Version by version, except for the times of recording."""
    log, found = cut_then_whole
    told = ["version", "accession", "form", "filed", "cause", "method", "flags"]
    one, other = (frame.sort(*VERSION_OF, "version") for frame in (log, numbered(found.versions)))

    assert one.select(*VERSION_OF, *told).equals(other.select(*VERSION_OF, *told))
    assert one["value"].is_null().to_list() == other["value"].is_null().to_list()
    assert one["value"].drop_nulls().to_list() == pytest.approx(other["value"].drop_nulls().to_list(), rel=1e-9)


def test_every_version_can_be_recomputed_from_its_lineage(cut_then_whole, company_numbers):
    ciks = [company_numbers[symbol] for symbol in CUTS]
    log = cut_then_whole[0].filter(pl.col("cik").is_in(ciks)).drop_nulls("value").with_row_index("row")
    legs = log.select("row", "legs").explode("legs").unnest("legs")
    again = log.join(recomputed(legs, ["row"]), on="row", how="left")

    assert again["recomputed"].to_list() == pytest.approx(again["value"].to_list(), rel=1e-9)


def test_documents_of_another_day_add_periods_and_no_false_restatement(mirror):
    """An earlier state of some documents first, then the later one: new quarters, and nothing restated."""
    earlier = mirror.parent / "edgar-earlier"
    if not earlier.is_dir():
        pytest.skip("an earlier state of the mirror is missing: shared/edgar-earlier")
    ciks = sorted(path.stem[3:] for path in (earlier / "data.sec.gov/api/xbrl/companyfacts").glob("CIK*.json"))
    documents = [facts_of(earlier, ciks), facts_of(mirror, ciks)]

    log, _ = followed(documents, acceptances_of(mirror, ciks))

    later = log.filter(pl.col("recorded_at") == SECOND)
    newest_then = dict(documents[0].group_by("cik").agg(pl.col("filed").max()).iter_rows())
    assert later.height > 30
    assert set(later.select("cause", "version").rows()) == {("initial", 1)}
    assert all(filed > day(newest_then[cik]) for cik, filed in later.select("cik", "filed").iter_rows())


def test_few_changes_are_unexplained(whole, company_numbers):
    """Of the changes of some companies with many restatements, by the table of causes."""
    ciks = [company_numbers[symbol] for symbol in RESTATING]

    changes = whole.filter(pl.col("cause") != "initial", pl.col("cik").is_in(ciks))

    assert changes.height > 300
    assert changes.filter(cause="unexplained").height < 0.03 * changes.height
    assert {"restatement", "reclassification", "accounting_change", "precision", "entity_change"} <= set(
        changes["cause"]
    )
