"""Standard output and standard error of a command if they have no reader, or are on a full disk.

Belongs here: continuing the work all the same. Does not: the text (the commands).

The work of a command is independent of who reads its messages. So text that cannot be written is lost, and the exit
status is the result of the work.
"""

import os
import sys
from typing import Any


class Lenient:
    """A stream that discards all text after the first failed write; otherwise it acts like the stream itself."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write text, if possible."""
        try:
            return int(self._stream.write(text))
        except OSError as error:
            self._discard(error)
            return len(text)

    def writelines(self, lines: Any) -> None:
        """Write texts, if possible."""
        self.write("".join(lines))

    def flush(self) -> None:
        """Write buffered text, if possible."""
        try:
            self._stream.flush()
        except OSError as error:
            self._discard(error)

    def _discard(self, error: OSError) -> None:
        self.error = self.error or error
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


def make_lenient() -> None:
    """Make standard output and error of this process lenient, and open standard streams that are closed.

    Otherwise the next opened file, for example a database, would get their number, and messages would be written into
    it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            while (opened := os.open(os.devnull, os.O_RDWR)) < number:
                pass
            if opened > number:
                os.close(opened)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))
        if number:
            setattr(sys, name, Lenient(getattr(sys, name)))


def finish() -> None:
    """Write buffered text; report in one line if standard output could not be written, unless its reader has ended."""
    sys.stdout.flush()
    error = getattr(sys.stdout, "error", None)
    if error and not isinstance(error, BrokenPipeError):
        print(
            f"fundamentals: standard output could not be written: {error.strerror}; the work is done", file=sys.stderr
        )
    sys.stderr.flush()
