"""The result of a policy evaluation, as text and as a section of a page."""

from collections.abc import Mapping
from html import escape
from typing import Any

from sfumato.localization.messages import Messages
from sfumato.policies.evaluation import ClauseJudgment, PolicyVerdict
from sfumato.policies.policy import Policy

STATUS_WORDS = {"satisfied": "policy.satisfied_word", "failed": "policy.failed", "open": "policy.open"}
MARKS = {"satisfied": "satisfied", "failed": "FAILED   ", "open": "open     "}


def text(verdict: PolicyVerdict) -> str:
    """Return one line per clause, with its measurement and source, and how many are satisfied."""
    policy = verdict.policy
    lines = [f"{policy.id} (version {policy.version}): {policy.title}", f"source: {policy.source}; {_seen(policy)}"]
    lines += [_line(policy, judgment) for judgment in verdict.clauses]
    lines += [f"note: {policy.note}"] if policy.note else []
    lines += [f"note: {remark}" for remark in verdict.notes]
    return "\n".join([*lines, verdict.line]) + "\n"


def _seen(policy: Policy) -> str:
    """Return where the limits of a policy were found."""
    if policy.evidence == "secondary":
        return "its figures were seen in secondary texts, the document itself was not read"
    return "its figures are not confirmed: check them"


def _line(policy: Policy, judgment: ClauseJudgment) -> str:
    clause, measured = judgment.clause, judgment.measurement
    limit = "" if clause.op == "attested" or clause.value is None else f" {clause.op} {clause.value:g}"
    figure = "" if measured.figure is None else f", measured {measured.figure:.4g}"
    override = f" [the policy's own value: {policy.overrides[clause.name]}]" if clause.name in policy.overrides else ""
    unconfirmed = " [not confirmed]" if policy.evidence_of(clause) == "unconfirmed" else ""
    remark = f" ({measured.remark})" if measured.remark else ""
    action = f" -> {clause.action}" if judgment.status == "failed" else ""
    said = f"{clause.metric}{limit}{figure}{override}{unconfirmed}{remark}{action}"
    return f"{MARKS[judgment.status]}  {clause.name}: {said}"


def section(figures: Mapping[str, Any], words: Messages) -> str:
    """Return the result, as given by `PolicyVerdict.to_dict`, as a section of a report."""
    head = "".join(f"<th>{escape(words[f'policy.{key}'])}</th>" for key in ("clause", "asked", "measured", "status"))
    rows = "".join(_row(clause, words) for clause in figures["clauses"])
    title = words["policy.title"].format(policy=figures["policy"])
    count, all_ = words.count(figures["satisfied"]), words.count(len(figures["clauses"]))
    said = words["policy.satisfied"].format(count=count, all=all_)
    source = words["policy.source"].format(source=figures["source"])
    return (
        f"<h2>{escape(title)}</h2><p>{escape(said)} {escape(source)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(clause: Mapping[str, Any], words: Messages) -> str:
    limit = "" if clause["value"] is None else f" ({clause['op']} {words.amount(clause['value'])})"
    unconfirmed = " " + words["policy.unconfirmed"] if clause["evidence"] == "unconfirmed" else ""
    measured = "" if clause["measured"] is None else words.amount(clause["measured"])
    figure = f"{measured} {clause['remark']}".strip()
    cells = (clause["name"], clause["says"] + limit + unconfirmed, figure, words[STATUS_WORDS[clause["status"]]])
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
