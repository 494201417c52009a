"""The exceptions of the warehouse.

WarehouseError
  NothingPublished        no build is published yet
  BuildUnreadable         the pointer, or the build that it names, cannot be read
    BuildDamaged          a build turned out to be damaged while it was read
  PublishError            a build could not be published; the previous build stays published
    VerificationError     a new build is incomplete or damaged; it was removed
"""


class WarehouseError(Exception):
    """Base class of the exceptions of the warehouse; the message is one line."""


class NothingPublished(WarehouseError):
    """No build has been published yet."""


class BuildUnreadable(WarehouseError):
    """The pointer, or the build that it names, cannot be read."""


class BuildDamaged(BuildUnreadable):
    """A build turned out to be damaged while it was read; a caller may read another build instead."""


class PublishError(WarehouseError):
    """A build could not be published; the previous build stays published."""


class VerificationError(PublishError):
    """A new build is incomplete or damaged; its file was removed."""


def first_line(error: Exception) -> str:
    """The first line of a DuckDB error, without the quoted query below it."""
    return str(error).strip().partition("\n")[0]
