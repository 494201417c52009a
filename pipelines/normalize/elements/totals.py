"""Totals of the balance sheet: assets, liabilities, and the equity of all owners.

Belongs here: elements of these totals. Does not: cash (cash), lines of the balance sheet (lines).
"""

from pipelines.normalize.elements.sources import Concept, ifrs, us

EQUITY = Concept(
    "equity",
    "money",
    instant=True,
    sources=(
        us(
            "StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",
            rule="equity.with-noncontrolling-interests",
            statement="Equity is the filer's own total, which includes noncontrolling interests.",
        ),
        us(
            "StockholdersEquity",
            plus=("MinorityInterest",),
            rule="equity.parent-and-noncontrolling-interests",
            statement="Without such a total, equity is that of the parent plus noncontrolling interests, if any.",
        ),
        us(
            "PartnersCapital",
            plus=("MinorityInterest",),
            rule="equity.partners-capital",
            statement="A partnership's equity is its partners' capital plus noncontrolling interests, if any.",
        ),
        us(
            "PartnersCapitalIncludingPortionAttributableToNoncontrollingInterest",
            rule="equity.partners-capital-with-noncontrolling-interests",
            statement="Where only that is stated, a partnership's equity is partners' capital including noncontrolling "
            "interests.",
        ),
        us(
            "MembersEquity",
            plus=("MinorityInterest",),
            rule="equity.members-equity",
            statement="Equity of a limited liability company is its members' equity plus noncontrolling interests, if "
            "any.",
        ),
        ifrs(
            "Equity",
            rule="equity.ifrs.total",
            statement="Under IFRS equity is the total, which includes noncontrolling interests.",
            source="IAS 1.54(q)-(r)",
        ),
        ifrs(
            "EquityAttributableToOwnersOfParent",
            plus=("NoncontrollingInterests",),
            rule="equity.ifrs.parent-and-noncontrolling-interests",
            statement="Under IFRS, without a total, equity is that of the owners of the parent plus noncontrolling "
            "interests, if any.",
            source="IAS 1.54(q)-(r)",
        ),
    ),
)

ASSETS = Concept(
    "assets",
    "money",
    instant=True,
    sources=(
        us("Assets", rule="assets.total", statement="Assets are the total of the balance sheet."),
        us(
            "LiabilitiesAndStockholdersEquity",
            rule="assets.liabilities-and-equity",
            statement="Without their own line, assets are the total of liabilities and equity, which equals them.",
        ),
        us(
            "AssetsNet",
            "Liabilities",
            rule="assets.net-assets-and-liabilities",
            statement="Where net assets are stated instead of equity, as by investment companies, assets without a "
            "line of their own are net assets and liabilities.",
        ),
        ifrs(
            "Assets",
            rule="assets.ifrs.total",
            statement="Under IFRS assets are the total of the balance sheet.",
        ),
        ifrs(
            "EquityAndLiabilities",
            rule="assets.ifrs.equity-and-liabilities",
            statement="Under IFRS, assets without a line of their own are the total of equity and liabilities, which "
            "equals them.",
        ),
    ),
)

LIABILITIES = Concept(
    "liabilities",
    "money",
    instant=True,
    sources=(
        us("Liabilities", rule="liabilities.total", statement="Liabilities are the total of the balance sheet."),
        ifrs(
            "Liabilities",
            rule="liabilities.ifrs.total",
            statement="Under IFRS liabilities are the total of the balance sheet.",
        ),
    ),
)
