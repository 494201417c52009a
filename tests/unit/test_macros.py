"""The macros of a build, compared with slow Python implementations over a log with all kinds of versions."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from tests import builds
from tests.builds import Rows
from warehouse.build.opening import open_read_only
from warehouse.contract import schema
from warehouse.contract.line_items import ITEM_NAMES
from warehouse.contract.table import filed_of

Row = tuple[Any, ...]
NAMES = schema.BY_NAME["financials"].names
KEY = ("cik", "period_kind", "period_end")
ENDS = (date(2022, 12, 31), date(2023, 3, 31), date(2023, 12, 31))
FIRST_DAY = date(2023, 1, 1)
GAP_RULE = "gap.no-tag"
MACROS = {
    "financials_known",
    "is_of_series",
    "financials_as_of",
    "financials_as_served",
    "restatements",
    "restatements_known",
    "latest",
    "peers",
    "quarterly",
    "explain",
    "growth",
    "panel",
}


def random_log(random: Random) -> tuple[Rows, Rows]:
    """Random versions and their legs.

    Versions come from one filing or several, may never have been served, may be withdrawn and restored, out of the
    order of filing, without legs, or without a filing date.
    """
    versions: Rows = []
    lineage: Rows = []
    for cik in ("9990000001", "9990000002", "9990000005"):
        for kind, end in [("ttm", end) for end in ENDS] + [("annual", ENDS[0]), ("annual", ENDS[2])]:
            label = f"FY{end.year}" if kind == "annual" else f"{end.year}Q{end.month // 3}"
            for item in random.sample(ITEM_NAMES, random.randrange(9)):
                of = {"cik": cik, "period_kind": kind, "period_end": end, "period": label}
                history = random_history(random)
                for number, known in enumerate(history, 1):
                    row = builds.version(of, item, number, *known, number == len(history))
                    versions.append(row)
                    legs = builds.lineage([row])[: random.randrange(3)]
                    lineage += [{**leg, "filed": leg["filed"] - timedelta(random.randrange(99))} for leg in legs]
                    row["filed"] = random.choices([row["filed"], None], [9, 1])[0]
    return versions, lineage


def random_history(random: Random) -> list[builds.Known]:
    length = random.choice((1, 1, 2, 3, 4))
    never_served = random.randrange(length)
    recorded = datetime(2024, 1, 1)  # noqa: DTZ001 - in UTC, as the tables
    history: list[builds.Known] = []
    for number in range(length):
        value = random.choice((None, 0.0, -1.5, 100.0 + number)) if number else 100.0
        recorded += timedelta(hours=random.randrange(0, 48, 12))
        filed = FIRST_DAY + timedelta(random.randrange(0, 60, 6))
        history.append(
            (value, filed, None if number < never_served else recorded, "initial" if not number else "precision")
        )
    return history


def told(
    companies: Rows, versions: Rows, lineage: Rows, filed_by: date | None = None, recorded_by: datetime | None = None
) -> list[Row]:
    """Table `financials` up to a filing date and a time of recording, computed row by row."""
    newest: dict[Row, dict[str, Any]] = {}
    for row in versions:
        filed = filed_by is None or row["filed"] is None or row["filed"] <= filed_by
        recorded = recorded_by is None or (row["recorded_at"] is not None and row["recorded_at"] <= recorded_by)
        if filed and recorded:
            newest[(*key_of(row), row["item"])] = row  # versions ascend
    periods = defaultdict(list)
    for row in newest.values():
        if row["value"] is not None:
            periods[key_of(row)].append(row)
    rows = []
    for key, of in periods.items():
        numbers = {(*key, row["item"], row["version"]) for row in of}
        filed_on = [leg["filed"] for leg in lineage if (*key_of(leg), leg["item"], leg["version"]) in numbers]
        cik, kind, end = key
        for company in companies:
            if company["cik"] == cik:
                found = {
                    **company,
                    "period_kind": kind,
                    "period_end": end,
                    "period": of[0]["period"],
                    "fiscal_year": end.year,
                    "fiscal_quarter": end.month // 3,
                    "first_filed": min(filed_on, default=None),
                    "last_filed": max(filed_on, default=None),
                    **{row["item"]: row["value"] for row in of},
                    **{filed_of(row["item"]): row["filed"] for row in of},
                }
                rows.append(tuple(found.get(name) for name in NAMES))
    return sorted(rows, key=lambda row: row[:3])


def key_of(row: dict[str, Any]) -> Row:
    return tuple(row[name] for name in KEY)


class Build:
    """A published build of a random log, and the rows that it was made from."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.companies = builds.companies()
        self.versions, self.lineage = random_log(Random(seed))
        financials = [dict(zip(NAMES, row, strict=True)) for row in self.told()]
        self.gaps = self._gaps()
        rows = builds.tables() | {
            "financials": financials,
            "versions": self.versions,
            "lineage": self.lineage,
            "gaps": self.gaps,
        }
        made = builds.publish_small(folder / "published", rows=rows)
        self.file = folder / "published" / made.file

    def told(self, **bounds: Any) -> list[Row]:
        return told(self.companies, self.versions, self.lineage, **bounds)

    def _gaps(self) -> Rows:
        """A reason for every item without a version in a period that has others."""
        had = {(*key_of(row), row["item"]) for row in self.versions}
        wanted = {(*key, item) for *key, _ in had for item in ITEM_NAMES}
        columns = (*KEY, "item", "reason", "rule")
        return [dict(zip(columns, (*key, "no_tag", GAP_RULE), strict=True)) for key in sorted(wanted - had)]

    def explained(self, symbol: str, item: str, period: str) -> Rows:
        """One row per leg of the current value, or a single row, computed in Python."""
        [company] = [row for row in self.companies if row["symbol"] == symbol.upper()]
        own = [row for row in self.versions if row["cik"] == company["cik"]]
        keys = {key_of(row): row["period"] for row in own if period.upper() in (row["period"], str(row["period_end"]))}
        if not keys:
            return []
        key = max(keys, key=lambda key: (key[1] == "ttm", key[2]))
        of = dict(zip(KEY, key, strict=True)) | {"symbol": company["symbol"], "period": keys[key], "item": item}
        current = {
            name: row[name]
            for row in own
            if (key_of(row), row["item"], row["is_current"]) == (key, item, True)
            for name in ("value", "version", "cause", "method", "rule")
        }
        reasons = [gap["reason"] for gap in self.gaps if (key_of(gap), gap["item"]) == (key, item)]
        urls = {row["accession"]: row["url"] for row in builds.filings()}
        legs = [
            {
                **leg,
                "leg_value": leg["value"],
                "amount": leg["value"] * leg["weight"] * leg["split_factor"],
                "url": urls.get(leg["accession"]),
                "leg_rule": leg["rule"],
                "value": current["value"],
                "rule": current["rule"],
            }
            for leg in self.lineage
            if (key_of(leg), leg["item"], leg["version"]) == (key, item, current.get("version"))
        ]
        left_out = {"reason": reasons[0], "rule": GAP_RULE} if reasons else {"reason": None}
        return [of | left_out | current | leg for leg in legs or [{}]]

    def days(self) -> list[date]:
        """Every filing date, and the days around it."""
        filed = {row["filed"] for row in self.versions if row["filed"]}
        return sorted({day + timedelta(days) for day in filed for days in (-1, 0, 1)})


