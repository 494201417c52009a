"""Borrowings that are told by instrument, as balance sheets without current and non-current parts show them.

Belongs here: elements of instruments, and of what else is owed, which together are the liabilities. Does not: debt of
classified balance sheets (debt), which of the lines add up (borrowings).

What is no debt is negative here: liabilities and these lines add up to debt.
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us


def less(*elements: str, why: str) -> Source:
    """What is taken off the liabilities, as far as it is there: us-gaap."""
    return Source((), why, less=elements)


DEBT_ADVANCES = Concept(
    "debt_advances",
    "money",
    instant=True,
    sources=(
        us("AdvancesFromFederalHomeLoanBanks", why="what most banks borrow"),
        us(
            "FederalHomeLoanBankAdvancesLongTerm",
            plus=("FederalHomeLoanBankAdvancesShortTerm",),
            why="the same by term",
        ),
        us("FederalHomeLoanBankAdvancesShortTerm", why="none of long term"),
        us("LongTermFederalHomeLoanBankAdvancesNoncurrent", why="of long term alone, under another element"),
    ),
)

DEBT_SUBORDINATED = Concept(
    "debt_subordinated",
    "money",
    instant=True,
    sources=(
        us("SubordinatedDebt", why="subordinated notes"),
        us("SubordinatedLongTermDebt", why="the same under another element"),
        us("SurplusNotes", why="what insurers issue for their capital"),
        ifrs("SubordinatedLiabilities", why="banks"),
    ),
)

DEBT_JUNIOR = Concept(
    "debt_junior",
    "money",
    instant=True,
    sources=(
        us("JuniorSubordinatedDebentureOwedToUnconsolidatedSubsidiaryTrust", why="trust preferred securities"),
        us("JuniorSubordinatedNotes", why="the same under another element"),
        us("JuniorSubordinatedLongTermNotes", why="the same of long term"),
    ),
)

DEBT_NOTES = Concept(
    "debt_notes",
    "money",
    instant=True,
    sources=(
        us("NotesPayable", why="notes, with mortgages where these are on no line of their own"),
        us("SeniorNotes", plus=("ConvertibleNotesPayable",), why="senior notes"),
        us("ConvertibleNotesPayable", why="convertible notes only"),
        us("ConvertibleDebt", why="the same under another element"),
        us("NotesAndLoansPayable", why="notes and loans on one line"),
        us("OtherNotesPayable", why="the only line"),
        ifrs("NotesAndDebenturesIssued", why="IFRS 7.8(g)", of=("bank",)),
        ifrs("BondsIssued", why="the same under another element", of=("bank",)),
        ifrs("DebtInstrumentsIssued", why="the same under another element", of=("bank",)),
    ),
)

DEBT_SECURED = Concept(
    "debt_secured",
    "money",
    instant=True,
    sources=(us("SecuredDebt", why="mortgages, and what else is secured"),),
)

DEBT_UNSECURED = Concept(
    "debt_unsecured",
    "money",
    instant=True,
    sources=(us("UnsecuredDebt", why="notes or term loans, by security"),),
)

DEBT_BANK_LOANS = Concept(
    "debt_bank_loans",
    "money",
    instant=True,
    sources=(us("LoansPayable", why="term loans"),),
)

DEBT_OTHER = Concept(
    "debt_other",
    "money",
    instant=True,
    sources=(
        us("OtherBorrowings", why="a line of its own, or the total of the others"),
        us("OtherLongTermDebt", why="the same of long term"),
        us("WarehouseAgreementBorrowings", why="what mortgage lenders owe until they sell the loans"),
        ifrs("Borrowings", why="beside bonds and notes", of=("bank",)),
    ),
)

DEBT_REVOLVER = Concept(
    "debt_revolver",
    "money",
    instant=True,
    sources=(
        us("LineOfCredit", why="what a property company has drawn, on a line of its balance sheet", of=("reit",)),
    ),
)

DEBT_CREDIT_LINE = Concept(
    "debt_credit_line",
    "money",
    instant=True,
    sources=(
        us(
            "LineOfCredit",
            why="what is drawn; some tag the limit so, and only the liabilities can tell",
            but=("reit",),
        ),
    ),
)

LIABILITIES = Concept(
    "liabilities",
    "money",
    instant=True,
    sources=(
        us("Liabilities", why="the total"),
        us(
            "LiabilitiesAndStockholdersEquity",
            minus=("StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",),
            less=("RedeemableNoncontrollingInterestEquityCarryingAmount", "TemporaryEquityCarryingAmount"),
            why="what is no equity",
        ),
        us(
            "LiabilitiesAndStockholdersEquity",
            minus=("StockholdersEquity",),
            less=("TemporaryEquityCarryingAmount",),
            why="what is no equity, no minorities stated",
        ),
        ifrs("Liabilities", why="IAS 1.55"),
    ),
)

NOT_BORROWED = Concept(
    "not_borrowed",
    "money",
    instant=True,
    sources=(
        less(
            "Deposits",
            "OtherLiabilities",
            "AccruedLiabilitiesAndOtherLiabilities",
            "AccountsPayableAndAccruedLiabilitiesCurrentAndNoncurrent",
            "AccountsPayableCurrent",
            "AccruedLiabilitiesCurrent",
            "AccountsPayableAndAccruedLiabilitiesCurrent",
            "OtherLiabilitiesCurrent",
            "OtherLiabilitiesNoncurrent",
            "OperatingLeaseLiabilityCurrent",
            "OperatingLeaseLiabilityNoncurrent",
            why="lines of the balance sheet itself",
        ),
    ),
)

BESIDE: tuple[Concept, ...] = tuple(
    Concept(f"not_borrowed_{name}", "money", instant=True, sources=sources)
    for name, sources in {
        "interest": (less("InterestPayableCurrentAndNoncurrent", why="interest owed"),),
        "escrow": (less("AdvancePaymentsByBorrowersForTaxesAndInsurance", why="money of borrowers"),),
        "leases": (less("OperatingLeaseLiability", why="operating leases"),),
        "finance_leases": (less("FinanceLeaseLiability", why="finance leases apart"),),
        "repos": (
            less(
                "FederalFundsPurchased",
                "SecuritiesSoldUnderAgreementsToRepurchase",
                "FederalFundsPurchasedAndSecuritiesSoldUnderAgreementsToRepurchase",
                why="funding by securities, overnight",
            ),
        ),
        "income_taxes": (less("AccruedIncomeTaxesNoncurrent", why="income taxes owed"),),
        "taxes": (less("TaxesPayableCurrent", "AccruedIncomeTaxesCurrent", why="taxes owed"),),
        "deferred_taxes": (less("DeferredIncomeTaxLiabilitiesNet", why="deferred taxes"),),
        "contracts": (
            less(
                "ContractWithCustomerLiabilityCurrent",
                "ContractWithCustomerLiabilityNoncurrent",
                why="what customers paid ahead",
            ),
        ),
        "deferred_revenue": (less("DeferredRevenueCurrent", "DeferredRevenueNoncurrent", why="the same until 2018"),),
        "current_contracts": (less("ContractWithCustomerLiabilityCurrent", why="the same, current alone"),),
        "people": (less("EmployeeRelatedLiabilitiesCurrent", why="pay owed"),),
        "trade": (less("AccountsPayableTradeCurrent", why="suppliers"),),
        "reserves": (less("OffBalanceSheetCreditLossLiability", why="losses expected on commitments"),),
        "customers": (
            less(
                "PayablesToCustomers",
                "PayablesToBrokerDealersAndClearingOrganizations",
                why="what brokers hold of customers and owe to others in the trade",
            ),
        ),
    }.items()
)
"""Lines that are on the balance sheet of some and in the notes of others, to a line that is there."""

LIABILITIES_CURRENT = Concept(
    "liabilities_current",
    "money",
    instant=True,
    sources=(
        us("LiabilitiesCurrent", why="the total of ASC 210-10-45-5"),
        ifrs("CurrentLiabilities", why="the total of IAS 1.69"),
    ),
)

BESIDE_NONCURRENT: tuple[Concept, ...] = tuple(
    Concept(f"noncurrent_{name}", "money", instant=True, sources=tuple(us(one, why=why) for one in elements))
    for name, why, elements in (
        (
            "deferred_taxes",
            "deferred taxes, ASC 740-10-45-4",
            ("DeferredIncomeTaxLiabilitiesNet", "DeferredTaxLiabilitiesNoncurrent"),
        ),
        ("leases", "operating leases", ("OperatingLeaseLiabilityNoncurrent",)),
        ("finance_leases", "finance leases, on one line with debt", ("FinanceLeaseLiabilityNoncurrent",)),
        (
            "contracts",
            "what customers paid ahead, ASC 606-10-45-2",
            ("ContractWithCustomerLiabilityNoncurrent", "DeferredRevenueNoncurrent"),
        ),
        ("income_taxes", "income taxes owed", ("AccruedIncomeTaxesNoncurrent",)),
        (
            "pensions",
            "what pensions lack",
            (
                "PensionAndOtherPostretirementDefinedBenefitPlansLiabilitiesNoncurrent",
                "DefinedBenefitPensionPlanLiabilitiesNoncurrent",
            ),
        ),
        (
            "other",
            "others",
            (
                "OtherLiabilitiesNoncurrent",
                "DeferredCreditsAndOtherLiabilitiesNoncurrent",
                "DeferredCreditsAndOtherLiabilities",
            ),
        ),
    )
)
"""Lines beside the debt of a classified balance sheet."""

PRINCIPAL = Concept(
    "debt_principal",
    "money",
    instant=True,
    sources=(us("DebtInstrumentCarryingAmount", why="long-term debt before discounts and costs, ASC 835-30-45-1A"),),
)

PROOF: tuple[Concept, ...] = (
    LIABILITIES,
    NOT_BORROWED,
    *BESIDE,
    LIABILITIES_CURRENT,
    *BESIDE_NONCURRENT,
    PRINCIPAL,
)
"""What tells which loans are the debt, and states none itself."""

LOANS: tuple[Concept, ...] = (
    DEBT_ADVANCES,
    DEBT_SUBORDINATED,
    DEBT_JUNIOR,
    DEBT_NOTES,
    DEBT_SECURED,
    DEBT_UNSECURED,
    DEBT_BANK_LOANS,
    DEBT_REVOLVER,
    DEBT_OTHER,
    DEBT_CREDIT_LINE,
)
