-- The database of the accounts is made by the image (POSTGRES_USER); this one is for the runs of the pipeline.
CREATE DATABASE dagster;
