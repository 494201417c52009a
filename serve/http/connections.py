"""Open connections: how many there may be in all, and how many from one address.

Belongs here: counting connections. Does not: accepting and closing them (server), the limits of keys (access).
"""

import ipaddress
from collections import Counter

SUBSCRIBER = 64  # bits of an IPv6 address that name a subscriber, who has all addresses that begin with them (RFC 6177)


def origin(address: str) -> str:
    """What one client has: an IPv4 address, or the network of an IPv6 address; other text as it is."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((parsed, SUBSCRIBER), strict=False))


class Connections:
    """The open connections of a server, by the origin of the client."""

    def __init__(self, share: float) -> None:
        """Count from zero; `share` is the part of all connections that one origin may have, from 0 to 1."""
        self._share = share
        self._open: Counter[str] = Counter()

    def opened(self, address: str, largest: int) -> bool:
        """Count a connection; False if its origin now has more than its share of the `largest` number in all."""
        of = origin(address)
        self._open[of] += 1
        return self._open.total() <= largest and self._open[of] <= max(1, int(self._share * largest))

    def closed(self, address: str) -> None:
        """Stop counting a connection."""
        of = origin(address)
        self._open[of] -= 1
        if not self._open[of]:
            del self._open[of]
