"""The assets: their metadata, and the synchronizations that led to a build."""

import json
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from pipelines.dagster_app import assets
from pipelines.dagster_app.asset_specs import BUILD
from pipelines.dagster_app.recorder import run_recorded
from pipelines.run import result, steps, synchronization
from pipelines.run.plan import STEPS, run_all
from pipelines.run.synchronization import Synchronization
from pipelines.stages.batch.isolation import Fault
from pipelines.storage.home import Home
from pipelines.storage.lake import Lake
from pipelines.tables import build_tables, stored
from tests import dagster_records
from tests.damage import flip
from tests.mirrors import ALFA, BRAVO, Mirror
from warehouse.build import publish, runs
from warehouse.build.opening import open_read_only
from warehouse.build.verify import is_whole
from warehouse.record import dagster_record


def led_to(home: Home) -> list[str]:
    """The synchronizations in the tables to be published."""
    return Lake(home.tables).read(stored.assembled("syncs"))["build"].to_list()


def test_metadata_shows_rows_companies_and_a_few_rows():
    rows = pl.DataFrame({"cik": ["1", "1", "2"], "end": [date(2024, 1, 2)] * 3, "value": [1234567.0, 0.12345678, None]})
    told = assets.metadata_of(result.shown_rows(rows, more=1))
    assert list(told) == ["dagster/row_count", "companies", "more", "sample"]
    assert (told["dagster/row_count"], told["companies"], told["more"]) == (3, 2, 1)
    assert [record.data for record in told["sample"].records] == [
        {"cik": "1", "end": "2024-01-02", "value": "1,234,567"},
        {"cik": "1", "end": "2024-01-02", "value": "0.123457"},
        {"cik": "2", "end": "2024-01-02", "value": ""},
    ]
    assert [column.name for column in told["sample"].schema.columns] == rows.columns


def test_metadata_of_many_and_of_no_rows():
    rows = pl.DataFrame({"name": [str(n) for n in range(100)]})
    told = assets.metadata_of(result.shown_rows(rows))
    assert "companies" not in told
    assert len(told["sample"].records) == result.SAMPLE_ROWS
    assert assets.metadata_of(result.shown_rows(rows.clear()))["sample"].records == []


def test_steps_are_summed_over_the_batches():
    sums = steps.Steps()
    for step in (("typed", 10, 0.5), ("ordered", 9, 0.25), ("typed", 2, 0.25)):
        sums.add(*step)
    assert sums.table.rows() == [("typed", 12, 0.75), ("ordered", 9, 0.25)]
    assert steps.Steps().table.columns == ["step", "rows", "seconds"]


def test_every_asset_shows_rows_companies_and_a_table(synchronized):
    with dagster_records.opened(synchronized) as instance:
        for key in (dg.AssetKey(step.name) for step in STEPS if step.name not in ("first_build", "filings")):
            event = instance.get_latest_materialization_event(key)
            told = event.asset_materialization.metadata
            if key == BUILD:
                pointer = publish.current(synchronized.published)
                assert told["build"].value == pointer.build
                assert told["content_hash"].value == pointer.content_hash
                assert "| companies | 2 |" in told["tables"].value
            elif key.to_user_string() == "statements":
                assert (told["dagster/row_count"].value, told["files_written"].value) == (0, 2)
            else:
                assert told["dagster/row_count"].value > 0, key
                assert told["companies"].value == 2, key
                if key.to_user_string() == "quality_report":
                    assert told["page"] == dg.MetadataValue.url("http://127.0.0.1:8000/quality")
                assert told["sample"].records, key


def test_a_run_of_the_ui_prints_what_each_step_made(synchronized, same_mirror, capsys):
    """So the output of a step is not empty; the command prints its own table instead."""
    run_recorded(synchronized, str(same_mirror.folder))
    assert capsys.readouterr().out == ""
    assert dagster_records.run_by_dagster(synchronized, source=str(same_mirror.folder)).success
    printed = capsys.readouterr().out
    assert f"build: {build_of(synchronized)}\n" in printed
    assert "page: http://127.0.0.1:8000/quality\n" in printed


def test_only_synchronizations_that_published_led_to_a_build(synchronized, same_mirror):
    """Synchronizations that found nothing new or were held back did not."""
    first = build_of(synchronized)
    assert led_to(synchronized) == [first]

    run_all(Synchronization(synchronized, str(same_mirror.folder)))
    assert led_to(synchronized) == [first]

    for filer in (ALFA, BRAVO):
        same_mirror.facts(filer).write_text("{")
    outcome = run_all(Synchronization(synchronized, str(same_mirror.folder)))
    assert outcome.held_back_by == ["few_are_quarantined: 2 of 2 companies with documents are quarantined"]
    assert build_of(synchronized) == first
    assert runs.read(synchronized.published).by_result[runs.HELD_BACK].number == 1
    assert led_to(synchronized)[:-1] == [first]

    same_mirror.hold(ALFA, replace(BRAVO, scale=900))
    last = publish_of(synchronized, same_mirror)
    assert led_to(synchronized) == [first, last]


def publish_of(home: Home, mirror: Mirror) -> str:
    assert run_all(Synchronization(home, str(mirror.folder))).counts["published"] == 1
    return build_of(home)


def build_of(home: Home) -> str:
    pointer = publish.current(home.published)
    assert pointer
    return pointer.build


