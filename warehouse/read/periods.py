"""The periods of all companies as encoded JSON, in the shape in which the interface returns them.

Belongs here: encoding the periods of a build once, and choosing and joining the periods of an answer. Does not: reading
them from a build (memory), the description of the shape (warehouse.contract.served; a test compares both).

A request for periods then only joins bytes: making objects of twenty periods and encoding them takes ten times as long.
The text is no larger than the numbers as Python objects.
"""

from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import chain, islice, pairwise
from pickle import PickleBuffer
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from warehouse.contract.line_items import SERVED_NAMES
from warehouse.contract.served import EXACT

Array = NDArray[Any]

TOGETHER = 1_000  # rows that are encoded at once; more would need much memory for a moment
HEAD, END = b'{"period":"%s","period_end":"%s","fiscal_year":%d,"fiscal_quarter":%d,"values":{', b"}},"
EMPTY_FIRST, FIRST = b'"values":{,', b'"values":{'
PARTS = len(SERVED_NAMES) + 2  # parts of a period: its label, each item, its end
PLACES: Mapping[str, int] = {item: place for place, item in enumerate(SERVED_NAMES, 1)}


class Periods:
    """The text of all periods, row by row, with the end of each part of a row and the items that have a value."""

    def __init__(self, labels: Sequence[tuple[str, str, int, int]], label: Array, values: Mapping[str, Array]) -> None:
        """Encode rows.

        Args:
            labels: period, its end, fiscal year, fiscal quarter.
            label: the label of each row, as its place in `labels`.
            values: the value of each row by item; NaN where it is missing. Each row has at least one value.
        """
        heads = [HEAD % (period.encode(), ended.encode(), *numbers) for period, ended, *numbers in labels]
        text, lengths = BytesIO(), [np.zeros(1, dtype=np.uint32)]
        held = np.zeros(len(label), dtype=np.uint16)
        for start in range(0, len(label), TOGETHER):
            rows = slice(start, start + TOGETHER)
            parts = [[heads[place] for place in label[rows].tolist()]]
            for item in SERVED_NAMES:
                parts.append(_members(item, values[item][rows], held[rows]))
                held[rows] |= ~np.isnan(values[item][rows]) * np.uint16(_bit(item))
            parts.append([END] * len(parts[0]))
            whole = list(chain.from_iterable(zip(*parts, strict=True)))
            text.write(b"".join(whole))
            lengths.append(np.fromiter(map(len, whole), dtype=np.uint32, count=len(whole)))
        self._text: bytes | memoryview = text.getvalue()
        # arrays of Python: reading a few of their numbers is ten times as fast as with NumPy
        self._ends = array("I", np.cumsum(np.concatenate(lengths), dtype=np.uint32).tobytes())
        self._held = array("H", held.tobytes())
        """The items of each row that have a value, as bits."""
        self._firsts = array("H", (held & -held.astype(np.int16)).astype(np.uint16).tobytes())
        """The first item of each row that has a value, as a bit."""

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process; the text is passed as a buffer, which may stay in the file of that process."""
        return {**self.__dict__, "_text": PickleBuffer(self._text)}

    def chosen(self, rows: slice, items: tuple[str, ...], limit: int) -> tuple[bytes, int]:
        """The first rows within `rows` that have a value of one of the items, as a JSON array, and their number."""
        wanted, gaps = _gaps(items)
        first = rows.start
        last = min(first + limit, rows.stop)
        is_wanted = wanted.__and__  # a method passed to map, because a loop would take as long as joining the text
        has_first = all(map(is_wanted, self._firsts[first:last]))
        if gaps is None or not (has_first or all(map(is_wanted, self._held[first:last]))):
            return self._one_by_one(rows, items, limit)
        if first >= last:
            return b"[]", 0
        text = self._without(first, last, gaps)
        return text if has_first else text.replace(EMPTY_FIRST, FIRST), last - first

    def _without(self, first: int, last: int, gaps: Sequence[tuple[int, int]]) -> bytes:
        """Adjacent rows without the parts in `gaps`, as a JSON array: the text between these parts."""
        text, ends, start, stop = self._text, self._ends, PARTS * first, PARTS * last
        till = chain.from_iterable(zip(*[ends[start + gap : stop : PARTS] for gap, _ in gaps], strict=True))
        since = chain.from_iterable(zip(*[ends[start + gap : stop : PARTS] for _, gap in gaps], strict=True))
        pieces = zip(chain((ends[start],), since), chain(till, (ends[stop] - len(","),)), strict=True)
        return b"".join([b"[", *[text[begin:end] for begin, end in pieces], b"]"])

    def _one_by_one(self, rows: slice, items: tuple[str, ...], limit: int) -> tuple[bytes, int]:
        """The same result as `chosen`, also if some rows have no value of the items, and for items in any order."""
        text, wanted, places = self._text, _gaps(items)[0], [PLACES[item] for item in items]
        found = (row for row, held in enumerate(self._held[rows], rows.start) if held & wanted)
        answers = []
        for row in islice(found, limit):
            ends = self._ends[PARTS * row : PARTS * (row + 1)]
            members = [bytes(text[ends[place] : ends[place + 1]]).removeprefix(b",") for place in places]
            answers.append(b"%s%s}}" % (text[ends[0] : ends[1]], b",".join(filter(None, members))))
        return b"[%s]" % b",".join(answers), len(answers)


def _members(item: str, values: Array, before: Array) -> list[bytes]:
    """The values of an item as members of JSON objects; empty for a missing value.

    Each begins with a comma, unless the row has no value of the preceding items.
    """
    numbers = msgspec.json.encode(_numbers(values).tolist())[1:-1].split(b",")
    forms = b'"%s":%%s' % item.encode(), b',"%s":%%s' % item.encode()
    has_others = (before != 0).tolist()
    pairs = zip(numbers, has_others, strict=True)
    return [b"" if number == b"null" else forms[has_other] % number for number, has_other in pairs]


def _bit(item: str) -> int:
    return 1 << PLACES[item]


@lru_cache(maxsize=5000)
def _gaps(items: tuple[str, ...]) -> tuple[int, list[tuple[int, int]] | None]:
    """The items as bits, and the runs of other parts of a row; None instead of runs if the items are in another order.

    A run begins with its first part, and ends before the second number.
    """
    wanted, places = sum(map(_bit, items)), [PLACES[item] for item in items]
    if places != sorted(places):
        return wanted, None
    bounds = [0, *places, PARTS - 1]
    return wanted, [(here + 1, there) for here, there in pairwise(bounds) if there > here + 1]


def _numbers(values: Array) -> Array:
    """Doubles as numbers of the interface: None for a missing value, integers for whole numbers."""
    objects = values.astype(object)
    is_whole = (values == np.floor(values)) & (np.abs(values) <= EXACT)
    objects[is_whole] = values[is_whole].astype(np.int64).astype(object)
    objects[np.isnan(values)] = None
    return objects
