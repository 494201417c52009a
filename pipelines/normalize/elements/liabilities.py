"""Liabilities that are not borrowings, the totals that they and debt add up to, and other amounts that prove debt.

Belongs here: elements of amounts of a balance sheet, current and noncurrent, that show which lines are debt. Does not:
borrowings (debt, loans), what adds up (balance.footing).

Liabilities that are not borrowings have a negative amount: liabilities plus these amounts are the debt.
"""

from pipelines.normalize.elements.sources import Concept, Source, ifrs, us


def not_debt(*elements: str, rule: str, statement: str) -> Source:
    """Us-gaap liabilities that are not borrowings, as far as reported: a negative amount."""
    return us(less=elements, rule=rule, statement=statement)


def other_line(element: str, *, rule: str, statement: str, source: str = "") -> Source:
    """One line of us-gaap liabilities that are not borrowings: a negative amount."""
    return us(minus=(element,), rule=rule, statement=statement, source=source)


def line(name: str, *sources: Source) -> Concept:
    """An amount of a balance sheet."""
    return Concept(name, "money", instant=True, sources=sources)


LIABILITIES = line(
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

NOT_BORROWED = line(
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
    line(
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
            "accrued liabilities of any term, and payables that bear interest,",
            ("AccruedLiabilitiesCurrentAndNoncurrent", "AccountsPayableInterestBearingCurrentAndNoncurrent"),
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

LIABILITIES_CURRENT = line(
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
    line(
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
    line(
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
    line(
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
    line(
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
        "benefits": [
            (
                "liabilities.noncurrent.other-benefits",
                "OtherPostretirementDefinedBenefitPlanLiabilitiesNoncurrent",
                "benefits after employment other than pensions",
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

NOT_LENT = line(
    "not_lent",
    not_debt(
        "DerivativeLiabilitiesCurrent",
        "DepositLiabilityCurrent",
        "CustomerAdvancesCurrent",
        "AccountsPayableAndOtherAccruedLiabilities",
        "AccountsPayableCurrentAndNoncurrent",
        "AccountsPayableRelatedPartiesCurrent",
        "AccruedSalariesCurrent",
        "AccruedPayrollTaxesCurrent",
        "AccruedRentCurrent",
        "AccruedRentNoncurrent",
        rule="liabilities.not-lent",
        statement="Derivatives, deposits of customers, and further payables and accruals, as far as reported, are "
        "liabilities that are not borrowings; some are part of other lines.",
    ),
    ifrs(
        less=(
            "TradeAndOtherCurrentPayables",
            "TradeAndOtherCurrentPayablesToTradeSuppliers",
            "TradeAndOtherPayablesToTradeSuppliers",
            "CurrentAccruedExpensesAndOtherCurrentLiabilities",
            "CurrentContractLiabilities",
            "NoncurrentContractLiabilities",
            "CurrentProvisions",
            "NoncurrentProvisions",
            "CurrentTaxLiabilities",
            "CurrentTaxLiabilitiesCurrent",
            "DeferredTaxLiabilities",
            "CurrentLeaseLiabilities",
            "NoncurrentLeaseLiabilities",
            "CurrentRecognisedLiabilitiesDefinedBenefitPlan",
            "NoncurrentRecognisedLiabilitiesDefinedBenefitPlan",
            "CurrentDerivativeFinancialLiabilities",
            "NoncurrentDerivativeFinancialLiabilities",
            "OtherCurrentLiabilities",
            "OtherNoncurrentLiabilities",
            "OtherCurrentFinancialLiabilities",
            "OtherNoncurrentFinancialLiabilities",
            "OtherCurrentNonfinancialLiabilities",
            "OtherNoncurrentNonfinancialLiabilities",
        ),
        rule="liabilities.not-lent.ifrs",
        statement="Under IFRS payables, accruals, provisions, taxes, leases, benefits, derivatives and other "
        "liabilities, as far as reported, are liabilities that are not borrowings; some are part of other lines.",
    ),
)

DEBT_PRINCIPAL = line(
    "debt_principal",
    us(
        "DebtInstrumentCarryingAmount",
        rule="debt.principal.before-discounts",
        statement="Principal is long-term debt before discounts and costs of issue.",
        source="ASC 835-30-45-1A",
    ),
)

DEBT_ISSUE_COSTS_CURRENT = line(
    "debt_issue_costs_current",
    us(
        "DeferredFinanceCostsCurrentNet",
        rule="debt.issue-costs.current",
        statement="Costs of issue are the difference between the principal of current notes and their carrying amount.",
        source="ASC 835-30-45-1A",
    ),
)

INTEREST_ON_SUBORDINATED_DEBT = Concept(
    "interest_on_subordinated_debt",
    "money",
    instant=False,
    sources=(
        us(
            "InterestExpenseSubordinatedNotesAndDebentures",
            rule="debt.interest.subordinated-notes-and-debentures",
            statement="Interest on subordinated notes and debentures shows that the filer owed them.",
            source="Regulation S-X Rule 9-04.8",
        ),
        us(
            "InterestExpenseJuniorSubordinatedDebentures",
            rule="debt.interest.junior-subordinated-debentures",
            statement="Otherwise interest on junior subordinated debentures shows that the filer owed them.",
            source="Regulation S-X Rule 9-04.8",
        ),
    ),
)

PROCEEDS_OF_RELATED_PARTY_DEBT = Concept(
    "proceeds_of_related_party_debt",
    "money",
    instant=False,
    sources=(
        us(
            "ProceedsFromRelatedPartyDebt",
            rule="debt.proceeds.related-parties",
            statement="Proceeds from debt to related parties show that the filer borrowed from them.",
            source="ASC 230-10-45-14 (proceeds of borrowing are cash flows from financing)",
        ),
    ),
)

REPAYMENTS_OF_RELATED_PARTY_DEBT = Concept(
    "repayments_of_related_party_debt",
    "money",
    instant=False,
    sources=(
        us(
            "RepaymentsOfRelatedPartyDebt",
            rule="debt.repayments.related-parties",
            statement="Repayments of debt to related parties show how much of it was paid back.",
            source="ASC 230-10-45-15 (repayments of amounts borrowed are cash flows from financing)",
        ),
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
    NOT_LENT,
    DEBT_PRINCIPAL,
    DEBT_ISSUE_COSTS_CURRENT,
    INTEREST_ON_SUBORDINATED_DEBT,
    PROCEEDS_OF_RELATED_PARTY_DEBT,
    REPAYMENTS_OF_RELATED_PARTY_DEBT,
)
"""Amounts that prove which lines are debt; they are not debt themselves."""
