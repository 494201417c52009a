"""The reviewed table of industries, industries.toml: each row is one way in which filings show their filer's industry.

Belongs here: the list of industries, reading and checking the table, the rules of its rows. Does not: applying it
(classification).
"""

from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from pipelines.normalize import reviewed
from pipelines.normalize.rule import Rule

TABLE_FILE = Path(__file__).with_name("industries.toml")

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

RULES = (
    Rule(
        "industry.by-code",
        "A company whose SIC code is that of one industry belongs to it.",
        "SIC code of the filer (EDGAR submissions); SEC list of Standard Industrial Classification codes",
        "select",
    ),
    Rule(
        "industry.by-code-and-elements",
        "If companies of several industries have the same SIC code, the elements that a company's filings of one "
        "year use, or do not use, decide its industry.",
        "Taxonomy: definitions of the elements; Regulation S-X Articles 5, 7 and 9: which statements have them",
        "select",
    ),
    Rule(
        "industry.by-elements",
        "Without a specific SIC code, a company belongs to the industry whose elements its filings of one year use.",
        "Taxonomy: definitions of the elements; Regulation S-X Articles 7 and 9, ASC 932, 946 and 980",
        "select",
    ),
    Rule(
        "industry.presumed",
        "If the elements that would show the industry are not available, a company without SIC code and current "
        "items is assumed to be a financial company, and a maker of vehicles or machinery to own the lender to its "
        "buyers.",
        "Regulation S-X Articles 7 and 9: balance sheets of financial companies are not classified",
        "select",
    ),
    Rule(
        "industry.general.otherwise",
        "A company that no other rule assigns to an industry is a general company.",
        "Regulation S-X Article 5: commercial and industrial companies",
        "select",
    ),
)

BY_ID = {rule.id: rule for rule in RULES}

Codes = tuple[Annotated[str, msgspec.Meta(pattern="^[0-9]{4}(-[0-9]{4})?$")], ...]
Elements = tuple[Annotated[str, msgspec.Meta(pattern="^(ifrs-full:)?[A-Z][A-Za-z0-9]+$")], ...]


class IndustryRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A filer belongs to `industry` if its SIC code is in `codes` and its filings of one year meet the conditions.

    rule: the id of one of RULES.
    codes: SIC codes and ranges of them; 0000 stands for a filer without a code.
    statement: one plain sentence: who belongs to the industry. source: the paragraph that justifies it, if any.
    uses: elements; the filings must use at least `at_least` of them. IFRS elements have a prefix.
    unless: elements that the filings must not use.
    """

    industry: Industry
    rule: str
    codes: Codes
    statement: str
    source: str = ""
    uses: Elements = ()
    at_least: int = 0
    unless: Elements = ()

    def __post_init__(self) -> None:
        """Refuse an unknown rule, and a condition that always or never holds."""
        if self.rule not in BY_ID:
            raise ValueError(f"no rule of industries has the id {self.rule!r}")
        if not bool(self.uses) <= self.at_least <= len(self.uses):
            raise ValueError(f"at least {self.at_least} of {len(self.uses)} elements always or never holds")


def rows(text: str | None = None) -> tuple[IndustryRow, ...]:
    """Read the rows of the table, in its order: the first row that applies to a filing gives the industry.

    Args:
        text: a table in the form of industries.toml; None: read the file itself.

    Raises:
        TableError: a row is wrong; the message names it by its place.
    """
    found = reviewed.tables(TABLE_FILE, text)["industries"]
    return tuple(reviewed.row(IndustryRow, each, f"{TABLE_FILE.name}: row {n}") for n, each in enumerate(found, 1))


TABLE: tuple[IndustryRow, ...] = rows()

INDICATORS: tuple[str, ...] = tuple(sorted({element for row in TABLE for element in (*row.uses, *row.unless)}))
"""The elements that show an industry; IFRS elements have a prefix."""
