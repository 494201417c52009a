"""Damage to files as a disk does it, for tests of finding and mending it.

Belongs here: the damage. Does not: the files, finding damage (tests of doctor and of the stores).
"""

import stat
from pathlib import Path


def flip(path: Path) -> None:
    """Flip one bit in the middle of a file, or of the file that a link leads to; it keeps its permissions."""
    mode = stat.S_IMODE(path.stat().st_mode)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.resolve().chmod(0o600)
    path.write_bytes(content)
    path.chmod(mode)
