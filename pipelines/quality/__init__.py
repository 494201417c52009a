"""Quality of the values: compares them with each other and with what filers state, and writes the report of a build.

Belongs here: checks that hold for all correct values, and the report of a build.
Does not: how a value is made (normalize), what holds back publishing (pipelines.dagster_app.checks).
"""
