"""Whatever becomes of the facts of one company, the others are published as they were."""

import random
from pathlib import Path

import pytest

from tests.torture.corruptions import Source


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return Source(Path(tmp_path_factory.mktemp("corrupted")))


def test_corrupted_facts_of_one_company_change_no_other_and_never_make_it_vanish_in_silence(source: Source) -> None:
    """Facts are dropped, or have other signs, units, forms, dates, types; `make torture` draws many more."""
    drawn = random.Random(1)
    tried = [source.tried(drawn) for _ in range(20)]

    assert [(way, losses) for way, losses, _ in tried if losses] == []
    assert {became for *_, became in tried} == {"held back", "taken over"}
