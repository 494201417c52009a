"""Functions whose operations Polars runs in the calling thread."""

import threading

import polars as pl
import pytest

from pipelines.one_thread import in_one_thread


@in_one_thread
def positive(rows: pl.DataFrame, *, above: int = 0) -> pl.DataFrame:
    return rows.filter(pl.col("amount") > above)


@in_one_thread
def nested(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    return positive(rows.lazy().with_columns(pl.col("amount") + 1).collect(), above=1), threading.get_ident()


def test_a_function_returns_what_it_would_without():
    found, thread = nested(pl.DataFrame({"amount": [-1, 0, 1]}))

    assert found["amount"].to_list() == [2]
    assert thread == threading.get_ident()


@pytest.mark.parametrize(
    ("rows", "error"), [(pl.DataFrame({"sum": [1]}), pl.exceptions.ColumnNotFoundError), (None, AttributeError)]
)
def test_an_exception_of_the_function_is_raised_as_it_is(rows, error):
    with pytest.raises(error):
        nested(rows)
