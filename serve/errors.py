"""What can go wrong while serving, and how a client is told: one envelope for every failure (section 7).

    ServeError
      CommandError            a command cannot do what it was asked: one line, exit status 1
      ApiError                a request cannot be answered: status, stable code, message
        NotFound  MethodNotAllowed  InvalidParameter  Unauthenticated  SubscriptionInactive  RateLimited  ServerError

Belongs here: codes, statuses, and the shape of an error. Does not: when each is raised (routes, parameters, access).
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class ServeError(Exception):
    """Whatever goes wrong while serving; the message is one line."""


class CommandError(ServeError):
    """A command cannot do what it was asked."""


class ApiError(ServeError):
    """A request cannot be answered; the message is for the client and tells nothing of the inside."""

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]

    def __init__(
        self, message: str = "", *, details: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message or self.message)
        self.details = details
        self.headers = headers

    def envelope(self, pages: str) -> dict[str, Any]:
        """The body: `pages` is the address below which the page of errors lies."""
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
        super().__init__(" ".join(details.values()), details=details)


class Unauthenticated(ApiError):
    """The key is missing, malformed, unknown or revoked; which of these is not told."""

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
    """The requests of the minute or the day are used up."""

    status, code = 429, "rate_limited"

    def __init__(self, limit: int, window: str, wait: int) -> None:
        message = f"The limit of {limit} requests per {window} is reached; try again in {wait} seconds."
        super().__init__(message, headers={"Retry-After": str(wait)})


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
"""All that a client can be told, by status: the table of section 7."""