@pytest.fixture(scope="module", params=[1, 2])
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    return Build(tmp_path_factory.mktemp("build"), request.param)


Ask = Callable[..., list[Row]]


@pytest.fixture(scope="module")
def ask(build: Build) -> Iterator[Ask]:
    """SQL over the build, with the connection that all readers use."""
    with open_read_only(build.file) as connection:

        def rows(sql: str, *parameters: object) -> list[Row]:
            return connection.execute(sql, parameters).fetchall()

        yield rows


@pytest.fixture(scope="module")
def explain_names(ask: Ask) -> list[str]:
    """The columns of `explain`, in order."""
    return [name for name, *_ in ask("DESCRIBE FROM explain('LNTR', 'revenue', 'FY2023')")]


BY_KEY = "ORDER BY symbol, period_kind, period_end"


def test_as_of_is_the_state_of_the_filings_on_any_day(build: Build, ask: Ask) -> None:
    """The last day has the table itself."""
    seen = set()
    for day in build.days():
        found = ask(f"FROM financials_as_of(?) {BY_KEY}", day)
        assert found == build.told(filed_by=day)
        seen.add(tuple(found))
    assert len(seen) > 3
    assert ask(f"FROM financials_as_of('9999-12-31') {BY_KEY}") == ask(f"FROM financials {BY_KEY}") != []


def test_as_served_is_the_state_recorded_by_then(build: Build, ask: Ask) -> None:
    moments = {row["recorded_at"] for row in build.versions if row["recorded_at"]}
    for moment in sorted(moments):
        for at in (moment, moment - timedelta(microseconds=1)):
            assert ask(f"FROM financials_as_served(?) {BY_KEY}", at) == build.told(recorded_by=at)
    assert ask("FROM financials_as_served('2023-12-31T23:59:59Z')") == []
    last = "SELECT count(*) FROM financials_as_served('9999-12-31T00:00:00Z')"
    assert ask(last) == ask("SELECT count(*) FROM financials")


