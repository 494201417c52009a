"""What no JSON Schema can say, for schemathesis: `from` is not after `to`; a request with such a pair is invalid."""

from typing import Any

import schemathesis


@schemathesis.hook
def before_call(_: schemathesis.HookContext, case: schemathesis.Case, __: dict[str, Any]) -> None:
    """Order the two days of a request that was meant to be valid."""
    query = case.query or {}
    since, until = query.get("from"), query.get("to")
    if isinstance(since, str) and isinstance(until, str) and since > until and len(since) == len(until) == 10:
        case.query = {**query, "from": until, "to": since}
