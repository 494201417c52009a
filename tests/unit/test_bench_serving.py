"""The bench of the service: the copies that it serves, the requests that it sends, and how it judges its figures."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from serve.settings import Settings
from tests import builds
from tests.bench.serving import load, requests
from tests.bench.serving.copies import Copies
from tests.bench.serving.figures import FIGURES, table
from tests.bench.serving.requests import Requests
from tests.servers import Clock, in_process
from warehouse.build import overlay
from warehouse.build.pointer import current
from warehouse.read.reader import OpenBuild, Warehouse

COMPANIES = 10
SMALLEST = 1_000  # bytes of an answer with values, and its head


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Copies:
    """Ten copies of the four companies of the small build."""
    folder = tmp_path_factory.mktemp("bench")
    builds.small(folder / "base")
    return Copies(folder / "home", folder / "base", COMPANIES)


def values_of(build: OpenBuild, symbol: str, item: str) -> list[float]:
    return [period.values[item] for period in build.memory.periods(symbol, "annual", (item,), 40)]


def test_copies_have_the_values_of_their_originals_under_other_names(copies: Copies) -> None:
    """A new build differs in its revenues, and in nothing else."""
    original, copied = Warehouse(copies.home.parent / "base"), Warehouse(copies.published)
    with original.build() as one:
        listed, _ = one.memory.companies(limit=40)
        of_original = {row.symbol: row.name for row in listed}
        debt, revenues = (values_of(one, "LNTR", item) for item in ("total_debt", "revenue"))
    made = set()
    for turn in range(2):
        with copied.build() as many:
            listed, _ = many.memory.companies(limit=40)
            assert len({row.cik for row in listed}) == many.pointer.companies == COMPANIES
            assert all(of_original[row.symbol[:-2]] == row.name for row in listed)
            assert values_of(many, "LNTRAC", "total_debt") == debt
            more = {new - old for new, old in zip(values_of(many, "LNTRAC", "revenue"), revenues, strict=True)}
            made.add((many.pointer.build, *more))
        if not turn:
            copies.publish_other()
    assert made == {("copies-0", 0.0), ("copies-1", 1.0)}
    for warehouse in (original, copied):
        warehouse.close()


def test_an_update_changes_one_company_with_an_overlay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the overlay is large, all rows are written; a build that is too small for an overlay is refused."""
    builds.small(tmp_path / "base")
    copies = Copies(tmp_path / "home", tmp_path / "base", COMPANIES)
    with pytest.raises(SystemExit, match="too small for an overlay"):
        copies.publish_update(0)
    monkeypatch.setattr(overlay, "MIN_FILE_SIZE", 0)
    warehouse = Warehouse(copies.published)
    for number, largest in enumerate((overlay.MAX_OVERLAY_SIZE, 0)):
        monkeypatch.setattr(overlay, "MAX_OVERLAY_SIZE", largest)
        with warehouse.build() as before:
            copies.publish_update(number)
            with warehouse.build() as after:
                sql = "SELECT cik, sum(revenue) FROM financials GROUP BY cik HAVING sum(revenue) > 0 ORDER BY cik"
                differ = [pair for pair in zip(before.rows(sql), after.rows(sql), strict=True) if pair[0] != pair[1]]
                assert len(differ) == 1
                assert after.pointer.base == (before.pointer.build if largest else after.pointer.build)
    warehouse.close()


def test_copies_are_kept_for_the_next_run(copies: Copies) -> None:
    """Copies of another version of this project are made anew; too many companies are refused."""
    base, before = copies.home.parent / "base", current(copies.published)
    again = Copies(copies.home, base, COMPANIES)
    assert current(again.published) == before
    assert again.publish_other() != before.build
    note = copies.home / "made-of.json"
    note.write_text(note.read_text().replace("content_hash", "hash_of_content"))
    assert current(Copies(copies.home, base, COMPANIES).published).published_at >= before.published_at
    (copies.published / "warehouse-copies-1.duckdb").unlink()
    assert Copies(copies.home, base, COMPANIES).publish_other() == "copies-0"
    with pytest.raises(SystemExit, match="synchronize more"):
        Copies(copies.home.parent / "other", base, 1_000_000)
    with pytest.raises(SystemExit, match="synchronize first"):
        Copies(copies.home, copies.home / "nothing", COMPANIES)


def test_no_question_is_asked_twice(copies: Copies, tmp_path: Path) -> None:
    made = Requests(tmp_path, copies.file)
    questions = [line for file in islice(made.different(500), 3) for line in file.read_text().splitlines()]
    assert len(questions) == len(set(questions)) == 3 * 3 * 67  # files, symbols with enough periods, choices of items


def test_wrk_sends_the_requests_and_counts_the_errors(
    tmp_path: Path, program: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the entity tags of the answers each response is a 304, and with each other key unknown an error."""
    program("wrk", "wrk")
    monkeypatch.setattr(requests, "KEYS", 2_000)  # 120,000 requests a minute
    published = builds.small(tmp_path / "published")
    keys, mixed = requests.create_keys(tmp_path), tmp_path / "mixed"
    mixed.write_text(keys.read_text().replace("\n", "\nfds_live_unknown\n"))
    with in_process(Settings(tmp_path), Clock()) as address:
        asked = Requests(tmp_path, tmp_path / "published" / published.file)
        unchanged = asked.unchanged(address, keys)
        load.send_all(address, unchanged, keys)
        measured = load.measure(address, unchanged, mixed, 1)
    assert abs(measured.requests - 2 * measured.errors) <= load.CONNECTIONS < measured.requests  # some are in flight
    assert 0 < measured.size < SMALLEST
    assert measured.longest >= measured.p99 >= measured.p50 > 0


@pytest.mark.parametrize(("median", "said"), [(0.95, "aim"), (0.7, "held"), (0.5, "not held")])
def test_a_figure_is_judged_by_its_median(median: float, said: str) -> None:
    verdicts = table({"financials": [0.1, median, 1.5]}).columns[-1].cells
    assert next(iter(verdicts)) == said
    assert list(table({}).columns[-1].cells) == ["not measured"] * len(FIGURES)


def test_costs_are_judged_the_other_way_round() -> None:
    assert FIGURES["p99"].keeps([2.5], 3)
    assert not FIGURES["p99"].keeps([2.5], 2)
