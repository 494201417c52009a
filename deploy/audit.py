"""Looks up advisories for the pinned packages: `make audit`.

Belongs here: what counts as looked up, and the exit status. Does not: the look-up itself (pip-audit asks OSV).

An answer without advisories is also what a proxy or a mirror without advisories gives. So a package with well-known
vulnerabilities is looked up first: if none is found, nothing is known of the others either.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

KNOWN = "pyyaml==5.3"
"""It executes code that is in a document: CVE-2020-1747 and CVE-2020-14343."""
NONE, FOUND, NOT_LOOKED_UP = range(3)
"""The exit statuses."""


class NotLookedUp(Exception):
    """Advisories could not be looked up."""


def main(program: str, locks: Sequence[str]) -> int:
    """Look up the advisories for all packages of lock files, and print those that apply.

    Args:
        program: path of pip-audit.
        locks: requirements files with hashes.
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            known = Path(folder) / "known.txt"
            known.write_text(f"{KNOWN}\n")
            if not _advisories(program, known, "--no-deps"):
                raise NotLookedUp(f"the service knows no advisory for {KNOWN}")
        found = [f"{lock}: {each}" for lock in locks for each in _advisories(program, Path(lock), "--require-hashes")]
    except NotLookedUp as error:
        print(f"advisories could not be looked up: {error}", file=sys.stderr)
        return NOT_LOOKED_UP
    print("\n".join(found) or f"no advisory applies to the packages of {', '.join(locks)}")
    return FOUND if found else NONE


def _advisories(program: str, file: Path, *options: str) -> list[str]:
    """The advisories for the packages of a file, one line each.

    Raises:
        NotLookedUp: of all packages, or of one.
    """
    command = [program, "--vulnerability-service", "osv", "--strict", "--disable-pip", "--progress-spinner", "off"]
    command += ["--format", "json", "--desc", "off", *options, "--requirement", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
        return [
            f"{package['name']} {package['version']}: {', '.join([each['id'], *each['aliases']])}; "
            f"fixed in {', '.join(each['fix_versions']) or 'no version'}"
            for package in packages
            for each in package["vulns"]
        ]
    except (ValueError, KeyError) as error:
        said = done.stderr.strip().splitlines() or ["pip-audit has printed nothing"]
        raise NotLookedUp(said[-1]) from error


if __name__ == "__main__":
    program, first, *others = sys.argv[1:]
    sys.exit(main(program, [first, *others]))
