"""Settings in the environment that are whole numbers, or one of some words.

Belongs here: reading one, and the error if it is none. Does not: what each of them means (its module).
"""

import os
from typing import Literal, cast

from pipelines.errors import PipelineError


class SettingError(PipelineError):
    """A setting is wrong; the message says what is expected."""


def whole_number(name: str, default: int, least: int, what: str) -> int:
    """The setting of a number.

    Args:
        name: of the environment variable.
        default: what counts without it.
        least: the least number that is allowed.
        what: what it counts, for the error.

    Raises:
        SettingError: it is no number, or too small.
    """
    text = os.environ.get(name, "")
    if text and not (text.isascii() and text.isdigit() and int(text) >= least):
        raise SettingError(f"{name} is {text!r}, expected {what}, {least} or more")
    return int(text) if text else default


def store_patience() -> int:
    """The seconds for which a run waits for a store that does not answer.

    Raises:
        SettingError: it is no number.
    """
    return whole_number("FUNDAMENTALS_STORE_PATIENCE", 600, 0, "seconds")


FilingsWanted = Literal["off", "recent", "all"]


def filings_wanted() -> FilingsWanted:
    """How much of the filings themselves is wanted.

    Raises:
        SettingError: the setting is another word.
    """
    text = os.environ.get("FUNDAMENTALS_FILINGS") or "recent"
    if text not in ("off", "recent", "all"):
        raise SettingError(f"FUNDAMENTALS_FILINGS is {text!r}, expected off, recent or all")
    return cast("FilingsWanted", text)