def test_a_time_may_have_a_time_zone(build: Build, ask: Ask) -> None:
    """One without is in UTC."""
    moment = min(row["recorded_at"] for row in build.versions if row["recorded_at"])
    in_tokyo = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(hours=9)))
    for at in (moment, in_tokyo, f"{moment}", f"{in_tokyo}"):
        assert ask(f"FROM financials_as_served(?) {BY_KEY}", at) == build.told(recorded_by=moment)


def test_filing_date_and_time_of_recording_together(build: Build, ask: Ask) -> None:
    day, at = FIRST_DAY + timedelta(30), datetime(2024, 1, 2)  # noqa: DTZ001
    assert ask(f"FROM financials_known(?, ?) {BY_KEY}", day, at) == build.told(filed_by=day, recorded_by=at)
    assert ask(f"FROM financials_known(NULL, NULL) {BY_KEY}") == build.told()


def test_filters_select_rows_without_changing_them(build: Build, ask: Ask) -> None:
    day = FIRST_DAY + timedelta(40)
    kept = [row for row in build.told(filed_by=day) if row[0] == "LNTR-B" and row[1] == "ttm" and row[2] > ENDS[0]]
    where = "WHERE symbol = 'LNTR-B' AND period_kind = 'ttm' AND period_end > '2022-12-31'"
    assert ask(f"FROM financials_as_of(?) {where} {BY_KEY}", day) == kept


def test_the_macros_have_the_columns_and_types_of_the_table(ask: Ask) -> None:
    table = ask("SELECT column_name, column_type FROM (DESCRIBE financials)")
    for call in ("financials_as_of('2024-01-01')", "financials_as_served('2024-01-01T00:00:00Z')"):
        assert ask(f"SELECT column_name, column_type FROM (DESCRIBE FROM {call})") == table


def test_restatements_are_all_versions_of_values_that_changed(build: Build, ask: Ask) -> None:
    urls = {row["accession"]: row["url"] for row in builds.filings()}
    numbered: dict[Row, list[dict[str, Any]]] = defaultdict(list)
    for row in build.versions:
        if row["cik"] == "9990000001":
            numbered[(*key_of(row), row["item"])].append(row)
    expected = []
    for of in (of for of in numbered.values() if len(of) > 1):
        for previous, row in zip([None, *(row["value"] for row in of)], of, strict=False):
            change = None if None in (previous, row["value"]) else row["value"] - previous
            more = {"symbol": "LNTR", "previous_value": previous, "change": change}
            expected.append(row | more | {"url": urls.get(row["accession"])})
    names = [row[0] for row in ask("SELECT column_name FROM (DESCRIBE FROM restatements('LNTR'))")]
    assert set(expected[0]) - set(names) == {"cik", "flags", "rule"}
    ordered = sorted(expected, key=lambda row: (row["item"], row["version"]))
    ordered.sort(key=lambda row: (row["period_end"], row["period_kind"]), reverse=True)
    assert ask("FROM restatements('lntr')") == [tuple(row[name] for name in names) for row in ordered]


def test_restatements_without_a_symbol_are_those_of_all_companies(ask: Ask) -> None:
    """Of each company once, by its primary symbol; each change is the difference of two values."""
    primary = [symbol for (symbol,) in ask("SELECT symbol FROM companies WHERE is_primary")]
    apart = [row for symbol in sorted(primary) for row in ask(f"FROM restatements('{symbol}')")]
    assert ask("FROM restatements()") == apart != []
    changes = ask("SELECT value, previous_value, change FROM restatements() WHERE change IS NOT NULL")
    assert changes
    assert all(value - previous == change for value, previous, change in changes)


def test_restatements_leave_out_what_another_source_changed(tmp_path: Path) -> None:
    tables = builds.tables()
    changed = [row | {"cause": "source"} if row["version"] > 1 else row for row in tables["versions"]]
    builds.publish_small(tmp_path, "b1", tables | {"versions": changed})
    with open_read_only(tmp_path / "warehouse.duckdb") as build:
        assert build.execute("FROM restatements()").fetchall() == []
        shown = build.execute("SELECT DISTINCT cause FROM restatements_known(NULL, true, true)").fetchall()
        assert ("source",) in shown


def test_latest_is_the_newest_twelve_months_of_each_primary_listed_symbol(build: Build, ask: Ask) -> None:
    rows = [dict(zip(NAMES, row, strict=True)) for row in build.told()]
    listed = [row for row in rows if row["is_primary"] and row["period_kind"] == "ttm" and row["symbol"] != "GONE"]
    for item in ITEM_NAMES:
        newest = {
            row["symbol"]: (row["symbol"], row["period_end"], row["period"], item, row[item])
            for row in listed
            if row[item] is not None
        }
        found = ask("SELECT symbol, period_end, period, item, value FROM latest(?)", item)
        assert found == sorted(newest.values()), item


