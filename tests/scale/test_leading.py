"""The last line of a run that failed elsewhere: the error, without what Celery and SQLAlchemy put around it."""

import pytest

pytest.importorskip("dagster_postgres", reason="dagster-postgres is not installed: run `make scale`")

from pipelines.leading import _in_a_line


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("pipelines.errors.StepError: no\nspace", "no space"),
        (
            "During celery execution errors occurred in workers:\n"
            "[facts.facts_batch[00001]]: pipelines.broker.BrokerError: Redis has lost it\n\nStack Trace:\n  File x",
            "Redis has lost it",
        ),
        (
            "During celery execution errors occurred in workers:\n[documents]: sqlalchemy.exc.OperationalError: "
            "(psycopg2.OperationalError) server closed the connection unexpectedly\n\tThis probably means\n\n"
            "[SQL: SELECT 1]\n(Background on this error at: https://sqlalche.me/e/20/e3q8)",
            "PostgreSQL with Dagster's record of runs: server closed the connection unexpectedly; check "
            "FUNDAMENTALS_DAGSTER_URL and the server, and synchronize again",
        ),
    ],
)
def test_an_error_in_a_line(message, line):
    assert _in_a_line(message) == line
