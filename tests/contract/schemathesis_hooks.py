"""Rules for schemathesis that JSON Schema cannot express: `from` after `to`, and an item given twice, are invalid."""

from typing import Any

import schemathesis

from warehouse.contract.line_items import SERVED_NAMES


@schemathesis.hook
def before_call(_: schemathesis.HookContext, case: schemathesis.Case, __: dict[str, Any]) -> None:
    """Put the two days of a valid request in order, and name each of its items once."""
    query = case.query or {}
    if isinstance(items := query.get("items"), str) and {*items.split(",")} <= {*SERVED_NAMES}:
        query = case.query = {**query, "items": ",".join(dict.fromkeys(items.split(",")))}
    since, until = query.get("from"), query.get("to")
    if isinstance(since, str) and isinstance(until, str) and since > until and len(since) == len(until) == 10:
        case.query = {**query, "from": until, "to": since}
