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
    """A crosstab made fit for publication under a policy.

    Args:
        crosstab: A pandas crosstab (labels in the index) or a Polars one (labels in the first column), with margins.
        policy: The policy's id: cms-11, nhs-hes, eurostat-ifs-2023, tre-10, omop-5 and others that are about tables.
        margins: The label of the margins, where it is an unusual one; sums are found by their numbers in any case.
        derived: Columns that are percentages: their name, and the columns divided, or None for one that is counts and
            only looks like a percentage (or is called one; rows, too). Others are found by themselves.
        subtotals: Rows or columns that are sums, each with its parts, where the numbers alone do not tell; with it no
            sums of scattered lines are sought, and `{}` says that there are none. Subtotals that stand directly before
            or after their parts are found in any case.

    Returns:
        The same kind of frame; small cells are masked, percentages follow what is published.

    Raises:
        PlanError: There is no such policy, margin or column.
        DataError: A cell is no count, a column may be counts or not, margins do not add up, or the numbers leave open
            which rows or columns are sums.
        UnattainableError: A small cell cannot be protected.

    >>> import pandas
    >>> table = pandas.DataFrame({"a": [3, 12], "b": [20, 30]}, index=["x", "y"])
    >>> suppress(table, "nhs").loc["x"].tolist()
    ['*', 20]
    """
    from sfumato.engines.tabulation.tabulation import crosstab_like, crosstab_of

    return crosstab_like(crosstab, apply(crosstab_of(crosstab), rule_named(policy), margins, derived, subtotals))
