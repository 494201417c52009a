"""Details of filings that companyfacts leaves out: classes of stock, parts of a business, elements that the filer
defines.

Belongs here: the types that describe them. Does not: the facts (left_out), their places in the statements (faces).
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Security:
    """A security on the cover page; a class of common stock has its own earnings and average shares.

    member: its member of us-gaap on the axis of classes of stock.
    symbol: None if it is not listed.
    part: the part of the company's earnings that belongs to the class; 0: not common stock.
    worth: the earnings of one share of the class, as a part of the earnings of one share of the company.
    """

    member: str
    title: str
    symbol: str | None = None
    part: Fraction = Fraction(0)
    worth: Fraction = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of the business with its own balance sheet in addition to the consolidated one: the member, and its share.

    The last block has the remainder, so that the blocks add up.
    """

    member: str
    share: float


@dataclass(frozen=True, kw_only=True)
class OwnLine:
    """A line under an element that the filer defines itself, because the taxonomy lacks it.

    The own lines below a total divide the remainder of the total after its other lines, each with its `share`; the last
    own line has the rest.
    total: the name of the total in `statements`.
    """

    element: str
    label: str
    total: str
    share: float = 1
