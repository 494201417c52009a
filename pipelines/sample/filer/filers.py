"""The built-in sample: fictional filers, each with traits that make filings hard to read.

Belongs here: data. Does not: the meaning of traits (traits).

| filer | traits |
|---|---|
| Orchard Tools | the plain case: calendar year, grows, pays and raises a dividend |
| Harbor Devices | 52/53 weeks to the last Saturday of September, a 4:1 split, a dividend |
| Warehouse Clubs | quarters of 12, 12, 12 and 16 or 17 weeks to the Sunday nearest to the end of August |
| Lantern Apparel | fiscal years to the end of January, named after their start; borrows under an own element |
| Willow Instruments | years to the Sunday nearest to the end of December: some end in January; tagged in three ways |
| Copper Freight | an amended annual report reduces revenue and profit of two years |
| Meadow Software | a recast in comparatives only: revenue and cost fall, net income stays |
| Ridge Drilling Supplies | losses, a 1:10 reverse split, never tags capital expenditure |
| Nimbus Therapeutics | an initial public offering, losses, prospectus and proxy statements with other figures |
| Fjord Marine | 20-F under IFRS in euros, the newest year translated to dollars |
| Prairie Bancorp | a bank: no revenue tag, deposits, cash due from banks |
| Twin River Media | two classes of shares of unequal worth, a preferred share and a warrant; thousands; proxies |
| Juniper Foods | no submissions document, no exchange, neither debt nor dividends |
| Silent Holdings | in the tickers file, but without any document |
| Granite Income Fund | a fund: companyfacts without facts |
| Larkspur Components | further pages of submissions; stopped filing in 2023 |
| Sable Brokerage | revenue before and after interest; holds customers' money |
| Alder Insurance | premiums and investment income; short-term investments; two classes of shares, one not listed |
| Cedar Realty | rent is most of revenue, debt on three lines, purchases of buildings are not capital expenditure |
| Basin Petroleum | years end in December, then June: a transition report; capital expenditure on two lines |
| Anvil Machinery | a finance arm, shown apart; share counts in thousands and a wrong sign, both contradicted |
| Delta Pipelines | a partnership: units and distributions; two splits of them |
| Borealis Networks | half-years under IFRS in euros, then quarters under US-GAAP |
| Lodestar Acquisition | a shell: money in trust, no revenue, no history before its first quarter |
"""

from datetime import date
from fractions import Fraction

from pipelines.sample.filer.calendar import FiscalCalendar, NewYearEnd
from pipelines.sample.filer.details import Block, OwnLine, Security
from pipelines.sample.filer.traits import (
    CONTRACT_REVENUE,
    Columns,
    Conversion,
    Dividend,
    Economics,
    Error,
    Filer,
    Kind,
    Offering,
    RevisedBy,
    Revision,
    Served,
    Split,
)

SATURDAY, SUNDAY = 5, 6
LAST_SATURDAY_OF_SEPTEMBER = FiscalCalendar(month=9, weekday=SATURDAY)
SUNDAY_NEAR_END_OF_AUGUST = FiscalCalendar(month=8, weekday=SUNDAY, nearest=True, weeks=(12, 12, 12, 16))
SUNDAY_NEAR_END_OF_DECEMBER = FiscalCalendar(month=12, weekday=SUNDAY, nearest=True)
JANUARY_NAMED_AFTER_START = FiscalCalendar(month=1, weekday=SATURDAY, nearest=True, named_after_start=True)
END_OF_JUNE = FiscalCalendar(month=6)
FROM_DECEMBER_TO_JUNE = FiscalCalendar(change=NewYearEnd(year=2022, month=6))

TWO_TAGS = ((0, "SalesRevenueNet"), (2018, CONTRACT_REVENUE))
THREE_TAGS = ((0, "SalesRevenueNet"), (2016, "Revenues"), (2018, CONTRACT_REVENUE))
MARKETABLE = "MarketableSecuritiesCurrent"
THOUSAND = 1_000


