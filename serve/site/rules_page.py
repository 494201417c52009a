"""The page `/rules`: what each rule decides, its source, and how often it decided in the current build.

Belongs here: the groups of rules. Does not: the rules and their statements (table `rules` of the build).
"""

from collections.abc import Sequence
from itertools import groupby

from serve.site.markdown import Document, write
from warehouse.page_queries import RuleCount

SUMMARY = "Each decision that can change a served value, with its source and how often it decided."


def document(rules: Sequence[RuleCount]) -> Document:
    """The page; `rules` as in table `rules`, in the order of their ids."""
    idle = sum(rule.values == 0 and rule.figures == 0 for rule in rules)
    # grouped by the first part of the id, each group under a heading
    grouped = groupby(rules, key=lambda rule: rule.id.partition(".")[0])
    subjects = [(subject, subject.replace("-", " ").capitalize(), list(group)) for subject, group in grouped]
    text = write("rules.md", summary=SUMMARY, total=len(rules), idle=idle, subjects=subjects)
    return Document(text, contents=() if rules else None)
