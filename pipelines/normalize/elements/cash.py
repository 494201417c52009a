"""Cash, cash equivalents and current securities, and the lines that prove which securities are current.

Belongs here: elements of cash, cash equivalents and current securities at an instant. Does not: how they add up
(balance).

Never cash, whatever the industry: restricted cash where it is reported separately, cash segregated for customers,
funds held for clients, and money in trust.
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us

WITH_RESTRICTED = "CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents"

RESTRICTED = (
    "RestrictedCashAndCashEquivalents",
    "RestrictedCash",
    "RestrictedCashCurrent",
    "RestrictedCashAndCashEquivalentsAtCarryingValue",
    "RestrictedCashNoncurrent",
)
"""The elements that are subtracted from WITH_RESTRICTED."""

CASH_TOTAL = Concept(
    "cash_total",
    "money",
    instant=True,
    sources=(
        us(
            "CashCashEquivalentsAndShortTermInvestments",
            rule="cash.total.with-short-term-investments",
            statement="The total of cash and short-term investments is the filer's own, which counts nothing twice.",
        ),
        us(
            "CashCashEquivalentsAndFederalFundsSold",
            of=("bank",),
            rule="cash.total.bank-with-federal-funds-sold",
            statement="A bank's total of cash is its own total of cash, cash equivalents and federal funds sold.",
        ),
    ),
)

CASH = Concept(
    "cash",
    "money",
    instant=True,
    sources=(
        us(
            "CashAndCashEquivalentsAtCarryingValue",
            rule="cash.balance-sheet",
            statement="Cash is the line of cash and cash equivalents on the balance sheet.",
        ),
        us(
            WITH_RESTRICTED,
            of=("bank",),
            rule="cash.bank.with-restricted",
            statement="A bank's cash is the total of the cash flow statement, because a bank reports no restricted "
            "cash separately.",
        ),
        us(
            "CashAndDueFromBanks",
            "InterestBearingDepositsInBanks",
            of=("bank",),
            rule="cash.bank.due-from-banks-and-deposits",
            statement="A bank's cash is cash and due from banks plus interest-bearing deposits in banks.",
            source="Regulation S-X Rule 9-03(1)-(2)",
        ),
        us(
            WITH_RESTRICTED,
            minus=("RestrictedCashAndCashEquivalents",),
            but=("bank",),
            rule="cash.without-restricted",
            statement="Without a balance sheet line, cash is the total of the cash flow statement less restricted cash "
            "and cash equivalents.",
        ),
        us(
            WITH_RESTRICTED,
            minus=("RestrictedCash",),
            but=("bank",),
            rule="cash.without-restricted-cash",
            statement="Without a balance sheet line, cash is the total of the cash flow statement less restricted cash "
            "that is tagged without equivalents.",
        ),
        us(
            WITH_RESTRICTED,
            minus=("RestrictedCashCurrent",),
            less=("RestrictedCashNoncurrent",),
            but=("bank",),
            rule="cash.without-restricted-current-and-noncurrent",
            statement="Without a balance sheet line, cash is the total of the cash flow statement less current and "
            "noncurrent restricted cash.",
        ),
        us(
            WITH_RESTRICTED,
            minus=("RestrictedCashAndCashEquivalentsAtCarryingValue",),
            less=("RestrictedCashAndCashEquivalentsNoncurrent",),
            but=("bank",),
            rule="cash.without-restricted-at-carrying-value",
            statement="Without a balance sheet line, cash is the total of the cash flow statement less restricted cash "
            "and equivalents at carrying value, current and noncurrent.",
        ),
        us(
            WITH_RESTRICTED,
            minus=("RestrictedCashNoncurrent",),
            but=("bank",),
            rule="cash.without-restricted-noncurrent",
            statement="Without a balance sheet line, cash is the total of the cash flow statement less noncurrent "
            "restricted cash, where no other is reported.",
        ),
        us(
            WITH_RESTRICTED,
            but=("bank",),
            reservation="may_include_restricted_cash",
            rule="cash.may-include-restricted",
            statement="Where only the total of the cash flow statement is reported, cash is that total and the value "
            "is flagged; some filers use this element for their balance sheet line.",
        ),
        us(
            "Cash",
            where=("RestrictedCash",),
            but=("bank",),
            rule="cash.alone-beside-restricted",
            statement="Where the element for cash alone and restricted cash are reported, and no total less disposal "
            "groups, cash is that element.",
        ),
        us(
            f"{WITH_RESTRICTED}IncludingDisposalGroupAndDiscontinuedOperations",
            but=("bank",),
            reservation="may_include_restricted_cash",
            rule="cash.may-include-restricted-and-disposal-groups",
            statement="Where only the total that includes disposal groups is reported, cash is that total and the "
            "value is flagged.",
        ),
        us(
            "CashAndDueFromBanks",
            reservation="may_lack_interest_bearing_deposits",
            rule="cash.due-from-banks",
            statement="Where cash and due from banks is the only line, it is cash and the value is flagged, because "
            "interest-bearing deposits may be on another line.",
        ),
        us("Cash", rule="cash.only-line", statement="Where the element for cash alone is the only one, it is cash."),
        ifrs(
            "CashAndCashEquivalents",
            rule="cash.ifrs.balance-sheet",
            statement="Under IFRS cash is the line of cash and cash equivalents.",
            source="IAS 1.54(i)",
        ),
        ifrs(
            "CashAndBankBalancesAtCentralBanks",
            of=("bank",),
            rule="cash.ifrs.bank-balances-at-central-banks",
            statement="Under IFRS a bank's cash is its line of cash and balances at central banks.",
        ),
    ),
)


def securities(
    *elements: str, rule: str, statement: str, plus: tuple[str, ...] = (), less: tuple[str, ...] = ()
) -> Source:
    """A us-gaap source of current securities; not for banks, because securities are their business."""
    return us(*elements, rule=rule, statement=statement, plus=plus, less=less, but=("bank",))


HELD_TO_MATURITY = "DebtSecuritiesHeldToMaturityAmortizedCostAfterAllowanceForCreditLossCurrent"
HELD_TO_MATURITY_AND_TRADING = ("HeldToMaturitySecuritiesCurrent", HELD_TO_MATURITY, "TradingSecuritiesCurrent")
"""The classes of current securities other than those available for sale (ASC 320-10-25-1)."""

SHORT_TERM_INVESTMENTS = Concept(
    "short_term_investments",
    "money",
    instant=True,
    sources=(
        securities(
            "ShortTermInvestments",
            rule="short-term-investments.total",
            statement="Short-term investments are the filer's own line of them.",
        ),
        securities(
            "MarketableSecuritiesCurrent",
            rule="short-term-investments.marketable-securities",
            statement="Otherwise short-term investments are current marketable securities, debt and equity.",
        ),
        securities(
            "DebtSecuritiesCurrent",
            rule="short-term-investments.debt-securities",
            statement="Otherwise short-term investments are current debt securities of all classes.",
        ),
        securities(
            "AvailableForSaleSecuritiesDebtSecuritiesCurrent",
            plus=HELD_TO_MATURITY_AND_TRADING,
            rule="short-term-investments.by-class",
            statement="Where securities are reported by class since 2018, short-term investments are debt securities "
            "available for sale, held to maturity and trading, all current.",
        ),
        securities(
            "AvailableForSaleSecuritiesCurrent",
            plus=HELD_TO_MATURITY_AND_TRADING,
            rule="short-term-investments.by-class-until-2018",
            statement="Where securities are reported by class until 2018, short-term investments are securities "
            "available for sale, held to maturity and trading, all current.",
        ),
        securities(
            "DebtSecuritiesAvailableForSaleExcludingAccruedInterestCurrent",
            plus=HELD_TO_MATURITY_AND_TRADING,
            rule="short-term-investments.by-class-without-accrued-interest",
            statement="Where accrued interest is on another line, short-term investments are the classes of current "
            "securities without it.",
        ),
        securities(
            "HeldToMaturitySecuritiesCurrent",
            plus=("TradingSecuritiesCurrent",),
            rule="short-term-investments.held-to-maturity",
            statement="Where none is available for sale, short-term investments are current securities held to "
            "maturity and trading.",
        ),
        securities(
            HELD_TO_MATURITY,
            plus=("TradingSecuritiesCurrent",),
            rule="short-term-investments.held-to-maturity-since-2020",
            statement="Where none is available for sale since 2020, short-term investments are current debt "
            "securities held to maturity, after the allowance for credit losses, and trading.",
        ),
        securities(
            "TradingSecuritiesCurrent",
            rule="short-term-investments.trading",
            statement="Where only trading securities are reported, they are the short-term investments.",
        ),
        securities(
            "OtherShortTermInvestments",
            rule="short-term-investments.other",
            statement="Where other short-term investments are the only line, they are the short-term investments.",
        ),
        securities(
            "MarketableSecurities",
            less=("MarketableSecuritiesNoncurrent",),
            rule="short-term-investments.marketable-less-noncurrent",
            statement="Where marketable securities are one line for all terms, short-term investments are that line "
            "less its noncurrent part.",
        ),
        ifrs(
            "CurrentInvestments",
            rule="short-term-investments.ifrs.current-investments",
            statement="Under IFRS short-term investments are current investments.",
            source="IAS 1.66",
        ),
    ),
)

SECURITIES_OF_ANY_TERM = Concept(
    "securities_of_any_term",
    "money",
    instant=True,
    sources=(
        securities(
            "AvailableForSaleSecuritiesDebtSecurities",
            rule="securities-of-any-term.debt-securities",
            statement="Debt securities available for sale, current and not, are read to find out whether all are "
            "current.",
        ),
        securities(
            "DebtSecuritiesAvailableForSaleExcludingAccruedInterest",
            rule="securities-of-any-term.debt-securities-without-accrued-interest",
            statement="Where accrued interest is on another line, debt securities available for sale are read without "
            "it.",
        ),
        securities(
            "EquitySecuritiesFvNi",
            rule="securities-of-any-term.equity-securities",
            statement="Otherwise equity securities at fair value are read, which are current and not for most filers.",
        ),
    ),
)
"""Securities with elements for any term. If some filer uses them for current securities, the current assets prove
it."""

CURRENT_ASSETS = Concept(
    "current_assets",
    "money",
    instant=True,
    sources=(
        us(
            "AssetsCurrent",
            rule="current-assets.total",
            statement="Current assets are the total of the balance sheet.",
            source="ASC 210-10-45-1",
        ),
    ),
)

OTHER_CURRENT_ASSETS: tuple[Concept, ...] = tuple(
    Concept(
        f"current_assets_{name}",
        "money",
        instant=True,
        sources=tuple(
            us(
                element,
                rule=rule,
                statement=f"Current assets other than cash include {words}, which helps to prove which securities are "
                "current.",
            )
            for rule, element, words in sources
        ),
    )
    for name, sources in {
        "receivable": [("current-assets.receivable", "AccountsReceivableNetCurrent", "accounts receivable")],
        "receivables": [("current-assets.receivables", "ReceivablesNetCurrent", "receivables of all kinds")],
        "inventory": [("current-assets.inventory", "InventoryNet", "inventories")],
        "prepaid": [
            (
                "current-assets.prepaid",
                "PrepaidExpenseAndOtherAssetsCurrent",
                "prepaid expenses and other current assets",
            )
        ],
        "other": [("current-assets.other", "OtherAssetsCurrent", "other current assets")],
        "contracts": [
            ("current-assets.contracts", "ContractWithCustomerAssetNetCurrent", "contract assets"),
            ("current-assets.unbilled-receivables", "UnbilledReceivablesCurrent", "unbilled receivables"),
            ("current-assets.unbilled-contracts", "UnbilledContractsReceivable", "unbilled receivables on contracts"),
            ("current-assets.all-contracts", "ContractWithCustomerAssetNet", "contract assets of any term"),
        ],
    }.items()
)
"""Current assets that are never cash. Some filers show them on the balance sheet, others in the notes."""

MORE_CURRENT_ASSETS: tuple[Concept, ...] = tuple(
    Concept(
        f"current_assets_{name}",
        "money",
        instant=True,
        sources=tuple(
            us(
                element,
                rule=rule,
                statement=f"Current assets other than cash may include {words} as a line of the balance sheet.",
            )
            for rule, element, words in sources
        ),
    )
    for name, sources in {
        "held_for_sale": [
            (
                "current-assets.disposal-group",
                "AssetsOfDisposalGroupIncludingDiscontinuedOperationCurrent",
                "those of a disposal group",
            ),
            (
                "current-assets.held-for-sale",
                "AssetsHeldForSaleNotPartOfDisposalGroupCurrent",
                "assets held for sale",
            ),
        ],
        "prepaid_alone": [("current-assets.prepaid-alone", "PrepaidExpenseCurrent", "prepaid expenses alone")],
        "deferred_taxes": [
            ("current-assets.deferred-taxes", "DeferredTaxAssetsNetCurrent", "deferred taxes, as reported until 2017"),
            (
                "current-assets.deferred-taxes-and-other",
                "DeferredIncomeTaxesAndOtherAssetsCurrent",
                "deferred taxes and other assets",
            ),
        ],
        "income_taxes": [
            ("current-assets.income-taxes", "IncomeTaxesReceivable", "income taxes receivable"),
            ("current-assets.prepaid-taxes", "PrepaidTaxes", "prepaid taxes"),
        ],
        "nontrade": [
            ("current-assets.nontrade-receivables", "NontradeReceivablesCurrent", "receivables not from trade"),
            ("current-assets.other-receivables", "OtherReceivablesNetCurrent", "other receivables"),
            (
                "current-assets.all-receivables",
                "AccountsNotesAndLoansReceivableNetCurrent",
                "accounts, notes and loans receivable",
            ),
        ],
        "restricted": [
            ("current-assets.restricted-cash", "RestrictedCashCurrent", "restricted cash"),
            (
                "current-assets.restricted-cash-and-equivalents",
                "RestrictedCashAndCashEquivalentsAtCarryingValue",
                "restricted cash and equivalents",
            ),
        ],
    }.items()
)
"""Further current assets, of which some are part of other lines for some filers: they count only in exact sums."""

CASH_ALONE = Concept(
    "cash_alone",
    "money",
    instant=True,
    sources=(
        us(
            "Cash",
            rule="cash.alone.element",
            statement="Where cash is taken from the cash flow statement, the element for cash alone is also read: "
            "it is the line of the balance sheet if the current assets prove it.",
        ),
    ),
)

INVESTMENTS = Concept(
    "investments",
    "money",
    instant=True,
    sources=(
        securities(
            "Investments",
            rule="securities-of-any-term.investments",
            statement="The element for investments of all kinds is read, which is a line of current assets if these "
            "prove it.",
        ),
    ),
)

DEBT_SECURITIES_OF_BOTH_CLASSES = Concept(
    "debt_securities_of_both_classes",
    "money",
    instant=True,
    sources=(
        securities(
            "AvailableForSaleSecuritiesDebtSecurities",
            "HeldToMaturitySecurities",
            rule="securities-of-any-term.both-classes",
            statement="Debt securities available for sale plus those held to maturity are read to find out which "
            "investments they are.",
        ),
    ),
)

BANK_OVERDRAFTS = Concept(
    "bank_overdrafts",
    "money",
    instant=True,
    sources=(
        us(
            "BankOverdrafts",
            rule="cash.bank-overdrafts",
            statement="Bank overdrafts are read because some cash flow statements deduct them from the cash "
            "of the balance sheet.",
        ),
    ),
)

CASH_OF_FLOWS = Concept(
    "cash_of_flows",
    "money",
    instant=True,
    sources=(
        us(
            WITH_RESTRICTED,
            rule="cash.of-flows.with-restricted",
            statement="The cash flow statement's cash at the end of the period is never less than the cash of the "
            "balance sheet, because it includes restricted cash.",
            source="ASC 230-10-45-4, 230-10-50-8",
        ),
    ),
)

CASH_CONTROLS: tuple[Concept, ...] = (
    CASH_ALONE,
    SECURITIES_OF_ANY_TERM,
    INVESTMENTS,
    DEBT_SECURITIES_OF_BOTH_CLASSES,
    CURRENT_ASSETS,
    *OTHER_CURRENT_ASSETS,
    *MORE_CURRENT_ASSETS,
    BANK_OVERDRAFTS,
    CASH_OF_FLOWS,
)
"""Amounts that prove which securities are a separate line next to cash, and whether cash is right; without cash they
lead to no value."""
