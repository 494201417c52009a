"""The periods of all companies as encoded JSON, in the shape in which the interface returns them.

Belongs here: encoding the periods of a build once, and choosing and joining those of an answer. Does not: reading them
from a build (memory), the description of the shape (serve.api.models; a test compares both).

A request for periods then joins bytes: to make objects of twenty periods and encode them takes ten times as long. The
text is no larger than the numbers as Python objects.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from io import BytesIO
from itertools import chain, groupby
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from warehouse import schema

Array = NDArray[Any]

EXACT = 2.0**53  # largest magnitude up to which a double represents every integer exactly
TOGETHER = 10_000  # rows that are encoded at once; more would need much memory for a moment
HEAD, END = b'{"period":"%s","period_end":"%s","fiscal_year":%d,"fiscal_quarter":%d,"values":{', b"}},"
TOO_MUCH = b'"values":{,'  # each value follows a comma, also the first
NOTHING = b"{}},"  # the end of a row without values
PARTS = len(schema.ITEM_NAMES) + 2  # of a period: its label, each item, its end
PLACES: Mapping[str, int] = {item: place for place, item in enumerate(schema.ITEM_NAMES, 1)}


class Periods:
    """The text of all periods, row by row, and where each part of a row ends."""

    def __init__(self, labels: Sequence[tuple[str, str, int, int]], label: Array, values: Mapping[str, Array]) -> None:
        """Encode rows.

        Args:
            labels: period, its end, fiscal year, fiscal quarter.
            label: the label of each row, as its place in `labels`.
            values: the value of each row by item; NaN where there is none. Each row has at least one.
        """
        heads = [HEAD % (period.encode(), ended.encode(), *numbers) for period, ended, *numbers in labels]
        text, lengths = BytesIO(), [np.zeros(1, dtype=np.uint32)]
        for start in range(0, len(label), TOGETHER):
            rows = slice(start, start + TOGETHER)
            parts = [[heads[place] for place in label[rows].tolist()]]
            parts += [_members(item, values[item][rows]) for item in schema.ITEM_NAMES]
            parts.append([END] * len(parts[0]))
            whole = list(chain.from_iterable(zip(*parts, strict=True)))
            text.write(b"".join(whole))
            lengths.append(np.fromiter(map(len, whole), dtype=np.uint32, count=len(whole)))
        self._text = text.getvalue()
        self._ends: Array = np.cumsum(np.concatenate(lengths), dtype=np.uint32)

    def chosen(self, rows: slice, items: Sequence[str], limit: int) -> tuple[bytes, int]:
        """The first rows of some that have a value of an item, as a JSON array, and their number."""
        runs, text = _runs(tuple(items)), self._text
        found: list[bytes] = []
        for start in range(rows.start, rows.stop, limit):  # nearly all rows have a value
            ends = self._ends[PARTS * start : PARTS * min(start + limit, rows.stop) + 1].tolist()
            for row in range(0, len(ends) - 1, PARTS):
                told = b"".join([text[ends[row + first] : ends[row + last]] for first, last in runs])
                if not told.endswith(NOTHING):
                    found.append(told)
            if len(found) >= limit:
                break
        del found[limit:]
        return b"[%s]" % b"".join(found).replace(TOO_MUCH, TOO_MUCH[:-1]).removesuffix(b","), len(found)


def _members(item: str, values: Array) -> list[bytes]:
    """The values of an item as members of objects, each with a comma before it; empty where there is none."""
    numbers, form = msgspec.json.encode(_numbers(values).tolist())[1:-1].split(b","), b',"%s":%%s' % item.encode()
    return [b"" if number == b"null" else form % number for number in numbers]


@lru_cache(maxsize=1000)
def _runs(items: tuple[str, ...]) -> list[tuple[int, int]]:
    """The parts of a row with these items, as runs of adjacent ones: where each begins, and where it has ended."""
    places = enumerate([0, *(PLACES[item] for item in items), PARTS - 1])
    runs = [[place for _, place in run] for _, run in groupby(places, lambda pair: pair[1] - pair[0])]
    return [(run[0], run[-1] + 1) for run in runs]


def _numbers(values: Array) -> Array:
    """Doubles as the numbers of the interface: None for a missing value, integers for whole numbers."""
    made = values.astype(object)
    is_whole = (values == np.floor(values)) & (np.abs(values) <= EXACT)
    made[is_whole] = values[is_whole].astype(np.int64).astype(object)
    made[np.isnan(values)] = None
    return made
