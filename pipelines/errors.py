"""The base of everything that `pipelines` raises on purpose.

Belongs here: the one class that a caller catches to tell a known failure from a defect.
Does not: the failures themselves; each part draws its own tree (pipelines.edgar.errors).
"""


class PipelineError(Exception):
    """A failure that can be told in one line: what was wrong, with what value, and what to do."""
