"""Borrowings by instrument, as balance sheets without current and noncurrent parts report them.

Belongs here: elements of instruments, and of the other liabilities that prove which instruments are the debt. Does
not: debt of classified balance sheets (debt), which of the lines add up (balance.instruments).

Liabilities that are not borrowings have a negative amount here: liabilities plus these amounts are the debt.
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us


def not_debt(*elements: str, rule: str, statement: str) -> Source:
    """Us-gaap liabilities that are not borrowings, as far as reported: a negative amount."""
    return us(less=elements, rule=rule, statement=statement)


def other_line(element: str, *, rule: str, statement: str, source: str = "") -> Source:
    """One line of us-gaap liabilities that are not borrowings: a negative amount."""
    return us(minus=(element,), rule=rule, statement=statement, source=source)


def _line(name: str, *sources: Source) -> Concept:
    return Concept(name, "money", instant=True, sources=sources)


DEBT_ADVANCES = _line(
    "debt_advances",
    us(
        "AdvancesFromFederalHomeLoanBanks",
        rule="debt.advances.federal-home-loan-banks",
        statement="Advances are those of the Federal Home Loan Banks.",
    ),
    us(
        "FederalHomeLoanBankAdvancesLongTerm",
        rule="debt.advances.long-term",
        statement="Where only long-term Federal Home Loan Bank advances are reported, they are the advances.",
    ),
    us(
        "LongtermFederalHomeLoanBankAdvancesNoncurrent",
        rule="debt.advances.long-term-noncurrent",
        statement="Otherwise advances are long-term Federal Home Loan Bank advances tagged as noncurrent.",
    ),
)

DEBT_SUBORDINATED = _line(
    "debt_subordinated",
    us(
        "SubordinatedDebt",
        rule="debt.subordinated.debt",
        statement="Subordinated debt is the line of subordinated notes.",
    ),
    us(
        "SubordinatedLongTermDebt",
        rule="debt.subordinated.long-term",
        statement="Otherwise subordinated debt is the line of subordinated long-term debt.",
    ),
    us(
        "SurplusNotes",
        rule="debt.subordinated.surplus-notes",
        statement="An insurer's subordinated debt is the surplus notes that it issues for its capital.",
    ),
    ifrs(
        "SubordinatedLiabilities",
        rule="debt.subordinated.ifrs.liabilities",
        statement="Under IFRS subordinated debt is subordinated liabilities, which banks report.",
    ),
)

DEBT_JUNIOR = _line(
    "debt_junior",
    us(
        "JuniorSubordinatedDebentureOwedToUnconsolidatedSubsidiaryTrust",
        rule="debt.junior.trust-debentures",
        statement="Junior subordinated debt is the debentures owed to trusts that issued trust preferred securities.",
    ),
    us(
        "JuniorSubordinatedNotes",
        rule="debt.junior.notes",
        statement="Otherwise junior subordinated debt is the line of junior subordinated notes.",
    ),
    us(
        "JuniorSubordinatedLongTermNotes",
        rule="debt.junior.long-term-notes",
        statement="Otherwise junior subordinated debt is the line of long-term junior subordinated notes.",
    ),
)

DEBT_NOTES = _line(
    "debt_notes",
    us(
        "NotesPayable",
        rule="debt.notes.notes-payable",
        statement="Notes are the line of notes payable, which includes mortgages where these are not a separate line.",
    ),
    us(
        "SeniorNotes",
        plus=("ConvertibleNotesPayable",),
        rule="debt.notes.senior-and-convertible",
        statement="Otherwise notes are senior notes plus convertible notes, if any.",
    ),
    us(
        "ConvertibleNotesPayable",
        rule="debt.notes.convertible-notes",
        statement="Where convertible notes are the only line, they are the notes.",
    ),
    us(
        "ConvertibleDebt",
        rule="debt.notes.convertible-debt",
        statement="Where convertible debt is the only line, it is the notes.",
    ),
    us(
        "NotesAndLoansPayable",
        rule="debt.notes.notes-and-loans",
        statement="Where notes and loans are one line, it is the notes.",
    ),
    us(
        "OtherNotesPayable",
        rule="debt.notes.other",
        statement="Where other notes payable are the only line, they are the notes.",
    ),
    ifrs(
        "NotesAndDebenturesIssued",
        of=("bank",),
        rule="debt.notes.ifrs.notes-and-debentures",
        statement="Under IFRS a bank's notes are the notes and debentures issued.",
        source="IFRS 7.8(g)",
    ),
    ifrs(
        "BondsIssued",
        of=("bank",),
        rule="debt.notes.ifrs.bonds",
        statement="Under IFRS, otherwise, a bank's notes are the bonds issued.",
    ),
)

DEBT_SECURED = _line(
    "debt_secured",
    us(
        "SecuredDebt",
        rule="debt.secured.total",
        statement="Secured debt is the line of mortgages and other secured debt.",
    ),
)

DEBT_UNSECURED = _line(
    "debt_unsecured",
    us(
        "UnsecuredDebt",
        rule="debt.unsecured.total",
        statement="Unsecured debt is the line of unsecured notes or term loans.",
    ),
)

DEBT_BANK_LOANS = _line(
    "debt_bank_loans",
    us("LoansPayable", rule="debt.bank-loans.loans-payable", statement="Bank loans are the line of term loans."),
    us(
        "LoansPayableToBank",
        rule="debt.bank-loans.loans-to-banks",
        statement="Otherwise bank loans are the line of loans payable to banks.",
    ),
)

DEBT_OTHER = _line(
    "debt_other",
    us(
        "OtherBorrowings",
        rule="debt.other.borrowings",
        statement="Other borrowings are a separate line, or the total of the other instruments.",
    ),
    us(
        "OtherLongTermDebt",
        rule="debt.other.long-term",
        statement="Otherwise other borrowings are the line of other long-term debt.",
    ),
    us(
        "WarehouseAgreementBorrowings",
        rule="debt.other.warehouse-agreements",
        statement="A mortgage lender's other borrowings are those under warehouse agreements, which it owes until it "
        "sells the loans.",
    ),
    ifrs(
        "Borrowings",
        of=("bank",),
        rule="debt.other.ifrs.bank-borrowings",
        statement="Under IFRS a bank's other borrowings are the line of borrowings next to bonds and notes.",
    ),
)

DEBT_REVOLVER = _line(
    "debt_revolver",
    us(
        "LineOfCredit",
        of=("reit",),
        rule="debt.revolver.reit-line-of-credit",
        statement="A real estate company's line of credit is the amount drawn, a line of its balance sheet.",
    ),
)

DEBT_CREDIT_LINE = _line(
    "debt_credit_line",
    us(
        "LineOfCredit",
        but=("reit",),
        rule="debt.credit-line.line-of-credit",
        statement="A line of credit is the amount drawn, but some filers tag the limit with this element; so it counts "
        "only where the liabilities prove it.",
    ),
    us(
        "NotesPayableRelatedPartiesClassifiedCurrent",
        but=("shell",),
        rule="debt.credit-line.related-party-notes",
        statement="Otherwise current notes to related parties are read in its place: some filers state them as a line "
        "of their own, others as a part of another; so they count only where the liabilities prove them.",
    ),
)

LIABILITIES = _line(
    "liabilities",
    us("Liabilities", rule="liabilities.total", statement="Liabilities are the total of the balance sheet."),
    us(
        "LiabilitiesAndStockholdersEquity",
        minus=("StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",),
        less=("RedeemableNoncontrollingInterestEquityCarryingAmount", "TemporaryEquityCarryingAmount"),
        rule="liabilities.less-equity",
        statement="Without a total, liabilities are liabilities and equity less equity including noncontrolling "
        "interests, redeemable interests and temporary equity.",
    ),
    us(
        "LiabilitiesAndStockholdersEquity",
        minus=("StockholdersEquity",),
        less=("TemporaryEquityCarryingAmount",),
        rule="liabilities.less-equity-of-parent",
        statement="Where no noncontrolling interests are reported, liabilities are liabilities and equity less the "
        "parent's equity and temporary equity.",
    ),
    ifrs(
        "Liabilities",
        rule="liabilities.ifrs.total",
        statement="Under IFRS liabilities are the total of the balance sheet.",
    ),
)

NOT_BORROWED = _line(
    "not_borrowed",
    not_debt(
        "Deposits",
        "InterestBearingDepositLiabilities",
        "NoninterestBearingDepositLiabilities",
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
        rule="liabilities.not-borrowed.balance-sheet-lines",
        statement="Deposits, payables, accrued and other liabilities and operating leases, as far as reported, are "
        "liabilities that are not borrowings.",
    ),
)

LIABILITIES_NOT_DEBT: tuple[Concept, ...] = tuple(
    _line(
        f"not_borrowed_{name}",
        not_debt(
            *elements,
            rule=rule,
            statement=f"Liabilities that are not borrowings may include {words} as a line of the balance sheet.",
        ),
    )
    for name, rule, words, elements in (
        (
            "accrued",
            "liabilities.not-borrowed.accrued",
            "accrued liabilities of any term",
            ("AccruedLiabilitiesCurrentAndNoncurrent",),
        ),
        ("interest", "liabilities.not-borrowed.interest", "interest payable", ("InterestPayableCurrentAndNoncurrent",)),
        (
            "escrow",
            "liabilities.not-borrowed.escrow",
            "advance payments of borrowers for taxes and insurance",
            ("AdvancePaymentsByBorrowersForTaxesAndInsurance",),
        ),
        ("leases", "liabilities.not-borrowed.leases", "operating leases", ("OperatingLeaseLiability",)),
        ("finance_leases", "liabilities.not-borrowed.finance-leases", "finance leases", ("FinanceLeaseLiability",)),
        (
            "repos",
            "liabilities.not-borrowed.repos",
            "federal funds purchased and securities sold under agreements to repurchase",
            (
                "FederalFundsPurchased",
                "SecuritiesSoldUnderAgreementsToRepurchase",
                "FederalFundsPurchasedAndSecuritiesSoldUnderAgreementsToRepurchase",
            ),
        ),
        (
            "income_taxes",
            "liabilities.not-borrowed.income-taxes",
            "noncurrent accrued income taxes",
            ("AccruedIncomeTaxesNoncurrent",),
        ),
        (
            "taxes",
            "liabilities.not-borrowed.taxes",
            "current taxes payable",
            ("TaxesPayableCurrent", "AccruedIncomeTaxesCurrent"),
        ),
        (
            "deferred_taxes",
            "liabilities.not-borrowed.deferred-taxes",
            "deferred tax liabilities",
            ("DeferredIncomeTaxLiabilitiesNet",),
        ),
        (
            "contracts",
            "liabilities.not-borrowed.contracts",
            "contract liabilities to customers, current and noncurrent",
            ("ContractWithCustomerLiabilityCurrent", "ContractWithCustomerLiabilityNoncurrent"),
        ),
        (
            "deferred_revenue",
            "liabilities.not-borrowed.deferred-revenue",
            "deferred revenue, as reported until 2018",
            ("DeferredRevenueCurrent", "DeferredRevenueNoncurrent"),
        ),
        (
            "current_contracts",
            "liabilities.not-borrowed.current-contracts",
            "current contract liabilities alone",
            ("ContractWithCustomerLiabilityCurrent",),
        ),
        (
            "people",
            "liabilities.not-borrowed.people",
            "liabilities to employees",
            ("EmployeeRelatedLiabilitiesCurrent",),
        ),
        ("trade", "liabilities.not-borrowed.trade", "trade payables", ("AccountsPayableTradeCurrent",)),
        (
            "insurance",
            "liabilities.not-borrowed.insurance",
            "an insurer's policy benefits, claims, unearned premiums and policyholder funds",
            (
                "LiabilityForFuturePolicyBenefits",
                "LiabilityForClaimsAndClaimsAdjustmentExpense",
                "UnearnedPremiums",
                "OtherPolicyholderFunds",
                "AccruedInsuranceCurrentAndNoncurrent",
            ),
        ),
        (
            "claims",
            "liabilities.not-borrowed.claims",
            "contingent consideration for businesses and settlements of claims",
            (
                "BusinessCombinationContingentConsiderationLiability",
                "SettlementLiabilitiesCurrent",
            ),
        ),
        (
            "all_contracts",
            "liabilities.not-borrowed.all-contracts",
            "contract liabilities to customers of any term",
            ("ContractWithCustomerLiability",),
        ),
        (
            "reserves",
            "liabilities.not-borrowed.reserves",
            "expected credit losses on commitments",
            ("OffBalanceSheetCreditLossLiability",),
        ),
        (
            "customers",
            "liabilities.not-borrowed.customers",
            "a broker's payables to customers, other brokers and clearing organizations",
            ("PayablesToCustomers", "PayablesToBrokerDealersAndClearingOrganizations"),
        ),
    )
)
"""Liabilities that are never debt. Some filers show them on the balance sheet, others within another line."""

LIABILITIES_CURRENT = _line(
    "liabilities_current",
    us(
        "LiabilitiesCurrent",
        rule="liabilities.current.total",
        statement="Current liabilities are the total of the balance sheet.",
        source="ASC 210-10-45-5",
    ),
    ifrs(
        "CurrentLiabilities",
        rule="liabilities.current.ifrs.total",
        statement="Under IFRS current liabilities are the total of the balance sheet.",
        source="IAS 1.69",
    ),
)

OTHER_CURRENT_LIABILITIES: tuple[Concept, ...] = tuple(
    _line(
        f"current_{name}",
        other_line(
            element,
            rule=rule,
            statement=f"Current liabilities other than debt include {words}, which helps to prove whether short-term "
            "borrowings include the current maturities.",
        ),
    )
    for name, rule, element, words in (
        ("payables", "liabilities.current.payables", "AccountsPayableCurrent", "accounts payable"),
        (
            "payables_and_accrued",
            "liabilities.current.payables-and-accrued",
            "AccountsPayableAndAccruedLiabilitiesCurrent",
            "payables and accrued liabilities",
        ),
        (
            "other_payables",
            "liabilities.current.other-payables",
            "AccountsPayableOtherCurrent",
            "other accounts payable",
        ),
        ("accrued", "liabilities.current.accrued", "AccruedLiabilitiesCurrent", "accrued liabilities"),
        ("leases", "liabilities.current.leases", "OperatingLeaseLiabilityCurrent", "operating leases"),
        ("other", "liabilities.current.other", "OtherLiabilitiesCurrent", "other liabilities"),
    )
)
"""Current liabilities that are never debt, each a line of its own; see also LIABILITIES_NOT_DEBT."""

MORE_CURRENT_LIABILITIES: tuple[Concept, ...] = tuple(
    _line(
        f"current_{name}",
        *(
            other_line(
                element,
                rule=rule,
                statement=f"Current liabilities other than debt may include {words} as a line of the balance sheet.",
            )
            for rule, element, words in lines
        ),
    )
    for name, lines in {
        "held_for_sale": [
            (
                "liabilities.current.disposal-group",
                "LiabilitiesOfDisposalGroupIncludingDiscontinuedOperationCurrent",
                "those of a disposal group",
            ),
            (
                "liabilities.current.disposal-group-of-any-term",
                "LiabilitiesOfDisposalGroupIncludingDiscontinuedOperation",
                "those of a disposal group, of any term",
            ),
        ],
        "deferred_revenue": [
            ("liabilities.current.deferred-revenue", "DeferredRevenueCurrent", "deferred revenue"),
            (
                "liabilities.current.deferred-revenue-and-credits",
                "DeferredRevenueAndCreditsCurrent",
                "deferred revenue and credits",
            ),
        ],
        "dividends": [("liabilities.current.dividends", "DividendsPayableCurrent", "dividends payable")],
        "customers": [
            ("liabilities.current.customer-deposits", "CustomerDepositsCurrent", "deposits of customers"),
            ("liabilities.current.customer-refunds", "CustomerRefundLiabilityCurrent", "refunds to customers"),
        ],
        "finance_leases": [
            ("liabilities.current.finance-leases", "FinanceLeaseLiabilityCurrent", "finance leases"),
            ("liabilities.current.capital-leases", "CapitalLeaseObligationsCurrent", "capital leases until 2018"),
        ],
        "affiliates": [
            ("liabilities.current.related-parties", "DueToRelatedPartiesCurrent", "payables to related parties"),
        ],
        "interest": [("liabilities.current.interest", "InterestPayableCurrent", "interest payable")],
        "accrued_other": [
            (
                "liabilities.current.other-accrued",
                "OtherAccruedLiabilitiesCurrent",
                "other accrued liabilities",
            ),
            (
                "liabilities.current.payables-and-other-accrued",
                "AccountsPayableAndOtherAccruedLiabilitiesCurrent",
                "payables and other accrued liabilities",
            ),
        ],
        "accrued_and_other": [
            (
                "liabilities.current.accrued-and-other",
                "AccruedLiabilitiesAndOtherLiabilities",
                "accrued and other liabilities, of any term",
            ),
        ],
        "pay": [("liabilities.current.bonuses", "AccruedBonusesCurrent", "accrued bonuses")],
        "other_taxes": [
            ("liabilities.current.sales-taxes", "SalesAndExciseTaxPayableCurrent", "sales and excise taxes"),
            ("liabilities.current.deferred-taxes", "DeferredTaxLiabilitiesCurrent", "deferred taxes until 2017"),
        ],
    }.items()
)
"""Further current liabilities, of which some are part of other lines for some filers: they count only in exact sums."""

OTHER_NONCURRENT_LIABILITIES: tuple[Concept, ...] = tuple(
    _line(
        f"noncurrent_{name}",
        *(
            other_line(
                element,
                rule=rule,
                statement=f"Noncurrent liabilities other than debt include {words}.",
                source=source,
            )
            for element, rule, words in lines
        ),
    )
    for name, source, lines in (
        (
            "deferred_taxes",
            "ASC 740-10-45-4",
            (
                (
                    "DeferredIncomeTaxLiabilitiesNet",
                    "liabilities.noncurrent.deferred-taxes",
                    "net deferred tax liabilities",
                ),
                (
                    "DeferredTaxLiabilitiesNoncurrent",
                    "liabilities.noncurrent.deferred-taxes-until-2017",
                    "noncurrent deferred tax liabilities",
                ),
            ),
        ),
        ("leases", "", (("OperatingLeaseLiabilityNoncurrent", "liabilities.noncurrent.leases", "operating leases"),)),
        (
            "finance_leases",
            "",
            (
                (
                    "FinanceLeaseLiabilityNoncurrent",
                    "liabilities.noncurrent.finance-leases",
                    "finance leases, which may be on one line with debt",
                ),
            ),
        ),
        (
            "contracts",
            "ASC 606-10-45-2",
            (
                (
                    "ContractWithCustomerLiabilityNoncurrent",
                    "liabilities.noncurrent.contracts",
                    "contract liabilities to customers",
                ),
                ("DeferredRevenueNoncurrent", "liabilities.noncurrent.deferred-revenue", "deferred revenue"),
            ),
        ),
        (
            "income_taxes",
            "",
            (("AccruedIncomeTaxesNoncurrent", "liabilities.noncurrent.income-taxes", "accrued income taxes"),),
        ),
        (
            "pensions",
            "",
            (
                (
                    "PensionAndOtherPostretirementDefinedBenefitPlansLiabilitiesNoncurrent",
                    "liabilities.noncurrent.pensions-and-other-benefits",
                    "liabilities of pension and other postretirement plans",
                ),
                (
                    "DefinedBenefitPensionPlanLiabilitiesNoncurrent",
                    "liabilities.noncurrent.pensions",
                    "liabilities of pension plans",
                ),
            ),
        ),
        (
            "other",
            "",
            (
                ("OtherLiabilitiesNoncurrent", "liabilities.noncurrent.other", "other liabilities"),
                (
                    "DeferredCreditsAndOtherLiabilitiesNoncurrent",
                    "liabilities.noncurrent.deferred-credits-noncurrent",
                    "noncurrent deferred credits and other liabilities",
                ),
                (
                    "DeferredCreditsAndOtherLiabilities",
                    "liabilities.noncurrent.deferred-credits",
                    "deferred credits and other liabilities",
                ),
            ),
        ),
    )
)
"""Other lines of the noncurrent liabilities on a classified balance sheet."""

MORE_NONCURRENT_LIABILITIES: tuple[Concept, ...] = tuple(
    _line(
        f"noncurrent_{name}",
        *(
            other_line(
                element,
                rule=rule,
                statement=f"Noncurrent liabilities other than debt may include {words} as a line of the balance sheet.",
            )
            for rule, element, words in lines
        ),
    )
    for name, lines in {
        "consideration": [
            (
                "liabilities.noncurrent.contingent-consideration",
                "BusinessCombinationContingentConsiderationLiabilityNoncurrent",
                "contingent consideration for businesses",
            ),
        ],
        "compensation": [
            (
                "liabilities.noncurrent.share-based-compensation",
                "DeferredCompensationSharebasedArrangementsLiabilityClassifiedNoncurrent",
                "share-based compensation",
            ),
            (
                "liabilities.noncurrent.compensation",
                "DeferredCompensationLiabilityClassifiedNoncurrent",
                "deferred compensation",
            ),
        ],
        "retirement": [
            (
                "liabilities.noncurrent.asset-retirement",
                "AssetRetirementObligationsNoncurrent",
                "obligations to retire assets",
            ),
        ],
        "derivatives": [
            ("liabilities.noncurrent.derivatives", "DerivativeLiabilitiesNoncurrent", "derivatives, such as warrants"),
        ],
        "uncertain_taxes": [
            (
                "liabilities.noncurrent.uncertain-taxes",
                "LiabilityForUncertainTaxPositionsNoncurrent",
                "uncertain tax positions",
            ),
        ],
        "held_for_sale": [
            (
                "liabilities.noncurrent.disposal-group",
                "LiabilitiesOfDisposalGroupIncludingDiscontinuedOperationNoncurrent",
                "those of a disposal group",
            ),
        ],
    }.items()
)
"""Further noncurrent liabilities, which count only in exact sums."""

DEBT_PRINCIPAL = _line(
    "debt_principal",
    us(
        "DebtInstrumentCarryingAmount",
        rule="debt.principal.before-discounts",
        statement="Principal is long-term debt before discounts and costs of issue.",
        source="ASC 835-30-45-1A",
    ),
)

DEBT_ISSUE_COSTS_CURRENT = _line(
    "debt_issue_costs_current",
    us(
        "DeferredFinanceCostsCurrentNet",
        rule="debt.issue-costs.current",
        statement="Costs of issue are the difference between the principal of current notes and their carrying amount.",
        source="ASC 835-30-45-1A",
    ),
)

DEBT_CONTROLS: tuple[Concept, ...] = (
    LIABILITIES,
    NOT_BORROWED,
    *LIABILITIES_NOT_DEBT,
    LIABILITIES_CURRENT,
    *OTHER_CURRENT_LIABILITIES,
    *MORE_CURRENT_LIABILITIES,
    *OTHER_NONCURRENT_LIABILITIES,
    *MORE_NONCURRENT_LIABILITIES,
    DEBT_PRINCIPAL,
    DEBT_ISSUE_COSTS_CURRENT,
)
"""Amounts that prove which lines are debt; they are not debt themselves."""

DEBT_BY_INSTRUMENT: tuple[Concept, ...] = (
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
