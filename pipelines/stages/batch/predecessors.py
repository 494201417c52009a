"""The possible predecessors of companies whose facts are stored.

Belongs here: finding the stored ones. Does not: the candidates (normalize.periods.successions), the proof by their
figures (normalize.periods.predecessors).
"""

from pipelines.normalize.periods.successions import chains
from pipelines.storage.lake import Lake


def held_predecessors(lake: Lake) -> dict[str, list[str]]:
    """The possible predecessors of each listed company whose facts are stored, the nearest first."""
    held, listed = lake.inputs("facts"), lake.read("listings").filter("is_listed")["cik"]
    earlier = chains(listed, listed)
    return {cik: known for cik, chain in earlier.items() if (known := [each for each in chain if each in held])}
