"""The release of this program, and the order of releases.

Belongs here: the number. Does not: the effects of the release (shared.code_in_force). `pyproject.toml` and the newest
section of `CHANGELOG.md` have the same number, and the tag of the release is `v` and the number; a test compares them.
"""

import re

RELEASE = "0.1.0"


def order(release: str) -> tuple[int, ...]:
    """A key that sorts releases; an unknown release, from before releases were recorded, comes first."""
    return tuple(map(int, release.split("."))) if re.fullmatch(r"\d+(\.\d+)*", release) else ()
