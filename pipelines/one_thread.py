"""Polars in one thread, for work on many small frames.

Belongs here: running a function so that Polars uses no other thread for it. Does not: processes, and their number of
threads (workers).
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import polars as pl

Given = ParamSpec("Given")
Output = TypeVar("Output")


def in_one_thread(function: Callable[Given, Output]) -> Callable[Given, Output]:
    """Make Polars run all operations of a function in the thread that calls it; a decorator.

    Polars hands most operations to its own threads, even if it has only one. For a frame of some hundred rows this
    takes ten times as long as the operation: a join 0.3 ms instead of 0.03 ms. Within a function that Polars itself
    calls for a batch of rows (LazyFrame.map_batches) it does not, because it has divided the work before.

    Raises:
        Exception: any exception of the function.
    """

    @wraps(function)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> Output:
        outputs: list[Output] = []

        def within(rows: pl.DataFrame) -> pl.DataFrame:
            outputs.append(function(*args, **kwargs))
            return rows

        pl.LazyFrame({"row": [0]}).map_batches(within).collect()
        return outputs[0]

    return run
