"""What the codes in the tables mean: reasons of gaps, causes of versions, methods and flags.

Belongs here: one line a code, in plain words, for whoever shows it. Does not: when each applies (pipelines.normalize),
why a company has no fair value (reasons).
"""

from dataclasses import dataclass

from warehouse.schema import ITEM_NAMES

BALANCES = ("total_debt", "cash_and_equivalents")
RATIOS = ("roic", "debt_to_fcf")
FLOWS = tuple(item for item in ITEM_NAMES if item not in (*BALANCES, *RATIOS))


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a period has no value for an item: what that means, and the items that it happens to."""

    meaning: str
    items: tuple[str, ...]


GAPS: dict[str, Gap] = {
    "no_tag": Gap(
        "The company's filings never state the item, or one of the amounts that it is made of, in an element that is "
        "read.",
        tuple(item for item in ITEM_NAMES if item not in RATIOS),
    ),
    "missing_quarter": Gap(
        "The filings do not support twelve months that end here: a quarter, or the same stretch of the year before, is "
        "not stated.",
        FLOWS,
    ),
    "not_on_balance_sheet": Gap(
        "The balance sheet of that day states no such amount, and does not prove zero.", BALANCES
    ),
    "current_debt_not_shown": Gap(
        "The filing states non-current debt, and no longer the current part that it used to state.", ("total_debt",)
    ),
    "securities_not_shown": Gap(
        "The filing states cash, and no longer the short-term investments that it used to state.",
        ("cash_and_equivalents",),
    ),
    "negative_fcf": Gap("Free cash flow is not positive, so that there is nothing to divide by.", ("debt_to_fcf",)),
    "no_free_cash_flow": Gap("There is no free cash flow for the period.", ("debt_to_fcf",)),
    "no_total_debt": Gap("There is no total debt for the day.", RATIOS),
    "financial_company": Gap("Banks, insurers, brokers and funds trade in capital: the ratio means nothing.", RATIOS),
    "finance_arm": Gap(
        "The debt is, or is presumed to be, mostly that of a finance business within.", ("debt_to_fcf",)
    ),
    "shell": Gap("A shell company has no business to measure.", RATIOS),
    "noncurrent_debt_not_shown": Gap(
        "The balance sheets before had debt that is due after a year; this one shows what is due before and nothing of "
        "it in an element that is read.",
        ("total_debt",),
    ),
    "no_operating_income": Gap("There is no operating income for the period.", ("roic",)),
    "no_pretax_income": Gap("There is no income before tax for the period.", ("roic",)),
    "no_income_tax": Gap("There is no income tax for the period.", ("roic",)),
    "no_equity": Gap("There is no equity for the day.", ("roic",)),
    "no_cash": Gap("There is no cash for the day.", ("roic",)),
    "no_assets": Gap("There are no total assets for the day.", ("roic",)),
    "no_capital_a_year_before": Gap("Invested capital is not known a year before.", ("roic",)),
    "basis_break": Gap(
        "The figures that it would be made of follow different accounting standards, or are different companies' under "
        "one CIK.",
        (*FLOWS, "roic"),
    ),
    "non_positive_capital": Gap("Invested capital is not positive, now or a year before.", ("roic",)),
    "thin_capital": Gap("Invested capital is so small beside all assets that the ratio would mean nothing.", ("roic",)),
}
"""Why a covered period has no value for an item: column `reason` of table `gaps`."""

CAUSES: dict[str, str] = {
    "initial": "The first value.",
    "precision": "The same figure to more digits.",
    "scale_fix": "A figure was a thousand or a million times too large or too small.",
    "sign_fix": "A figure had the other sign.",
    "context_fix": "The value before stood in the wrong period.",
    "basis_change": "Other accounting standards, or another currency.",
    "entity_change": "The filing shows another company's figures.",
    "restatement": "An amended or later filing says something else.",
    "lines_changed": "Other lines of the statements make up the figure.",
    "mixed_basis_resolved": "The fiscal year was stated again on the basis of the quarters.",
    "other_columns": "A later report shows columns that twelve months are better made of.",
    "reclassification": "Amounts moved between lines while net income stayed.",
    "accounting_change": "Net income of several periods was stated anew.",
    "share_count_revised": "Shares, or amounts per share, were stated anew.",
    "input_changed": "An amount that the ratio is made of changed.",
    "unexplained": "No rule tells why.",
    "method": "The rules of this service changed.",
    "correction": "EDGAR shows other figures for a filing that was recorded before.",
}
"""Why a value is what it is: column `cause` of table `versions`."""

METHODS: dict[str, str] = {
    "fiscal_year": "The fiscal year as filed.",
    "year_to_date": "The last fiscal year, and this year to date less the same stretch of the year before.",
    "four_quarters": "The sum of four quarters.",
    "day_weighted_mean": "The mean of the quarters' averages, weighted by days.",
    "net_income_over_shares": "Net income divided by average shares, where no earnings per share are filed.",
    "balance_sheet": "From the balance sheet of the day.",
    "ratio": "Calculated from other values.",
}
"""How a value was computed: column `method` of table `versions`."""

FLAGS: dict[str, str] = {
    "weeks_53": "The window has 53 weeks.",
    "mixed_basis": "The fiscal year and the quarters behind the window are on different accounting bases, or the filer "
    "states other twelve months itself.",
    "other_element": "Stated in an element that was another amount where this filer stated both; it may be a part.",
    "before_recast": "The fiscal year counts as it was before it was stated anew, as the quarters were not.",
    "ways_disagree": "The two ways to twelve months give different results.",
    "attributable_to_parent": "Attributable to the parent, before preferred dividends.",
    "issuance": "So many shares were issued in the window that the quarters' earnings per share do not add up.",
    "apart_from_net_income": "The quarters' sum is not net income divided by average shares, for no known reason.",
    "derived_operating_income": "Operating income is not stated: income before tax and interest stands in.",
    "contradicted_operating_income": "Operating income as stated (a total of segments, it seems) is more than revenue "
    "less costs, and more than income before tax and interest, which stands in.",
    "derived": "Calculated where the filings state nothing.",
    "includes_finance_leases": "Finance leases are on the same line as debt, and cannot be taken off.",
    "may_be_principal": "The filer's only total, which some state as principal instead of the carrying amount.",
    "total_contradicts_parts": "The filer's own total of debt is neither the sum of its lines nor a part that is told.",
    "may_include_restricted_cash": "The only line of cash may include restricted cash.",
    "may_lack_interest_bearing_deposits": "A bank's cash that bears interest may be on a line that is not read.",
    "net_of_disposals": "Capital expenditure is shown less what was sold only.",
    "scale_repaired": "A figure's obvious error of scale was repaired.",
    "sign_repaired": "A figure's obvious error of sign was repaired.",
    "first_seen_as_comparative": "First seen beside a later period: it was published before its first filing here.",
}
"""Reservations about a value: column `flags` of table `versions`."""
