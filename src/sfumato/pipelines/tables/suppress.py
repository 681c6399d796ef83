"""Suppress small cells of a crosstab as a named policy requires."""

from typing import Any

from sfumato.tables.crosstabs.crosstabs import Derived, Subtotals
from sfumato.tables.crosstabs.policies import apply, rule_named


def suppress(
    crosstab: Any,
    policy: str = "nhs",
    *,
    margins: str | None = None,
    derived: Derived | None = None,
    subtotals: Subtotals | None = None,
) -> Any:
    """Suppress small cells of a crosstab as a policy requires.

    Args:
        crosstab: A pandas crosstab (labels in the index) or a Polars one (labels in the first column), with margins.
        policy: The id of a policy for tables: cms-11, nhs-hes, eurostat-ifs-2023, tre-10, omop-5 and others.
        margins: The label of the margins, if it is unusual; sums are found by their numbers in any case.
        derived: Percentage columns: their name, and the columns divided, or None for counts that only look like
            percentages or are named so; also rows. Others are detected.
        subtotals: Rows or columns that are sums, each with its parts, if the numbers alone are ambiguous. With it, no
            sums of scattered lines are searched; `{}` says that there are none. Subtotals directly before or after
            their parts are found in any case.

    Returns:
        The same kind of frame; small cells are suppressed, percentages are computed from what is published.

    Raises:
        PlanError: There is no such policy, margin or column.
        DataError: A cell is no count, a column is ambiguous, margins do not add up, or sums are ambiguous.
        UnattainableError: A small cell cannot be protected.

    >>> import pandas
    >>> table = pandas.DataFrame({"a": [3, 12], "b": [20, 30]}, index=["x", "y"])
    >>> suppress(table, "nhs").loc["x"].tolist()
    ['*', 20]
    """
    from sfumato.engines.tabulation import crosstab_like, crosstab_of

    return crosstab_like(crosstab, apply(crosstab_of(crosstab), rule_named(policy), margins, derived, subtotals))
