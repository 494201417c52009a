"""What all stages share: batches of companies, isolation of faults, companies held back, and the tables between stages.

Belongs here: dividing work, and leaving out a company that cannot be processed. Does not: the work (the stages).
"""
