"""Pure functions from filed facts to standardized values: frames in, frames out, without I/O and without a clock."""
