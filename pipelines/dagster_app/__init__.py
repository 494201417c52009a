"""The only folder that imports Dagster: assets, checks, resources, the launcher, and the command that runs the job."""
