"""What is stored: the home, the tables between the stages, the version log, and what machines share."""
