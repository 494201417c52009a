"""Storage: the home, the tables between the stages, the version log, and the files that machines share."""
