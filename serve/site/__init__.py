"""The pages: what a person reads and does, outside of the versioned path."""
