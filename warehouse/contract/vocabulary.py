"""The meanings of the codes in the tables: reasons of gaps, causes of versions, methods and flags.

Belongs here: one line per code, for pages, docs and the command line. Does not: when each applies
(pipelines.normalize), why a company has no fair value (reasons).
"""

from dataclasses import dataclass

from warehouse.contract.line_items import ITEMS_BY_CLASS, items_of

BALANCES = items_of("balance")
RATIOS = items_of("ratio")
FLOWS = items_of("flow")
NOT_IN_COMPANYFACTS = "filing_not_in_companyfacts"
"""The reason for gaps of a period whose report the SEC lists, while no source that is read has its facts."""
ITEMS = (*FLOWS, *BALANCES, *RATIOS)


@dataclass(frozen=True, slots=True)
class Gap:
    """A reason for a missing value: its meaning, and the items that it applies to."""

    meaning: str
    items: tuple[str, ...]


GAPS: dict[str, Gap] = {
    "no_tag": Gap(
        "The company's filings never state the item, or an amount that it is computed from, in an element that this "
        "service reads.",
        items_of("flow", "balance"),
    ),
    "missing_quarter": Gap(
        "The filings do not support twelve months that end within a fiscal year: a quarter, or the same months of the "
        "year before, are not stated.",
        FLOWS,
    ),
    "quarter_not_stated": Gap(
        "No filing states the item for the quarter, and it cannot be computed from the years to date at its end and "
        "at its beginning, such as earnings per share of a fourth quarter without shares. In table `quarter_gaps` "
        "only.",
        FLOWS,
    ),
    "year_not_stated": Gap(
        "No filing states the item for the fiscal year in an element that this service reads, or the filings do not "
        "state all amounts that it is computed from.",
        FLOWS,
    ),
    "filed_by_predecessor": Gap(
        "The period begins before the company's notice of succession (Form 8-K12B, 8-K12G3 or 8-K15D5): its figures "
        "are in the filings of a predecessor under another CIK.",
        (*FLOWS, *BALANCES),
    ),
    NOT_IN_COMPANYFACTS: Gap(
        "The SEC lists the report of the period, but its companyfacts lack it, and its XBRL package is not read: "
        "column `in_companyfacts` of table `filings` is false. A day after it was filed its package is requested.",
        ITEMS,
    ),
    "left_out": Gap(
        "A filing states an amount for the fiscal year, but a rule does not accept it as the item: column `rule` of "
        "table `gaps` names the rule.",
        FLOWS,
    ),
    "no_preferred_dividends": Gap(
        "Preferred dividends are paid, but the filings state neither them nor income available to common shareholders "
        "for the period.",
        ("net_income",),
    ),
    "eps_of_other_shares": Gap(
        "The filings state no earnings per share for the period, and their earnings per share of other years are not "
        "net income divided by shares: a part of net income belongs to other shares.",
        ("eps_basic", "eps_diluted"),
    ),
    "elements_differ": Gap(
        "The figures from which the twelve months, or the quarter, would be computed are from two elements that this "
        "company has stated with different amounts.",
        FLOWS,
    ),
    "contradicted_by_parts": Gap(
        "Figures of other periods contradict the only figure that the filings state for the period: it is the figure "
        "of one quarter or of another day, or less than the figure of a part of the period.",
        (*FLOWS, "cash_and_equivalents"),
    ),
    "mixed_basis": Gap(
        "Only some of the figures from which the twelve months, or the quarter, would be computed were restated: no "
        "filings show the fiscal year and the interim periods on one accounting basis.",
        FLOWS,
    ),
    "ways_contradict": Gap(
        "The fiscal year, the year to date and the quarters contradict each other, and no second filing confirms one "
        "of them.",
        FLOWS,
    ),
    "year_in_dispute": Gap(
        "Two filings state amounts for the fiscal year that differ in one digit, and nothing shows with which amount "
        "the interim periods agree.",
        FLOWS,
    ),
    "contradicted_by_filing": Gap(
        "Other figures of the same filing or period contradict the only figure that the filings state for the period, "
        "and do not show the right one.",
        (*FLOWS, "cash_and_equivalents"),
    ),
    "notes_exceed_current_debt": Gap(
        "The balance sheet states only debt that is due within a year, and larger notes that may be due later.",
        ("total_debt",),
    ),
    "not_on_balance_sheet": Gap(
        "The balance sheet of that day states no such amount and does not prove that it is zero.", BALANCES
    ),
    "class_of_stock_not_stated": Gap(
        "The classes of stock earn differently per share, and the reports that are read do not say which class the "
        "symbol is, or state no figures of its class.",
        ITEMS_BY_CLASS,
    ),
    "shares_of_one_class": Gap(
        "Filings state the count of one of several classes of shares: multiplied by earnings per share, it is never "
        "net income.",
        ("shares_basic", "shares_diluted"),
    ),
    "negative_line": Gap("A line of the balance sheet that debt or cash consists of is stated as negative.", BALANCES),
    "sheet_in_other_units": Gap(
        "The whole balance sheet is stated in other units than the balance sheets before, such as thousands or "
        "millions.",
        BALANCES,
    ),
    "line_in_other_units": Gap(
        "An amount from which the value is computed is stated in other units than the rest of its filing, or than the "
        "other amounts.",
        (*FLOWS, *BALANCES),
    ),
    "own_element_not_classified": Gap(
        "The balance sheet has a material line under an element that the filer defined itself, and the words of the "
        "line do not say whether it is a borrowing.",
        BALANCES,
    ),
    "line_left_out": Gap(
        "A line that debt or cash consisted of is missing, and the totals of the balance sheet do not show that it is "
        "zero.",
        BALANCES,
    ),
    "debt_not_footing": Gap(
        "The debt that is stated contradicts the total liabilities, its parts or its interest: it exceeds the "
        "liabilities, leaves too much of them without a line, changed when they did not, or a part of it was larger.",
        ("total_debt",),
    ),
    "cash_not_footing": Gap(
        "The cash that is stated contradicts the current assets or the cash flow statement: it exceeds their total, or "
        "it changed and the total did not.",
        ("cash_and_equivalents",),
    ),
    "current_debt_not_shown": Gap(
        "The filing states non-current debt but no longer the current debt that earlier filings stated.",
        ("total_debt",),
    ),
    "short_term_debt_not_shown": Gap(
        "The filing states long-term debt but not the short-term borrowings that earlier filings stated, or that "
        "financial companies usually have, and no total shows that there are none.",
        ("total_debt",),
    ),
    "securities_not_shown": Gap(
        "The filing states cash but no longer the short-term investments that earlier filings stated.",
        ("cash_and_equivalents",),
    ),
    "negative_fcf": Gap("Free cash flow is not positive, so that there is nothing to divide by.", ("debt_to_fcf",)),
    "no_free_cash_flow": Gap("There is no free cash flow for the period.", ("debt_to_fcf",)),
    "no_total_debt": Gap("There is no total debt on that day.", RATIOS),
    "financial_company": Gap(
        "Banks, insurers, brokers and funds borrow in order to lend or invest: the ratio means nothing.", RATIOS
    ),
    "no_gross_profit": Gap(
        "Banks, insurers, brokers and funds have no cost of revenue, and so no gross profit.", ("gross_profit",)
    ),
    "finance_arm": Gap(
        "Most of the debt belongs, or is assumed to belong, to a finance business of the company.", ("debt_to_fcf",)
    ),
    "shell": Gap("A shell company has no business to measure.", RATIOS),
    "noncurrent_debt_not_shown": Gap(
        "Earlier balance sheets stated debt due after one year; this one states only debt due within a year, in the "
        "elements that this service reads.",
        ("total_debt",),
    ),
    "no_operating_income": Gap("There is no operating income for the period.", ("roic",)),
    "no_pretax_income": Gap("There is no income before tax for the period.", ("roic",)),
    "no_income_tax": Gap("There is no income tax for the period.", ("roic",)),
    "no_equity": Gap("There is no equity on that day.", ("roic",)),
    "no_cash": Gap("There is no cash on that day.", ("roic",)),
    "no_capital_a_year_before": Gap("Invested capital is not known a year before.", ("roic",)),
    "basis_break": Gap(
        "The figures needed follow different accounting standards, or belong to different companies under one CIK.",
        (*FLOWS, "roic"),
    ),
    "non_positive_capital": Gap("Invested capital is not positive, now or a year before.", ("roic",)),
    "no_capital_expenditure": Gap(
        "Operating cash flow of the period is known, and capital expenditure is not.", ("free_cash_flow",)
    ),
    "no_operating_cash_flow": Gap(
        "Capital expenditure of the period is known, and operating cash flow is not.", ("free_cash_flow",)
    ),
    "no_cost_of_revenue": Gap(
        "Revenue of the twelve months is known, and neither gross profit nor the cost of revenue is.",
        ("gross_profit",),
    ),
    "cash_flow_not_footing": Gap(
        "The cash flow statement of a period that the value needs does not add up to the change in cash.",
        ("free_cash_flow", "operating_cash_flow", "capital_expenditure"),
    ),
    "income_not_footing": Gap(
        "The lines of the income statement of a period that the value needs contradict its revenue.", ("revenue",)
    ),
    "thin_capital": Gap(
        "Invested capital is so small compared with total assets that the ratio would mean nothing.", ("roic",)
    ),
}
"""Reasons why a covered period has no value for an item: column `reason` of table `gaps`."""

