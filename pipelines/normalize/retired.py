"""Rules that decide nothing any more, but that published versions and lineage name.

Belongs here: reading their ids and the rule that replaced each (retired.csv). Does not: any rule that decides.
"""

import csv
from pathlib import Path

from pipelines.normalize.rule import Rule

RULES_FILE = Path(__file__).with_suffix(".csv")
with RULES_FILE.open(encoding="utf-8", newline="") as _file:
    REPLACED: dict[str, str] = {row["rule"]: row["replaced_by"] for row in csv.DictReader(_file)}
"""For each retired rule the one that replaced it."""

RULES: tuple[Rule, ...] = tuple(
    Rule(old, f"Decides nothing any more: `{new}` replaced it.", "the source of the rule that replaced it", "compose")
    for old, new in REPLACED.items()
)
