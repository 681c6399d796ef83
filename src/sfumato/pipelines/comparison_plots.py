"""Charts of a comparison as SVG, for notebooks and files."""

from typing import Literal

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError
from sfumato.microdata.method_comparison import Runs
from sfumato.pipelines.release_plots import Drawing
from sfumato.report.comparison_charts import comparison_charts, drawn


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonPlots:
    """The charts of a comparison, drawn with the extra `charts`."""

    runs: Runs

    def __repr__(self) -> str:
        return "ComparisonPlots(loss_by_k, loss_by_suppression, frontier, seconds)"

    def loss_by_k(self) -> Drawing:
        """Draw the loss of each method for each k."""
        return self._drawn("loss_by_k")

    def loss_by_suppression(self) -> Drawing:
        """Draw the loss of each method for each suppression limit, the trade-off of any method.

        Raises:
            PlanError: Only one suppression limit was compared.
        """
        return self._drawn("loss_by_suppression")

    def frontier(self) -> Drawing:
        """Draw risk against loss, with the Pareto-optimal runs."""
        return self._drawn("frontier")

    def seconds(self) -> Drawing:
        """Draw the running time of each method."""
        return self._drawn("seconds")

    def _drawn(self, name: Literal["loss_by_k", "loss_by_suppression", "frontier", "seconds"]) -> Drawing:
        charts = comparison_charts(self.runs)
        if name not in charts:
            raise PlanError("plot.these_runs_give_nothing")
        return Drawing(drawn(charts[name], name))
