"""The table of industries: one row a rule that assigns an industry to a filing.

Belongs here: SIC codes, how many elements of a group are needed, and which elements exclude the industry. Does not: the
groups of elements (indicators), applying the table (classification).
"""

from dataclasses import dataclass

from pipelines.normalize.industry import indicators as shows
from pipelines.normalize.industry.names import GENERAL, Industry
from pipelines.normalize.rule import Rule

Codes = tuple[tuple[int, int], ...]

ANY_CODE: Codes = ((0, 9999),)
NO_CODE: Codes = ((0, 0),)
FINANCE_SERVICES: Codes = ((6099, 6111), (6163, 6199))
"""Finance services: a company there may lend although no element shows it."""
AMBIGUOUS_OR_NONE: Codes = ((0, 0), (6099, 6111), (6163, 6199), (6411, 6769), (6771, 6797), (6799, 6999), (7389, 7389))
"""No code, and codes of firms of many industries (card issuers, holding companies, business services)."""
MAKERS: Codes = ((3400, 3599), (3700, 3799))
"""Tools, machinery, computers and vehicles: products often bought on credit from their maker."""
FINANCED: Codes = ((3523, 3523), (3531, 3531), (3711, 3711), (3751, 3751))
"""Farm and construction machinery, motor vehicles, motorcycles: the largest makers own the lender to their buyers."""

SMALL_CREDIT = 0.01
"""The smallest share of total assets of an amount that shows a finance business. Measured: the finance arms of General
Electric and General Motors have at least 1.0 % and 2.2 % under each element; notes receivable of Walmart are 0.6 %."""

SIC = "SIC code of the filer (EDGAR submissions); SEC list of Standard Industrial Classification codes"
ELEMENTS = "us-gaap taxonomy: definitions of the elements named in the data dictionary"


@dataclass(frozen=True, slots=True)
class IndustryRule:
    """A filer belongs to `industry` if its SIC code is in `codes` and its filings of the last year meet the conditions.

    rule, statement, source: of its Rule. uses: elements, of which at least `at_least` are used. unless: elements of
    which none is used. least_share: the share of the filing's total assets that an amount of `uses` needs to count.
    """

    rule: str
    industry: Industry
    codes: Codes
    statement: str
    source: str = SIC
    uses: tuple[str, ...] = ()
    at_least: int = 0
    unless: tuple[str, ...] = ()
    least_share: float = 0.0


