"""What can go wrong with published data: the exception tree of the warehouse.

WarehouseError
  NothingPublished        there is no build yet
  BuildUnreadable         the pointer or the build that it names cannot be opened
  PublishError            a build could not be made or pointed to; what was published before stays
    VerificationError     a build was made, but is not what it should be; it was removed
"""


class WarehouseError(Exception):
    """Whatever goes wrong with published data; the message is one line."""


class NothingPublished(WarehouseError):
    """No build has been published yet."""


class BuildUnreadable(WarehouseError):
    """The pointer, or the build that it names, cannot be read."""


class PublishError(WarehouseError):
    """A build could not be made or pointed to; what was published before stays."""


class VerificationError(PublishError):
    """A build does not hold what it should; its file was removed."""


def first_line(error: Exception) -> str:
    """What DuckDB says, without the query and the arrows below it."""
    return str(error).strip().partition("\n")[0]
