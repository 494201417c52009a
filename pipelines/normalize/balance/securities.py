"""Reclassifies lines of cash: which securities are current, and which element is the line of cash.

Belongs here: lines of current assets whose element does not say what they are, and the type of such a rule. Does not:
lines of debt (roles), how cash and securities add up (cash), securities that are no longer reported (vanished).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pipelines.normalize.arrays import Flags, Floats
from pipelines.normalize.balance.element_sets import set_of
from pipelines.normalize.balance.footing import of_all_current_assets, within_current_assets
from pipelines.normalize.balance.sheets import BalanceSheets, same
from pipelines.normalize.rule import Rule

OF_ANY_SECURITIES = set_of(["MarketableSecurities"])
"""The element of marketable securities of any term."""


@dataclass(frozen=True, slots=True)
class Reclassification:
    """A rule that replaces the line `place` by `line` on the sheets for which `holds` is true."""

    rule: Rule
    line: str
    place: str
    holds: Callable[[BalanceSheets], Flags]


def _securities_are_current(sheets: BalanceSheets) -> Flags:
    """Whether securities of any term are a current asset: current assets add up with them only, or they are zero."""
    cash, line = sheets.value("cash"), sheets.value("securities_of_any_term")
    where = ~sheets.has("short_term_investments") & ~np.isnan(cash + line)
    is_only_with_them = ~within_current_assets(sheets, cash, where) | (line == 0)
    found: Flags = within_current_assets(sheets, cash + line, where) & is_only_with_them
    found |= _foot_only_with(sheets, line, where)
    return found


def _investments_are_current(sheets: BalanceSheets) -> Flags:
    """Whether the current assets add up with investments of all kinds, and not without them."""
    return _foot_only_with(sheets, sheets.value("investments"), ~sheets.has("short_term_investments"))


def _investments_are_debt_securities(sheets: BalanceSheets) -> Flags:
    """Whether investments are the sum of both classes of debt securities, and no line names current securities."""
    investments, both = sheets.value("investments"), sheets.value("debt_securities_of_both_classes")
    has_other = sheets.has("short_term_investments") & ~sheets.is_stated_by("short_term_investments", OF_ANY_SECURITIES)
    fits = sheets.value("cash") + investments <= sheets.value("current_assets")
    found: Flags = (investments > 0) & (investments == both) & fits & ~has_other
    return found


def _foot_only_with(sheets: BalanceSheets, securities: Floats, where: Flags) -> Flags:
    """Whether the current assets certainly add up with cash and securities, and not with cash alone.

    The line of cash may be that of the cash flow statement, which includes restricted cash. What one balance sheet of a
    filing proves, and none disproves, holds for its other balance sheets.
    """
    cash, of_flows = sheets.value("cash"), sheets.value("cash_of_flows")
    readings = (cash + securities, of_flows + securities, cash, of_flows)
    found = of_all_current_assets(sheets, readings, where & (securities > 0))
    alone = found[2] | found[3]
    filing = (sheets.cik << 32) | sheets.seq
    proved = np.setdiff1d(filing[(found[0] | found[1]) & ~alone], filing[alone])
    are_current: Flags = where & (securities > 0) & np.isin(filing, proved)
    return are_current


def _is_cash_alone(sheets: BalanceSheets) -> Flags:
    """Whether the current assets certainly add up with the element for cash alone, and not with the other cash."""
    cash, alone = sheets.value("cash"), sheets.value("cash_alone")
    beside = [sheets.or_zero(line) for line in ("short_term_investments", "securities_of_any_term", "investments")]
    securities = [np.zeros(len(sheets)), *beside]
    where = ~np.isnan(cash + alone) & ~same(alone, cash)
    readings = [one + other for one in (alone, cash) for other in securities]
    found = of_all_current_assets(sheets, readings, where)
    is_alone: Flags = np.logical_or.reduce(found[: len(securities)])
    is_other: Flags = np.logical_or.reduce(found[len(securities) :])
    return is_alone & ~is_other


_CURRENT_ASSETS = "ASC 210-10-45-1 (current assets); measured: the total of current assets adds up with it alone"

RECLASSIFICATIONS: tuple[Reclassification, ...] = (
    Reclassification(
        Rule(
            "cash.alone-by-footing",
            "The element for cash alone is the cash if the current assets add up with it, securities or none besides, "
            "and not with cash from the cash flow statement.",
            _CURRENT_ASSETS,
            "select",
        ),
        "cash_alone",
        "cash",
        _is_cash_alone,
    ),
    Reclassification(
        Rule(
            "cash.securities.current-by-footing",
            "Securities whose element does not name a term are short-term investments if the current assets add up "
            "with them and not without them.",
            _CURRENT_ASSETS,
            "select",
        ),
        "securities_of_any_term",
        "short_term_investments",
        _securities_are_current,
    ),
    Reclassification(
        Rule(
            "cash.investments.current-by-footing",
            "Investments of all kinds are short-term investments if the current assets add up with them and not "
            "without them.",
            _CURRENT_ASSETS,
            "select",
        ),
        "investments",
        "short_term_investments",
        _investments_are_current,
    ),
    Reclassification(
        Rule(
            "cash.investments.both-classes-of-debt-securities",
            "Investments of all kinds are short-term investments if they are exactly the debt securities available for "
            "sale plus those held to maturity, the current assets have room for them, and no other line names current "
            "securities (marketable securities without a term may be equity securities).",
            "ASC 320-10-45-1 (classes of debt securities); measured: such lines are current assets",
            "select",
        ),
        "investments",
        "short_term_investments",
        _investments_are_debt_securities,
    ),
)

RULES: tuple[Rule, ...] = tuple(each.rule for each in RECLASSIFICATIONS)
