"""A plan as a notebook shows it: the promises, and what each column is."""

from html import escape

from sfumato.microdata.plan.model import Plan

CELL = "text-align:left;padding-right:1.5em"


def fragment(plan: Plan) -> str:
    """A few lines for a notebook: no page of its own, no style that leaks into others."""
    promises = ", ".join(
        f"{model.name} {model.asked:g}" + (f" of {model.column}" if model.column else "") for model in plan.privacy
    )
    rows = "".join(
        f'<tr><th style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(column.role)}</td>'
        f'<td style="{CELL}">{escape(_hierarchy(plan, name))}</td></tr>'
        for name, column in plan.columns.items()
    )
    return f"<div><p><b>{escape(promises)}</b>, by {escape(plan.method.name)}</p><table>{rows}</table></div>"


def _hierarchy(plan: Plan, name: str) -> str:
    """The hierarchy of a column in a plan's own words, cut where it is long."""
    from sfumato.microdata.plan.write import plan_dict

    given = plan_dict(plan)["columns"][name].get("hierarchy", {})
    text = ", ".join(f"{key}: {value}" for key, value in given.items())
    return text if len(text) <= 80 else text[:79] + "…"