def test_latest_has_the_company_of_each_value(ask: Ask) -> None:
    columns = [row[0] for row in ask("SELECT column_name FROM (DESCRIBE FROM latest('revenue'))")]
    about = ["symbol", "cik", "name", "exchange", "sic", "currency"]
    assert columns == [*about, "item", "period_end", "period", "value"]


@pytest.mark.parametrize("call", ["restatements('NOPE')", "restatements(NULL)", "explain('NOPE', 'revenue', 'FY2023')"])
def test_an_unknown_symbol_gives_no_row(ask: Ask, call: str) -> None:
    assert ask(f"FROM {call}") == []
    assert ask("FROM explain(NULL, 'revenue', NULL)") == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("latest('revenu')", "no such line item: revenu; the names of line items are in table"),
        # no row would look like a gap
        ("explain('LNTR', 'revenu', '2023-12-31')", "no such line item: revenu; the names of line items are in table"),
        ("financials_as_of('2024-02-30')", "Conversion Error.*2024-02-30"),
    ],
)
def test_an_unknown_item_or_an_invalid_day_is_an_error(ask: Ask, call: str, message: str) -> None:
    with pytest.raises(duckdb.Error, match=message):
        ask(f"FROM {call}")


@pytest.mark.parametrize("symbol", ["LNTR", "lntr-b", "ABCX", "GONE"])
@pytest.mark.parametrize("period", ["2023Q4", "fy2023", "2023-12-31", "2023-03-31", "FY2019"])
def test_explain_is_the_facts_behind_the_current_value(
    build: Build, ask: Ask, explain_names: list[str], symbol: str, period: str
) -> None:
    """Or one row with the reason for a missing value; for a day, twelve months precede the fiscal year."""
    for item in ITEM_NAMES:
        expected = [tuple(row.get(name) for name in explain_names) for row in build.explained(symbol, item, period)]
        assert ask("FROM explain(?, ?, ?)", symbol, item, period) == expected, item


def test_explain_takes_a_date_as_a_date(ask: Ask) -> None:
    found = ask("FROM explain('LNTR', 'revenue', DATE '2023-12-31')")
    assert found == ask("FROM explain('LNTR', 'revenue', '2023-12-31')") != []


def test_a_repeated_label_means_the_newest_period(tmp_path: Path) -> None:
    """A label is repeated after a change of the fiscal year, for example."""
    rows = builds.tables()
    earlier = builds.period({"symbol": "FJRD", "cik": "9990000003"}, "annual", date(2024, 6, 30), 4, revenue=3.0)
    rows["versions"] += [builds.version(earlier, "revenue", 1, *builds.history(earlier, "revenue")[0], True)]
    with open_read_only(tmp_path / builds.publish_small(tmp_path, rows=rows).file) as connection:
        found = connection.execute("SELECT DISTINCT period_end FROM explain('FJRD', 'revenue', 'FY2024')").fetchall()
    assert found == [(builds.YEAR_END,)]


def test_every_macro_has_a_comment(ask: Ask) -> None:
    comments: dict[str, str] = dict(ask("SELECT function_name, comment FROM duckdb_functions() WHERE NOT internal"))
    assert comments.keys() == MACROS
    assert all(comment.endswith(".") for comment in comments.values())


def test_the_macros_work_in_a_renamed_and_in_an_attached_file(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an analyst uses it: a copy under another name, opened by DuckDB alone, or attached to other files."""
    shutil.copy(build.file, tmp_path / "my copy.db")
    monkeypatch.chdir(tmp_path)
    count = "SELECT count(*) FROM financials_as_of('9999-12-31')"
    with duckdb.connect("my copy.db", read_only=True) as connection:
        alone = connection.execute(count).fetchall()
    with duckdb.connect() as connection:
        connection.execute("ATTACH 'my copy.db' AS mine (READ_ONLY); USE mine")
        assert connection.execute(count).fetchall() == alone == [(len(build.told()),)]


def test_the_small_build_agrees_with_its_versions(tmp_path: Path) -> None:
    """Table `financials` of the build that the interface is tested with is consistent with its versions."""
    has_value = f"coalesce({', '.join(ITEM_NAMES)}) IS NOT NULL"
    early = (
        "SELECT period, revenue FROM financials_as_of('2025-02-15') "
        "WHERE symbol = 'LNTR' AND period_end = ? ORDER BY period DESC"
    )
    with open_read_only(tmp_path / builds.small(tmp_path).file) as connection:
        held = connection.execute(f"FROM financials WHERE {has_value} {BY_KEY}").fetchall()
        assert connection.execute(f"FROM financials_as_of('9999-12-31') {BY_KEY}").fetchall() == held
        assert connection.execute(early, [builds.YEAR_END]).fetchall() == [("FY2024", 3900.5), ("2024Q4", 3900.0)]
