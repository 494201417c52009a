"""Rules that decide nothing any more, but that published versions name.

Belongs here: their ids, and the rule that replaced each. Does not: any rule that decides.
"""

from pipelines.normalize.rule import Rule

REPLACED: dict[str, tuple[str, ...]] = {
    "debt.noncurrent.instruments": (
        "debt.beside.other-debt-with-room",
        "debt.noncurrent.bank-loans",
        "debt.noncurrent.convertible-debt-and-others",
        "debt.noncurrent.convertible-notes-and-others",
        "debt.noncurrent.credit-line",
        "debt.noncurrent.loans",
        "debt.noncurrent.medium-term-notes",
        "debt.noncurrent.notes-and-credit-line",
        "debt.noncurrent.notes-and-loans",
        "debt.noncurrent.notes-to-banks",
        "debt.noncurrent.other",
        "debt.noncurrent.secured",
        "debt.noncurrent.senior-notes-and-others",
        "debt.noncurrent.unsecured-and-secured",
    ),
    "debt.current-maturities.instruments": (
        "debt.current-maturities.convertible-debt-and-others",
        "debt.current-maturities.convertible-notes-and-notes",
        "debt.current-maturities.medium-term-notes",
        "debt.current-maturities.notes-and-secured",
        "debt.current-maturities.other",
        "debt.current-maturities.secured-and-unsecured",
        "debt.current-maturities.senior-notes-and-secured",
        "debt.current-maturities.unsecured",
    ),
    "debt.current-maturities.ifrs.borrowings": ("debt.current-maturities.ifrs.bonds-and-loans",),
    "debt.short-term.instruments": (
        "debt.short-term.bank-loans-and-notes",
        "debt.short-term.commercial-paper-and-others",
        "debt.short-term.credit-line",
        "debt.short-term.loans",
        "debt.short-term.notes-to-banks",
        "debt.short-term.other",
    ),
    "balance.withheld.no-total-assets": ("gap.no-assets",),
    "debt.withdrawn.one-line-is-a-part": ("debt.withdrawn.long-term-debt-is-a-part",),
    "balance.withheld.no-longer-adds-up": (
        "cash.withheld.above-total",
        "cash.withheld.amount-of-the-day-before",
        "cash.withheld.one-digit",
        "debt.withdrawn.left-and-returned",
        "debt.withheld.footed-before",
        "debt.withheld.long-term-debt-may-include-short-term",
        "debt.withheld.maturities-repeat-noncurrent-debt",
        "debt.withheld.noncurrent-above-total",
        "debt.withheld.noncurrent-one-digit",
    ),
    "gap.no-capital-expenditure": ("capital-expenditure.reit.development",),
}
"""For each rule those that it replaced: elements are added up by containment, not by a list for each of them; lines
that no longer add up show an error, whichever it is; without total assets there is no debt and no cash; development of
real estate alone is no capital expenditure."""

RULES: tuple[Rule, ...] = tuple(
    Rule(old, f"Decides nothing any more: `{new}` replaced it.", "the source of the rule that replaced it", "compose")
    for new, replaced in REPLACED.items()
    for old in replaced
)
