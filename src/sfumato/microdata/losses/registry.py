"""Registry of the losses that a plan may name; the registry loads a module on first use."""

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.losses import additive_losses as level_losses
from sfumato.microdata.losses.additive_losses import ColumnLoss, LossMetric, Marginal
from sfumato.microdata.losses.loss import Prepared
from sfumato.microdata.plan.methods import Aggregate, LossName


def prepare(
    name: LossName,
    table: FrequencyTable,
    weights: tuple[float, ...],
    aggregate: Aggregate = "sum",
    k: int = 1,
    class_column: str | None = None,
) -> Prepared:
    """Return a loss prepared for a table; `k` is the minimum size of a class that is kept."""
    if name == "classification" and class_column is not None:
        from sfumato.microdata.losses.class_sizes import Classification

        return Classification(table, class_column)
    if name in ("discernibility", "average-class-size"):
        from sfumato.microdata.losses.class_sizes import AverageClassSize, Discernibility

        return Discernibility(table, k) if name == "discernibility" else AverageClassSize(table)
    return Marginal(table, _column_loss(name, table), weights, aggregate)


def _column_loss(name: LossName, table: FrequencyTable) -> ColumnLoss:
    if name == "loss-metric":
        return LossMetric(table.ladders)
    if name == "non-uniform-entropy":
        from sfumato.microdata.losses.additive_losses import NonUniformEntropy

        return NonUniformEntropy(table)
    return {"score": level_losses.score, "height": level_losses.height, "precision": level_losses.precision}[name](
        table.ladders
    )
