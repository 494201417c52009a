"""PostgreSQL, which has Dagster's record where several machines share a synchronization, is waited for.

Belongs here: connections of this program and of Dagster in it to that server. Does not: what is recorded (leading,
executor), the accounts (serve.access).

Dagster connects for each event and each query. A server that is restarted would end a run after a second.
"""

from typing import Any

import sqlalchemy as sa

from pipelines.broker import RECORD, lost_after
from pipelines.errors import PipelineError
from pipelines.patience import Patience

PATIENCE = Patience(lost_after)
ADVICE = "check FUNDAMENTALS_DAGSTER_URL and the server, and synchronize again"
LIMITS = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Parameters of libpq, unless the address has others: a machine that is gone is noticed within half a minute."""


class RecordError(PipelineError):
    """PostgreSQL with Dagster's record of runs does not answer, or refuses."""

    def __init__(self, reason: object) -> None:
        text = " ".join(str(reason).partition("\n")[0].split())
        super().__init__(f"PostgreSQL with Dagster's record of runs: {text}; {ADVICE}")


def wait_for_postgresql(*, at_first: bool = False) -> None:
    """From now on, wait for PostgreSQL where it does not accept a connection, for as long as a worker may be silent.

    Args:
        at_first: whether to wait even if it has never answered this process.
    """
    PATIENCE.at_first = at_first or PATIENCE.at_first
    if not sa.event.contains(sa.Engine, "do_connect", _connected):
        sa.event.listen(sa.Engine, "do_connect", _connected)


def _connected(dialect: Any, _: object, places: list[Any], options: dict[str, Any]) -> Any:
    """A connection; None: SQLAlchemy makes it, because it is not for the record: accounts have another driver."""
    if f"{dialect.name}+{dialect.driver}://" != RECORD:
        return None
    away = dialect.loaded_dbapi.OperationalError
    given = {**LIMITS, **options}
    try:
        return PATIENCE.answer(lambda: dialect.connect(*places, **given), (away,))
    except away as error:
        raise RecordError(error) from error
