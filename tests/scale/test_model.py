"""The numbers of the model agree with this program: measured again with a small build, within wide bounds."""

from pathlib import Path

import pytest

from tests import builds
from tests.scale import measure, model
from tests.scale.conftest import Finder

SLOWER, FASTER = 4.0, 5.0
"""Factor by which another machine, or a machine that tests share, may differ in processor time."""


@pytest.mark.long
def test_the_measured_numbers_are_those_of_the_model(tmp_path: Path, installed: Finder) -> None:
    for name in ("wrk", "nginx", "redis-server"):
        installed(name)
    (home := tmp_path / "home").mkdir()
    builds.small(home / "published")
    (there := tmp_path / "there").mkdir()
    found = dict(measure.all_of(home, there))

    for name in ("nginx", "worker", "redis"):
        measured = float(str(found[f"{name}, µs a request"]))
        assert model.value(name) / FASTER < measured < model.value(name) * SLOWER, name
    assert 4 <= int(str(found["looks at the store in ten seconds"])) <= 6, "one in two seconds"
    files = sum(1 for path in (home / "published").rglob("*") if path.is_file() and not path.is_symlink())
    requests = found["start of a replica with an empty home, requests"]
    assert isinstance(requests, dict)
    assert files <= requests["GET"] <= files + 5, "each file once, and looks at HEAD"
    assert found["checkout with nothing new, requests"] == {"GET": 1}
    assert found["commit with nothing new, requests"] == {"GET": 1, "PUT": 1}
