"""The installation of the pinned packages, with a program in the place of pip."""

import sys

import pytest

from deploy import packages

LOCK = "a==1 \\\n    --hash=sha256:0\nb-c==2 ; python_version < '3.12' \\\n    --hash=sha256:0\n"
PIP = """
print("Looking in indexes: an address")
print("Ignoring b-c: markers do not match")
print("Collecting a==1")
print("Installing collected packages: a")
raise SystemExit({status})
"""


@pytest.mark.parametrize("status", [0, 1])
def test_packages_are_counted_and_pip_speaks_only_if_it_fails(status, tmp_path, monkeypatch, capfd):
    (tmp_path / "lock").write_text(LOCK)
    monkeypatch.setattr(packages, "PIP", (sys.executable, "-c", PIP.format(status=status)))
    monkeypatch.setattr(packages, "STEP", 1)
    assert packages.main(str(tmp_path / "lock")) == status
    printed = capfd.readouterr()
    counted = [line.split()[1] for line in printed.err.splitlines() if line.startswith("  packages")]
    assert counted == ["1/2", "2/2", "2/2,"]
    assert ("Looking in indexes" in printed.err) == bool(status)
    assert printed.out == ""
