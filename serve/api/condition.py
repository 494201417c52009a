"""The condition of the service: its present problems, in the words of `/status`.

Belongs here: the sentences, and where each comes from. Does not: detecting a problem (warehouse.read.reader,
serve.access).
"""

from serve.access.holders import Holders
from serve.access.limits import Limits
from warehouse.errors import NothingPublished, WarehouseError
from warehouse.read.reader import UNREADABLE, Warehouse

NOTHING_YET = "No data has been published yet."
ON_ITS_OWN = "Redis is unavailable, so that each worker counts rate limits on its own."
KEYS_UNREADABLE = "This key cannot be checked at the moment; try again in a minute."
UNKNOWN_CHANGES = "Changes of keys and subscriptions cannot be read; known keys stay valid."


def without_data(error: WarehouseError) -> str:
    """The reason why no request for data can be answered."""
    return NOTHING_YET if isinstance(error, NothingPublished) else UNREADABLE


def problem_of(warehouse: Warehouse, limits: Limits, holders: Holders | None = None) -> str | None:
    """The reasons why the service is degraded although it has data; None if it is not degraded."""
    reasons = (
        warehouse.reason,
        ON_ITS_OWN if limits.degraded else None,
        UNKNOWN_CHANGES if holders and holders.outdated else None,
    )
    return " ".join(filter(None, reasons)) or None
