"""The read-only HTTP interface and the pages over the published build. This package never writes a table."""
