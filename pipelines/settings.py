"""Settings in the environment that are whole numbers.

Belongs here: reading one, and the error if it is none. Does not: what each of them means (its module).
"""

import os

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
