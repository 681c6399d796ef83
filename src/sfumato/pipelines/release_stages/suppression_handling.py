"""How suppressed rows and other columns of a release are published, as its plan says."""

from collections.abc import Iterator

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.expected_counts import hides_sensitive
from sfumato.microdata.recoding.missing_values import absent_texts
from sfumato.microdata.recoding.recoding import Recoding, SuppressionHandling


def _labels(plan: Plan, table: FrequencyTable, name: str) -> dict[str | None, str | None]:
    """Return what each text of a column is published as; texts that mean missing may become empty fields."""
    values = table.sensitive_values[name]
    rewritten = plan.columns[name].operations is not None or name in plan.spelled_columns
    blanked = absent_texts(table, name).are_blanked(plan)
    return {
        text: (None if blanked else text) if values[code] is None else values[code] if rewritten else text
        for text, code in table.spellings[name].items()
    }


def _changed(plan: Plan, table: FrequencyTable) -> Iterator[tuple[str, dict[str | None, str | None]]]:
    """Yield the published texts of columns that are not published as they were read."""
    for name, column in plan.columns.items():
        if name not in table.sensitive_values or column.role == "quasi-identifier":  # a target column is only measured
            continue
        respelled = absent_texts(table, name).are_blanked(plan) or (
            name in plan.spelled_columns and changed_texts(plan, table, name)
        )
        if column.operations is not None or (column.perturbation is None and respelled):
            yield name, _labels(plan, table, name)


def changed_texts(plan: Plan, table: FrequencyTable, name: str) -> int:
    """Return how many more texts than values a column has."""
    labels = [label for label in _labels(plan, table, name).values() if label is not None]
    return len(labels) - len({*labels})


def handling_of(plan: Plan, table: FrequencyTable, recoding: Recoding) -> SuppressionHandling:
    """Return how suppressed rows and other columns are published, as the plan requests."""
    return SuppressionHandling(
        suppressed=plan.output.suppressed,
        removed_columns=plan.removed_columns,
        suppressed_sensitive_columns=plan.shown_sensitive if hides_sensitive(table, recoding, plan) else (),
        labels=dict(_changed(plan, table)),
        class_column=plan.output.class_column,
        order_key=f"{plan.secret}:order:" if plan.output.order == "shuffle" else None,
        person=plan.household if plan.swaps_households else plan.person,
        person_key=f"{plan.chain_secret}:person:",
        publishes_keys=plan.publishes_keys and not plan.pseudonyms,
    )
