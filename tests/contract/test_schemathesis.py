"""Schemathesis reads the description, tests the running service, and finds no error."""

import os
import subprocess
import sys
from pathlib import Path

from tests import builds
from tests.contract.conftest import Ticking, new_key, serving

ROOT = Path(__file__).parents[2]
EXAMPLES = 40  # for each operation and phase


def test_2_to_8_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """All phases, all checks, an active key."""
    builds.small(tmp_path / "published")
    with serving(tmp_path, Ticking()) as running:
        key, _ = new_key(running)
        program = Path(sys.executable).with_name("schemathesis")
        asked = [program, "run", f"{running.address}/openapi.json", "--url", running.address]
        chosen = ["--checks", "all", "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color"]
        ran = subprocess.run(
            [*asked, "--header", f"X-Api-Key: {key}", *chosen],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "SCHEMATHESIS_HOOKS": "tests.contract.schemathesis_hooks"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for phase in ("Examples", "Coverage", "Fuzzing", "Stateful"):
        assert f"✅ {phase}" in ran.stdout, ran.stdout
    assert "Warnings" not in ran.stdout, ran.stdout
