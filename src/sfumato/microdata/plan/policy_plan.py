"""The policy that a plan names: the release is evaluated by it, and it fills in what the plan leaves open."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any

from sfumato.dataclass import dataclass
from sfumato.policies.presets import policy_ids
from sfumato.schema.composite import Choice, Conversion, Either, MapOf, Number, Text
from sfumato.schema.dataclass_schema import Note, record_of
from sfumato.schema.paths import PlanPath
from sfumato.schema.typed_parts import plan_part


@plan_part
@dataclass(frozen=True, slots=True)
class PolicyPlan:
    """A policy with the settings of the user.

    Attributes:
        values: Other values for clauses, by name; attested: who attests clauses that cannot be measured.
        zip_population: A file with the columns zip3 and people, relative to the plan.
        code_column: The column with a code for re-identification.
    """

    name: Annotated[str, Choice(policy_ids(), "the policy's id")]
    values: Annotated[Mapping[str, float], MapOf(Number(), about="other values for clauses")] = field(
        default_factory=dict
    )
    attested: Annotated[Mapping[str, str], MapOf(Text(), about="who attests clauses that cannot be measured")] = field(
        default_factory=dict
    )
    zip_population: Annotated[PlanPath | None, Note("file with the columns zip3 and people, relative to the plan")] = (
        None
    )
    code_column: Annotated[str | None, Note("column with a code for re-identification")] = None


POLICY_RECORD = record_of(PolicyPlan)


def _made(value: Any) -> PolicyPlan:
    return PolicyPlan(value) if isinstance(value, str) else value


POLICY = Conversion(
    Either(
        (((str,), Choice(policy_ids())), ((Mapping,), POLICY_RECORD)),
        "the policy that chooses what the plan leaves open, and that the release is held against",
    ),
    _made,
)
