"""The key `decide` of plans: one line gives undecided columns their roles, a family of columns at a time."""

from collections.abc import Mapping
from typing import Any

from sfumato.errors import did_you_mean
from sfumato.hierarchies.role_detection.families import fitting
from sfumato.schema.composite import KeySchema, ListSchema, RecordSchema
from sfumato.schema.issues import PlanIssues, Refused
from sfumato.schema.scalar import Scalar

UNDECIDED = "undecided"
_NAMES = ListSchema(Scalar(), about="undecided columns by name, or by a pattern in which * stands for any text")
DECIDE: RecordSchema[dict[str, Any]] = RecordSchema(
    {role: KeySchema(_NAMES) for role in ("identifier", "quasi-identifier", "sensitive", "insensitive")},
    dict,
    "the roles of undecided columns, many in one line",
)


def decided(plan: Mapping[str, Any], faults: PlanIssues) -> dict[str, Any]:
    """Return a plan in which its key `decide` has given undecided columns their roles.

    >>> plan = {"columns": {"x1": {"role": "undecided"}, "x2": {"role": "undecided"}}, "decide": {"sensitive": ["x*"]}}
    >>> decided(plan, PlanIssues())
    {'columns': {'x1': {'role': 'sensitive'}, 'x2': {'role': 'sensitive'}}}
    """
    rest = {key: part for key, part in plan.items() if key != "decide"}
    columns = plan.get("columns")
    if "decide" not in plan or not isinstance(columns, Mapping):
        return rest
    try:
        chosen = DECIDE.read(plan["decide"], "decide", faults)
    except Refused:
        return rest
    names = [str(name) for name, entry in columns.items() if isinstance(entry, Mapping) and _is_open(entry)]
    roles: dict[str, str] = {}
    for role, patterns in chosen.items():
        for place, pattern in enumerate(patterns):
            at, found = f"decide.{role}[{place}]", fitting(pattern, names)
            if not found:
                faults.refuse(at, "decides_nothing", hint=did_you_mean(pattern, names), name=pattern)
            for name in found:
                if roles.setdefault(name, role) != role:
                    faults.refuse(at, "decided_twice", name=name, role=roles[name], other=role)
    given = {
        name: {**entry, "role": roles[str(name)]} if str(name) in roles else entry for name, entry in columns.items()
    }
    return rest | {"columns": given}


def _is_open(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("role") == UNDECIDED)
