"""The arithmetic of the discounted cash flow model: from a base, growth rates and two rates to an equity value.

Belongs here: projecting, discounting, the fade of growth, and rounding so that the shown amounts add up. Does not:
where the base and the growth come from (history), when the model does not fit (reasons).

Free cash flow is after interest, so it belongs to the shareholders: it is discounted at the cost of equity, and the sum
is the value of the equity. Debt is not subtracted and cash is not added, because both would be counted twice.

    V = sum over t of FCF_t / (1 + r)^t + FCF_10 (1 + g) / (r - g) / (1 + r)^10

Source: free cash flow to equity and the constant growth model: M. J. Gordon, "Dividends, Earnings, and Stock Prices",
Review of Economics and Statistics 41 (1959); A. Damodaran, Investment Valuation, chapter 14.
"""

from collections.abc import Sequence
from dataclasses import dataclass

REQUIRED_RETURN = 0.085
"""The return that shareholders require, a year (specification, section 4.5)."""

PERPETUAL_GROWTH = 0.025
"""Growth of all years after the projection, a year (specification, section 4.5)."""

PROJECTION_YEARS = 10


@dataclass(frozen=True, slots=True)
class ProjectedYear:
    """A year of the projection; amounts in units of currency, rates a year."""

    year: int
    growth: float
    free_cash_flow: float
    discount_factor: float
    present_value: float


@dataclass(frozen=True, slots=True)
class Projection:
    """The projected years, and the terminal value of all later years."""

    years: tuple[ProjectedYear, ...]
    present_value_of_projection: float
    terminal_value: float
    present_value_of_terminal_value: float
    equity_value: float

    @property
    def terminal_share(self) -> float:
        """The part of the equity value that comes from the years after the projection, as a fraction."""
        return self.present_value_of_terminal_value / self.equity_value


def fade(initial: float, perpetual: float = PERPETUAL_GROWTH, years: int = PROJECTION_YEARS) -> tuple[float, ...]:
    """Growth of each projected year: from the initial rate in equal steps to the perpetual rate in the last year."""
    step = (perpetual - initial) / (years - 1)
    return (*(initial + step * number for number in range(years - 1)), perpetual)


def project(
    base: float,
    growth: Sequence[float],
    required_return: float = REQUIRED_RETURN,
    perpetual_growth: float = PERPETUAL_GROWTH,
    decimals: int | None = None,
) -> Projection:
    """Project free cash flow year by year from a base, and discount it from the end of each year.

    Args:
        base: free cash flow of the twelve months before the first projected year, in units of currency.
        growth: growth of each projected year over the year before.
        required_return, perpetual_growth: rates a year.
        decimals: each amount is rounded to so many decimals before it is used, so that every amount can be computed
            from the shown ones; None: not rounded.

    Raises:
        ValueError: the required return is not above the perpetual growth, so the value would be infinite.
    """
    if required_return <= perpetual_growth:
        raise ValueError(f"a required return of {required_return} is no more than growth of {perpetual_growth}")

    def money(amount: float) -> float:
        return amount if decimals is None else round(amount, decimals)

    years, free_cash_flow = [], base
    for number, rate in enumerate(growth, 1):
        free_cash_flow = money(free_cash_flow * (1 + rate))
        factor = (1 + required_return) ** -number
        years.append(ProjectedYear(number, rate, free_cash_flow, factor, money(free_cash_flow * factor)))
    projected = money(sum(year.present_value for year in years))
    terminal = money(free_cash_flow * (1 + perpetual_growth) / (required_return - perpetual_growth))
    discounted = money(terminal * (1 + required_return) ** -len(years))
    return Projection(tuple(years), projected, terminal, discounted, money(projected + discounted))
