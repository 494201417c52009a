"""The errors of this package, and the one envelope in which clients receive them (section 7).

    ServeError
      CommandError            a command failed: one line on standard error, exit status 1
      ApiError                a request failed: HTTP status, stable code, message
        NotFound  MethodNotAllowed  InvalidParameter  Unauthenticated  SubscriptionInactive  RateLimited  ServerError

Belongs here: codes, statuses, and the shape of an error. Does not: when each is raised (api, access).
"""

from collections.abc import Mapping
from typing import Any, ClassVar

UNKNOWN_PARAMETER = (
    "Unknown."  # the message for each further unknown parameter; the error's own message only counts them
)


class ServeError(Exception):
    """Base class of the errors of this package; the message is one line."""


class CommandError(ServeError):
    """A command failed."""


class ApiError(ServeError):
    """A request failed; the message is for the client and reveals no internals."""

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]
    limit: str | None = None
    """The limit that refused the request, for the metrics."""

    def __init__(
        self, message: str = "", *, details: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message or self.message)
        self.details = details
        self.headers = headers

    def envelope(self, pages: str) -> dict[str, Any]:
        """The response body; `pages` is the public address of the pages, for the link to the page of errors."""
        error: dict[str, Any] = {"code": self.code, "message": str(self), "docs": f"{pages}/errors#{self.code}"}
        if self.details:
            error["details"] = self.details
        return {"error": error}


class NotFound(ApiError):
    """The path does not exist, or the company is not covered."""

    status, code, message = 404, "not_found", "There is nothing at this path."


class MethodNotAllowed(ApiError):
    """Any method but GET."""

    status, code, message = 405, "method_not_allowed", "Only GET is accepted."

    def __init__(self) -> None:
        super().__init__(headers={"Allow": "GET"})


class InvalidParameter(ApiError):
    """Query parameters that are unknown or out of form; `details` has a message for each."""

    status, code = 422, "invalid_parameter"

    def __init__(self, details: Mapping[str, str]) -> None:
        messages = [message for message in details.values() if message != UNKNOWN_PARAMETER]
        more = f" {len(details) - len(messages):,} more parameters are unknown." if len(messages) < len(details) else ""
        super().__init__(" ".join(messages) + more, details=details)


class Unauthenticated(ApiError):
    """The key is missing, malformed, unknown or revoked; the answer does not say which."""

    status, code = 401, "unauthenticated"
    message = "The API key is missing, malformed, unknown or revoked; send yours in the header X-Api-Key."


class SubscriptionInactive(ApiError):
    """The key is valid, and its subscription is not active."""

    status, code, message = (
        403,
        "subscription_inactive",
        "The key is valid, but its Premium subscription is not active.",
    )


class RateLimited(ApiError):
    """The requests of the minute or the day are used up, or one address sent too many without a valid key."""

    status, code = 429, "rate_limited"

    def __init__(self, limit: int, window: str, wait: int, counted: str = "requests") -> None:
        message = f"The limit of {limit} {counted} per {window} is reached; try again in {wait} seconds."
        super().__init__(message, headers={"Retry-After": str(wait)})
        self.limit = window


class ServerError(ApiError):
    """An internal failure; what it was is in the log only."""

    status, code, message = 500, "server_error", "The request could not be answered; the failure has been logged."


ERRORS: tuple[type[ApiError], ...] = (
    Unauthenticated,
    SubscriptionInactive,
    NotFound,
    MethodNotAllowed,
    InvalidParameter,
    RateLimited,
    ServerError,
)
"""All errors that a client can receive, in the order of the table of section 7."""
