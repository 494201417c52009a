"""Where the service of a home listens, for commands that print links to its pages.

Belongs here: a file of the home with host and port, written while the service runs, and a lock that keeps the home from
being replaced. Does not: reading the file (warehouse.record.service_place), the public address (settings), listening.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from serve.errors import CommandError
from warehouse.files import SERVING_LOCK, locked
from warehouse.record.service_place import NAME


@contextmanager
def announced(home: Path, host: str, port: int) -> Iterator[None]:
    """Keep the place and a lock in the home until the block ends; a home that is not writable is served without them.

    Raises:
        CommandError: a backup is being restored into the home.
    """
    file, text = home / NAME, f"{host} {port}\n"
    with ExitStack() as held:
        with suppress(OSError):
            if not held.enter_context(locked(home / SERVING_LOCK, shared=True)):
                raise CommandError(f"home {home}: a backup is being restored; start the service when that has ended")
        with suppress(OSError):
            file.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            with suppress(OSError):
                if file.read_text(encoding="utf-8") == text:  # unless another service of this home has started since
                    file.unlink()
