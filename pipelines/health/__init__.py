"""Health checks of a home's data: each check examines one part, and yields its findings (warehouse.contract.findings).

Belongs here: finding damage, and safe repairs. Does not: accounts and Redis (serve.cli.health), printing
(admin.doctor).
"""
