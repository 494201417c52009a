"""Following the store goes on after any error: the log says it once, and a later look succeeds."""

from pathlib import Path
from typing import Any

import pytest

from serve.shared.following import Follower
from warehouse.shared.store import HeadWithTag, Store, StoreUnavailable


class Unsteady(Store):
    """A store without a commit that fails with some errors first."""

    def __init__(self, *errors: Exception) -> None:
        objects: Any = None
        super().__init__(objects, "s3://bucket/home")
        self.errors = [*errors]

    def head(self, known: HeadWithTag | None = None) -> HeadWithTag | None:
        if self.errors:
            raise self.errors.pop(0)
        return None


@pytest.mark.parametrize(
    "error", [StoreUnavailable("it does not answer"), OSError("no space"), RuntimeError("can't start new thread")]
)
def test_a_look_that_fails_is_said_once_and_the_next_ones_go_on(
    error: Exception, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Unsteady(error, error)
    following = Follower(tmp_path, store, store)
    for _ in range(4):
        following.look()
    assert capsys.readouterr().err.splitlines() == [
        f"{error}; the last build is served meanwhile",
        "the store is back: builds are taken over again",
    ]
