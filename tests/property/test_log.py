"""The version log is independent of the order, the batches, the cuts and the accidents of synchronization."""

import math
import shutil
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.normalize.history.log import LOG, TWELVE_MONTHS, VERSION_OF, with_later_columns
from pipelines.normalize.history.versions import numbered, on_basis_of_today, recorded, to_append
from pipelines.normalize.items import line_items as items
from pipelines.normalize.items import returns
from pipelines.normalize.items.line_items import CALCULATED, served
from pipelines.normalize.pipeline import ITEM_SIGNS, Standardized
from pipelines.sample import Economics, Filer, sample_filers
from pipelines.stages.batch import batches
from tests.property.histories import Follower, current, replayed, told
from tests.strategies import (
    cuts,
    days,
    different_days,
    examples,
    filer_of,
    filers,
    not_the_simplest,
    plain,
    together,
    with_a_line_left_out,
)

Item = tuple[str, date, int, str]
"""A company, a period end, the quarters of the period, and an item."""

WITHIN = 2e-9
"""Relative difference of sums of the same legs in another order, or put on another share basis twice."""


def same(one: float | None, other: float | None, within: float = WITHIN) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= within * abs(other)


def disagreement(one: pl.DataFrame, other: pl.DataFrame) -> list[tuple[Any, ...]]:
    """The first versions in which two logs differ, apart from their recording; empty if they agree."""
    plain = [*VERSION_OF, "accession", "form", "filed", "cause", "method", "flags"]

    def rows(versions: pl.DataFrame) -> list[tuple[Any, ...]]:
        return versions.sort(*VERSION_OF, "version").select("value", *plain).rows()

    ones, others = rows(one), rows(other)
    apart = [(a, b) for a, b in zip(ones, others, strict=False) if a[1:] != b[1:] or not same(a[0], b[0])]
    return [*apart[:3], *([(len(ones), len(others))] if len(ones) != len(others) else [])]


def values(rows: pl.DataFrame) -> dict[Item, float]:
    held = with_later_columns(rows)
    return {tuple(key): value for *key, value in held.select("cik", "period_end", "n", "item", "value").iter_rows()}


# --- Cuts, batches, accidents -----------------------------------------------------------------------------------

SEVERAL = 4
"""Filers of a home: their synchronization takes little more time than the synchronization of one."""


def several() -> st.SearchStrategy[list[Filer]]:
    """Different filers, in any order."""
    return not_the_simplest(together(filers(), SEVERAL))


killed = st.lists(st.booleans(), min_size=3, max_size=3)


@examples(1)
@given(mixed=several(), stops=cuts(3), killed=killed)
def test_any_cut_of_the_history_gives_the_same_log(mixed, stops, killed):
    """A home that followed the filings has the same versions as one that read them all at once, except recording times.

    Also if synchronizations were killed: their tables and their segment exist, but no pointer names them, and the next
    one computes them again.
    """
    with TemporaryDirectory() as followed, TemporaryDirectory() as met:
        follower, newcomer = Follower(Path(followed), mixed), Follower(Path(met), mixed)
        for stop, dies in zip(stops, killed, strict=True):
            follower.synchronize(stop, killed=dies)
        follower.synchronize(killed=True)

        assert disagreement(follower.synchronize(), newcomer.synchronize()) == []
        assert sorted(path.name for path in follower.log.glob("*.parquet")) == sorted(follower.segments)


@examples(1)
@given(mixed=several(), stop=days)
def test_running_again_appends_nothing(mixed, stop):
    """Neither on the same documents, nor if everything is processed again."""
    with TemporaryDirectory() as folder:
        follower = Follower(Path(folder), mixed)
        for day in (stop, None):
            before = told(follower.synchronize(day))
            segments = follower.segments

            assert told(follower.synchronize(day)) == before
            assert told(follower.synchronize(day, full=True)) == before
            assert follower.segments == segments


