"""`make test-scale` names missing packages, and installs nothing; docs/scaling.md has the tables of the model."""

import subprocess

import pytest

from tests.scale import __main__ as scale
from tests.scale import model
from tests.servers import PROJECT


def test_what_is_missing_is_named_with_the_command_that_installs_it() -> None:
    assert scale.missing(lambda name: None if name == "moto" else name, str) == [
        "missing Python packages: moto; install them with: make scale"
    ]
    assert scale.missing(lambda name: name, lambda name: None) == [
        "missing Debian packages: nginx-light, postgresql, redis-server, wrk; install them, as root, with: make system"
    ]
    assert scale.missing(str, str) == []


def test_nothing_runs_if_something_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scale, "PACKAGES", ("missing_from_everywhere",))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it ran"))
    assert scale.main() == scale.MISSING
    assert "missing Python packages: missing_from_everywhere" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "marked"), [((), False), (("--short",), True)])
def test_the_short_form_leaves_out_what_is_marked_as_long(
    options: tuple[str, ...], marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, 5)

    monkeypatch.setattr(scale, "missing", lambda *_: [])
    monkeypatch.setattr(subprocess, "run", run)
    assert scale.main(*options) == 5
    [command] = commands
    assert "--short" not in command
    assert (command[-2:] == ["-m", "not long"]) is marked


def test_the_tables_of_the_model_are_in_the_page() -> None:
    page = (PROJECT / "docs" / "scaling.md").read_text(encoding="utf-8")
    assert model.costs() in page, "stale: python -m tests.scale.model"
    assert model.table() in page, "stale: python -m tests.scale.model"


def test_the_model_grows_with_what_it_is_asked_for() -> None:
    assert model.peak(10_000) == 10_000
    assert round(model.average(10_000)) == 1157
    assert model.replicas(1) == 2, "one may fail"
    assert (model.replicas(10_000) - 1) * model.WORKERS >= model.serving_cores(model.peak(10_000))
    assert model.first_synchronization(10, 4) < model.first_synchronization(10, 1)
    assert model.first_synchronization(10, 1_000) > 10 * model.value("others")
    assert model.stored(10) == pytest.approx(10 * model.stored(1))
    assert model.cost(10_000, 10) > model.cost(10_000, 1) > model.cost(100, 1)
