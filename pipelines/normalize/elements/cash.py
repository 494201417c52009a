"""Cash and what can be turned into it at once.

Belongs here: elements of cash, cash equivalents and current securities at an instant. Does not: how they add up
(balances).

Never cash, whatever the industry: restricted cash where it is told apart, cash segregated for customers, funds held for
clients, and money in trust.
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us

WITH_RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"

CASH_TOTAL = Concept(
    "cash_total",
    "money",
    instant=True,
    sources=(
        us("CashCashEquivalentsAndShortTermInvestments", why="the filer's own total cannot count anything twice"),
        us("CashCashEquivalentsAndFederalFundsSold", of=("bank",), why="a bank's total, with what it lends overnight"),
    ),
)

CASH = Concept(
    "cash",
    "money",
    instant=True,
    sources=(
        us("CashAndCashEquivalentsAtCarryingValue", why="the balance sheet line"),
        us(WITH_RESTRICTED, of=("bank",), why="the total of a bank that has no restricted cash to tell apart"),
        us("CashAndDueFromBanks", "InterestBearingDepositsInBanks", of=("bank",), why="a bank's cash is on two lines"),
        us(
            WITH_RESTRICTED,
            minus=("RestrictedCashAndCashEquivalents",),
            but=("bank",),
            why="the total of the cash flow statement, less what is restricted",
        ),
        us(WITH_RESTRICTED, minus=("RestrictedCash",), but=("bank",), why="the same under another element"),
        us(
            WITH_RESTRICTED,
            minus=("RestrictedCashCurrent",),
            less=("RestrictedCashNoncurrent",),
            but=("bank",),
            why="the same, current and not",
        ),
        us(
            WITH_RESTRICTED,
            minus=("RestrictedCashAndCashEquivalentsAtCarryingValue",),
            less=("RestrictedCashAndCashEquivalentsNoncurrent",),
            but=("bank",),
            why="the same under other elements",
        ),
        us(WITH_RESTRICTED, minus=("RestrictedCashNoncurrent",), but=("bank",), why="none of it current"),
        us(
            WITH_RESTRICTED,
            but=("bank",),
            reservation="may_include_restricted_cash",
            why="some tag the balance sheet line so",
        ),
        us(
            f"{WITH_RESTRICTED}IncludingDisposalGroupAndDiscontinuedOperations",
            but=("bank",),
            reservation="may_include_restricted_cash",
            why="and of the cash flow statement, with what is for sale",
        ),
        us(
            "CashAndDueFromBanks",
            reservation="may_lack_interest_bearing_deposits",
            why="banks with one line; what bears interest may be on another",
        ),
        us("Cash", why="the only line"),
        ifrs("CashAndCashEquivalents", why="IAS 1.54(i)"),
        ifrs("CashAndBankBalancesAtCentralBanks", of=("bank",), why="the balance sheet line of banks"),
    ),
)


def securities(*elements: str, why: str, plus: tuple[str, ...] = (), less: tuple[str, ...] = ()) -> Source:
    """A us-gaap source of current securities: not of banks, whose business they are."""
    return us(*elements, why=why, plus=plus, less=less, but=("bank",))


HELD_TO_MATURITY = "DebtSecuritiesHeldToMaturityAmortizedCostAfterAllowanceForCreditLossCurrent"
CLASSES = ("HeldToMaturitySecuritiesCurrent", HELD_TO_MATURITY, "TradingSecuritiesCurrent")
"""What ASC 320-10-25-1 tells apart from securities available for sale."""

SHORT_TERM_INVESTMENTS = Concept(
    "short_term_investments",
    "money",
    instant=True,
    sources=(
        securities("ShortTermInvestments", why="the parent line"),
        securities("MarketableSecuritiesCurrent", why="the parent of debt and equity securities"),
        securities("DebtSecuritiesCurrent", why="debt securities of every class"),
        securities("AvailableForSaleSecuritiesDebtSecuritiesCurrent", plus=CLASSES, why="by class, since 2018"),
        securities("AvailableForSaleSecuritiesCurrent", plus=CLASSES, why="by class, until 2018"),
        securities(
            "DebtSecuritiesAvailableForSaleExcludingAccruedInterestCurrent",
            plus=CLASSES,
            why="accrued interest on another line",
        ),
        securities(
            "HeldToMaturitySecuritiesCurrent", plus=("TradingSecuritiesCurrent",), why="none available for sale"
        ),
        securities(HELD_TO_MATURITY, plus=("TradingSecuritiesCurrent",), why="the same, since 2020"),
        securities("TradingSecuritiesCurrent", why="none held to maturity"),
        securities("OtherShortTermInvestments", why="the only line"),
        securities(
            "MarketableSecurities",
            less=("MarketableSecuritiesNoncurrent",),
            why="one line of marketable securities, less what is not current",
        ),
        ifrs("ShorttermDepositsNotClassifiedAsCashEquivalents", why="deposits of more than three months"),
        ifrs("CurrentInvestments", why="investments that are current, IAS 1.66"),
    ),
)

SECURITIES_OF_ANY_TERM = Concept(
    "securities_of_any_term",
    "money",
    instant=True,
    sources=(
        securities("AvailableForSaleSecuritiesDebtSecurities", why="debt securities, current and not"),
        securities(
            "DebtSecuritiesAvailableForSaleExcludingAccruedInterest", why="the same, accrued interest on another line"
        ),
        securities("EquitySecuritiesFvNi", why="equity securities, current and not for most"),
    ),
)
"""Where all of them are current, as the current assets foot, some tag them so."""

CURRENT_ASSETS = Concept(
    "current_assets", "money", instant=True, sources=(us("AssetsCurrent", why="the total of ASC 210-10-45-1"),)
)

BESIDE_CASH: tuple[Concept, ...] = tuple(
    Concept(f"current_assets_{name}", "money", instant=True, sources=(us(element, why=why),))
    for name, element, why in (
        ("receivable", "AccountsReceivableNetCurrent", "what customers owe"),
        ("receivables", "ReceivablesNetCurrent", "what anybody owes"),
        ("inventory", "InventoryNet", "inventories"),
        ("prepaid", "PrepaidExpenseAndOtherAssetsCurrent", "what is prepaid, and others"),
        ("other", "OtherAssetsCurrent", "others"),
    )
)
"""Lines that are on the balance sheet of some and in the notes of others, and never cash."""

FOOTING: tuple[Concept, ...] = (SECURITIES_OF_ANY_TERM, CURRENT_ASSETS, *BESIDE_CASH)
"""What tells which securities are a line beside the cash; without cash it is no value."""
