"""Formatting of numbers and item names for the pages.

Belongs here: titles of items, short and full amounts, units in words. Does not: any value (warehouse), drawings
(charts).
"""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache, partial

from markupsafe import Markup

from warehouse.contract.line_items import LINE_ITEMS

TITLES = {item.name: item.title for item in LINE_ITEMS}
UNITS = {item.name: item.unit for item in LINE_ITEMS}
READ = 4  # digits of a value that a reader points at in a chart
SMALL = 0.1  # from this value on, two decimals of an amount per share are enough
MOST_DECIMALS = 4
STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
MEANT = 10.0
"""Growth or margins of 1,000 % and more only mean that their base is nearly zero."""

Shown = Callable[[float], str]
"""Formats numbers that stand below or next to each other."""

KINDS = {"ttm": "trailing twelve months", "annual": "fiscal year", "quarter": "fiscal quarter"}


# each branch starts with the sign itself: the expression then skips all other characters quickly
NUMBER = re.compile(r"-(?:(?<![\w.,:/-]-)(?=\$?\d)|(?<= -)(?= ))| (?<=\d )(?=[TBMK%](?!\w))")
TYPESET = {"-": "\N{MINUS SIGN}", " ": "\N{NO-BREAK SPACE}"}


def typeset(text: str) -> str:
    """Text as a browser shows it: with a real minus sign, and no line break between a number and its unit."""
    return NUMBER.sub(lambda found: TYPESET[found[0]], text)


def short(item: str, value: float, digits: int = 3, *, is_rounded: bool = True) -> str:
    """An amount in three digits with a letter for its size, or a ratio in per cent: 5.12B, 18%.

    `is_rounded`: drop zeros at the end, as on a scale.
    """
    if UNITS[item] == "ratio":
        return f"{_significant(100 * value, 3)}%" if abs(value) < MEANT else f"{100 * value:,.0f}%"
    for step, letter in STEPS:
        if abs(value) >= (1 - 0.5 * 10**-digits) * step:
            return f"{_digits(value / step, digits, is_rounded)}{letter}"
    return _digits(value, digits)


def in_units(item: str, value: float, divisor: float = 1.0, *, decimals: int | None = None) -> str:
    """A number as in a table: divided, and with the given decimals, or with as many as are easy to read."""
    unit, value = UNITS[item], value / divisor
    if unit == "ratio":
        return per_cent(value)
    if decimals is not None:
        return f"{value:z,.{decimals}f}"
    if unit == "currency per share":
        if 0 < abs(value) < SMALL:
            return _significant(value, 3)
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:z,.2f}"
    return f"{value:z,.1f}" if unit == "years" or 0 < abs(value) < 10 else f"{value:z,.0f}"


def decimals(item: str, values: Sequence[float], divisor: float = 1.0) -> int:
    """The decimals of all numbers of a row: as many as its smallest number needs."""
    numbers = [abs(value / divisor) for value in values if value]
    if UNITS[item] == "currency per share":
        needed = (len(_significant(value, 2).partition(".")[2]) for value in numbers if value < SMALL)
        return 0 if min(numbers, default=1.0) >= 1000 else min(MOST_DECIMALS, max((2, *needed)))
    return 1 if UNITS[item] == "years" or min(numbers, default=10.0) < 10 else 0


def per_cent(ratio: float) -> str:
    """A fraction in per cent; a value that is rounded to zero has no sign."""
    return f"{100 * ratio:z,.1f}%" if abs(ratio) < MEANT else f"{100 * ratio:,.0f}%"


def standalone(item: str, value: float, digits: int = 3, *, decimals: int | None = None) -> str:
    """A number on its own: amounts and shares with a letter for their size, others as in a table.

    Args:
        item: the line item.
        value: its value.
        digits: digits of an amount or a number of shares.
        decimals: decimals of any other number, so that numbers next to each other have the same; None: as it needs.
    """
    is_long = UNITS[item] in ("currency", "shares")
    return short(item, value, digits, is_rounded=False) if is_long else in_units(item, value, decimals=decimals)


def same_decimals(item: str, values: Sequence[float], digits: int = 3) -> Shown:
    """A format for numbers that stand below or next to each other: with the same digits, or the same decimals."""
    return partial(standalone, item, digits=digits, decimals=decimals(item, values))


def priced(item: str, currency: str, number: str) -> str:
    """A number on its own, with the dollar sign if it is an amount of US dollars: $5.12B, -$4.10."""
    if currency != "USD" or not UNITS[item].startswith("currency"):
        return number
    return f"-${number[1:]}" if number.startswith("-") else f"${number}"


@cache
def unit(item: str, currency: str) -> str:
    """The unit of an item's values, with the company's reporting currency; empty for a ratio."""
    return UNITS[item].replace("currency", currency).replace("ratio", "")


def _digits(value: float, digits: int, is_rounded: bool = True) -> str:
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return _significant(value, digits) if is_rounded else _without_exponent(f"{value:z#,.{digits}g}")


def _significant(value: float, digits: int) -> str:
    """A number with the given count of significant digits, and never with an exponent."""
    return _without_exponent(f"{value:z,.{digits}g}")


def _without_exponent(number: str) -> str:
    return f"{Decimal(number):z,f}" if "e" in number else number.rstrip(".")


def moment(timestamp: str) -> Markup:
    """A `<time>` element for a time in ISO 8601 in UTC."""
    return Markup('<time datetime="{0}">{1} {2} UTC</time>').format(timestamp, timestamp[:10], timestamp[11:16])