CAUSES: dict[str, str] = {
    "withdrawn": "A later filing contradicts the value, or leaves an amount that it is computed from without a value.",
    "reinstated": "A later filing supports the withdrawn value again.",
    "initial": "The first value.",
    "precision": "The same figure with more digits.",
    "scale_fix": "A figure had been filed a thousand or a million times too large or too small.",
    "sign_fix": "A figure had been filed with the wrong sign.",
    "context_fix": "The value before had been filed for the wrong period.",
    "basis_change": "The company changed its accounting standards or its reporting currency.",
    "entity_change": "The filing shows the figures of another company, after a reverse acquisition for example.",
    "purchasing_power": "Earlier periods are stated in the purchasing power of a later day, by a price index (IAS 29).",
    "restatement": "An amended or later filing states another figure.",
    "lines_changed": "Other lines of the statements make up the figure.",
    "other_columns": "A later report states comparative periods from which the twelve months can be computed better.",
    "reclassification": "Amounts moved between lines; net income stayed the same.",
    "accounting_change": "The item was restated, and net income of several periods with it.",
    "share_count_revised": "Numbers of shares, or amounts per share, were restated.",
    "input_changed": "An amount that the ratio is calculated from changed.",
    "unexplained": "No cause was found.",
    "method": "The rules of this service changed.",
    "source": "More data were read of known filings: from a data set of the SEC, or from the filing itself.",
    "correction": "EDGAR now shows other figures for a filing that was recorded before.",
}
"""Causes of versions: column `cause` of table `versions`."""

