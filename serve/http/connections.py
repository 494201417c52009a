"""Open connections: the largest number in all, and from one address.

Belongs here: counting connections. Does not: accepting and closing them (server), the limits of keys (access).
"""

from collections import Counter
from collections.abc import Sequence

from serve.addresses import Network, is_one_of, origin


class Connections:
    """The open connections of a server, by the origin of the client."""

    def __init__(self, share: float, proxies: Sequence[Network] = ()) -> None:
        """Count from zero.

        Args:
            share: the part of all connections that one origin may have, from 0 to 1.
            proxies: addresses that may have all connections, because they stand for many clients.
        """
        self._share = share
        self._proxies = proxies
        self._open: Counter[str] = Counter()

    def opened(self, address: str, largest: int) -> bool:
        """Count a connection; False if there are now more than `largest`, or too many of its origin."""
        of = origin(address)
        self._open[of] += 1
        is_within_share = self._open[of] <= max(1, int(self._share * largest))
        return self._open.total() <= largest and (is_within_share or is_one_of(address, self._proxies))

    def closed(self, address: str) -> None:
        """Stop counting a connection."""
        of = origin(address)
        self._open[of] -= 1
        if not self._open[of]:
            del self._open[of]
