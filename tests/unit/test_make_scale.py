"""`make test-scale` says what is missing, and installs nothing."""

import subprocess

import pytest

from tests.scale import __main__ as scale


def test_what_is_missing_is_named_with_the_command_that_installs_it() -> None:
    assert scale.missing(lambda name: None if name == "moto" else name, str) == [
        "missing Python packages: moto; install them with: make scale"
    ]
    assert scale.missing(lambda name: name, lambda name: None) == [
        "missing Debian packages: nginx-light, postgresql, redis-server; install them, as root, with: make system"
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