OUTCOMES: dict[str, str] = {
    "holds": "both sides agree",
    "chose": "the value was chosen because both sides agree with it",
    "corrected": "a filed figure was corrected, and both sides agree with it",
    "withheld": "the sides contradict each other, so there is no value",
}
"""Outcomes of identities: column `outcome` of table `proofs`."""

METHODS: dict[str, str] = {
    "fiscal_year": "The fiscal year as filed.",
    "year_to_date": "The last fiscal year, plus this year to date, less the same months of the year before.",
    "four_quarters": "The sum of four quarters.",
    "own_twelve_months": "Twelve months to an interim quarter end, as the filer states them.",
    "quarter": "The quarter as filed.",
    "quarter_by_difference": "The year to date at the end of the quarter less the year to date at its beginning, such "
    "as the fiscal year less nine months; or the year less three quarters.",
    "day_weighted_mean": "The mean of the quarters' averages, weighted by days; for a quarter, the difference of the "
    "years to date at its end and at its beginning.",
    "net_income_over_shares": "Net income, or the income that filings state as the numerator, divided by average "
    "shares, where no earnings per share are filed, or where the sum of the quarters is far off or the number of "
    "shares changed much.",
    "balance_sheet": "From the balance sheet of that day.",
    "ratio": "Calculated from other values.",
}
"""Methods of computing a value: column `method` of table `versions`."""

FLAGS: dict[str, str] = {
    "weeks_53": "The twelve months have 53 weeks.",
    "other_element": "Not stated in the best element: where this filer stated both elements, their amounts differed, "
    "so this may be only a part.",
    "before_recast": "The figures count as they were before a restatement, because not all of them were restated.",
    "recast": "The fiscal year was restated; the twelve months to the quarter ends around it may be as they were "
    "before.",
    "ways_disagree": "Twelve months by fiscal years and as four quarters give different results.",
    "attributable_to_parent": "Attributable to the parent, while filings of the year state another amount for common "
    "shareholders.",
    "issuance": "So many shares were issued within the twelve months that the earnings per share of the quarters "
    "do not add up.",
    "apart_from_net_income": "The sum of the quarters differs from net income divided by average shares, for no "
    "known reason; the quotient counts where it equals the filed earnings per share of fiscal years.",
    "derived_operating_income": "Operating income is not stated: income before tax and interest is used instead.",
    "contradicted_operating_income": "Operating income as stated (probably a total of segments) exceeds revenue less "
    "costs and exceeds income before tax and interest, which is used instead.",
    "derived": "Calculated where the filings state nothing.",
    "derived_line": "A line that the filing does not state is computed as the total less the other lines.",
    "includes_finance_leases": "Finance leases are on the same line as debt and cannot be separated.",
    "includes_financed_premiums": "Debt has a line of financed insurance premiums, which others count as a payable.",
    "may_be_principal": "The filer states only a total, which may be principal instead of the carrying amount.",
    "total_contradicts_parts": "The filer's own total of debt equals neither the sum of its lines nor any of them.",
    "may_include_restricted_cash": "The only line of cash may include restricted cash.",
    "may_lack_interest_bearing_deposits": "A bank's interest-bearing deposits may be on a line that this service "
    "does not read.",
    "net_of_disposals": "Capital expenditure is stated only net of proceeds from disposals.",
    "purchasing_power": "In the purchasing power of the day of its filing, which restates earlier periods by a price "
    "index (IAS 29).",
    "scale_repaired": "A figure filed a thousand or a million times too large or too small was corrected.",
    "sign_repaired": "A figure filed with the wrong sign was corrected.",
    "figure_repaired": "A figure that others of its filing contradict was replaced by the one that they show.",
    "first_seen_as_comparative": "First seen as a comparative of a later period: it was published before its "
    "first filing here.",
}
"""Reservations about a value: column `flags` of table `versions`."""
