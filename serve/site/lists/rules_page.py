"""The pages `/rules` and `/rules/RULE`: statement and source of each rule, and its decisions in the current build.

Belongs here: searching and filtering the rules, the facts about a rule, examples. Does not: the rules and their
statements (table `rules` of the build), the queries (warehouse.queries.rule_queries).
"""

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode
from weakref import WeakKeyDictionary

from serve.errors import NotFound
from serve.site.company.values import address as value_address
from serve.site.frame.directory import Directory
from serve.site.text.figures import READ, TITLES, standalone
from serve.site.text.markdown import Choice, Document, Markdown, Search, code, link, plain, write
from serve.site.text.paths import company_path, rule_path
from warehouse.queries import rule_queries
from warehouse.queries.rule_queries import Decided, RuleCount
from warehouse.read.reader import OpenBuild

SUMMARY = "Each decision that can change a served value, with its source and what it decided."
PATH = "/rules"
PAGE = 25  # rules on a page of the list
LARGEST = 100
"""Number of companies that are searched for examples first: they have one of most rules, and readers know them."""
ASKED = ("search", "subject", "action", "decided")
REPLACED = "replaced"
DECIDED = {"values": "A value or gap", "figures": "Figures only", "nothing": "Nothing", REPLACED: "Replaced rules"}
"""Filter by decisions. Replaced rules, which only old versions name, are shown only if they are selected."""
NAMED = re.compile(r"\\`([\w.-]+)\\`")  # the id of a rule in a statement, escaped
SHOWN = [each for each in DECIDED if each != REPLACED]
ASSETS = ("rules.css",)
FOLDER = "pipelines/normalize/"
RETIRED = f"{FOLDER}retired.csv"  # the file of replaced rules

Examples = Mapping[str, Decided]

_kept: WeakKeyDictionary[OpenBuild, Examples] = WeakKeyDictionary()
_lock = threading.Lock()


class Shown(NamedTuple):
    """A rule as a card shows it: its address, its statement with links to other rules, its facts by name."""

    rule: RuleCount
    address: str
    statement: Markdown
    facts: Sequence[tuple[str, Markdown]]


def examples(build: OpenBuild, of: Directory, rules: Sequence[RuleCount]) -> Examples:
    """An example of each rule's decisions, by id; read once for each build."""
    with _lock:
        found = _kept.get(build)
        if found is None:
            found = _kept[build] = _examples(build, of, rules)
        return found


def _examples(build: OpenBuild, of: Directory, rules: Sequence[RuleCount]) -> Examples:
    symbols: dict[str, str] = {}
    for row in of.rows:
        symbols.setdefault(row.cik, row.symbol)
    wanted, companies = [rule.id for rule in rules if rule.values], list(symbols.items())
    found = rule_queries.decided(build, wanted, companies[:LARGEST])
    rest = [rule for rule in wanted if rule not in found]
    found |= rule_queries.decided(build, rest, companies[LARGEST:])
    alone = {rule: Decided(symbols[cik]) for rule, cik in rule_queries.companies(build).items() if cik in symbols}
    return alone | found


def page(
    rules: Sequence[RuleCount], examples: Examples, asked: Mapping[str, str], number: int, replaced: int = 0
) -> Document:
    """A page of the list.

    Args:
        rules: the selected rules, in the order of their ids.
        examples: the result of `examples`.
        asked: the parameters of the list, by name of ASKED; empty text if not given.
        number: number of the page, from 1.
        replaced: the number of replaced rules that the list leaves out.
    """
    last, of_subject = last_page(rules), Counter(map(_subject, rules))
    turns = [
        (text, _address(asked, page=str(to)))
        for text, to in (("Previous page", number - 1), ("Next page", number + 1))
        if 1 <= to <= last
    ]
    shown = [_shown(rule, examples) for rule in rules[(number - 1) * PAGE : number * PAGE]]
    text = write(
        "rules.md",
        summary=SUMMARY,
        total=len(rules),
        is_filtered=any(asked.values()),
        page=number,
        last=last,
        shown=shown,
        turns=turns,
        replaced=replaced,
        to_replaced=_address({**asked, "decided": REPLACED}),
        subjects=[(f"{_words(name)} ({n:,})", _address({**asked, "subject": name})) for name, n in of_subject.items()],
    )
    return Document(
        text,
        styles=tuple((each.rule.id, "rule") for each in shown),
        cards="h2" if shown else "",
        assets=ASSETS,
        turns=tuple(turns),
    )


