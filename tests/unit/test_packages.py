"""The installation of the pinned packages, with a program in the place of pip."""

import sys

import pytest

from deploy import packages

LOCK = "a==1 \\\n    --hash=sha256:0\nb-c[d]==2 ; python_version < '3.12' \\\n    --hash=sha256:0\n"
MORE = "e==3 \\\n    --hash=sha256:0 \\\n    --hash=sha256:1"
PIP = """
import re, sys
share = open(sys.argv[-1]).read()
print("Looking in indexes: an address")
for name in re.findall(r"^[a-z-]+", share, re.MULTILINE):
    print("Ignoring b-c: markers do not match" if name == "b-c" else f"Collecting {{name}}")
print("Installing collected packages: a")
open(sys.argv[1], "a").write(share)
raise SystemExit({status} if "a==1" in share else 0)
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Installs two lock files on a machine with a number of cores; the arguments of all calls of pip are in a file."""
    (tmp_path / "lock").write_text(LOCK)
    (tmp_path / "more").write_text(MORE)

    def install(cores: int, status: int = 0) -> tuple[int, str]:
        given = tmp_path / f"given-{cores}"
        monkeypatch.setattr(packages.os, "cpu_count", lambda: cores)
        monkeypatch.setattr(packages, "PIP", (sys.executable, "-c", PIP.format(status=status), str(given)))
        monkeypatch.setattr(packages, "STEP", 1)
        return packages.main(str(tmp_path / "lock"), str(tmp_path / "more")), given.read_text()

    return install


@pytest.mark.parametrize("status", [0, 1])
def test_packages_are_counted_and_pip_speaks_only_if_it_fails(status, run, capfd):
    assert run(1, status) == (status, f"{LOCK}{MORE}\n")
    printed = capfd.readouterr()
    counted = [line.split()[1] for line in printed.err.splitlines() if line.startswith("  packages")]
    assert counted == ["1/3", "2/3", "3/3", "3/3,"]
    assert ("Looking in indexes" in printed.err) == bool(status)
    assert printed.out == ""


@pytest.mark.parametrize("cores", [2, 8])
def test_several_pips_share_the_packages(cores, run, capfd):
    """Each package is given to one of them; if one fails, all count as failed."""
    status, given = run(cores, 1)
    assert status == 1
    assert sorted(given) == sorted(f"{LOCK}{MORE}\n")
    assert "3/3" in capfd.readouterr().err
