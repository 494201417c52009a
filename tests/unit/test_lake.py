"""The tables between the stages: replaced completely or for some companies, with the digests of their inputs."""

import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.storage.lake import Lake, LakeError
from pipelines.workers import ALONE, Workers

SCHEMA = {"cik": pl.String, "n": pl.Int64}
numbers = st.lists(st.integers(0, 9), max_size=4)
CIKS = [f"{n:010d}" for n in range(1, 7)]
companies = st.dictionaries(st.sampled_from(CIKS), numbers, max_size=6)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def rows(of: dict[str, list[int]]) -> pl.DataFrame:
    return pl.DataFrame([(cik, n) for cik, ns in of.items() for n in ns], schema=SCHEMA, orient="row")


def held(lake: Lake, ciks: list[str] | None = None) -> dict[str, list[int]]:
    found = lake.read("t") if ciks is None else lake.of_companies("t", ciks)
    return dict(found.group_by("cik", maintain_order=True).agg("n").iter_rows())


def parts_of(lake: Lake) -> list[str]:
    return sorted(path.name for path in (lake.folder / "t").glob("*.parquet"))


@pytest.mark.parametrize("spare", [0, 4])
@settings(deadline=None, max_examples=40)
@given(first=companies, changes=st.lists(companies, max_size=5), asked=st.sets(st.sampled_from(CIKS)))
def test_replacing_companies_keeps_the_others(spare, first, changes, asked):
    """After any replacements, each company has its last rows, in their order, and their digest."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipelines.storage.lake.MOST_SPARE_PARTS", spare)
        lake = Lake(Path(folder))
        expected: dict[str, list[int]] = {}
        digests: dict[str, str] = {}
        for number, given_now in enumerate([first, *changes]):
            parts = [rows({}), *(rows({cik: ns}) for cik, ns in given_now.items())]
            inputs = dict.fromkeys(given_now, str(number))
            lake.replace_companies("t", parts, inputs)
            expected |= given_now
            digests |= inputs
        with_rows = {cik: ns for cik, ns in sorted(expected.items()) if ns}
        assert list(held(lake).items()) == list(with_rows.items())
        assert lake.is_in_order("t") == lake.scan("t").collect()["cik"].is_sorted()
        assert held(lake, list(asked)) == {cik: ns for cik, ns in with_rows.items() if cik in asked}
        assert lake.height("t") == sum(map(len, with_rows.values()))
        assert lake.inputs("t") == digests
        assert len(parts_of(lake)) <= max(1, len(with_rows), spare + 1)
        assert sorted(path.name for path in lake.folder.iterdir()) == ["digests.json", "t"]
        lake.remove_companies("t", asked)
        assert held(lake) == {cik: ns for cik, ns in with_rows.items() if cik not in asked}
        assert lake.inputs("t").keys() == digests.keys() - asked


def test_only_new_rows_are_written(lake, tmp_path):
    """The part of the other companies stays as it is; it is removed when no row of it counts."""
    lake.replace_companies("t", [rows({"1": [1], "2": [2]})], {"1": "a", "2": "a"})
    lake.replace_companies("t", [rows({"2": [3]})], {"2": "b"})
    assert parts_of(lake) == ["000001.parquet", "000002.parquet"]
    assert lake.files("t") == [(tmp_path / "t/000001.parquet", ("1",)), (tmp_path / "t/000002.parquet", None)]
    lake.replace_companies("t", [rows({"1": [4]})], {"1": "b"})
    assert parts_of(lake) == ["000002.parquet", "000003.parquet"]
    assert held(lake) == {"1": [4], "2": [3]}


def test_small_parts_are_written_together(lake):
    for number in range(9):
        lake.replace_companies("t", [rows({str(number): [number]})], {str(number): "a"})
        assert len(parts_of(lake)) <= 5
    assert held(lake) == {str(number): [number] for number in range(9)}


def test_no_part_is_written_with_more_rows_than_fit_in_memory(lake, monkeypatch):
    """A full part stays as it is, and small parts are combined into parts that are not larger."""
    monkeypatch.setattr("pipelines.storage.lake.FULL", 3)
    for number in range(9):
        new = rows({str(number): [number] * (3 if number < 3 else 1)})
        lake.replace_companies("t", [new], {str(number): "a"})
    assert [lake.manifest("t").parts[part] for part in parts_of(lake)] == [3, 3, 3, 3, 2, 1]
    assert lake.height("t") == 15


def test_writing_replaces_everything(tmp_path):
    lake = Lake(tmp_path / "made")
    assert (lake.holds("t"), lake.inputs("t"), lake.digest("t")) == (False, {}, "")
    lake.write("t", rows({"1": [1]}), {"1": "a"})
    lake.write("t", rows({"2": [2], "3": [3], "4": [4]}))
    assert (held(lake), lake.inputs("t")) == ({"2": [2], "3": [3], "4": [4]}, {})
    assert lake.of_companies("t", ["4", "2"])["n"].to_list() == [2, 4]


def test_the_digests_of_companies_are_written_after_all_parts(lake):
    done = {"1": "a", "2": "b"}

    def parts():
        yield rows({"1": [1]})
        del done["2"]

    lake.write("t", rows({"2": [7]}), {"2": "old"})
    lake.replace_companies("t", parts(), done)
    assert held(lake) == {"1": [1], "2": [7]}
    assert lake.inputs("t") == {"1": "a", "2": "old"}


def test_without_changes_nothing_is_written(lake, tmp_path):
    lake.replace_companies("t", [rows({"1": [1]})], {"1": "a"})
    written = (tmp_path / "t" / "manifest.json").stat().st_mtime_ns
    lake.replace_companies("t", [rows({})], {})
    assert (tmp_path / "t" / "manifest.json").stat().st_mtime_ns == written
    lake.replace_companies("t", [pl.DataFrame(schema={**SCHEMA, "more": pl.Int64})], {})
    assert lake.read("t").columns == ["cik", "n", "more"]


def test_several_parts_and_one_give_the_same_table(lake):
    parts = [rows({"3": [3, 1]}), rows({"1": [2]}), rows({"2": []})]
    lake.replace_companies("t", parts, {"1": "a", "3": "a"})
    lake.replace_companies("u", [pl.concat(parts)], {"1": "a", "3": "a"})
    assert lake.read("t").rows() == lake.read("u").rows() == [("1", 2), ("3", 3), ("3", 1)]


def test_parts_of_a_table_can_be_read(lake):
    lake.write("t", rows({"1": [1, 2, 3]}))
    digest = lake.digest("t")
    assert (lake.height("t"), lake.head("t", 2).rows(), lake.read("t", ["n"]).columns) == (
        3,
        [("1", 1), ("1", 2)],
        ["n"],
    )
    lake.write("t", rows({"1": [1, 2, 3]}))
    assert lake.digest("t") == digest
    lake.write("t", rows({"1": [1, 2]}))
    assert lake.digest("t") != digest


def test_a_failure_leaves_the_table_unchanged(lake):
    lake.write("t", rows({"1": [1]}), {"1": "a"})

    def parts():
        yield rows({"1": [2]})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        lake.replace_companies("t", parts(), {"1": "b"})
    assert held(lake) == {"1": [1]}


def test_files_of_a_killed_run_are_overwritten(lake, tmp_path):
    (tmp_path / ".t2.tmp").write_bytes(b"half a table")
    (tmp_path / ".parts-t").mkdir()
    (tmp_path / ".parts-t" / "00000.parquet").write_bytes(b"half a part")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "000001.parquet").write_bytes(b"half a part that no manifest names")
    lake.replace_companies("t", [rows({"1": [1]})], {"1": "a"})
    assert held(lake) == {"1": [1]}
    assert parts_of(lake) == ["000002.parquet"]
    lake.write("t2", rows({}))
    with lake.gathering("t"):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["digests.json", "t", "t2.parquet"]


def test_files_that_a_killed_run_no_longer_named_are_removed(lake, tmp_path, monkeypatch):
    """It was killed when the manifest had moved: no later run that finds nothing new would write the table again."""
    lake.replace_companies("t", [rows({CIKS[0]: [1]})], {CIKS[0]: "a"})
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "_tidy", lambda *_: None)
        lake.replace_companies("t", [rows({CIKS[0]: [2]})], {CIKS[0]: "b"})
    lake.replace_companies("damaged", [rows({CIKS[0]: [3]})], {CIKS[0]: "c"})
    (tmp_path / "damaged" / "manifest.json").write_bytes(b"{")
    assert len(parts_of(lake)) == 2

    lake.tidy()

    assert len(parts_of(lake)) == 1
    assert held(lake) == {CIKS[0]: [2]}
    assert len(list((tmp_path / "damaged").glob("*.parquet"))) == 1


@pytest.mark.parametrize(
    ("columns", "kept"),
    [
        # the first part of the table, with the digests of its companies
        (rows({"1": [1], "2": [2]}), ({"1": [4], "2": [2]}, {"1": "b", "2": "a"})),
        # columns of an older program: nothing of it is kept, and no digest marks its companies as done
        (pl.DataFrame({"cik": ["1", "2"]}), ({"1": [4]}, {"1": "b"})),
    ],
    ids=["in one file", "with other columns"],
)
def test_a_table_of_an_older_program_is_kept_or_computed_again(lake, columns, kept):
    lake.write("t", columns, {"1": "a", "2": "a"})
    lake.replace_companies("t", [rows({"1": [4]})], {"1": "b"})
    assert (held(lake), lake.inputs("t")) == kept
    assert sorted(path.name for path in lake.folder.iterdir()) == ["digests.json", "t"]


@pytest.mark.parametrize(
    "use",
    [
        lambda lake: lake.read("t"),
        lambda lake: lake.of_companies("t", ["1"]),
        lambda lake: lake.inputs("t"),
        lambda lake: lake.replace_companies("t", [rows({"1": [1]})], {"1": "a"}),
    ],
)
@pytest.mark.parametrize("content", [b"", b"no table, whatever its name says", b"PAR1" + bytes(64) + b"PAR1"])
def test_a_damaged_table_is_reported_in_one_line(tmp_path, use, content):
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(
        LakeError, match=r"t\.parquet cannot be read or written .*`fundamentals doctor --repair`"
    ) as told:
        use(Lake(tmp_path))
    assert "\n" not in str(told.value)


def test_a_table_with_a_flipped_bit_is_reported_in_one_line_or_read(tmp_path):
    """Polars raises many kinds of errors for it, among them one that is not an Exception."""
    Lake(tmp_path).write("t", pl.DataFrame({"cik": CIKS, "n": range(6)}, SCHEMA))
    path, drawn = tmp_path / "t.parquet", Random(1)
    whole = path.read_bytes()
    for place in drawn.sample(range(8 * len(whole)), 300):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        path.write_bytes(flipped)
        with suppress(LakeError):
            Lake(tmp_path).read("t")


def test_a_disk_error_is_reported(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(LakeError, match="cannot be read or written"):
        Lake(tmp_path / "file").write("t", rows({"1": [1]}))


class Here(Workers):
    """Workers that are all this process."""

    def map(self, task, inputs):
        return map(task, inputs)


def counted(cik: str) -> tuple[dict[str, pl.DataFrame], str]:
    return {"t": rows({cik: [1, 2]}), "u": rows({})}, f"notes on {cik}"


@pytest.mark.parametrize(("workers", "ciks"), [(ALONE, "123"), (Here(2), "123"), (Here(2), "1"), (ALONE, "1")])
def test_batches_that_workers_share_are_kept_in_order(lake, tmp_path, workers, ciks):
    with lake.gathering("all") as batches:
        assert list(batches.fill(workers, counted, ciks)) == [f"notes on {cik}" for cik in ciks]
        assert (batches.height("t"), batches.height("u")) == (2 * len(ciks), 0)
        assert batches.scan("t").collect().rows() == [(cik, n) for cik in ciks for n in (1, 2)]
        assert batches.scan("u").collect().is_empty()
        lake.replace_companies("t", batches.of("t"), dict.fromkeys(ciks, "a"))
        lake.replace_companies("u", batches.of("u"), dict.fromkeys(ciks, "a"))
    assert held(lake) == {cik: [1, 2] for cik in ciks}
    assert lake.read("u").is_empty()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["digests.json", "t", "u"]
