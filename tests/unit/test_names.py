"""Names of companies on pages: title case, except abbreviations."""

import pytest

from serve.names import shown


@pytest.mark.parametrize(
    ("filed", "name"),
    [
        ("BANK OF AMERICA CORP /DE/", "Bank of America Corp"),
        ("COSTCO WHOLESALE CORP /NEW", "Costco Wholesale Corp"),
        ("WALT DISNEY CO/", "Walt Disney Co"),
        ("PROCTER & GAMBLE CO", "Procter & Gamble Co"),
        ("AT&T INC.", "AT&T Inc."),
        ("ARM HOLDINGS PLC /UK", "ARM Holdings PLC"),
        ("KONINKLIJKE PHILIPS N.V.", "Koninklijke Philips N.V."),
        ("ASML HOLDING NV", "ASML Holding NV"),
        ("DEUTSCHE BANK AG", "Deutsche Bank AG"),
        ("JPMORGAN CHASE & CO", "JPMorgan Chase & Co"),
        ("KLA CORP", "KLA Corp"),
        ("LAM RESEARCH CORP", "Lam Research Corp"),
        ("CVS HEALTH CORP", "CVS Health Corp"),
        ("AIR PRODUCTS & CHEMICALS, INC.", "Air Products & Chemicals, Inc."),
        ("AMAZON.COM, INC.", "Amazon.com, Inc."),
        ("3M CO", "3M Co"),
        ("BRISTOL-MYERS SQUIBB COMPANY", "Bristol-Myers Squibb Company"),
        ("MCDONALD'S CORP", "McDonald's Corp"),
        ("O'REILLY AUTOMOTIVE INC", "O'Reilly Automotive Inc"),
        ("THE J. M. SMUCKER COMPANY", "The J. M. Smucker Company"),
        ("ANNALY CAPITAL II LLC", "Annaly Capital II LLC"),
        ("CHRISTOPHER & STRAUSS LTD", "Christopher & Strauss Ltd"),
    ],
)
def test_a_name_in_capitals_is_in_title_case(filed, name):
    """Legal forms, initials and unpronounceable words keep their capitals; EDGAR's mark at the end is left out."""
    assert shown(filed) == name


@pytest.mark.parametrize(
    "name", ["Apple Inc.", "T-Mobile US, Inc.", "eBay", "adidas ag", "PROCTER & GAMBLE Co", "", "/", "日本電気"]
)
def test_other_names_stay(name):
    """A name with small letters is as the company writes it."""
    assert shown(name) == name


def test_the_mark_at_the_end_is_left_out_of_any_name():
    assert shown("NorthEast Community Bancorp, Inc./MD/") == "NorthEast Community Bancorp, Inc."
