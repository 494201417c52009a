"""Two elements of one amount that differed years ago and are equal since: one may restate the other."""

import pytest

from tests.factories import REVENUE, fact, raw, value_of
from tests.together import in_one_call

PARENT, CONSOLIDATED = "NetIncomeLoss", "ProfitLoss"
ENDS = ("03-31", "06-30", "09-30", "12-31")
YEARS = range(2013, 2024)


def reports(last_apart, dropped, minority=3e6):
    """Quarterly and annual reports on 2013 to 2023, with the same period of the year before.

    The reports on 2023 restate 2022 by five million a quarter.

    Args:
        last_apart: the last year in which both elements differ.
        dropped: the element that no report on 2023 states.
        minority: income of others in a quarter until then.
    """
    rows = [fact(REVENUE, 500e6, f"{year}-01-01", f"{year}-12-31", filed=f"{year + 1}-02-20") for year in YEARS]
    for year in YEARS:
        for number, end in enumerate(ENDS, 1):
            form, filed = ("10-K", f"{year + 1}-02-20") if number == 4 else ("10-Q", f"{year}-{3 * number + 2:02}-05")
            for of in (year, year - 1):
                restated = 5e6 if of < year == YEARS[-1] else 0.0
                each = 40e6 + (of - 2019) * 4e6 - restated
                for tag in {PARENT, CONSOLIDATED} - ({dropped} if year == YEARS[-1] else set()):
                    amount = (each + (minority if tag == CONSOLIDATED and of <= last_apart else 0.0)) * number
                    rows.append(fact(tag, amount, f"{of}-01-01", f"{of}-{end}", form=form, filed=filed))
    return rows


@pytest.mark.parametrize(
    ("last_apart", "dropped", "served"),
    [
        pytest.param(2020, PARENT, 4 * 47e6, id="equal for two years after eight"),
        pytest.param(2019, PARENT, 4 * 47e6, id="equal for three years after seven"),
        pytest.param(2022, PARENT, 4 * 52e6, id="apart until the element goes"),
        pytest.param(2022, CONSOLIDATED, 4 * 47e6, id="apart, and the better one stays"),
    ],
)
@in_one_call
def test_what_differed_long_ago_does_not_differ_today(last_apart, dropped, served):
    found = yield raw(reports(last_apart, dropped))

    assert value_of(found, "net_income", "annual", "2022-12-31") == served
