"""The stages of a synchronization: each reads tables of a home, computes, and writes tables.

Belongs here: which companies a stage has to process again, processing them in batches, and failures that concern one
company only. Does not: Dagster (assets), the rules (normalize), the documents (edgar), the build
(warehouse.build.publish).

Each stage compares, for each company, the digest of its inputs with the digest stored in its table. So a run that was
killed, a run for some symbols and a run after a change of the rules all continue with the companies that are left.

A stage of batches has three functions: `plan` finds the companies and divides them into batches, `work` makes the rows
of one batch, and `collect` puts the rows of all batches into the tables. `update` is the three in this process and its
workers; other machines may do the work as well.

This file imports none of them: tables need the batches, but not the documents, whose changes make no table again.
"""