def sample_filers() -> tuple[Filer, ...]:
    """The fictional filers of the sample, in the order of the tickers file."""
    return SAMPLE


SAMPLE = (
    Filer(
        cik="9990000001",
        name="Example Orchard Tools Inc",
        symbols=("XQORC",),
        dividend=Dividend(cents=20, annual_raise=2),
    ),
    Filer(
        cik="9990000002",
        name="Example Harbor Devices Inc.",
        symbols=("XQHBR",),
        exchange="Nasdaq",
        sic="3571",
        calendar=LAST_SATURDAY_OF_SEPTEMBER,
        revenue_tags=TWO_TAGS,
        investments_tag=MARKETABLE,
        economics=Economics(revenue=9_000_000_000, season=(1.3, 0.95, 0.85, 0.9), shares=2_400_000_000, debt=1.0),
        dividend=Dividend(cents=6, annual_raise=1),
        splits=(Split(ratio=Fraction(4), effective=date(2020, 8, 31)),),
    ),
    Filer(
        cik="9990000003",
        name="Example Warehouse Clubs Corp",
        symbols=("XQWHC",),
        exchange="Nasdaq",
        sic="5331",
        calendar=SUNDAY_NEAR_END_OF_AUGUST,
        economics=Economics(revenue=11_000_000_000, gross_margin=0.14, overhead=0.1, capex=0.02, shares=440_000_000),
        dividend=Dividend(cents=40, annual_raise=5),
    ),
    Filer(
        cik="9990000004",
        name="Example Lantern Apparel Stores Inc",
        symbols=("XQLNT",),
        sic="5651",
        calendar=JANUARY_NAMED_AFTER_START,
        revenue_tags=((0, "SalesRevenueNet"), (2018, "Revenues")),
        economics=Economics(season=(0.9, 0.92, 0.94, 1.3), growth=0.02, gross_margin=0.36, overhead=0.29),
        own_lines=(
            OwnLine(element="StoresAndOtherAssets", label="Stores and other assets", total="assets"),
            OwnLine(
                element="VendorFinancingArrangements",
                label="Borrowings under vendor financing arrangements",
                total="liabilities",
                share=0.3,
            ),
            OwnLine(element="ObligationsOfStores", label="Obligations of stores", total="liabilities"),
            OwnLine(
                element="AdjustmentsOfNetIncomeToCash",
                label="Adjustments of net income to cash",
                total="operating_cash_flow",
            ),
        ),
    ),
    Filer(
        cik="9990000005",
        name="Example Willow Instruments Co",
        symbols=("XQWLW",),
        sic="3841",
        calendar=SUNDAY_NEAR_END_OF_DECEMBER,
        revenue_tags=THREE_TAGS,
        investments_tag=MARKETABLE,
        economics=Economics(revenue=4_000_000_000, gross_margin=0.6, overhead=0.35, shares=700_000_000),
        dividend=Dividend(cents=30, annual_raise=3),
    ),
    Filer(
        cik="9990000006",
        name="Example Copper Freight Lines Inc",
        symbols=("XQCPF",),
        sic="4213",
        unit=THOUSAND,
        economics=Economics(revenue=350_000_000, gross_margin=0.3, overhead=0.17, shares=60_000_000),
        revisions=(Revision(year=2019, by=RevisedBy.AMENDMENT, share=0.04),),
    ),
    Filer(
        cik="9990000007",
        name="Example Meadow Software Corp",
        symbols=("XQMDW",),
        exchange="Nasdaq",
        sic="7372",
        calendar=END_OF_JUNE,
        revenue_tags=TWO_TAGS,
        economics=Economics(revenue=2_000_000_000, growth=0.12, gross_margin=0.7, overhead=0.42, shares=500_000_000),
        revisions=(Revision(year=2021, by=RevisedBy.COMPARATIVES, share=0.05),),
    ),
    Filer(
        cik="9990000008",
        name="Example Ridge Drilling Supplies Ltd",
        symbols=("XQRDG",),
        sic="3420",
        unit=THOUSAND,
        economics=Economics(revenue=90_000_000, growth=-0.04, gross_margin=0.2, overhead=0.3, shares=30_000_000),
        untagged=frozenset({"capex"}),
        investments_tag=None,
        splits=(Split(ratio=Fraction(1, 10), effective=date(2021, 6, 15)),),
    ),
    Filer(
        cik="9990000009",
        name="Example Nimbus Therapeutics Inc",
        symbols=("XQNMB",),
        exchange="Nasdaq",
        sic="2836",
        unit=THOUSAND,
        first_year=2020,
        revenue_tags=((0, CONTRACT_REVENUE),),
        economics=Economics(
            revenue=30_000_000, growth=0.3, gross_margin=0.75, overhead=1.6, capex=0.08, cash=4.0, shares=150_000_000
        ),
        offering=Offering(day=date(2020, 9, 16)),
        proxies=True,
    ),
    Filer(
        cik="9990000010",
        name="Example Fjord Marine N.V.",
        symbols=("XQFJD",),
        sic="3674",
        kind=Kind.FOREIGN,
        currency="EUR",
        economics=Economics(revenue=3_500_000_000, gross_margin=0.5, overhead=0.24, shares=410_000_000),
        dividend=Dividend(cents=50, annual_raise=6),
        convenience=True,
    ),
    Filer(
        cik="9990000011",
        name="Example Prairie Bancorp Inc",
        symbols=("XQPRB",),
        exchange="Nasdaq",
        sic="6022",
        kind=Kind.BANK,
        unit=THOUSAND,
        economics=Economics(revenue=120_000_000, cash=6.0, investments=0, growth=0.04, shares=45_000_000),
        investments_tag=None,
        dividend=Dividend(cents=22, annual_raise=2),
    ),
    Filer(
        cik="9990000012",
        name="Example Twin River Media Co",
        symbols=("XQTR-A", "XQTR-B", "XQTR-PA", "XQTR-WT"),
        sic="7372",
        unit=THOUSAND,
        economics=Economics(revenue=240_000_000, shares=80_000_000),
        proxies=True,
        securities=(
            Security(member="CommonClassAMember", title="Class A Common Stock", symbol="XQTR-A", part=Fraction(1, 4)),
            Security(
                member="CommonClassBMember",
                title="Class B Common Stock",
                symbol="XQTR-B",
                part=Fraction(3, 4),
                worth=Fraction(1, 2),
            ),
            Security(member="PreferredStockMember", title="Preferred Stock", symbol="XQTR-PA"),
            Security(member="WarrantMember", title="Warrants", symbol="XQTR-WT"),
        ),
    ),
    Filer(
        cik="9990000013",
        name="Example Juniper Foods Inc",
        symbols=("XQJNP",),
        exchange=None,
        economics=Economics(revenue=60_000_000, debt=0, shares=12_000_000),
        unit=THOUSAND,
        served=frozenset({Served.FACTS}),
    ),
    Filer(
        cik="9990000014",
        name="Example Silent Holdings Ltd",
        symbols=("XQSLH",),
        exchange="OTC",
        served=frozenset(),
    ),
    Filer(
        cik="9990000015",
        name="Example Granite Income Fund",
        symbols=("XQGRF",),
        sic="",
        kind=Kind.FUND,
    ),
    Filer(
        cik="9990000016",
        name="Example Larkspur Components Inc",
        symbols=("XQLRK",),
        sic="3674",
        revenue_tags=TWO_TAGS,
        last_filed=date(2023, 8, 31),
        recent=30,
    ),
    Filer(
        cik="9990000017",
        name="Example Sable Brokerage Group Inc",
        symbols=("XQSBL",),
        sic="6211",
        kind=Kind.BROKER,
        first_year=2018,
        economics=Economics(revenue=1_200_000_000, growth=0.05, capex=0.03, cash=2.0, debt=2.5, shares=150_000_000),
        dividend=Dividend(cents=15, annual_raise=1),
    ),
    Filer(
        cik="9990000018",
        name="Example Alder Insurance Holdings Inc",
        symbols=("XQALD",),
        sic="6331",
        kind=Kind.INSURER,
        first_year=2018,
        economics=Economics(revenue=2_600_000_000, growth=0.04, overhead=0.31, debt=1.2, shares=90_000_000),
        dividend=Dividend(cents=35, annual_raise=3),
        securities=(
            Security(member="CommonClassAMember", title="Class A Common Stock", symbol="XQALD", part=Fraction(3, 5)),
            Security(member="CommonClassBMember", title="Class B Common Stock", part=Fraction(2, 5)),
        ),
    ),
    Filer(
        cik="9990000019",
        name="Example Cedar Realty Trust",
        symbols=("XQCDR",),
        sic="6798",
        kind=Kind.REIT,
        first_year=2018,
        unit=THOUSAND,
        economics=Economics(revenue=180_000_000, growth=0.05, capex=0.12, debt=14.0, shares=110_000_000),
        dividend=Dividend(cents=28, annual_raise=1),
    ),
    Filer(
        cik="9990000020",
        name="Example Basin Petroleum Corp",
        symbols=("XQBSN",),
        sic="1311",
        kind=Kind.OIL_AND_GAS,
        calendar=FROM_DECEMBER_TO_JUNE,
        first_year=2018,
        economics=Economics(revenue=1_500_000_000, noise=0.12, capex=0.16, debt=2.2, shares=310_000_000),
        dividend=Dividend(cents=10, annual_raise=2),
    ),
    Filer(
        cik="9990000021",
        name="Example Anvil Machinery Co",
        symbols=("XQANV",),
        sic="3523",
        kind=Kind.CAPTIVE_FINANCE,
        first_year=2018,
        blocks=(Block(member="MachineryMember", share=0.4), Block(member="FinancialServicesMember", share=0.6)),
        economics=Economics(revenue=5_200_000_000, gross_margin=0.33, overhead=0.16, debt=5.0, shares=270_000_000),
        dividend=Dividend(cents=70, annual_raise=4),
        errors=(
            Error(items=frozenset({"shares_basic", "shares_diluted"}), report=(2021, 2), factor=Fraction(1, THOUSAND)),
            Error(
                items=frozenset({"operating_cash_flow"}),
                report=(2023, 2),
                columns=Columns.COMPARATIVE,
                factor=Fraction(-1),
            ),
        ),
    ),
    Filer(
        cik="9990000022",
        name="Example Delta Pipelines LP",
        symbols=("XQDLT",),
        sic="4610",
        kind=Kind.PARTNERSHIP,
        first_year=2018,
        economics=Economics(revenue=900_000_000, growth=0.03, capex=0.14, debt=6.0, shares=210_000_000),
        dividend=Dividend(cents=24, annual_raise=1),
        splits=(
            Split(ratio=Fraction(2), effective=date(2021, 5, 20)),
            Split(ratio=Fraction(3), effective=date(2024, 8, 12)),
        ),
    ),
    Filer(
        cik="9990000023",
        name="Example Borealis Networks N.V.",
        symbols=("XQBRL",),
        exchange="Nasdaq",
        sic="7372",
        kind=Kind.FOREIGN,
        currency="EUR",
        first_year=2018,
        economics=Economics(revenue=650_000_000, gross_margin=0.55, overhead=0.35, shares=95_000_000),
        revenue_tags=((0, CONTRACT_REVENUE),),
        half_years=True,
        conversion=Conversion(year=2023),
    ),
    Filer(
        cik="9990000024",
        name="Example Lodestar Acquisition Corp",
        symbols=("XQLDS",),
        sic="6770",
        kind=Kind.SHELL,
        first_year=2022,
        unit=THOUSAND,
        economics=Economics(revenue=2_000_000, overhead=0.9, debt=0, shares=23_000_000),
    ),
)
