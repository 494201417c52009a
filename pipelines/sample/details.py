"""What a filing states and companyfacts leaves out: classes of stock, parts of a business, elements of the filer's own.

Belongs here: the types that describe it. Does not: the facts (left_out), their places in the statements (faces).
"""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True)
class Security:
    """A security that the cover page names; a class of common stock has its own earnings and average shares.

    member: its member of us-gaap on the axis of classes of stock.
    symbol: None: it is not listed.
    part: the part of the company's earnings that belongs to the class; 0: no common stock.
    worth: what a share of the class earns, as a part of what a share of the company earns.
    """

    member: str
    title: str
    symbol: str | None = None
    part: Fraction = Fraction(0)
    worth: Fraction = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of the business with a balance sheet of its own beside the consolidated one: the member, and its share.

    The last block has what the others leave, so that the blocks add up.
    """

    member: str
    share: float


@dataclass(frozen=True, kw_only=True)
class OwnLine:
    """A line under an element that the filer defines itself, because the taxonomy has none.

    The own lines below a total are what its other lines leave of it, each a `share` of that; the last one has the rest.
    total: the name of the total in `statements`.
    """

    element: str
    label: str
    total: str
    share: float = 1
