"""HTTP without the interface: server, edge, caching, errors, log."""
