"""The page of the rules, docs/rules.md.

Belongs here: the layout of the registry as Markdown, and marking rules with evidence from a single company. Does not:
the rules (normalize.rules), the command that writes the page (dictionary).
"""

import csv
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from pipelines.normalize.rule import Rule

HEAD = """\
# Rules

Every decision that can change a served value is a rule with an id that never changes its meaning. This page is
generated from the registry, `pipelines/normalize/rules.py`, by `make docs`.

- `fundamentals explain SYMBOL ITEM PERIOD` names the rules behind a value; column `rule` of the published tables holds
  their ids. Table `rules` counts the values, figures and companies that each decided, table `decisions` the figures of
  each company.
- Actions: *select* chooses among filed facts, *compose* computes an amount from several, *correct* repairs an error in
  a filing, *withhold* leaves a value out, *flag* marks a value that is served.
- Column *code* is the file in `pipelines/normalize/` that contains the rule's id, beside the code that decides.
- Among the rules of elements, the first that applies to a filing decides, in the order of
  [the sources of the line items](data-dictionary.md#sources-of-the-line-items). Statements that begin with "Otherwise"
  or "Where" belong to sources further down in this order.
"""

SINGLE = """
## Rules that rest on a single company

These rules decided for one company only among the 200 companies on which the rules were measured. They were written for
its filings, or for filings of companies that are not among the 200. Few other filers may ever need them.

"""


def _single_company() -> Mapping[str, str]:
    with Path(__file__).with_name("single_company.csv").open(encoding="utf-8", newline="") as file:
        return MappingProxyType({row["rule"]: row["company"] for row in csv.DictReader(file)})


SINGLE_COMPANY = _single_company()
"""Rules with evidence from a single company, and its name: they decided for only one of the 200 companies in three
mirrors of EDGAR. Rules for gaps, flags, fiscal periods and industries by SIC code are not listed, because they follow
from the definition of a filing, and the mirrors have few SIC codes. single_company.csv also has the CIK."""


def page(registry: Mapping[str, Rule], paths: Mapping[str, str], single_company: Mapping[str, str]) -> str:
    """Render the page: one section for each first part of an id, one row for each rule.

    Args:
        registry: the rules by id.
        paths: the file of each rule by id, from the project's root.
        single_company: the company of each rule with evidence from a single company, by id.
    """
    ordered = sorted(registry.values(), key=lambda rule: rule.id)
    sections = [_section(part, list(rules), paths, single_company) for part, rules in groupby(ordered, key=_first_part)]
    contents = ", ".join(f"[{part}](#{part})" for part, _ in groupby(ordered, key=_first_part))
    single = [
        f"- [`{rule}`](#{_first_part(registry[rule])}): {company}\n" for rule, company in sorted(single_company.items())
    ]
    return f"{HEAD}\n{len(registry)} rules: {contents}.\n{''.join(sections)}{SINGLE}{''.join(single)}"


def _section(part: str, rules: list[Rule], paths: Mapping[str, str], single_company: Mapping[str, str]) -> str:
    rows = "".join(_row(rule, paths[rule.id], is_single=rule.id in single_company) for rule in rules)
    return f"\n## {part}\n\n| rule | statement | source | action | applies to | code |\n{'| --- ' * 6}|\n{rows}"


def _row(rule: Rule, path: str, *, is_single: bool) -> str:
    code = f"`{path.removeprefix('pipelines/normalize/')}`"
    note = " *Rests on a single company.*" if is_single else ""
    cells = (f"`{rule.id}`", rule.statement + note, rule.source, rule.action, rule.applies, code)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _first_part(rule: Rule) -> str:
    return rule.id.partition(".")[0]
