"""The short form of `make fuzz`: the seeds and the corpus of each reader, and some changed seeds."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz import Failure, Target, changed, fuzz, targets

NAMES = (
    *("companyfacts", "submissions", "page", "tickers", "data set", "list of data sets", "archive"),
    *("package", "instance", "linkbases"),
    *("forwarded", "backup", "head", "front"),
)


@pytest.fixture(scope="module")
def readers() -> Iterator[dict[str, Target]]:
    with targets() as found:
        yield {target.name: target for target in found}


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_answers_hostile_bytes_as_it_should(readers: dict[str, Target], name: str) -> None:
    assert readers.keys() == {*NAMES}
    assert fuzz(readers[name], 60, seed=0)


def test_a_failure_is_kept_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(raw: bytes) -> None:
        raise KeyError(raw)

    monkeypatch.setattr("tests.fuzz.CORPUS", tmp_path)
    with pytest.raises(Failure, match=r"broken: .*/0-0: KeyError"):
        fuzz(Target("broken", [b"seed"], read), 1, seed=0)
    assert (tmp_path / "broken" / "0-0").read_bytes() == b"seed"
    assert changed(b"seed" * 100, random.Random(1)) != b"seed" * 100
