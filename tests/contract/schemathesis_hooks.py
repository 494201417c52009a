"""A rule for schemathesis that JSON Schema cannot express: a request with `from` after `to` is invalid."""

from typing import Any

import schemathesis


@schemathesis.hook
def before_call(_: schemathesis.HookContext, case: schemathesis.Case, __: dict[str, Any]) -> None:
    """Put the two days of a valid request in order."""
    query = case.query or {}
    since, until = query.get("from"), query.get("to")
    if isinstance(since, str) and isinstance(until, str) and since > until and len(since) == len(until) == 10:
        case.query = {**query, "from": until, "to": since}
