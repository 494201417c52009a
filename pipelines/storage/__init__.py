"""Storage: the home, the tables between the stages, the version log, and the digests of their files."""
