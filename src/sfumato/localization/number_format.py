"""Format numbers in English; `Messages` converts them to its language."""


def percent(share: float) -> str:
    """Return a share as a percentage; small ones have more digits.

    >>> percent(0.5), percent(0.004), percent(0.0), percent(1.0)
    ('50.0 %', '0.40 %', '0 %', '100 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if share < 0.0001:
        return "< 0.01 %"
    return f"{100 * share:.2f} %" if share < 0.01 else f"{100 * share:.1f} %"


def amount(value: float) -> str:
    """Return a number with four significant digits; from 1,000 on without decimals.

    >>> amount(0.123456), amount(433106.2)
    ('0.1235', '433,106')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
