"""The schema of the plan: its keys, what each accepts, and the JSON Schema derived from it."""

from typing import get_args

from sfumato.microdata.data_plan import DATA
from sfumato.microdata.models.registry import MODEL
from sfumato.microdata.plan.files import FilePlan
from sfumato.microdata.plan.methods import METHOD
from sfumato.microdata.plan.model import (
    ColumnPlan,
    Language,
    OnInference,
    OtherRole,
    OutputPlan,
    RequestedPlan,
    UtilityPlan,
)
from sfumato.microdata.plan.policy_plan import POLICY
from sfumato.schema.composite import Choice, Integer, Key, ListOf, MapOf, Record
from sfumato.schema.dataclass_schema import record_of
from sfumato.schema.paths import FilePath
from sfumato.schema.release_plan import RELEASE

FILE = record_of(FilePlan, "a file, and how it is joined to others")
COLUMN = record_of(ColumnPlan, "what a column is")
OUTPUT = record_of(OutputPlan, "how the release is written")
UTILITY = record_of(UtilityPlan, "what is measured besides what every release is")
PLAN = Record(
    {
        "version": Key(Integer(1, 1, "of the language of plans"), required=True),
        "data": Key(DATA),
        "policy": Key(POLICY),
        "previous": Key(
            ListOf(FilePath(), about="folders of earlier releases of the same persons, relative to the plan")
        ),
        "files": Key(MapOf(FILE, 1, "several files that are joined by keys, in place of data.source")),
        "columns": Key(MapOf(COLUMN, 1, "every column by its name: what it is, and how it may be published")),
        "other": Key(Choice(get_args(OtherRole), about="what columns are that the plan does not mention")),
        "privacy": Key(ListOf(MODEL, 1, "the requested privacy models")),
        "method": Key(METHOD),
        "seed": Key(Integer(0, 2**63 - 1, "for runs that must be repeatable; internal")),
        "output": Key(OUTPUT),
        "utility": Key(UTILITY),
        "release": Key(RELEASE),
        "on_inference": Key(
            Choice(
                get_args(OnInference),
                about="where a guarantee fails once columns are read against each other: refuse the release, or warn",
            )
        ),
        "language": Key(Choice(get_args(Language), about="of the reports")),
    },
    RequestedPlan,
    about="plan of a microdata release",
)
# Required keys unless a policy provides them.
CHOSEN_BY_POLICY = ("columns", "privacy")
