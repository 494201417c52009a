"""The names of industries.

Belongs here: which industries there are. Does not: how a filer's industry is found (table, classification).
"""

from typing import Literal, get_args

Industry = Literal[
    "general",
    "bank",
    "broker",
    "asset_manager",
    "exchange",
    "insurer",
    "financial",
    "investment_company",
    "reit",
    "utility",
    "oil_and_gas",
    "captive_finance",
    "partnership",
    "shell",
]
INDUSTRIES: tuple[Industry, ...] = get_args(Industry)