@examples(1)
@given(mixed=several(), batch=st.sampled_from([1, 2, 3]))
def test_the_order_of_companies_and_the_batches_do_not_matter(mixed, batch):
    with TemporaryDirectory() as one, TemporaryDirectory() as other, pytest.MonkeyPatch.context() as patch:
        expected = Follower(Path(one), sorted(mixed, key=lambda filer: filer.cik)).synchronize()
        patch.setattr(batches, "BATCH", batch)
        follower = Follower(Path(other), mixed)
        for filer in mixed[:2]:
            follower.synchronize(symbols=filer.symbols)

        assert disagreement(follower.synchronize(), expected) == []


@examples(1)
@given(mixed=several(), stops=cuts(2), nth=st.integers(2, 9))
def test_a_fact_that_edgar_removes_loses_no_version(mixed, stops, nth):
    """Later documents that lack it withdraw nothing, and later filings are processed as if it were present."""

    def without_some(document: dict[str, Any]) -> dict[str, Any]:
        for elements in document["facts"].values():
            for element in elements.values():
                for unit, facts in element["units"].items():
                    element["units"][unit] = [fact for n, fact in enumerate(facts) if n % nth]
        return document

    with TemporaryDirectory() as followed, TemporaryDirectory() as met:
        follower, newcomer = Follower(Path(followed), mixed), Follower(Path(met), mixed)
        for stop in [*stops, None]:
            whole = follower.synchronize(stop)
        follower.edit = without_some

        assert told(follower.synchronize()) == told(whole)
        assert disagreement(whole, newcomer.synchronize()) == []
        assert set(whole.filter(pl.col("value").is_null())["cause"]) <= {"withdrawn"}


@examples(1)
@given(mixed=several(), stop=days)
def test_figures_of_known_filings_that_edgar_changes_are_served_as_they_are_now(mixed, stop):
    """A home that knew other figures has the values of a new home, and no value that only the former figures support.

    A document that withdraws many values has to be accepted.
    """

    def with_others(document: dict[str, Any]) -> dict[str, Any]:
        elements = [element for of_taxonomy in document["facts"].values() for element in of_taxonomy.values()]
        facts = [fact for element in elements for facts in element["units"].values() for fact in facts]
        newest = max((fact["filed"] for fact in facts), default="")
        change = (1.01, 0.5, 3.0)[int(document["cik"]) % 3]
        for fact in facts:
            fact["val"] = round(fact["val"] * (change if fact["filed"] == newest else 1.0), 4)
        return document

    with TemporaryDirectory() as followed, TemporaryDirectory() as met:
        follower, newcomer = Follower(Path(followed), mixed), Follower(Path(met), mixed)
        follower.synchronize(stop)
        follower.edit = newcomer.edit = with_others
        follower.synchronize(stop)
        follower.accept()
        after, expected = (values(each.synchronize(stop).filter("is_current")) for each in (follower, newcomer))

    served = {key: value for key, value in after.items() if value is not None}
    current = {key: value for key, value in expected.items() if value is not None}
    assert served.keys() == current.keys()
    assert {key: (served[key], value) for key, value in current.items() if not same(served[key], value, 1e-5)} == {}


@examples(1)
@given(mixed=several(), newer=st.integers(1, 6))
def test_a_report_that_arrives_late_is_told_as_if_it_had_been_there(mixed, newer):
    """A home that read newer reports first has the same versions as one that read all at once.

    Exception: a served value to which all reports together do not lead stays a version.
    """

    def without_report(document: dict[str, Any]) -> dict[str, Any]:
        units = [
            unit
            for of_taxonomy in document["facts"].values()
            for element in of_taxonomy.values()
            for unit in element["units"].values()
        ]
        reports = sorted({(fact["filed"], fact["accn"]) for unit in units for fact in unit})
        late = reports[-1 - newer][1] if len(reports) > newer else ""
        for unit in units:
            unit[:] = [fact for fact in unit if fact["accn"] != late]
        return document

    with TemporaryDirectory() as followed, TemporaryDirectory() as met:
        follower, newcomer = Follower(Path(followed), mixed), Follower(Path(met), mixed)
        follower.edit = without_report
        follower.synchronize()
        follower.edit = None
        after, expected = follower.synchronize(), newcomer.synchronize()

        assert told(follower.synchronize(full=True)) == told(after)
    newest, of_all = (values(versions.filter("is_current").drop_nulls("value")) for versions in (after, expected))
    assert newest.keys() == of_all.keys()
    assert {key for key in newest if not same(newest[key], of_all[key])} == set()
    found, others = (by_item(versions) for versions in (after, expected))
    served = by_item(after.drop_nulls("recorded_at"))
    apart = {key for key in found.keys() | others.keys() if found.get(key) != others.get(key)}
    assert {key for key in apart if {one[0] for one in served[key]} <= {one[0] for one in others.get(key, ())}} == set()
    assert {key for key in apart if not has_all(found[key], others.get(key, []))} == set()