def search(rules: Sequence[RuleCount], asked: Mapping[str, str]) -> Search:
    """The form of the list; `rules` are all rules of the build."""
    subjects = tuple((each, _words(each)) for each in dict.fromkeys(map(_subject, rules)))
    actions = tuple((each, each) for each in dict.fromkeys(rule.action for rule in rules))
    choices = (
        Choice("Subject", "subject", asked["subject"], "All subjects", subjects),
        Choice("Action", "action", asked["action"], "All actions", actions),
        Choice("Decided in this build", "decided", asked["decided"], "Any", tuple(DECIDED.items())),
    )
    return Search("Words of the id, statement or source", "search", asked["search"], "Show", choices)


def chosen(rules: Sequence[RuleCount], asked: Mapping[str, str]) -> list[RuleCount]:
    """The rules with all words of the search, and the selected subject, action and kind of decisions."""
    words = asked["search"].casefold().split()
    return [
        rule
        for rule in rules
        if asked["subject"] in ("", _subject(rule))
        and asked["action"] in ("", rule.action)
        and _decided(rule) in ([asked["decided"]] if asked["decided"] else SHOWN)
        and all(word in f"{rule.id} {rule.statement} {rule.source} {rule.applies}".casefold() for word in words)
    ]


def document(rules: Sequence[RuleCount], examples: Examples, asked: str) -> Document:
    """The page of one rule.

    Raises:
        NotFound: there is no such rule.
    """
    rule = next((rule for rule in rules if rule.id == asked), None)
    if rule is None:
        raise NotFound("There is no such rule in this build.")
    subject = _subject(rule)
    text = write(
        "rule.md", each=_shown(rule, examples), subject=_words(subject), of_subject=_address({"subject": subject})
    )
    return Document(text, styles=(("about", "rule"),), assets=ASSETS)


def last_page(rules: Sequence[RuleCount]) -> int:
    """The number of the last page of a list."""
    return max(1, -(-len(rules) // PAGE))


def _shown(rule: RuleCount, examples: Examples) -> Shown:
    counted = (("value or gap", "values and gaps", rule.values), ("figure", "figures", rule.figures))
    counts = ", ".join(f"{count:,} {one if count == 1 else more}" for one, more, count in counted)
    companies = f"{rule.companies:,} {'company' if rule.companies == 1 else 'companies'}"
    facts = [
        ("Source", plain(rule.source)),
        ("Action", plain(f"{rule.action}; applies to {rule.applies}")),
        ("Code", code(rule.file.removeprefix(FOLDER))),
        ("In this build", plain(f"{counts}, of {companies}" if rule.companies else "decided nothing")),
    ]
    if example := examples.get(rule.id):
        facts.append(("For example", _example(example)))
    return Shown(rule, rule_path(rule.id), _statement(rule.statement), facts)


def _statement(text: str) -> Markdown:
    """A statement, with links for the ids of rules between backticks."""
    return Markdown(NAMED.sub(lambda found: link(found[1], rule_path(found[1])), plain(text)))


def _example(of: Decided) -> Markdown:
    """A value with a link to its page, or the company."""
    if of.item is None or of.period is None:
        return link(f"figures of {of.symbol}", company_path(of.symbol))
    where = link(f"{TITLES[of.item]} of {of.symbol}, {of.period}", value_address(of.symbol, of.item, of.period))
    return Markdown(f"{where}: {'no value' if of.value is None else plain(standalone(of.item, of.value, READ))}")


def _decided(rule: RuleCount) -> str:
    """The kind of decisions of a rule, a key of DECIDED."""
    if rule.file == RETIRED:
        return REPLACED
    return "values" if rule.values else "figures" if rule.figures else "nothing"


def _subject(rule: RuleCount) -> str:
    """The first part of the id."""
    return rule.id.partition(".")[0]


def _words(subject: str) -> str:
    return subject.upper() if subject in ("eps", "roic", "ttm") else subject.replace("-", " ").capitalize()


def _address(asked: Mapping[str, str], **more: str) -> str:
    query = urlencode({name: value for name, value in {**asked, **more}.items() if value})
    return f"{PATH}?{query}" if query else PATH
