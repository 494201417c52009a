"""The checks of a home's data: each examines one part and yields its findings (warehouse.contract.findings).

Belongs here: what is damage, and what can be repaired safely. Does not: accounts and Redis (serve.cli.health), printing
(doctor).
"""
