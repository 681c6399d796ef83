"""Results of checks as text and as sections of a page: attacks, policies, and the verification of a file."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from sfumato.localization.lists import names_told
from sfumato.localization.messages import Messages, words_in
from sfumato.microdata.attacks.result import is_too_few
from sfumato.microdata.verdict import Verdict
from sfumato.policies.policy import ClauseJudgment, Policy, PolicyVerdict
from sfumato.report.html_page import listing, page, paragraph, table
from sfumato.report.html_page import section as headed

# Position of the attack section in a report; present even without attacks, so that they can be added later.
HEAD = ("attack", "reached", "control", "baseline", "risk", "verdict")
BEGIN, END = "<!-- attack -->", "<!-- end of attack -->"
PLACE = re.compile(f"{BEGIN}.*?{END}", re.DOTALL)
# Position of the sentence on the success of attacks: among the limitations, and in the residual risk.
REACHED, END_REACHED = "<!-- reached -->", "<!-- end of reached -->"
REACHED_PLACE = re.compile(f"{REACHED}.*?{END_REACHED}", re.DOTALL)


def attack_text(figures: Mapping[str, Any]) -> str:
    """Return one line per attack: its success against control and baseline, and the verdict."""
    rows = figures["rows"]
    lines = [
        f"{rows['published']:,} published rows attacked, {rows['raw']:,} raw and {rows['control']:,} control rows; "
        "a measured attack is evidence, not a proof",
        *(_attack_line(attack) for attack in figures["attacks"]),
        *(f"not run    {absence['attack']}: {absence['why']}" for absence in figures["not_run"]),
        *(f"note: {remark}" for remark in figures["remarks"]),
    ]
    return "\n".join([*lines, verdict(figures, words_in())]) + "\n"


def _attack_line(attack: Mapping[str, Any]) -> str:
    if not _comparable(attack):
        return f"nothing    {attack['attack']} ({attack['variant']}): not applicable: no attempt was possible"
    mark = ("REACHED  " if attack["counted"] else "reached  ") if attack["evidence"] else "failed   "
    mark = "unclear  " if not attack["evidence"] and is_too_few(attack["interval"]) else mark
    control = "" if attack["control"] is None else f", control {attack['control']['rate']:.1%}"
    certain = f", {attack['certain']} persons for certain" if attack["certain"] else ""
    low, high = attack["risk_interval"]
    return (
        f"{mark}  {attack['attack']} ({attack['variant']}): {attack['rate']:.1%} of {attack['attempts']:,}{control}, "
        f"baseline {attack['baseline']['rate']:.1%}; risk {attack['risk']:.1%} [{low:.1%}, {high:.1%}]{certain}"
        + ("" if attack["evidence"] else f": {_failure(attack, words_in())}")
    )


def _failure(attack: Mapping[str, Any], words: Messages) -> str:
    """Return that an attack is no evidence; if its metrics suggest otherwise, with the reason."""
    rivals = [rival for rival in (attack["baseline"], attack["control"]) if rival is not None]
    others = attack.get("without_own_row")
    if is_too_few(attack["interval"]):
        return words["attack.few"].format(attempts=words.count(attack["attempts"]))
    if any(attack["rate"] <= rival["rate"] for rival in rivals) or any(
        attack["interval"][0] <= rival["rate"] for rival in rivals
    ):
        return words["attack.failed"]
    if others is not None and any(others["interval"][0] <= rival["rate"] for rival in rivals):
        return words["attack.own_row"].format(share=words.percent(others["rate"]))
    return words["attack.chance"].format(attempts=words.count(attack["attempts"]))


def _comparable(attack: Mapping[str, Any]) -> bool:
    """Return whether any attempt was possible; reports of earlier versions lack this."""
    return bool(attack.get("comparable", attack["attempts"] or attack["certain"]))


def verdict(figures: Mapping[str, Any], words: Messages) -> str:
    """Return whether an attack on a guarantee succeeded, and how many others did."""
    once = words.count(round(1 / figures["familywise_error"]))
    risks = beside(figures)
    if not figures["found"]:
        said = words["attack.none_promised" if risks else "attack.none"].format(once=once)
    else:
        counts = {"count": words.count(figures["found"]), "risk": words.percent(figures["highest_risk"])}
        said = words["attack.some"].format(**counts, once=once)
    return " ".join(filter(None, (said, _by_columns(figures, words), _beside(risks, words))))


def _by_columns(figures: Mapping[str, Any], words: Messages) -> str:
    """Return which columns other than quasi-identifiers led attacks to persons, and what to do; empty if none did."""
    counted = [attack for attack in figures["attacks"] if attack["evidence"] and attack["counted"]]
    names = dict.fromkeys(name for attack in counted for name in _beyond(attack))
    return words["attack.by_columns"].format(columns=names_told(words, [*names])) if names else ""


def _beyond(attack: Mapping[str, Any]) -> Sequence[str]:
    """Return the columns other than quasi-identifiers by which an attack found persons, if known."""
    names: Sequence[str] = attack.get("details", {}).get("beyond", ())
    return names


def beside(figures: Mapping[str, Any]) -> list[float]:
    """Return the risks of successful attacks that no guarantee covers."""
    return [attack["risk"] for attack in figures["attacks"] if attack["evidence"] and not attack["counted"]]


def _beside(risks: Sequence[float], words: Messages) -> str:
    """Return how many attacks outside the guarantees succeeded, in a sentence; empty if none did."""
    key = "attack.some_beside" if len(risks) > 1 else "attack.one_beside"
    return words[key].format(count=words.count(len(risks)), risk=words.percent(max(risks))) if risks else ""


def attack_section(figures: Mapping[str, Any], words: Messages | None = None) -> str:
    """Return the results of attacks as a section of a report."""
    words = words or words_in()
    rows = [attack_words(attack, words) for attack in figures["attacks"]]
    return headed(
        words["attack.title"],
        paragraph(verdict(figures, words)),
        paragraph(words["attack.evidence"], soft=True),
        table([words[f"attack.{key}"] for key in HEAD], rows, words),
        *([paragraph(words["attack.not_run"])] if figures["not_run"] else []),
        listing(why_words(absence, words) for absence in figures["not_run"]),
        *(paragraph(words.text(remark), soft=True) for remark in figures["remarks"]),
    )


def framed(html: str) -> str:
    """Wrap a section so that it can be replaced in a report later."""
    return f"{BEGIN}{html}{END}"


def placed(report: str, figures: Mapping[str, Any], words: Messages, to_hand_out: bool = False) -> str:
    """Return a report with its attack section and verdict replaced."""
    found = bool(figures["found"])
    html = outside(figures, words) if to_hand_out else attack_section(figures, words)
    judged = report.replace(verdict_head(words, not found, to_hand_out), verdict_head(words, found, to_hand_out))
    told = REACHED_PLACE.sub(lambda _: reached(figures, words, to_hand_out), judged)
    return PLACE.sub(lambda _: framed(html), told)


def reached(figures: Mapping[str, Any] | None, words: Messages, to_hand_out: bool = False) -> str:
    """Return the success of attacks in a sentence for the risk section; a placeholder if there was none."""
    if not figures or not (figures["found"] or beside(figures)):
        return f"{REACHED}{END_REACHED}"
    told = _told_outside(figures, words) if to_hand_out else verdict(figures, words)
    return f"{REACHED}{paragraph(told)}{END_REACHED}"


def verdict_head(words: Messages, succeeded: bool, outside: bool = False) -> str:
    """Return the beginning of the verdict on a release with satisfied models, which mentions successful attacks."""
    tone, key = (
        ("verdict not", "report.attacked_outside" if outside else "report.attacked")
        if succeeded
        else ("verdict", "report.holds")
    )
    return f'<div class="{tone}"><strong>{escape(words[key])}</strong>'


def summary(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return what may be published: which attacks were run and how many succeeded, without targets and columns.

    Attacks without possible attempts are not counted.
    """
    tried = [attack for attack in figures["attacks"] if _comparable(attack)]
    return {
        "attacks": sorted({attack["attack"] for attack in tried}),
        "not_run": sorted({absence["attack"] for absence in figures["not_run"]}),
        "attempts": len(tried),
        "found": figures["found"],
        "not_counted": len(beside(figures)),
        "risk_at_most": math.ceil(100 * figures["highest_risk"]) / 100,
        "familywise_error": figures["familywise_error"],
    }


