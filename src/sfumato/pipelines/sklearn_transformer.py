"""A scikit-learn transformer: the recoding of a release of the training rows, applied to new rows with checks."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from sfumato.engines.dataframes.sources import wrapped
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataError, PlanError, ViolationError, extra_part
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.builder import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.apply import apply
from sfumato.pipelines.release import anonymize
from sfumato.values import replace

with extra_part("scikit-learn", "sklearn"):
    from sklearn.base import BaseEstimator, TransformerMixin


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Publishes rows as a plan requests: `fit` on training rows, `transform` on new ones.

    Rows keep their number and order, as pipelines expect; suppressed ones are `*` in every quasi-identifier. New rows
    must satisfy the models by themselves, or `transform` raises a ViolationError. A value that the training rows did
    not have raises a DataError.

    Attributes:
        plan: A plan, a mapping or the path of one.
        release_: The release of the training rows.
    """

    def __init__(self, plan: Plan | Mapping[str, Any] | str | Path) -> None:
        self.plan = plan

    def fit(self, X: Any, y: object = None) -> Self:  # noqa: N803, ARG002
        """Release the training rows and keep the recoding."""
        plan = read_plan(self.plan)
        kept = replace(plan, output=replace(plan.output, order="keep", suppressed="star", class_column=None))
        self.release_ = anonymize(X, kept)
        self.feature_names_in_ = list(self.release_.published.columns)
        with TemporaryDirectory(prefix="sfumato-") as folder:
            release = self.release_.save(Path(folder) / "release")
            self._recoding = (release / "recoding.json").read_bytes()
        return self

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Publish new rows by the recoding of the training rows, as the kind of frame passed in.

        Raises:
            PlanError: Nothing was fitted before.
            DataError: The rows have other columns, or unknown values.
            ViolationError: The rows do not satisfy the models by themselves.
        """
        import narwhals as nw

        if not hasattr(self, "release_"):
            raise PlanError("not-fitted")
        frame = wrapped(X, eager_only=True)
        if set(frame.columns) != set(self.feature_names_in_):
            raise DataError("columns.other_than_fitted", names=", ".join(self.feature_names_in_))
        with TemporaryDirectory(prefix="sfumato-") as folder:
            rows, out = Path(folder) / "rows.parquet", Path(folder) / "out"
            frame.write_parquet(rows)
            (Path(folder) / "recoding.json").write_bytes(self._recoding)
            try:
                apply(Path(folder) / "recoding.json", rows, out, released=False)
            except ViolationError as error:
                hint = Message("hint.transform_more_rows")
                raise ViolationError("reapply", message=error.message, hint=hint) from None
            engine = DuckDBEngine(out / f"data.{self.release_.plan.output.format}", DataPlan(header=True))
            try:
                published: Any = nw.from_native(engine.frame(), eager_only=True)
            finally:
                engine.close()
        return self._joined(frame, published)

    def _joined(self, frame: Any, published: Any) -> Any:
        """Return the rows with the recoded columns; the others keep their types."""
        import narwhals as nw

        plan = self.release_.plan
        changed = {*plan.quasi_identifiers, *plan.removed_columns, *plan.checked_columns}
        columns = [
            nw.new_series(name, published[name].to_list(), nw.String, backend=nw.get_native_namespace(frame))
            for name in frame.columns
            if name in changed
        ]
        return frame.with_columns(*columns).to_native()

    def get_feature_names_out(self, input_features: object = None) -> list[str]:  # noqa: ARG002
        """Return the column names, which remain the same."""
        return self.feature_names_in_
