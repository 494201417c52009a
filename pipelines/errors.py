"""Base class of the errors that `pipelines` raises on purpose.

Belongs here: the one class that a caller catches to distinguish a known failure from a defect.
Does not: the failures themselves; each part has its own exception tree (pipelines.edgar.errors).
"""


class PipelineError(Exception):
    """A known failure; the message is one line: what was wrong, with what value, and what to do."""