def has_all(found: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> bool:
    """Whether all versions of an item are among others in their order, whatever their causes."""
    rest = iter([one[:4] for one in found])
    return all(one[:4] in rest for one in others)


def by_item(versions: pl.DataFrame) -> dict[Item, list[tuple[Any, ...]]]:
    """The versions of each period and item: value (rounded), filing and cause, in order."""
    told_by = versions.sort(*VERSION_OF, "version").with_columns(pl.col("value").round_sig_figs(9))
    rows = told_by.group_by(VERSION_OF).agg(pl.struct("value", "accession", "form", "filed", "cause", "is_current"))
    return {
        (cik, end, n, item): [tuple(one.values()) for one in told] for cik, _, end, n, item, told in rows.iter_rows()
    }


# --- The content of versions ------------------------------------------------------------------------------------


@examples(1)
@given(drawn=together(filers(), 16), days=different_days(16))
def test_the_log_tells_what_was_known_on_a_day(drawn, days):
    early, late = replayed(*drawn, filed_by=days), replayed(*drawn)
    then = recorded(early.versions, Follower.first_time(), "rules")
    today = on_basis_of_today(then, late.share_bases, ITEM_SIGNS)

    for versions in (early.versions, late.versions, today):
        assert_every_value_can_be_recomputed_from_its_lineage(versions)
    assert_as_of_a_day_is_the_result_of_a_new_home_of_that_day(drawn, days, late, numbered(today))


DEBT_OR_NONE = ({"economics": Economics(debt=3.0)}, {"economics": Economics(debt=0), "dividend": None})
LEFT_OUT = [*product(("debt_noncurrent", "short_term_investments"), (True, False), DEBT_OR_NONE)]


@examples(1)
@given(drawn=not_the_simplest(st.lists(st.tuples(plain, st.integers(1, 4)), min_size=16, max_size=16)))
def test_a_line_that_a_report_leaves_out_consists_of_the_total_and_the_other_lines(drawn):
    """As a balance sheet that proves that nothing is borrowed does: no value is without facts."""
    several = [
        filer_of(number, traits, with_a_line_left_out(line, quarter, adds_up=adds_up), owes, {"unit": 1_000})
        for number, ((line, adds_up, owes), (traits, quarter)) in enumerate(zip(2 * LEFT_OUT, drawn, strict=True))
    ]
    found = current(replayed(*several))
    rests = found.filter(pl.col("flags").str.contains("derived_line"))

    assert {"total_debt", "cash_and_equivalents", "roic"} <= set(rests["item"])
    assert 0.0 in found.filter(item="total_debt")["value"]
    assert found.filter(pl.col("value").is_not_null(), pl.col("legs").list.len() == 0).is_empty()
    assert_every_value_can_be_recomputed_from_its_lineage(found)


def assert_every_value_can_be_recomputed_from_its_lineage(versions: pl.DataFrame) -> None:
    """On the newest share basis, although the legs were recorded on the basis of their day."""
    told_by = versions.with_row_index("row")
    legs = told_by.select("row", "legs").explode("legs").unnest("legs")
    again = told_by.join(items.recomputed(legs, ["row"]), on="row", how="left")
    compared = again.select("value", "recomputed", "cik", "item", "method")

    assert [row for row in compared.iter_rows() if not same(*row[:2])] == []


def assert_as_of_a_day_is_the_result_of_a_new_home_of_that_day(
    drawn: list[Filer], days: list[date], whole: Standardized, fresh: pl.DataFrame
) -> None:
    """The newest versions filed by then are the values of the facts filed by then, on one share basis."""
    day_of = pl.col("cik").replace_strict({filer.cik: day for filer, day in zip(drawn, days, strict=True)})
    as_of = values(current(replace(whole, versions=whole.versions.filter(pl.col("filed") <= day_of))))
    expected = values(fresh.filter("is_current", pl.col("n") == TWELVE_MONTHS))

    assert as_of.keys() == expected.keys()
    assert {key: (as_of[key], value) for key, value in expected.items() if not same(as_of[key], value, 1e-7)} == {}


@examples(1)
@given(mixed=several(), stops=cuts(3))
def test_the_values_ever_served_are_the_recorded_versions(mixed, stops):
    """On one share basis: every value ever served is a version, and each version was served after its recording."""
    with TemporaryDirectory() as folder:
        follower, tellings = Follower(Path(folder), mixed), []
        for stop in [*stops, None]:
            follower.synchronize(stop)
            basis = dict(
                follower.lake.read("filings").sort("seq").group_by("cik").agg(pl.last("accession")).iter_rows()
            )
            tellings.append((follower.now, basis, follower.served().filter(period_kind="ttm")))
        factors = dict(follower.lake.read("filings").select("accession", "factor").iter_rows())
        versions = follower.versions().filter(pl.col("n") == TWELVE_MONTHS).with_columns(served("value"))

    ever: dict[Item, list[float | None]] = {}
    for at, basis, rows in tellings:
        now = values(rows)
        for key in now.keys() | ever.keys():
            cik, end, _, item = key
            value = now.get(key)  # empty if it was withdrawn
            on_one_basis = None if value is None else value * factors[basis[cik]] ** ITEM_SIGNS.get(item, 0)
            known = ever.setdefault(key, [])
            if not known or not served_alike(known[-1], on_one_basis, item):
                known.append(on_one_basis)
                recorded_then = versions.filter(cik=cik, period_end=end, item=item, recorded_at=at)
                assert recorded_then.height == 1, (key, at)
    by_item = versions.drop_nulls("recorded_at").group_by(VERSION_OF, maintain_order=True).agg("value")
    # a version that differs by less than a rounding after two splits is served as the one before
    recorded_values = {
        (cik, end, n, item): [
            one for one, before in zip(told, [math.nan, *told], strict=False) if not served_alike(before, one, item)
        ]
        for cik, _, end, n, item, told in by_item.iter_rows()
    }
    assert recorded_values.keys() == ever.keys()
    for key, served_values in ever.items():
        assert len(served_values) == len(recorded_values[key]), key
        assert all(map(served_alike, served_values, recorded_values[key], [key[-1]] * len(served_values))), key


def served_alike(one: float | None, other: float | None, item: str) -> bool:
    """Whether two served values are equal, although one was rounded before it was put on another share basis."""
    return same(one, other, 1e-5 if item in CALCULATED else 1e-6)


# --- Changes of the rules ---------------------------------------------------------------------------------------

ORCHARD, RIDGE = sample_filers()[0], sample_filers()[7]


@pytest.fixture(scope="module")
def of_old_rules(tmp_path_factory):
    """A home with two filers whose history ended in 2021, recorded by rules with the digest `old`."""
    filers = [replace(filer, last_filed=date(2021, 8, 31)) for filer in (ORCHARD, RIDGE)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "rules_digest", lambda: "old rules")
        follower = Follower(tmp_path_factory.mktemp("old"), filers)
        follower.synchronize()
    return follower


@pytest.fixture
def follower(of_old_rules, tmp_path):
    """A copy of that home, which a test may change."""
    shutil.copytree(of_old_rules.folder, tmp_path, dirs_exist_ok=True)
    return replace(of_old_rules, folder=tmp_path)


def test_other_rules_that_give_the_same_values_append_nothing(follower, monkeypatch):
    before = told(follower.versions())
    monkeypatch.setattr(batches, "rules_digest", lambda: "new rules")

    assert told(follower.synchronize()) == before


def test_other_rules_append_changed_values_with_their_cause(follower, monkeypatch):
    """A lower cap of the tax rate changes returns on capital of profitable companies, and nothing else."""
    before = values(follower.versions().filter("is_current"))
    monkeypatch.setattr(batches, "rules_digest", lambda: "new rules")
    monkeypatch.setattr(returns, "HIGHEST_TAX_RATE", 0.05)

    versions = follower.synchronize()
    new = versions.filter(pl.col("recorded_at") == follower.now)

    assert new.height > 10
    assert set(new.select("cik", "item", "cause").iter_rows()) == {(ORCHARD.cik, "roic", "method")}
    after = values(versions.filter("is_current"))
    assert before.keys() == after.keys()
    assert {key for key in before if not same(before[key], after[key], 1e-5)} == set(values(new))
    assert new["version"].min() >= 2


def test_values_that_other_rules_do_not_support_are_withdrawn_and_restored(follower, monkeypatch):
    """A version without a value, caused by the change of method; earlier values stay in the log."""
    old = follower.versions()
    with monkeypatch.context() as patch:
        patch.setattr(batches, "rules_digest", lambda: "strict rules")
        patch.setattr(returns, "THIN_CAPITAL", math.inf)
        withdrawn = follower.synchronize()
        at = follower.now
        assert follower.served().filter(item="roic").is_empty()
    monkeypatch.setattr(batches, "rules_digest", lambda: "newest rules")
    again = follower.synchronize()

    gone = withdrawn.filter(pl.col("recorded_at") == at)
    had = values(old.filter("is_current").filter(item="roic"))
    assert had
    assert values(gone) == dict.fromkeys(had)
    assert set(gone["cause"]) == {"method"}
    assert set(gone["legs"].list.len()) == {0}
    back = values(again.filter("is_current").filter(item="roic"))
    assert back.keys() == had.keys()
    assert all(same(back[key], had[key]) for key in had)
    assert set(again.filter(pl.col("recorded_at") == follower.now)["cause"]) == {"method"}


def test_a_withdrawn_value_is_not_withdrawn_again(follower, monkeypatch):
    """Whatever else changes in the rules."""
    monkeypatch.setattr(returns, "THIN_CAPITAL", math.inf)
    for rules in ("strict rules", "other strict rules"):
        monkeypatch.setattr(batches, "rules_digest", lambda rules=rules: rules)
        versions = follower.synchronize()

    assert follower.appended() == 0
    assert versions.filter(item="roic", is_current=True)["value"].null_count() > 10


def test_a_split_adds_only_versions_of_more_precise_figures(tmp_path):
    """After a reverse split of ten, a cent per new share is a tenth of a cent per old share."""
    follower = Follower(tmp_path / "followed", [RIDGE])
    before = follower.synchronize(date(2021, 5, 31))
    after = follower.synchronize(date(2021, 8, 31))

    told_before = after.join(before, on=VERSION_OF, how="semi")
    appended = told_before.filter(pl.col("recorded_at") == follower.now)
    shares = [values(versions.filter(is_current=True, item="shares_basic")) for versions in (before, after)]
    assert follower.lake.read("splits")["ratio"].to_list() == [0.1]
    of_years = appended.filter(pl.col("n") == TWELVE_MONTHS)
    assert set(of_years["cause"]) == {"precision"}
    assert set(of_years["item"]) == set(appended["item"]) == {"eps_basic", "eps_diluted"}
    assert {key for key, value in shares[0].items() if not same(10 * shares[1][key], value, 1e-6)} == set()
    assert follower.recorded().schema == LOG


def test_an_empty_log_gets_all_versions():
    found = replayed(ORCHARD)
    empty = pl.DataFrame(schema=LOG)

    appended = to_append(empty, found.versions, found.filings.select("cik", "accession", "seq"), "rules")

    assert told(appended) == told(found.versions)
