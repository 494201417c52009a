"""Settings in environment variables that are whole numbers, or one of several words.

Belongs here: reading a setting, and the error for an invalid value. Does not: the meaning of a setting (the module that
uses it).
"""

import os
from typing import Literal, cast

from pipelines.errors import PipelineError


class SettingError(PipelineError):
    """A setting is wrong; the message says what is expected."""


def whole_number(name: str, default: int, least: int, what: str) -> int:
    """Read a setting that is a whole number.

    Args:
        name: the name of the environment variable.
        default: the value if the variable is not set.
        least: the least allowed number.
        what: the unit of the number, for the error.

    Raises:
        SettingError: the value is not a number, or too small.
    """
    text = os.environ.get(name, "")
    if text and not (text.isascii() and text.isdigit() and int(text) >= least):
        raise SettingError(f"{name} is {text!r}, expected {what}, {least} or more")
    return int(text) if text else default


def store_patience() -> int:
    """The seconds for which a run waits for a store that does not answer (FUNDAMENTALS_STORE_PATIENCE).

    Raises:
        SettingError: the value is not a number.
    """
    return whole_number("FUNDAMENTALS_STORE_PATIENCE", 600, 0, "seconds")


FilingsWanted = Literal["off", "recent", "all"]


def filings_wanted() -> FilingsWanted:
    """The setting FUNDAMENTALS_FILINGS: how many of the filings themselves are fetched.

    Raises:
        SettingError: the setting has an invalid value.
    """
    text = os.environ.get("FUNDAMENTALS_FILINGS") or "recent"
    if text not in ("off", "recent", "all"):
        raise SettingError(f"FUNDAMENTALS_FILINGS is {text!r}, expected off, recent or all")
    return cast("FilingsWanted", text)
