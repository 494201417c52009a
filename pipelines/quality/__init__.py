"""Quality of the values: compares them with each other and with the filed facts, and writes the report of a build.

Belongs here: checks that hold for all correct values, and the report of a build.
Does not: how a value is made (normalize), the conditions that hold back publishing (run.gates).
"""