TABLE: tuple[IndustryRule, ...] = (
    IndustryRule(
        "industry.shell.blank-check",
        "shell",
        ((6770, 6770), (9995, 9995)),
        "A company with the SIC code of blank checks or non-operating establishments is a shell while it reports no "
        "sales.",
        unless=shows.SALES,
    ),
    IndustryRule(
        "industry.shell.trust-account",
        "shell",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that holds assets in trust and reports no sales is a shell.",
        ELEMENTS,
        uses=shows.TRUST,
        at_least=1,
        unless=shows.SALES,
    ),
    IndustryRule(
        "industry.insurer.carrier",
        "insurer",
        ((6300, 6323), (6325, 6399)),
        "A company with the SIC code of insurance carriers is an insurer; agents and brokers of insurance (6411) are "
        "not.",
    ),
    IndustryRule(
        "industry.insurer.health-plan",
        "insurer",
        ((6324, 6324),),
        "A company with the SIC code of health plans is an insurer unless it presents current liabilities: such a plan "
        "pays claims within months, from operations.",
        "Regulation S-X Rule 7-03: an insurer's balance sheet is not classified",
        unless=shows.CLASSIFIED,
    ),
    IndustryRule(
        "industry.insurer.adviser-with-carrier",
        "insurer",
        ((6282, 6282),),
        "An investment adviser that reports two elements of insurance (premiums, claims, acquisition costs) and no "
        "current liabilities owns a carrier and is an insurer.",
        "Regulation S-X Rules 7-03 and 7-04",
        uses=shows.INSURANCE,
        at_least=2,
        unless=shows.CLASSIFIED,
    ),
    IndustryRule(
        "industry.bank.mortgage-trust",
        "bank",
        ((6798, 6798),),
        "A real estate investment trust that reports two elements of interest earned and repurchase agreements, and no "
        "rented property, owns mortgages and is treated as a bank.",
        ELEMENTS,
        uses=shows.INTEREST_EARNED,
        at_least=2,
        unless=shows.RENTED_PROPERTY,
    ),
    IndustryRule(
        "industry.reit.sic",
        "reit",
        ((6798, 6798),),
        "A company with the SIC code of real estate investment trusts is one.",
    ),
    IndustryRule(
        "industry.asset-manager.sic",
        "asset_manager",
        ((6282, 6282),),
        "A company with the SIC code of investment advice is an asset manager.",
    ),
    IndustryRule(
        "industry.asset-manager.broker-code",
        "asset_manager",
        ((6211, 6221),),
        "A company with the SIC code of brokers that reports operating income and no customers' securities is an asset "
        "manager.",
        ELEMENTS,
        uses=shows.OPERATING_INCOME,
        at_least=1,
        unless=shows.CUSTOMERS_SECURITIES,
    ),
    IndustryRule(
        "industry.broker.sic",
        "broker",
        ((6211, 6221),),
        "A company with the SIC code of brokers and dealers in securities or commodities is a broker.",
    ),
    IndustryRule(
        "industry.exchange.sic",
        "exchange",
        ((6200, 6200), (6231, 6231)),
        "A company with the SIC code of exchanges and clearing houses is an exchange.",
    ),
    IndustryRule(
        "industry.bank.sic",
        "bank",
        ((6020, 6036), (6081, 6082), (6712, 6712)),
        "A company with the SIC code of commercial banks, savings institutions or bank holding companies is a bank.",
    ),
    IndustryRule(
        "industry.bank.lender-code",
        "bank",
        ((6040, 6199),),
        "A lender by its SIC code that reports three elements of interest, deposits and loan losses is a bank.",
        "Regulation S-X Rules 9-03 and 9-04",
        uses=shows.LENDING,
        at_least=3,
    ),
    IndustryRule(
        "industry.captive-finance.credit-institution",
        "captive_finance",
        ((6140, 6162), (6172, 6172)),
        "A company with the SIC code of credit institutions is a finance company: its debt funds receivables.",
    ),
    IndustryRule(
        "industry.partnership.units",
        "partnership",
        ANY_CODE,
        "A company that reports two elements of partnerships (partners' capital, units, amounts per unit) and no "
        "rented property is a partnership.",
        ELEMENTS,
        uses=shows.UNITS,
        at_least=2,
        unless=shows.RENTED_PROPERTY,
    ),
    IndustryRule(
        "industry.partnership.partners-equity",
        "partnership",
        ANY_CODE,
        "A company that reports partners' capital, no equity of shareholders and no rented property is a partnership.",
        ELEMENTS,
        uses=shows.PARTNERS_EQUITY,
        at_least=1,
        unless=(*shows.SHAREHOLDERS_EQUITY, *shows.RENTED_PROPERTY),
    ),
    IndustryRule(
        "industry.utility.sic",
        "utility",
        ((4900, 4949), (4961, 4991)),
        "A company with the SIC code of electricity, gas, water or steam is a utility; waste (4950s) has no regulated "
        "rates.",
    ),
    IndustryRule(
        "industry.oil-and-gas.sic",
        "oil_and_gas",
        ((1311, 1389), (2911, 2911)),
        "A company with the SIC code of oil and gas production, drilling, services to it or refining is an oil and "
        "gas company.",
    ),
    IndustryRule(
        "industry.insurer.premiums-and-claims",
        "insurer",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that reports two elements of insurance (premiums, claims, acquisition "
        "costs) and no current liabilities is an insurer; agents of carriers and health plans have current "
        "liabilities.",
        "Regulation S-X Rules 7-03 and 7-04",
        uses=shows.INSURANCE,
        at_least=2,
        unless=shows.CLASSIFIED,
    ),
    IndustryRule(
        "industry.investment-company.fair-value",
        "investment_company",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that reports two elements of funds (investments at cost or fair value, "
        "their income, net asset value or distributions per share) is an investment company.",
        "ASC 946",
        uses=shows.FUND,
        at_least=2,
    ),
    IndustryRule(
        "industry.bank.interest-and-deposits",
        "bank",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that reports three elements of interest, deposits and loan losses is a "
        "bank.",
        "Regulation S-X Rules 9-03 and 9-04",
        uses=shows.LENDING,
        at_least=3,
    ),
    IndustryRule(
        "industry.broker.customers-securities",
        "broker",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that reports two elements of customers' accounts (payables, "
        "receivables, segregated cash and securities) is a broker.",
        ELEMENTS,
        uses=shows.CUSTOMERS_SECURITIES,
        at_least=2,
    ),
    IndustryRule(
        "industry.bank.revenue-net-of-interest",
        "bank",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that reports revenue net of interest expense and no current liabilities "
        "is a bank: lending is its business.",
        "us-gaap taxonomy: definition of RevenuesNetOfInterestExpense; Regulation S-X Rule 9-03: balance sheets of "
        "banks are not classified",
        uses=shows.NET_OF_INTEREST,
        at_least=1,
        unless=shows.CLASSIFIED,
    ),
    IndustryRule(
        "industry.reit.rented-property",
        "reit",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that reports two elements of rented property is a real estate company.",
        ELEMENTS,
        uses=shows.RENTED_PROPERTY,
        at_least=2,
    ),
    IndustryRule(
        "industry.utility.regulated-rates",
        "utility",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that reports two elements of regulated rates (revenue, regulatory "
        "assets or liabilities, utility plant) is a utility.",
        "ASC 980",
        uses=shows.RATES,
        at_least=2,
    ),
    IndustryRule(
        "industry.oil-and-gas.wells",
        "oil_and_gas",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that reports two elements of oil and gas wells (payments for them, "
        "their carrying amount, exploration expense) is an oil and gas company.",
        "ASC 932",
        uses=shows.WELLS,
        at_least=2,
    ),
    IndustryRule(
        "industry.exchange.settlement",
        "exchange",
        AMBIGUOUS_OR_NONE,
        "A company without a specific SIC code that settles payments of others is treated as an exchange.",
        ELEMENTS,
        uses=shows.SETTLEMENT,
        at_least=1,
    ),
    IndustryRule(
        "industry.financial.finance-services",
        "financial",
        FINANCE_SERVICES,
        "A filer with the SIC code of finance services that reports total assets and net income but no current items, "
        "no operating income and no cost of sales is a financial company.",
        "Regulation S-X Articles 7 and 9: balance sheets of financial companies are not classified",
        uses=shows.STATEMENTS,
        at_least=2,
        unless=shows.OPERATING,
    ),
    IndustryRule(
        "industry.financial.presumed",
        "financial",
        NO_CODE,
        "A company without a SIC code of which only an incomplete document is held (no total equity), with total "
        "assets and net income but no current items and no cost of sales, is assumed to be a financial company; some "
        "of these tag income before tax as operating income.",
        "Regulation S-X Articles 7 and 9: balance sheets of financial companies are not classified",
        uses=shows.STATEMENTS,
        at_least=2,
        unless=(*shows.GOODS_AND_COSTS, *shows.TOTAL_EQUITY),
    ),
    IndustryRule(
        "industry.captive-finance.finance-arm",
        "captive_finance",
        ANY_CODE,
        "A company that reports two elements of a finance business (equipment on lease, notes receivable, income and "
        f"costs of financial services), each of at least {SMALL_CREDIT:.0%} of its assets if these are stated, owns "
        "the lender to its buyers.",
        ELEMENTS,
        uses=shows.FINANCE_ARM,
        at_least=2,
        least_share=SMALL_CREDIT,
    ),
    IndustryRule(
        "industry.captive-finance.credit-to-buyers",
        "captive_finance",
        MAKERS,
        "A maker of machinery, computers or vehicles that reports two elements of credit to buyers, in the cash flow "
        f"statement or on the balance sheet, each of at least {SMALL_CREDIT:.0%} of its assets if these are stated, "
        "owns the lender to them.",
        ELEMENTS,
        uses=shows.CREDIT_TO_BUYERS,
        at_least=2,
        least_share=SMALL_CREDIT,
    ),
    IndustryRule(
        "industry.captive-finance.ifrs-maker",
        "captive_finance",
        FINANCED,
        "A maker of vehicles or of farm and construction machinery that reports under IFRS is assumed to own the "
        "lender to its buyers: no element that is read of such filings shows the credit.",
        "ifrs-full taxonomy: no element for credit to buyers is read",
        uses=shows.EQUITY_IFRS,
        at_least=1,
        unless=shows.BALANCE_SHEET,
    ),
    IndustryRule(
        "industry.captive-finance.presumed",
        "captive_finance",
        FINANCED,
        "A maker of vehicles or of farm and construction machinery of which only an incomplete document is held (no "
        "total equity) is assumed to own the lender to its buyers.",
        unless=(*shows.TOTAL_EQUITY, *shows.BALANCE_SHEET),
    ),
    IndustryRule(
        "industry.general.otherwise",
        GENERAL,
        ANY_CODE,
        "A company that no other rule assigns to an industry is a general company.",
        "Regulation S-X Article 5: commercial and industrial companies",
    ),
)
"""The first row whose conditions hold decides the industry; those of the last row always hold."""

RULES: tuple[Rule, ...] = tuple(Rule(row.rule, row.statement, row.source, "select") for row in TABLE)

INDICATORS: tuple[str, ...] = tuple(sorted({element for row in TABLE for element in (*row.uses, *row.unless)}))
"""The elements that show an industry."""
