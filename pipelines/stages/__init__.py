"""The stages of a synchronization: each reads tables of a home, computes, and writes tables.

Belongs here: finding the companies that a stage has to process again, processing them in batches, and isolating
failures of single companies. Does not: Dagster (assets), the rules (normalize), the documents (edgar), the build
(warehouse.build.publish).

Each stage compares, for each company, the digest of its inputs with the digest stored in its table. So every run
processes just the companies that are left, also after a killed run, a run for some symbols or a change of the rules.

A stage of batches has three functions: `plan` finds the companies and divides them into batches, `work` makes the rows
of one batch, and `collect` puts the rows of all batches into the tables. `update` runs the three in this process and
its workers; other machines may do the work as well.

This file imports no stage: the code of a table depends on the batches, but not on the readers of documents, so that a
change of a reader does not make the table again.
"""