def outside(figures: Mapping[str, Any], words: Messages) -> str:
    """Return the same as a section of the report for publication."""
    told = summary(figures)
    others = [words["attack.outside_not_run"].format(attacks=_names(told["not_run"], words))] if told["not_run"] else []
    parts = [_told_outside(figures, words), words["attack.evidence"], *others]
    return headed(words["attack.title"], *map(paragraph, parts))


def _told_outside(figures: Mapping[str, Any], words: Messages) -> str:
    """Return how many attacks succeeded, for publication."""
    told = summary(figures)
    shown = {
        "attacks": _names(told["attacks"], words),
        "tries": words.count(told["attempts"]),
        "found": words.count(told["found"]),
    }
    unpromised = [math.ceil(100 * risk) / 100 for risk in beside(figures)]
    key = "found" if told["found"] else "none_promised" if unpromised else "none"
    sentence = words[f"attack.outside_{key}"].format(**shown, risk=words.percent(told["risk_at_most"]))
    return f"{sentence} {_beside(unpromised, words)}".rstrip()


def attack_words(attack: Mapping[str, Any], words: Messages) -> tuple[str, ...]:
    """Return the cells of an attack's row: name, success rate, comparison, verdict."""
    low, high = attack["risk_interval"]
    certain = words["attack.certain"].format(count=words.count(attack["certain"])) if attack["certain"] else ""
    said = "succeeded" if attack["evidence"] and attack["counted"] else "beside" if attack["evidence"] else "failed"
    said = said if _comparable(attack) else "nothing"
    called = f"{_name(attack['attack'], words)}: {words.text(attack['variant'])}"
    names = names_told(words, _beyond(attack)) if attack["evidence"] and _beyond(attack) else ""
    return (
        words["attack.with_columns"].format(attack=called, columns=names) if names else called,
        words["attack.of"].format(share=words.percent(attack["rate"]), attempts=words.count(attack["attempts"])),
        "" if attack["control"] is None else words.percent(attack["control"]["rate"]),
        words.percent(attack["baseline"]["rate"]),
        f"{words.percent(attack['risk'])} ({words.percent(low)} – {words.percent(high)})",
        (_failure(attack, words) if said == "failed" else words[f"attack.{said}"]) + certain,
    )


