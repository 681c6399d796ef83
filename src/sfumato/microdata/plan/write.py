"""Write a plan: the resolved plan as plain values or YAML that read back to the same plan.

A plan is written by the same schema that reads it, so the name of each key is defined in one place.
"""

from pathlib import Path
from typing import Any, get_args

from sfumato.microdata.data_plan import DATA
from sfumato.microdata.models.k_anonymity import SetSizes
from sfumato.microdata.models.registry import MODEL
from sfumato.microdata.plan.methods import METHOD, Suppression
from sfumato.microdata.plan.model import ColumnPlan, Language, OnInference, OtherRole, RequestedPlan
from sfumato.microdata.plan.parts import POLICY, POLICY_RECORD, FilePlan, OutputPlan, PolicyPlan, UtilityPlan
from sfumato.microdata.questions.question import PURPOSE, PurposePlan, Question
from sfumato.schema.composite import (
    Choice,
    Integer,
    KeySchema,
    ListSchema,
    MapSchema,
    RecordSchema,
    Schema,
    TaggedUnionSchema,
    UnionSchema,
)
from sfumato.schema.dataclass_schema import record_of
from sfumato.schema.files import dumped
from sfumato.schema.paths import FilePath, PlanPath
from sfumato.schema.release_plan import RELEASE
from sfumato.values import Value

FILE = record_of(FilePlan, "a file, and how it is joined to others")
COLUMN = record_of(ColumnPlan, "what a column is")
OUTPUT = record_of(OutputPlan, "how the release is written")
UTILITY = record_of(UtilityPlan, "what is measured besides what every release is")
PLAN = RecordSchema(
    {
        "version": KeySchema(Integer(1, 1, "of the language of plans"), required=True),
        "data": KeySchema(DATA),
        "policy": KeySchema(POLICY),
        "previous": KeySchema(
            ListSchema(FilePath(), about="folders of earlier releases of the same persons, relative to the plan")
        ),
        "files": KeySchema(MapSchema(FILE, 1, "several files that are joined by keys, in place of data.source")),
        "columns": KeySchema(MapSchema(COLUMN, 1, "every column by its name: what it is, and how it may be published")),
        "other": KeySchema(Choice(get_args(OtherRole), about="what columns are that the plan does not mention")),
        "privacy": KeySchema(ListSchema(MODEL, 1, "the requested privacy models")),
        "method": KeySchema(METHOD),
        "seed": KeySchema(Integer(0, 2**63 - 1, "for runs that must be repeatable; internal")),
        "output": KeySchema(OUTPUT),
        "utility": KeySchema(UTILITY),
        "release": KeySchema(RELEASE),
        "purpose": KeySchema(PURPOSE),
        "on_inference": KeySchema(
            Choice(
                get_args(OnInference),
                about="where a guarantee fails once columns are read against each other: refuse the release, warn, or "
                "remove columns that are no quasi-identifiers until it holds",
            )
        ),
        "language": KeySchema(Choice(get_args(Language), about="of the reports")),
    },
    RequestedPlan,
    about="plan of a microdata release",
)
# Required keys unless a policy provides them.
CHOSEN_BY_POLICY = ("columns", "privacy")


def plan_dict(plan: RequestedPlan, folder: Path | None = None) -> dict[str, Any]:
    """Return the plan as plain values, with defaults filled in.

    Args:
        folder: The folder that will contain the plan, the base of relative paths.
    """
    in_plan = _Writer(plan.folder, folder)
    # The paths of models were resolved from the plan's folder when it was read.
    in_models = _Writer(Path(), folder)
    return {
        key: (in_models if key == "privacy" else in_plan).plain(spec.shape, getattr(plan, key))
        for key, spec in PLAN.keys.items()
        if getattr(plan, key) not in (None, (), {}, PurposePlan())
    }


def plan_text(plan: RequestedPlan, folder: Path | None = None) -> str:
    """Return the plan as YAML."""
    return dumped(plan_dict(plan, folder), width=120)


class _Writer(Value):
    """Writes values in plan form, with paths moved from one base folder to another if given."""

    old: Path
    new: Path | None

    def plain(self, shape: Schema[Any], value: Any) -> Any:
        """Return a value in the form that its schema reads."""
        if isinstance(shape, TaggedUnionSchema):
            return {shape.tag: value.name} | self._record(shape.variants[value.name], value)
        if isinstance(shape, RecordSchema):
            return self._record(shape, value)
        if isinstance(value, SetSizes):
            return {str(size): k for size, k in value.entries}
        if isinstance(value, PolicyPlan):
            return self._record(POLICY_RECORD, value)
        if isinstance(value, Question):
            return value.entry()
        if isinstance(value, PlanPath):
            return str(value) if self.new is None else value.moved(self.old, self.new)
        if isinstance(shape, ListSchema):
            return [self.plain(shape.item, entry) for entry in value]
        if isinstance(shape, MapSchema):
            return {key: self.plain(shape.value, entry) for key, entry in value.items()}
        return self._one_of(shape, value) if isinstance(shape, UnionSchema) else value

    def _record(self, shape: RecordSchema[Any], value: Any) -> dict[str, Any]:
        """Return the relevant keys: None and empty lists are left out."""
        entries: dict[str, Any] = {}
        for key, spec in shape.keys.items():
            entry = getattr(value, shape.attribute(key))
            if entry is not None and entry not in ((), {}) and entry != SetSizes():
                entries[key] = self.plain(spec.shape, entry)
        return entries

    def _one_of(self, shape: UnionSchema, value: Any) -> Any:
        if isinstance(value, Suppression):
            return value.share if value.rows is None else {"rows": value.rows}
        if isinstance(value, str | float):
            return value
        return self.plain(
            next(option for _, option in shape.options if isinstance(option, RecordSchema | TaggedUnionSchema)), value
        )
