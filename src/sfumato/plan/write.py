"""Writing a plan: the resolved plan as YAML that reads back to the same."""

from typing import Any

from sfumato.plan.model import Plan


def plan_dict(plan: Plan) -> dict[str, Any]:
    """The plan in plain values: as it was given, with what it left open filled in."""
    given = dict(plan.text)
    given.setdefault("version", plan.version)
    given.setdefault("seed", plan.seed)
    given["method"] = {"name": plan.method.name} | dict(given.get("method", {}))
    output = plan.output
    filled = {"format": output.format, "order": output.order, "suppressed": output.suppressed}
    given["output"] = filled | dict(given.get("output", {}))
    return given


def plan_text(plan: Plan) -> str:
    """The plan as YAML."""
    import yaml

    return yaml.safe_dump(plan_dict(plan), sort_keys=False, allow_unicode=True, width=120)