def why_words(absence: Mapping[str, Any], words: Messages) -> str:
    """Return an attack that was not run, and the reason."""
    return f"{_name(absence['attack'], words)}: {words.text(absence['why'])}"


def _names(names: Iterable[str], words: Messages) -> str:
    return ", ".join(_name(name, words) for name in names)


def _name(name: str, words: Messages) -> str:
    return words.get(f"attack.name.{name.replace(' ', '-')}", name)


def page_of(figures: Mapping[str, Any], language: str = "en") -> str:
    """Return the results of attacks as a separate page."""
    words = words_in(language)
    return page(f"Sfumato: {words['attack.title']}", [attack_section(figures, words)], language)


STATUS_WORDS = {"satisfied": "policy.satisfied_word", "failed": "policy.failed", "open": "policy.open"}
MARKS = {"satisfied": "satisfied", "failed": "FAILED   ", "open": "open     "}


def policy_text(verdict: PolicyVerdict) -> str:
    """Return one line per clause, with its measurement and source, and how many are satisfied."""
    policy = verdict.policy
    lines = [f"{policy.id} (version {policy.version}): {policy.title}", f"source: {policy.source}; {_seen(policy)}"]
    lines += [_clause_line(policy, judgment) for judgment in verdict.clauses]
    lines += [f"note: {policy.note}"] if policy.note else []
    lines += [f"note: {remark}" for remark in verdict.notes]
    return "\n".join([*lines, verdict.line]) + "\n"


def _seen(policy: Policy) -> str:
    """Return where the limits of a policy were found."""
    if policy.evidence == "secondary":
        return "its figures were seen in secondary texts, the document itself was not read"
    return "its figures are not confirmed: check them"


def _clause_line(policy: Policy, judgment: ClauseJudgment) -> str:
    clause, measured = judgment.clause, judgment.measurement
    limit = "" if clause.op == "attested" or clause.value is None else f" {clause.op} {clause.value:g}"
    figure = "" if measured.figure is None else f", measured {measured.figure:.4g}"
    override = f" [the policy's own value: {policy.overrides[clause.name]}]" if clause.name in policy.overrides else ""
    unconfirmed = " [not confirmed]" if policy.evidence_of(clause) == "unconfirmed" else ""
    remark = f" ({measured.remark})" if measured.remark else ""
    action = f" -> {clause.action}" if judgment.status == "failed" else ""
    said = f"{clause.metric}{limit}{figure}{override}{unconfirmed}{remark}{action}"
    return f"{MARKS[judgment.status]}  {clause.name}: {said}"


def policy_section(figures: Mapping[str, Any], words: Messages) -> str:
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


AGAINST = {
    "both": ", against the raw table and the published rows",
    "raw": ", against the raw table",
    "published": ", against the published rows",
    "nothing": ", against a raw table that these rows do not tell",
}


def verdict_text(verdict: Verdict) -> str:
    """Return one line per model, and the findings."""
    if not verdict.rows:
        return "DOES NOT HOLD  there are no rows: nothing can be said of them\n"
    lines = [f"DOES NOT HOLD  {fault}" for fault in verdict.faults]
    lines += [
        f"{'holds        ' if promise.satisfied else 'DOES NOT HOLD'}  {promise.model}"
        + (f" of {promise.column}" if promise.column else "")
        + f": asked {promise.requested:g}, reached {promise.achieved:g}"
        + AGAINST.get(str(promise.parameters.get("reference")), "")
        for promise in verdict.promises
    ]
    lines += [f"not checked    {sentence}" for sentence in verdict.unchecked]
    seen = f"{verdict.rows:,} rows in {verdict.classes:,} classes of {verdict.smallest:,} to {verdict.largest:,} rows"
    seen += f"; {verdict.suppressed_rows:,} suppressed" if verdict.suppressed_rows else ""
    return "\n".join([*lines, f"{seen} (counted: {verdict.unit})"]) + "\n"
