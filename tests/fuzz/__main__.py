"""`make fuzz`: each reader in turns, with other chances, for so many minutes."""

import argparse
import itertools
import sys
import time

from tests.fuzz import Failure, fuzz, targets

TURN = 200
"""Changed seeds of a reader in a turn."""


def main() -> int:
    """Fuzz until the time is over; 1 if something was found."""
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--minutes", type=float, default=10.0)
    given = parser.parse_args()
    found, done, until = 0, 0, time.monotonic() + 60 * given.minutes
    with targets() as all_of_them:
        for seed in itertools.count(1):
            if time.monotonic() > until:
                break
            for target in all_of_them:
                try:
                    fuzz(target, TURN, seed, until)
                except Failure as failure:
                    print(failure, file=sys.stderr)
                    found += 1
                done += TURN
    print(f"{done:,} inputs, {found} failures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
