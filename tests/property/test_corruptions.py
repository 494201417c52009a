"""Whatever becomes of the facts of some companies, the others are published as they were."""

import random
from pathlib import Path

import pytest

from tests.torture.corruptions import Source


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return Source(Path(tmp_path_factory.mktemp("corrupted")))


def test_corrupted_facts_of_some_companies_change_no_other_and_never_make_one_vanish_in_silence(source: Source) -> None:
    """Facts are dropped, or have other signs, units, forms, dates, types; `make torture` draws many more."""
    drawn = random.Random(1)
    tried = [source.tried(drawn, companies=3) for _ in range(7)]

    assert [(ways, losses) for ways, losses, _ in tried if losses] == []
    assert {became for *_, each in tried for became in each} == {"held back", "taken over"}