def test_a_damaged_build_is_published_again(synchronized, same_mirror):
    """Also if only a Parquet copy is damaged; a damaged build never becomes the previous build."""
    folder = synchronized.published
    first = publish.current(folder)
    build = folder / first.file
    damages = (
        lambda: flip(folder / "warehouse.duckdb"),
        lambda: flip(folder / "parquet/financials.parquet"),
        lambda: (folder / "warehouse.duckdb").resolve().unlink(),
    )
    for damage in damages:
        damage()
        outcome = run_all(Synchronization(synchronized, str(same_mirror.folder)))
        assert (outcome.counts["published"], outcome.counts["mended"]) == (1, 1)
        pointer = publish.current(folder)
        assert is_whole(folder, pointer)
        assert (pointer.content_hash, pointer.log, pointer.previous) == (first.content_hash, first.log, None)
        assert led_to(synchronized)[-1] == pointer.build
    assert not build.exists()
    assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["published"] == 0
    assert publish.current(folder).build == pointer.build


def test_versions_stay_in_their_order_when_the_clock_is_set_back(synchronized, same_mirror, monkeypatch):
    """By 400 days for one synchronization: the restatement stays after the value that it restates, also in a
    repaired home.
    """

    class SetBack(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) - timedelta(days=400)

    with monkeypatch.context() as clock:
        clock.setattr(synchronization, "datetime", SetBack)
        same_mirror.hold(replace(ALFA, scale=500))
        back = publish_of(synchronized, same_mirror)
    same_mirror.hold(replace(ALFA, scale=900))
    last = publish_of(synchronized, same_mirror)

    def revenues() -> list[tuple[float, bool]]:
        with open_read_only(synchronized.published / "warehouse.duckdb") as build:
            return build.execute(
                "SELECT value, is_current FROM versions WHERE item = 'revenue' AND period_kind = 'annual' AND "
                f"cik = '{ALFA.cik}' AND period = 'FY2024' ORDER BY version"
            ).fetchall()

    wanted = [replace(ALFA, scale=scale).trailing(2024, 4) for scale in (100, 500, 900)]
    assert revenues() == [(value, value == wanted[-1]) for value in wanted]
    assert led_to(synchronized)[0] == back
    assert set(led_to(synchronized)) > {back, last}

    segments = publish.current(synchronized.published).log
    assert list(segments) != sorted(segments)
    (synchronized.log / "committed.json").write_text(json.dumps(sorted(segments)))  # as an earlier release did
    (synchronized.log / "digests.json").unlink()
    assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["published"] == 0
    assert revenues()[-1] == (wanted[-1], True)
    assert len(led_to(synchronized)) == 3


def test_after_going_back_the_newest_data_is_published_again(synchronized, same_mirror):
    same_mirror.hold(replace(ALFA, scale=500))
    publish_of(synchronized, same_mirror)
    newest = publish.current(synchronized.published)
    assert int(newest.sums["changes"].partition(" ")[0]) > 0
    run_recorded(synchronized, str(same_mirror.folder))  # nothing is new since, so nothing would be
    publish.rollback(synchronized.published)
    publish_of(synchronized, same_mirror)
    pointer = publish.current(synchronized.published)
    assert pointer.build != newest.build
    differs = {name for name, sums in pointer.sums.items() if sums != newest.sums[name]}
    assert (differs, pointer.log) == (set(), newest.log), "changes, too, are those since the build that is replaced"


def test_the_pointer_says_whether_the_schedule_is_on(synchronized, same_mirror, monkeypatch):
    """The UI or a timer turns it on; a variable says that there is a timer. A damaged record of it counts as off."""
    with monkeypatch.context() as timer:
        timer.setenv("FUNDAMENTALS_SCHEDULED", "yes")
        run_recorded(synchronized, str(same_mirror.folder))
    assert publish.current(synchronized.published).is_scheduled
    run_recorded(synchronized, str(same_mirror.folder))
    assert not publish.current(synchronized.published).is_scheduled
    dagster_records.write(synchronized.root, is_on=True, lived_at=0)
    run_recorded(synchronized, str(same_mirror.folder))
    assert publish.current(synchronized.published).is_scheduled
    (synchronized.dagster / "schedules/schedules.db").write_bytes(b"garbage")
    assert not dagster_record.is_scheduled(synchronized.root)


def test_recomputed_equal_rows_publish_no_new_build(synchronized, same_mirror, monkeypatch):
    first = build_of(synchronized)
    monkeypatch.setattr(stored, "inputs", lambda lake: "others")
    assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["published"] == 0
    pointer = publish.current(synchronized.published)
    assert (pointer.build, pointer.inputs) == (first, "others")
    assert [path.name for path in synchronized.published.glob("warehouse-*.duckdb")] == [f"warehouse-{first}.duckdb"]


def test_without_changes_no_build_is_assembled(synchronized, same_mirror, monkeypatch):
    """Only changed code of the assembly, or another list of companies, causes it."""
    assembled: list[str] = []
    assemble = build_tables.assemble_companies

    def noted(lake: Lake, *given: Any) -> list[Fault]:
        assembled.append("again")
        return assemble(lake, *given)

    monkeypatch.setattr(build_tables, "assemble_companies", noted)
    assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["published"] == 0
    assert assembled == []

    with monkeypatch.context() as changed:
        changed.setattr(stored, "code_digest", lambda: "other code")
        assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["published"] == 0
        lake = Lake(synchronized.tables)
        assert stored.changed_since(lake, build_of(synchronized)) == set()
    assert assembled == ["again"]

    same_mirror.list(ALFA, BRAVO, replace(ALFA, symbol="ALFB"))
    assert run_all(Synchronization(synchronized, str(same_mirror.folder))).counts["published"] == 1
    assert assembled == ["again", "again"]


@pytest.mark.parametrize(("source", "name"), [("live", "live"), ("sample", "sample"), ("/some/folder", "mirror")])
def test_error_messages_reveal_no_paths(source, name):
    assert Synchronization(Home(Path("home")), source).source_name == name
