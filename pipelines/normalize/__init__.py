"""Normalize: pure functions from filed facts to standardized values. Frames in, frames out; no I/O, no clock."""
