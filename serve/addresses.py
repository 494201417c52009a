"""Addresses of clients, also behind a proxy.

Belongs here: which address a request comes from, and which addresses belong to one client. Does not: counting
(connections, access.attempts).
"""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any

SUBSCRIBER = 64  # leading bits of an IPv6 address that all addresses of one subscriber share (RFC 6177)

WITH_PORT = re.compile(r"\A(?:\[([^]]*)\](?::\d*)?|([\d.]+):\d*)\Z", re.ASCII)
"""An address as some proxies write it: `203.0.113.9:5000`, `[2001:db8::7]:443` or `[2001:db8::7]` (RFC 7239, 6)."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def client_of(scope: Mapping[str, Any], proxies: Sequence[Network]) -> str:
    """The address of the client in an ASGI scope; empty if the server does not know it.

    It is the address from which the connection comes. If that address is a proxy, it is the last address in
    X-Forwarded-For, which the proxy has appended, without its port; and if that is a proxy too, the one before it.
    """
    address = str(scope["client"][0]) if scope.get("client") else ""
    named = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for") if proxies else b""
    for before in reversed(named.decode("latin-1").split(",")):
        alone = WITH_PORT.sub(r"\1\2", before.strip())
        if not is_one_of(address, proxies) or _parsed(alone) is None:
            break
        address = alone
    return address


def origin(address: str) -> str:
    """The key under which a client is counted: an IPv4 address, the network of an IPv6 address, or other text."""
    parsed = _parsed(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((parsed, SUBSCRIBER), strict=False))
    return str(parsed or address)


def is_one_of(address: str, proxies: Sequence[Network]) -> bool:
    """Whether an address belongs to one of the networks."""
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in proxies)


def _parsed(address: str) -> Address | None:
    """Parse an address; IPv4 in IPv6 becomes IPv4; None if it is not an address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed
