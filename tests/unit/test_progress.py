"""The progress channel between the stages and its listeners."""

import pytest

from pipelines.dagster_app import synchronize
from pipelines.progress import progress_to, report


def test_only_listeners_receive_progress():
    heard: list[tuple[str, int, int]] = []
    report("facts", 1, 2)
    with progress_to(lambda *told: heard.append(told)):
        report("facts", 2, 2)
        report("facts", 0, 0)  # no progress for an empty list
    report("facts", 3, 3)
    assert heard == [("facts", 2, 2)]


def test_the_listener_is_gone_after_a_failure():
    heard: list[tuple[str, int, int]] = []
    with pytest.raises(ZeroDivisionError), progress_to(lambda *told: heard.append(told)):
        raise ZeroDivisionError
    report("facts", 1, 1)
    assert heard == []


def test_a_bar_shows_what_was_planned_since_it_began(capsys):
    """The batches of a step become known one after the other."""
    with synchronize._progress_shown():
        for done, planned in ((0, 1), (1, 4), (6, 6)):
            report("facts: batches", done, planned)
    assert capsys.readouterr().err.rstrip().splitlines()[-1].split()[3] == "6/6"
